"""What a further file of a run says differently about a setting is kept beside the value that counts."""

from __future__ import annotations

import shutil
from pathlib import Path

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.readers.open import read
from rlclinic.rules.config import value_differs_from_file

# One more pair of an OrderedDict as rl-zoo writes it.
MORE = "  - - batch_size\n    - 999\n"
ZOO = "zoo/ppo_cartpole/logs/ppo/CartPole-v1_1"


def _changed(runs: Path, folder: Path, line: str) -> Path:
    """A recorded zoo run whose args.yml has one more line."""
    target = folder / "CartPole-v1_1"
    shutil.copytree(runs / ZOO, target)
    args = target / "CartPole-v1" / "args.yml"
    args.write_text(args.read_text(encoding="utf-8") + line, encoding="utf-8")
    return target


def test_the_first_file_counts_and_the_other_value_is_kept_with_its_place(runs: Path, tmp_path: Path) -> None:
    config = read(_changed(runs, tmp_path, MORE)).config
    before = read(runs / ZOO).config
    assert config.number("batch_size") == before.number("batch_size") != 999
    kept = {setting.native_key: setting for setting in config.shadowed}
    assert kept["batch_size"].value == 999
    assert str(kept["batch_size"].origin).startswith("CartPole-v1/args.yml")


def test_files_that_disagree_are_told(runs: Path, tmp_path: Path) -> None:
    found = value_differs_from_file.check(RunFacts(read(_changed(runs, tmp_path, MORE))))
    assert found is not None
    assert found.severity is Severity.INFO
    assert "999 in CartPole-v1/args.yml" in found.summary


def test_files_that_agree_or_leave_a_value_open_are_not(runs: Path) -> None:
    assert value_differs_from_file.check(RunFacts(read(runs / ZOO))) is None
    assert read(runs / "rllib" / "ppo_cartpole").config.shadowed == ()

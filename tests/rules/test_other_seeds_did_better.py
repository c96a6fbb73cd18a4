"""other-seeds-did-better on copies of recorded runs, as folders of seeds."""

from __future__ import annotations

import re
import shutil
from functools import partial
from pathlib import Path
from unittest.mock import patch

import pytest

from rlclinic import engine
from rlclinic.engine import diagnose
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.readers.open import read
from rlclinic.rules.evaluation import other_seeds_did_better
from rlclinic.store.siblings import siblings_of
from tests.conftest import RUNS


def _seeds(folder: Path, first: str, others: str, rate: str = "") -> RunFacts:
    """A folder with one run and three others, all with the config of the first; the others' rate may be set."""
    config = (RUNS / first / "config.yaml").read_text(encoding="utf-8")
    for index, name in enumerate([first, others, others, others]):
        target = folder / f"seed_{index}"
        shutil.copytree(RUNS / name, target)
        own = re.sub(r"learning_rate: \S+", f"learning_rate: {rate}", config) if rate and index else config
        (target / "config.yaml").write_text(own, encoding="utf-8")
    run = read(folder / "seed_0")
    return RunFacts(run, partial(siblings_of, run))


@pytest.mark.parametrize(
    ("others", "fires"), [("faults/solved_ppo_cartpole", True), ("faults/low_lr_ppo_cartpole", False)]
)
def test_seeds_of_one_config_are_compared(tmp_path: Path, others: str, *, fires: bool) -> None:
    found = other_seeds_did_better.check(_seeds(tmp_path, "faults/low_lr_ppo_cartpole", others))
    assert (found is not None) == fires
    if found is not None:
        assert found.severity is Severity.INFO
        assert "3 other seeds of the same config ended between" in found.summary


def test_runs_of_another_config_are_no_seeds(tmp_path: Path) -> None:
    facts = _seeds(tmp_path, "faults/low_lr_ppo_cartpole", "faults/solved_ppo_cartpole", rate="0.7")
    assert other_seeds_did_better.check(facts) is None


def test_a_run_alone_has_no_seeds_to_compare_with() -> None:
    assert other_seeds_did_better.check(RunFacts(read(RUNS / "faults" / "low_lr_ppo_cartpole"))) is None


def test_seeds_that_ended_alike_are_pooled_before_a_cause_is_named(tmp_path: Path) -> None:
    _seeds(tmp_path, "faults/low_lr_ppo_cartpole", "faults/low_lr_ppo_cartpole")
    alone, pooled = diagnose(RUNS / "faults" / "low_lr_ppo_cartpole"), diagnose(tmp_path / "seed_0")
    assert pooled.causes[0].id == alone.causes[0].id == "learning-rate-too-low"
    with patch("rlclinic.engine.causes_of", wraps=engine.causes_of) as asked:
        diagnose(tmp_path / "seed_0")
    assert len(asked.call_args.kwargs["seeds"]) == 3

"""CONTRIBUTING's examples are real: a toml is a framework, a file and a row are a reader."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from rlclinic.facts.run_facts import RunFacts
from rlclinic.judgement import decision_path
from rlclinic.model.run import Run
from rlclinic.model.series import FloatArray, Series
from rlclinic.readers import discover, registry
from rlclinic.readers.open import read
from rlclinic.reference import framework as frameworks
from rlclinic.rules import environment
from rlclinic.rules import registry as rules
from rlclinic.rules.documentation import SECTIONS, page_of
from rlclinic.rules.rule import load_rule

TEXT = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
TOML = re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)[0]
READER, ROW, RULE = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)


@pytest.fixture
def tinyrl(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """The package with the example's toml, file and row added; and a run of that framework."""
    tables = frameworks._tables
    extra = tmp_path / "tinyrl.toml"
    extra.write_text(TOML, encoding="utf-8")
    monkeypatch.setattr(frameworks, "_tables", lambda: [*tables(), extra])
    module = type(sys)("rlclinic.readers.sources.tinyrl")
    exec(compile(READER, "CONTRIBUTING.md", "exec"), module.__dict__)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    row = eval(ROW.strip().rstrip(","), {"Row": registry.Row})  # noqa: S307 - our own documentation
    rows = (row, *registry.ROWS)
    monkeypatch.setattr(registry, "ROWS", rows)
    monkeypatch.setattr(discover, "ROWS", rows)
    frameworks.heads.cache_clear()
    frameworks.framework.cache_clear()
    run = tmp_path / "run"
    run.mkdir()
    lines = [
        f"{step}\t{name}\t{value}" for step in range(3) for name, value in (("tiny/score", step), ("tiny/H", -0.5))
    ]
    (run / "scores.tiny").write_text("\n".join(lines), encoding="utf-8")
    yield run
    frameworks.heads.cache_clear()
    frameworks.framework.cache_clear()


def test_the_documented_toml_file_and_row_make_a_working_reader(tinyrl: Path) -> None:
    run = read(tinyrl)
    assert run.framework == "tinyrl"
    assert run["return/train"].values.tolist() == [0.0, 1.0, 2.0]
    assert np.allclose(run["entropy"].values, 0.5)
    assert run["return/train"].axis == "iterations"


def test_a_toml_with_an_unknown_metric_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"tinyrl\.toml: 'no/such' is not in the vocabulary"):
        frameworks.load_framework(TOML.replace('"clip_fraction"', '"no/such"'), "tinyrl.toml")


def test_the_documented_rule_file_makes_a_working_rule(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "longer_but_not_better.py").write_text(RULE, encoding="utf-8")
    monkeypatch.setattr(environment, "__path__", [*environment.__path__, str(tmp_path)])
    rule = load_rule("environment", "longer_but_not_better")
    monkeypatch.setattr(decision_path, "RULES", (*rules.RULES, rule))
    decision_path.rules_of.cache_clear()
    assert (rule.code, rule.name, rule.limits) == ("ENV99", "longer-but-not-better", {"doubled": 2.0})
    assert list(page_of(rule).sections) == list(SECTIONS)
    stays = RunFacts(_run(lengths=np.linspace(50, 150, 40), returns=np.full(40, 5.0)))
    seen, skipped = rules.examine(stays, (rule,))
    assert [finding.code for finding in seen] == ["ENV99"]
    assert skipped == ()
    assert any("(ENV99)" in line for line in decision_path.decision_path(seen, frozenset({rule.name})))
    assert rules.examine(stays, (rule,), {"ENV99": {"doubled": 9.0}})[0] == ()
    near_miss = RunFacts(_run(lengths=np.linspace(50, 150, 40), returns=np.linspace(5, 50, 40)))
    assert rules.examine(near_miss, (rule,))[0] == ()
    decision_path.rules_of.cache_clear()


def _run(lengths: FloatArray, returns: FloatArray) -> Run:
    steps = np.arange(lengths.size, dtype=np.float64)
    series = {
        name: Series(name, name, steps, values, known=True)
        for name, values in (("episode_length", lengths), ("return/train", returns))
    }
    return Run("run", "run", algorithm="PPO", series=series)

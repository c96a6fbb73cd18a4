"""CONTRIBUTING's examples are real: a toml is a framework, a file and a row are a reader, an entry is a remedy."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import rlclinic
from rlclinic.facts.run_facts import RunFacts
from rlclinic.judgement import decision_path
from rlclinic.model.run import Run
from rlclinic.model.series import FloatArray, Series
from rlclinic.prescriptions.proposals import proposal
from rlclinic.prescriptions.proposals.effects import Effects
from rlclinic.prescriptions.remedies import table
from rlclinic.readers import discover, identify, registry
from rlclinic.readers.open import read
from rlclinic.reference import framework as frameworks
from rlclinic.rules import environment
from rlclinic.rules import registry as rules
from rlclinic.rules.documentation import SECTIONS, page_of
from rlclinic.rules.rule import load_rule
from tests.prescriptions.made import PPO, assessment_of, made_run

TEXT = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
TOML, REMEDY = re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)
READER, ROW, RULE = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)


def _forget() -> None:
    for remembered in (frameworks.heads, frameworks.framework, identify._marks):
        remembered.cache_clear()


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
    row = eval(ROW.strip().rstrip(","), {"SourceSpec": registry.SourceSpec})  # noqa: S307 - our own documentation
    rows = (row, *registry.SOURCES)
    monkeypatch.setattr(registry, "SOURCES", rows)
    monkeypatch.setattr(discover, "SOURCES", rows)
    _forget()
    run = tmp_path / "run"
    run.mkdir()
    lines = [
        f"{step}\t{name}\t{value}" for step in range(3) for name, value in (("tiny/score", step), ("tiny/H", -0.5))
    ]
    (run / "scores.tiny").write_text("\n".join(lines), encoding="utf-8")
    yield run
    _forget()


def test_the_documented_toml_file_and_row_make_a_working_reader(tinyrl: Path) -> None:
    run = read(tinyrl)
    assert run.framework == "tinyrl"
    assert run["return/train"].values.tolist() == [0.0, 1.0, 2.0]
    assert np.allclose(run["entropy"].values, 0.5)
    assert run["return/train"].axis == "iterations"


def test_a_toml_with_an_unknown_metric_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"tinyrl\.toml: 'no/such' is not in the vocabulary"):
        frameworks.framework_from(tomllib.loads(TOML.replace('"clip_fraction"', '"no/such"')), "tinyrl.toml")


@pytest.fixture
def with_rule(tmp_path: Path) -> Path:
    """The package with the example's file added to its rules, and nothing else."""
    package, target = Path(rlclinic.__file__).parent, tmp_path / "rlclinic"
    for folder, inner in ((".", "rules"), ("rules", "environment"), ("rules/environment", "")):
        (target / folder).mkdir(exist_ok=True)
        for entry in (package / folder).iterdir():
            if entry.name not in (inner, "__pycache__"):
                (target / folder / entry.name).symlink_to(entry)
    (target / "rules/environment/longer_but_not_better.py").write_text(RULE, encoding="utf-8")
    return tmp_path


def test_a_rule_added_by_one_file_is_in_explain_docs_decision_path_and_causes(with_rule: Path) -> None:
    docs = Path(__file__).parents[1] / "docs"
    code = f"""
import json, sys
sys.path[:0] = [{str(with_rule)!r}, {str(docs)!r}]
import generate
from click.testing import CliRunner
from rlclinic.apps.cli.main import app
from rlclinic.causes.weights import weights
from rlclinic.judgement.decision_path import rules_of
from rlclinic.rules.rule import DecisionStep
print(json.dumps({{
    "explain": CliRunner().invoke(app, ["explain", "ENV99"]).stdout,
    "rules page": generate.rules_page("environment"),
    "causes page": generate.causes_page(),
    "decision path": sorted(rules_of(DecisionStep.ENVIRONMENT)),
    "causes": weights().causes["reward-favours-staying"].weights,
}}))
"""
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    seen = json.loads(done.stdout)
    assert "What to change: Look at what the reward pays per step." in seen["explain"]
    assert "## ENV99 longer-but-not-better" in seen["rules page"]
    assert "longer-but-not-better" in seen["causes page"]
    assert "longer-but-not-better" in seen["decision path"]
    assert seen["causes"]["longer-but-not-better"] == 2.0


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


def test_the_documented_entry_makes_a_working_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "policy-too-fast.toml").write_text(REMEDY, encoding="utf-8")
    monkeypatch.setattr(table, "FOLDER", tmp_path / "tables")
    entries = table.remedies.__wrapped__()
    monkeypatch.setattr(proposal, "remedies", lambda: entries)
    assessment = assessment_of(
        made_run({**PPO, "learning_rate": 6e-4}, environment="MyRobot-v0"), dict.fromkeys(entries, 0.7)
    )
    made = proposal.proposal_of(assessment, assessment.causes["learning-rate-too-high"], Effects())
    assert made is not None
    assert [(change.key, change.before, change.after) for change in made.changes] == [("learning_rate", 6e-4, 2e-4)]
    assert made.prescription.risk == "Learning becomes slower if the rate was not the cause."

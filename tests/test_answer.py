"""The answer first: five lines that agree with the diagnosis, and two where a run is healthy with grounds."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import rlclinic
from rlclinic.engine import diagnose
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.trailing_mean import recent_returns
from rlclinic.model.answer import GO_ON, TRAIN_LONGER
from rlclinic.model.diagnosis import Verdict
from rlclinic.model.explanation import Explanation, Piece
from rlclinic.model.run import RunStatus, Status
from rlclinic.model.vocabulary import families_of, has_metric
from rlclinic.readers.discover import find
from rlclinic.reports.diagnosis_markdown import diagnosis_markdown
from rlclinic.reports.diagnosis_text import diagnosis_text
from rlclinic.reports.page import Words
from rlclinic.reports.root_cause import root_cause_blocks
from rlclinic.rules.registry import rules_meaning
from rlclinic.rules.rule import Sign
from tests.conftest import RUNS, diagnosis_of
from tests.reports.cases import collapsed
from tests.rules.scene import scene

LABELS = ["Verdict", "Cause", "Change", "If not that", "How sure"]


def labels(name: str) -> list[str]:
    return [line.label for line in diagnosis_of(name).answer.lines]


def line(found: rlclinic.Diagnosis, label: str) -> str:
    return next(item.text for item in found.answer.lines if item.label == label)


def test_the_verdict_the_cause_and_the_change_lead() -> None:
    found = diagnosis_of("sb3/ppo_cartpole_high_lr")
    assert [item.label for item in found.answer.lines] == LABELS
    assert line(found, "Verdict").startswith("Collapsed: rollout/ep_rew_mean climbed from 25.58 to 87.31")
    assert line(found, "Cause").startswith("learning-rate-too-high (over 99%): learning_rate is 0.05, far outside")
    assert line(found, "Change") == "Lower learning_rate from 0.05 to 0.001: PPO(..., learning_rate=0.001)"
    assert line(found, "If not that") == "Start from the settings that are known to work for PPO on CartPole-v1."
    assert re.fullmatch(
        r"Very sure \(over 99%\): \d+ of \d+ checks could be made; not known: the config.", line(found, "How sure")
    )


def test_a_solved_run_takes_two_lines() -> None:
    assert labels("sb3/ppo_cartpole") == ["Verdict", "Change"]
    assert line(diagnosis_of("sb3/ppo_cartpole"), "Change").startswith("Nothing needs to change. Very sure (98%)")


def test_printing_a_diagnosis_gives_the_lines_and_its_repr_is_short() -> None:
    found = diagnosis_of("sb3/ppo_cartpole_high_lr")
    assert str(found).splitlines()[0].startswith("Verdict: Collapsed")
    assert len(str(found).splitlines()) == 5
    assert (
        repr(found) == "<Diagnosis of 'ppo_cartpole_high_lr': collapsed, learning-rate-too-high over 99%, 6 findings>"
    )
    assert repr(found.run).startswith("<Run 'ppo_cartpole_high_lr': PPO on CartPole-v1, unknown, 12,288 steps, ")


def test_brief_is_the_answer_alone_and_full_leaves_nothing_out() -> None:
    brief, normal, full = (diagnosis_text(collapsed(), detail=detail) for detail in ("brief", "normal", "full"))
    assert normal.startswith(brief.rstrip("\n"))
    assert "Decision path" not in normal
    assert "Decision path" in full
    assert "With -v also" not in full
    assert diagnosis_markdown(collapsed(), detail="brief").count("\n## ") == 0


def test_an_empty_event_file_cannot_be_judged() -> None:
    assert line(diagnosis_of("edge/aborted_start"), "Verdict").startswith("Cannot be judged yet: no metric was logged")


def test_a_run_whose_return_has_another_name_is_asked_for_it(tmp_path: Path) -> None:
    rows = "".join(f"{step},{100 - step / 1000}\n" for step in range(0, 60_000, 1000))
    (tmp_path / "log.csv").write_text(f"step,cost\n{rows}", encoding="utf-8")
    change = next(item for item in diagnose(rlclinic.read(tmp_path)).answer.lines if item.label == "Change")
    assert change.text == "Say with --map which column is the return."
    assert change.commands == (("judge", f"rlclinic diagnose {tmp_path} --map return/train=COLUMN"),)


def test_going_on_is_a_change_and_no_test(tmp_path: Path) -> None:
    (tmp_path / "progress.csv").write_text("timesteps,episode_return\n1000,5\n2000,6\n", encoding="utf-8")
    found = diagnose(rlclinic.read(tmp_path))
    assert "train for as long again" in line(found, "Change").lower()


def test_what_a_curve_did_is_said_without_a_goal_and_judged_with_one() -> None:
    curve = np.linspace(0, 100, 50) + np.random.default_rng(0).normal(size=50)
    run = scene(series={"return/train": curve}).run
    bare, far, reached = (diagnose(run, goal=goal) for goal in (None, 1000.0, 90.0))
    assert "rose" in bare.reason or "went from" in bare.reason
    assert any("--goal" in text for text in bare.lacking)
    assert any("of the way to 1000 (set with --goal)" in text for text in far.lacking)
    assert not bare.is_healthy
    assert not far.is_healthy
    assert reached.verdict is Verdict.SOLVED
    assert reached.lacking == ()


def test_a_change_that_is_not_of_the_leading_cause_says_what_it_rules_out() -> None:
    found = diagnosis_of("faults/high_lr_ppo_acrobot")
    assert line(found, "Cause").startswith("sparse-reward (")
    assert line(found, "Change").startswith("Rule out learning-rate-too-high first: lower learning_rate from 0.1")


def test_a_training_without_rewards_is_not_advised_about_its_reward() -> None:
    series = {"loss/supervised": np.linspace(2.0, 0.5, 40), "learning_rate": np.full(40, 1e-5)}
    found = diagnose(scene(series=series).run)
    assert found.verdict is Verdict.NOT_RL
    assert not any(word in str(found.answer) for word in ("examine", "--goal", "--env"))
    assert "%" not in line(found, "How sure"), "no cause was looked for"
    assert not any("--goal" in step for step in found.next_steps)
    [told] = root_cause_blocks(found)
    assert told == Words("Not looked for: this training has no rewards.", leads=True)


def test_a_rise_that_the_verdict_takes_for_noise_is_no_fact_of_the_cause() -> None:
    found = diagnosis_of("faults/few_labels_dagger_pendulum")
    rising = "still-rising-at-end"
    finding = replace(found.findings[0], name=rising, summary="it rose by 3")
    lead = found.ranked[0]
    pieces = (Piece("finding", f"{finding.code} rose", 9.0),)
    explained = {lead.id: Explanation(lead.id, 0.7, evidence=pieces, rest=-0.1)}
    for verdict, told in ((Verdict.LEARNING, True), (Verdict.NOT_LEARNING, False)):
        made = replace(found, verdict=verdict, findings=(finding,), explanations=explained)
        assert ("it rose by 3" in line(made, "Cause")) is told


@pytest.mark.parametrize("name", ["sb3/ppo_cartpole", "sb3/ppo_cartpole_high_lr", "faults/low_lr_dqn_cartpole"])
def test_nothing_is_said_to_have_ended_of_a_run_that_goes_on(name: str) -> None:
    run = replace(diagnosis_of(name).run, status=RunStatus(Status.RUNNING, "the log was written to a moment ago"))
    found = diagnose(run)
    assert found.reason.startswith("so far, ")
    assert not [text for text in (found.reason, *(item.summary for item in found.findings)) if "ended at" in text]


def test_a_grave_finding_is_never_healthy() -> None:
    found = diagnosis_of("sb3/ppo_cartpole")
    errors = [item for item in collapsed().findings if item.severity == "error"]
    assert found.is_healthy
    assert not replace(found, findings=tuple(errors)).is_healthy


def test_the_commands_name_the_run_as_the_user_did(tmp_path: Path) -> None:
    place = tmp_path / "my runs" / "first"
    place.mkdir(parents=True)
    for file in (RUNS / "sb3/ppo_cartpole_high_lr").iterdir():
        if file.is_file():
            (place / file.name).write_bytes(file.read_bytes())
    found = diagnose(rlclinic.read(place), goal=475)
    assert found.commands.prove == f"rlclinic trial '{place}' --goal 475"
    assert found.commands.apply == f"rlclinic fix '{place}' --goal 475 --config FILE --write"


ALL = sorted(str(Path(ref.name).relative_to(RUNS)) for ref in find(RUNS))
SURE = {"Very sure": (0.9, 1.0), "Fairly sure": (0.7, 0.9), "More likely than not": (0.5, 0.7), "Not sure": (0.0, 0.5)}
# What is called in a log or a table, and what a person would not say aloud.
PRIVATE = re.compile(r"_share\b|total_movement|target_period|reward/\*|return/(?:train|eval)|\d %|e\+0\d|\bonly 0\b")


@pytest.mark.parametrize("name", ALL)
def test_the_answer_of_every_recorded_run_has_its_lines_and_says_how_sure_it_is(name: str) -> None:
    found = diagnosis_of(name)
    lines = {item.label: item for item in found.answer.lines}
    expected = ["Verdict", "Change"] if found.is_healthy else LABELS
    assert [label.replace("Test first", "Change") for label in lines] == expected
    assert max(len(item.text) for item in lines.values()) <= 480
    if found.verdict is Verdict.NOT_RL:
        assert lines["How sure"].text == "It is told by the names of what is logged alone.", "no cause was weighed"
        return
    lead = found.ranked[0] if found.ranked else None
    share = lead.probability if lead is not None and lead.id != "unknown" else 0.0
    told = lines["How sure"].text if "How sure" in lines else lines["Change"].text.partition(". ")[2]
    words = next(words for words in SURE if told.startswith(words))
    assert SURE[words][0] <= share <= SURE[words][1], told


def test_a_value_that_may_be_in_force_already_is_said_to_be_the_default() -> None:
    checks = [item.instruction for item in diagnosis_of("sb3/ppo_cartpole_high_lr").prescriptions]
    (epochs,) = [text for text in checks if "set n_epochs to 10" in text]
    assert epochs.endswith("That is the framework's default, so it helps only if another value was set.")


@pytest.mark.parametrize("name", ALL)
def test_no_clause_is_said_twice_in_a_line(name: str) -> None:
    for item in diagnosis_of(name).answer.lines:
        assert item.text.count('"') % 2 == 0, "a quotation is cut"
        clauses = item.text.rstrip(".").split("; ")
        assert len(clauses) == len(set(clauses)), item.text


@pytest.mark.parametrize("name", ALL)
def test_the_next_steps_begin_with_what_the_answer_advises_of_a_run_that_may_go_on(name: str) -> None:
    found = diagnosis_of(name)
    advised = next((item.text for item in found.answer.lines if item.label == "Change"), "")
    if not found.prescriptions and advised in (GO_ON, TRAIN_LONGER):
        assert found.next_steps[0] == advised
    assert not any(step in (GO_ON, TRAIN_LONGER) for step in found.next_steps if step != advised)


@pytest.mark.parametrize("name", ALL)
def test_no_answer_speaks_in_private_words_or_unreadable_numbers(name: str) -> None:
    found = diagnosis_of(name)
    logged = {series.logged_as for series in found.run.series.values()}
    for item in found.answer.lines:
        text = item.text
        for word in logged:
            text = text.replace(word, "")
        assert not PRIVATE.search(text), item.text


@pytest.mark.parametrize("name", ALL)
def test_healthy_has_grounds_in_every_recorded_run(name: str) -> None:
    """Grounds are a goal that was reached, or a judgement that nothing keeps from being one."""
    found = diagnosis_of(name)
    said = diagnosis_text(found, detail="full") + diagnosis_markdown(found)
    if not found.is_healthy:
        assert "Nothing needs to change" not in said
        assert "is healthy" not in said
        return
    assert found.run.returns is not None
    assert found.checked >= len(found.not_checked)
    assert not any(finding.severity == "error" for finding in found.findings)
    recent = recent_returns(RunFacts(found.run))
    judged = [*(found.run.series[name] for name in found.curves), *([recent] if recent is not None else [])]
    best = max(-np.inf if series.highest is None else series.highest for series in judged)
    reached = found.goal is not None and best >= found.goal.level
    assert reached or (found.verdict is Verdict.SOLVED and found.goal is None)


@pytest.mark.parametrize("name", ALL)
def test_advice_fits_the_run_it_is_given_to(name: str) -> None:
    """Metrics to watch are those that the algorithm has; only language models get advice for them."""
    found = diagnosis_of(name)
    watched = [metric for item in found.prescriptions for metric in item.watch if metric not in found.run]
    assert [metric for metric in watched if not has_metric(found.run.algorithm, metric)] == []
    if "language-model" in families_of(found.run.algorithm) or "response_length" in found.run:
        return
    told = " ".join(item.instruction for item in found.prescriptions)
    if found.run.algorithm:
        assert not any(cause.cause_class == "language-model" for cause in found.causes[:3])
    assert not re.search(r"\bprompts?\b|\bcompletions?\b|chat template", told)


SMALL = re.compile(r"(?<![\d.])0\.0000\d|\de\+0\d")


@pytest.mark.parametrize("name", ALL)
def test_a_report_writes_a_small_number_in_one_way(name: str) -> None:
    """Not 0.000001 in one line and 1e-06 in the next; what is quoted as code keeps the user's spelling."""
    found = diagnosis_of(name)
    told = [line for line in diagnosis_text(found, detail="full").splitlines() if not line.lstrip().startswith("|")]
    assert [line for line in told if SMALL.search(line)] == []


@pytest.mark.parametrize("name", ALL)
def test_verdict_cause_and_change_of_every_recorded_run_agree(name: str) -> None:
    found = diagnosis_of(name)
    lines = {line.label: line for line in found.answer.lines}
    lead, first = found.ranked[0] if found.ranked else None, next(iter(found.prescriptions), None)
    frozen = rules_meaning(Sign.POLICY_FROZEN)
    if found.verdict in {Verdict.LEARNING, Verdict.SOLVED}:
        assert [item.code for item in found.findings if item.name in frozen and item.severity != "info"] == []
    if "Change" in lines and any(what == "apply" for what, _ in lines["Change"].commands):
        # What the command writes is what the line says.
        assert first is not None
        assert first.changes
    examined = [command for line in lines.values() for what, command in line.commands if what == "examine"]
    assert all(command.startswith("rlclinic examine ") for command in examined)
    if lead is not None and lead.id == "budget-too-small" and lead.probability >= 0.9:
        assert "examine" not in lines["Change" if "Change" in lines else "Test first"].text
    if found.verdict is Verdict.INSUFFICIENT_DATA and "published runs needed" in found.reason:
        assert not lines["Change"].text.startswith("Optional") if "Change" in lines else True


def test_the_kl_is_not_asked_for_where_that_to_the_reference_is_logged() -> None:
    curves = {"return/train": 0.3 + 0.02 * np.sin(np.arange(60)), "kl_ref": np.full(60, 0.01)}

    def cause(*names: str) -> str:
        series = {name: curves[name] for name in names}
        run = scene(algorithm="GRPO", framework="trl", axis="updates", steps=60, series=series).run
        return line(diagnose(run), "Cause")

    assert "KL" in cause("return/train")
    assert "KL" not in cause("return/train", "kl_ref")

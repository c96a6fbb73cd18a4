"""On recorded runs and on those of other people nothing prescribed is invalid, contradictory or out of place."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from rlclinic.causes.catalogue import NOTHING_WRONG, UNKNOWN, catalogue
from rlclinic.engine import diagnose
from rlclinic.facts.goal import goal_of, is_due
from rlclinic.facts.offline import is_offline
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.unusual_settings import unusual
from rlclinic.model.diagnosis import Diagnosis, Verdict
from rlclinic.model.numbers import number
from rlclinic.model.prescription import Prescription, PrescriptionKind, Priority
from rlclinic.model.vocabulary import families_of
from rlclinic.readers.discover import find
from rlclinic.readers.open import read
from rlclinic.reference.usual import Direction
from rlclinic.reports.diagnosis_json import diagnosis_object
from tests.conftest import RUNS
from tests.prescriptions.syntax.parsers import PARSERS
from tests.test_corpus import CORPUS, LABELS

FAULTS: list[dict[str, Any]] = yaml.safe_load((RUNS / "faults" / "cases.yaml").read_text(encoding="utf-8"))
ROLLOUT = {"n_steps", "n_envs", "batch_size", "n_minibatches", "rollout_size"}
PACE = {
    "learning_rate", "learning_rate_critic", "max_grad_norm", "n_epochs", "target_kl", "clip_range", "eta", "mmd_coef",
    "learning_starts", "gradient_steps", "train_freq", "update_to_data", "normalize_advantage",
    "learning_rate_schedule", *ROLLOUT,
}  # fmt: skip
BUDGET = {"total_steps", "total_updates", "total_epochs"}
# The hyperparameters that a class of causes can be about.
PLACE: dict[str, set[str]] = {
    "policy-frozen": PACE,
    "policy-too-fast": PACE,
    "optimiser": {"learning_rate_schedule", "learning_rate_final", "optimizer", "adam_epsilon"},
    "early-determinism": {
        "ent_coef", "autotune_alpha", "exploration_fraction", "exploration_steps", "exploration_initial", "init_std",
        "log_std_init", "action_noise", "target_entropy",
    },
    "over-exploration": {
        "ent_coef", "autotune_alpha", "exploration_fraction", "exploration_final", "exploration_steps",
        "target_entropy",
    },
    "critic": {"vf_coef", "clip_range_vf", "clip_value_loss", "net_arch", "net_arch_critic"},
    "credit": {"gamma", "gae_lambda", *ROLLOUT},
    "q-divergence": {
        "tau", "target_update_interval", "buffer_size", "gradient_steps", "train_freq", "update_to_data", "n_epochs",
        "learning_starts", "double_q",
    },
    "scale": {"normalize_obs", "normalize_reward", "reward_scale", "ent_coef"},
    "no-signal": {"n_envs", *ROLLOUT},
    "budget": BUDGET,
    "evaluation": {"eval_async"},
    "offline": {"conservative_weight"},
    "imitation": {"aggregate", "retrain_every", "beta_schedule", "warm_start", "n_epochs"},
    "language-model": {
        "kl_coef", "kl_loss_coef", "use_kl_loss", "use_kl_in_reward", "max_response_length", "clip_range_high",
        "ent_coef", "learning_rate", "top_p", "temperature", "mask_observations", "loss_aggregation", "group_size",
        "format_reward_weight", "eval_freq",
    },
}  # fmt: skip


@dataclass(frozen=True)
class Seen:
    """One run, what was said of it, and whether it is known to be healthy."""

    name: str
    diagnosis: Diagnosis
    healthy: bool


@pytest.fixture(scope="module")
def everything() -> list[Seen]:
    healthy = {Path(case["path"]).name for case in FAULTS if case["healthy"]}
    labels = {str(CORPUS / label["path"]): label for label in LABELS}
    paths = [Path(ref.path) for ref in find(RUNS)] + [CORPUS / label["path"] for label in LABELS]
    seen = []
    for path in paths:
        label = labels.get(str(path), {})
        sound = label.get("verdict", [""])[0] in ("solved", "learning") and not label.get("causes")
        seen.append(Seen(str(path)[-70:], diagnose(path), sound or path.name in healthy))
    return seen


def advice(everything: list[Seen]) -> list[tuple[Seen, Prescription]]:
    return [(seen, item) for seen in everything for item in seen.diagnosis.prescriptions]


def test_there_is_something_to_look_at(everything: list[Seen]) -> None:
    kinds = Counter(item.kind for _, item in advice(everything))
    assert len(everything) > 100
    assert kinds[PrescriptionKind.CONFIG] > 10
    assert kinds[PrescriptionKind.CHECK] > 10


def test_no_more_than_three_lead(everything: list[Seen]) -> None:
    assert [seen.name for seen in everything if len(seen.diagnosis.prescriptions) > 3] == []


def test_a_batch_divides_its_rollout_after_every_change(everything: list[Seen]) -> None:
    wrong = []
    for seen, item in advice(everything):
        run = seen.diagnosis.run
        after = {change.key: change.after for change in item.changes}
        if not set(after) & {"n_steps", "n_envs", "batch_size"} or not families_of(run.algorithm) & {"ppo"}:
            continue
        steps, envs, batch = (after.get(key, run.config.get(key)) for key in ("n_steps", "n_envs", "batch_size"))
        if isinstance(steps, int) and isinstance(envs, int) and isinstance(batch, int) and steps * envs % batch:
            wrong.append(f"{seen.name}: {steps} x {envs} by {batch}")
    assert wrong == []


def test_values_stay_in_their_ranges(everything: list[Seen]) -> None:
    shares = {"gamma", "gae_lambda", "exploration_fraction", "exploration_final", "exploration_initial", "tau", "top_p"}
    wrong = []
    for seen, item in advice(everything):
        for change in item.changes:
            value = change.after
            if isinstance(value, bool) or not isinstance(value, int | float):
                continue
            low = -1 if change.key == "gradient_steps" else 0
            if value < low or (change.key in shares and value > 1) or (change.key == "learning_rate" and value == 0):
                wrong.append(f"{seen.name}: {change.key} {value}")
    assert wrong == []


def test_every_config_change_is_new_and_can_be_written(everything: list[Seen]) -> None:
    wrong = [
        f"{seen.name}: {item.instruction}"
        for seen, item in advice(everything)
        if item.kind is PrescriptionKind.CONFIG
        and (item.native is None or any(change.before == change.after for change in item.changes))
    ]
    assert wrong == []


def test_a_text_sets_what_is_changed_and_nothing_else(everything: list[Seen]) -> None:
    wrong = []
    for seen, item in advice(everything):
        if item.native is None:
            continue
        values = PARSERS[item.native.format](item.native.text)
        # A wrapper is added with all its arguments.
        if not values or (len(values) > len(item.changes) and "VecNormalize" not in item.native.text):
            wrong.append(f"{seen.name}: {item.native.text}")
    assert wrong == []


def test_no_two_prescriptions_turn_the_same_setting(everything: list[Seen]) -> None:
    wrong = []
    for seen in everything:
        keys = Counter(change.key for item in seen.diagnosis.prescriptions for change in item.changes)
        wrong += [f"{seen.name}: {key}" for key, count in keys.items() if count > 1]
    assert wrong == []


def test_no_change_is_out_of_its_cause_s_place(everything: list[Seen]) -> None:
    wrong = []
    for seen, item in advice(everything):
        classes = {catalogue()[cause].cause_class for cause in item.causes}
        if classes & {"process"}:
            continue
        allowed = set().union(*(PLACE.get(name, set()) for name in classes))
        wrong += [f"{seen.name}: {c.key} for {item.causes}" for c in item.changes if c.key not in allowed]
    assert wrong == []


def test_a_healthy_run_gets_nothing_or_one_optional_remark(everything: list[Seen]) -> None:
    healthy = [seen for seen in everything if seen.healthy]
    assert len(healthy) > 10
    wrong = [
        f"{seen.name}: {[item.instruction for item in seen.diagnosis.prescriptions]}"
        for seen in healthy
        if len(seen.diagnosis.prescriptions) > 1
        or any(item.priority is not Priority.LOW for item in seen.diagnosis.prescriptions)
    ]
    assert wrong == []


def test_a_run_that_is_stuck_gets_something_to_do(everything: list[Seen]) -> None:
    stuck = {Verdict.NOT_LEARNING, Verdict.COLLAPSED, Verdict.CRASHED, Verdict.MISCONFIGURED, Verdict.UNSTABLE}
    bare = [seen.name for seen in everything if seen.diagnosis.verdict in stuck and not seen.diagnosis.prescriptions]
    assert bare == []


def test_every_cause_that_is_treated_was_suspected(everything: list[Seen]) -> None:
    for seen, item in advice(everything):
        suspected = {cause.id for cause in seen.diagnosis.causes} | {UNKNOWN}
        assert set(item.causes) <= suspected or not item.changes or "nothing else explains it" in item.rationale, (
            seen.name
        )
        assert NOTHING_WRONG not in item.causes


def test_every_prescription_reaches_the_json(everything: list[Seen]) -> None:
    for seen in everything:
        shown = diagnosis_object(seen.diagnosis)["prescriptions"]
        assert [item["instruction"] for item in shown] == [item.instruction for item in seen.diagnosis.prescriptions]


def test_what_follows_says_what_would_choose_it(everything: list[Seen]) -> None:
    wrong = [
        f"{seen.name}: {item.instruction}"
        for seen in everything
        for item in seen.diagnosis.prescriptions[1:]
        if not item.instruction.startswith(("If that does not suffice, and ", "If the test confirms it: "))
    ]
    assert wrong == []


def test_behind_a_change_that_leads_stand_two_candidates(everything: list[Seen]) -> None:
    lonely = []
    for seen in everything:
        made, run = seen.diagnosis.prescriptions, seen.diagnosis.run
        is_remark = bool(made) and made[0].instruction.startswith(("Optional", "To judge it"))
        # What crashed waits for its error; data and language models have no environment to examine.
        elsewhere = seen.diagnosis.verdict is Verdict.CRASHED or run.is_language_model or is_offline(RunFacts(run))
        if made and made[0].changes and not is_remark and not elsewhere and len(made) < 3:
            lonely.append(seen.name)
    assert lonely == []


def test_no_prescription_treats_a_setting_as_too_high_and_too_low(everything: list[Seen]) -> None:
    pairs = [("too-high", "too-low"), ("too-fast", "too-slow"), ("too-large", "too-small"), ("too-many", "too-few")]
    wrong = []
    for seen, item in advice(everything):
        wrong += [f"{seen.name}: {item.causes}" for high, low in pairs for cause in item.causes
                  if item.changes and cause.replace(high, low) in item.causes and high in cause]  # fmt: skip
    assert wrong == []


def test_no_change_leaves_a_value_that_nobody_trains_with(everything: list[Seen]) -> None:
    wrong = []
    for seen, item in advice(everything):
        facts = RunFacts(seen.diagnosis.run)
        for change in item.changes[:1]:
            before, after = number(change.before), number(change.after)
            if before is None or after is None:
                continue
            direction: Direction = "low" if after > before else "high"
            found = unusual(facts, change.key, after)
            if found is not None and found.beyond(direction) > 0.0:
                wrong.append(f"{seen.name}: {change.key} {before} to {after}")
    assert wrong == []


def test_a_cause_without_findings_quotes_no_metric_as_going_nowhere(everything: list[Seen]) -> None:
    nowhere = re.compile(r"^(?![A-Z]+\d\d ).* went from (\S+) to \1[.;]")
    assert [item.rationale for _, item in advice(everything) if nowhere.search(item.rationale)] == []


def test_every_change_quotes_what_it_rests_on(everything: list[Seen]) -> None:
    wrong = []
    for seen, item in advice(everything):
        logged = {series.logged_as for series in seen.diagnosis.run.series.values()}
        codes = {finding.code for finding in seen.diagnosis.findings}
        # Where nothing is wrong and the goal was missed, numbers of the run's updates speak.
        speeds_up = "missed with the whole budget, and" in item.rationale
        if item.changes and not speeds_up and not any(name in item.rationale for name in logged | codes):
            wrong.append(f"{seen.name}: {item.rationale}")
    assert wrong == []


@pytest.mark.parametrize("name", sorted(Path(case["path"]).name for case in FAULTS))
def test_one_goal_leads_to_one_advice_whoever_names_it(name: str) -> None:
    run = replace(read(RUNS / "faults" / name), threshold=None)
    facts = RunFacts(run)
    goal = goal_of(facts)
    if goal is None:
        return
    told = [diagnose(run, goal=goal.level), diagnose(replace(run, threshold=goal.level))]
    if is_due(facts, goal):
        told.append(diagnose(run))
    assert len({tuple(item.instruction for item in one.prescriptions) for one in told}) == 1

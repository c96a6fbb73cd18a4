"""From recorded runs to labels, replays and numbers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bench.calibrate.estimate import estimate
from bench.calibrate.evidence import Evidence
from bench.calibrate.left_out import BY_HAND, SHARP, TRUSTS, compared, sharpest
from bench.calibrate.table import differences, rewritten
from bench.faults import measures, shards
from bench.faults.bases import bases
from bench.faults.examine import PARTS, Answer, Row
from bench.faults.examine import rows as examined
from bench.faults.labels import Label, labels
from bench.faults.onset import onsets
from bench.faults.page import page, results
from bench.faults.plan import Entry, Instance, entries
from bench.faults.replay import ALWAYS, cut, replay, visible_columns
from bench.faults.split import sides
from bench.peers.compare import peers, rows_for
from bench.peers.thresholds import thresholds

from rlclinic.causes.catalogue import catalogue
from rlclinic.causes.weights import CauseWeights, weights
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.diagnosis import Verdict
from rlclinic.model.run import Run
from rlclinic.model.vocabulary import METRICS

BASE = "cartpole-ppo"
ROWS = 40
RIGHT = "learning-rate-too-low"


def _record(name: str, final: float, **changes: Any) -> shards.Record:
    base = bases()[BASE]
    steps = [600 * (at + 1) for at in range(ROWS)]
    returns = np.linspace(20.0, final, ROWS)
    columns = {
        "time": ",".join(f"{at}.5" for at in range(ROWS)),
        "total_timesteps": ",".join(str(step // 8) for step in steps),
        "epoch": ",".join(map(str, range(ROWS))),
        "train/cnt/total_env_steps": ",".join(map(str, steps)),
        "train/roll/ep_rew/mean": ",".join(f"{value:.6g}" for value in returns),
        "train/opt/policy/entropy": ",".join(f"{value:.6g}" for value in np.linspace(0.69, 0.4, ROWS)),
    }
    curve = [[(at + 1) / 20, final] for at in range(20)]
    values: dict[str, Any] = {
        "name": name,
        "key": "",
        "recipe": {**base.recipe(0).to_config(), "env_wrappers": []},
        "edits": (),
        "versions": {},
        "seconds": 1.0,
        "truth": {"evaluation": curve, "training": curve, "frames": 24000},
        "status": {"state": "finished", "reason": "the budget is used", "started": 5.0, "ended": 9.0, "seconds": 4.0},
        "log": "",
        "columns": columns,
    }
    return shards.Record(**{**values, **changes})


def _seeds(instance: Instance, finals: list[float]) -> list[shards.Record]:
    return [_record(Entry(instance, seed).name, value) for seed, value in enumerate(finals)]


CLEAN = Instance("clean", BASE)
FAULTY, OTHER = [
    entry.instance
    for entry in entries().values()
    if entry.seed == 0 and entry.instance.kind == "fault" and entry.instance.base == BASE
    if entry.instance.layout == "lab" and entry.instance.judged_on == "evaluation"
    if entry.instance.accepted.isdisjoint({"nothing-wrong"})
][:2]


def test_a_record_survives_its_shard_and_a_torn_tail_is_cut(tmp_path: Path) -> None:
    first, second = _record("one", 100.0), _record("two", 50.0)
    path = shards.append(shards.encode(first), tmp_path)
    with open(path, "ab") as file:
        file.write(shards.encode(second)[:40])
    assert [record.name for record in shards.records(tmp_path)] == ["one"]
    shards.append(shards.encode(second), tmp_path)
    assert list(shards.records(tmp_path)) == [first, second]


def test_the_last_record_of_a_name_counts(tmp_path: Path) -> None:
    for final in (100.0, 70.0):
        shards.append(shards.encode(_record("one", final)), tmp_path)
    assert [record.truth["evaluation"][0][1] for record in shards.latest(tmp_path)] == [70.0]


@pytest.mark.parametrize(("text", "kept"), [("0.123456789", "0.123457"), ("24064", "24064"), ("", ""), ("nan", "nan")])
def test_cells_keep_six_digits_and_whole_counters(text: str, kept: str) -> None:
    assert shards.cell(text) == kept


@pytest.mark.parametrize(
    ("finals", "label"),
    [
        ([30.0, 35.0, 28.0, 40.0], "fault"),
        ([498.0, 499.0, 497.0, 500.0], "benign"),
        ([450.0, 430.0, 460.0, 440.0], "edge"),
    ],
)
def test_the_lost_share_decides_what_an_instance_is(finals: list[float], label: str) -> None:
    records = [*_seeds(CLEAN, [500.0, 498.0, 499.0, 500.0]), *_seeds(FAULTY, finals)]
    found = labels(records)[FAULTY.name]
    assert found.label == label
    assert ("nothing-wrong" in found.accepted) == (label == "benign")


def test_an_instance_without_its_seeds_has_no_label_yet() -> None:
    records = [*_seeds(CLEAN, [500.0, 498.0, 499.0, 500.0]), *_seeds(FAULTY, [30.0, 31.0])]
    assert labels(records)[FAULTY.name].label == "unfinished"


def test_instances_with_the_same_numbers_count_once_and_share_their_causes() -> None:
    finals = [30.0, 35.0, 28.0, 40.0]
    found = labels([*_seeds(CLEAN, [500.0, 498.0, 499.0, 500.0]), *_seeds(FAULTY, finals), *_seeds(OTHER, finals)])
    assert OTHER.name not in found
    assert found[FAULTY.name].merged == (OTHER.name,)
    assert found[FAULTY.name].accepted == FAULTY.accepted | OTHER.accepted


def test_a_replayed_run_reads_as_it_was_with_and_without_its_config(tmp_path: Path) -> None:
    record = _record(Entry(CLEAN, 0).name, 480.0)
    whole, bare = replay(record, CLEAN, tmp_path), replay(record, CLEAN, tmp_path, config=False)
    assert whole.algorithm == "PPO"
    assert whole.config.number("learning_rate") == record.recipe["learning_rate"]
    assert bare.config.number("learning_rate") is None
    assert bare["return/train"].last == pytest.approx(480.0)
    half = cut(whole, 0.5)
    assert half["return/train"].last_step == pytest.approx(0.5 * whole.steps, abs=600)
    assert half.status.state.value == "running"


def test_a_logger_leaves_out_what_its_profile_says_and_never_the_steps() -> None:
    names = dict.fromkeys((*ALWAYS, "train/roll/ep_rew/mean", "train/opt/grads/norm/all", "val/roll/ep_rew/mean"), "")
    by_profile = {entry.instance.profile: entry.instance for entry in entries().values()}
    assert set(by_profile) >= {"full", "sb3", "random", "no-evaluation", "returns"}
    for profile, instance in by_profile.items():
        kept = visible_columns(names, instance)
        assert set(ALWAYS) <= set(kept)
        if profile in ("sb3", "returns"):
            assert "train/opt/grads/norm/all" not in kept
        if profile == "no-evaluation":
            assert "val/roll/ep_rew/mean" not in kept


def _row(cause: str, confidence: float, base: str = BASE) -> Row:
    answer = Answer("learning", ((cause, "policy-frozen", confidence),), alarm=cause == RIGHT, checked=True)
    entry = Entry(Instance("fault", base, (("E2", "gross"),)), 0)
    accepted = frozenset({RIGHT})
    return Row(entry, "fault", accepted, "test", False, answer, answer, {0.4: answer}, "", 0.1)


def test_calibration_error_is_the_gap_between_confidence_and_truth() -> None:
    rows = [_row(RIGHT, 0.85), _row(RIGHT, 0.85), _row("unknown", 0.85), _row("unknown", 0.85)]
    table, error = measures.reliability(rows, measures.with_config)
    assert error == pytest.approx(0.35)
    assert table == [(0.8, pytest.approx(0.85), 0.5, 4)]


def test_an_interval_resamples_environments() -> None:
    one = measures.share([_row(RIGHT, 0.9)] * 5 + [_row("unknown", 0.9)] * 5, measures.top(1, measures.with_config))
    two = measures.share(
        [_row(RIGHT, 0.9)] * 5 + [_row("unknown", 0.9, "room-dqn")] * 5, measures.top(1, measures.with_config)
    )
    assert (one.value, one.low, one.high) == (0.5, 0.5, 0.5)
    assert (two.value, two.low, two.high) == (0.5, 0.0, 1.0)


def test_delay_counts_from_the_onset_and_never_counts_to_the_end() -> None:
    name = _row(RIGHT, 0.9).entry.instance.name
    assert measures.delay(_row(RIGHT, 0.9), {name: 0.1}) == pytest.approx(0.3)
    assert measures.delay(_row("unknown", 0.9), {name: 0.1}) == pytest.approx(0.9)


def _evidence(cause: str, fired: set[str], count: int) -> list[Evidence]:
    return [Evidence("e", cause, f"{cause}{at}", 1.0, frozenset(fired), frozenset()) for at in range(count)]


def test_a_finding_that_always_comes_with_a_cause_gains_weight_and_one_that_never_does_loses_it() -> None:
    table = {"learning-rate-too-low": CauseWeights(0.05, {"kl-too-large": 1.0}), "discount-too-low": CauseWeights(0.02)}
    seen = [
        *_evidence("learning-rate-too-low", {"kl-vanishes"}, 20),
        *_evidence("discount-too-low", {"kl-too-large"}, 20),
    ]
    found = estimate(table, seen)["learning-rate-too-low"]
    assert found.instances == 20
    assert found.row.weights["kl-vanishes"] > 0.5
    assert found.row.weights["kl-too-large"] < 0
    assert found.row.expects["kl-vanishes"] > 0.5
    assert found.row.prior == 0.05


def test_few_instances_hardly_move_a_value_set_by_hand() -> None:
    table = {"learning-rate-too-low": CauseWeights(0.05, {"kl-vanishes": 2.0}), "discount-too-low": CauseWeights(0.02)}
    seen = [*_evidence("learning-rate-too-low", set(), 1), *_evidence("discount-too-low", set(), 1)]
    assert estimate(table, seen)["learning-rate-too-low"].row.weights["kl-vanishes"] > 1.0
    assert estimate(table, seen[1:])["learning-rate-too-low"].row == table["learning-rate-too-low"]


def test_the_written_table_says_which_rows_rest_on_counts_and_reads_back(tmp_path: Path) -> None:
    from importlib.resources import files
    from tomllib import loads

    text = files("rlclinic.causes").joinpath("weights.toml").read_text(encoding="utf-8")
    seen = [
        *_evidence("learning-rate-too-low", {"kl-vanishes"}, 3),
        *_evidence("network-too-small", {"never-improved"}, 3),
    ]
    found = estimate(weights().causes, seen)
    written = rewritten(text, found)
    assert rewritten(written, found) == written
    for cause, entry in found.items():
        raw = loads(written)["cause"][cause]
        assert raw.get("for", {}) == dict(entry.row.weights)
        assert raw.get("expects", {}) == dict(entry.row.expects)
    assert "# estimated from 3 instances" in written
    assert any(
        line.startswith("network-too-small for never-improved: 0 ->") for line in differences(weights().causes, found)
    )


def test_the_guides_thresholds_fire_as_they_are_written() -> None:
    rows = [{"step": 1.0, "clip_fraction": 0.0, "explained_variance": 0.5, "entropy": 0.005}] * 10
    assert thresholds(rows) == (["entropy-collapsed", "clip-fraction-zero"], 4)
    assert thresholds([{"step": 1.0, "clip_fraction": float("nan")}])[0] == ["not-a-number"]


def test_peers_are_asked_with_names_and_classes_that_exist(tmp_path: Path) -> None:
    known = {metric.name for metric in METRICS}
    classes = {entry.cause_class for entry in catalogue().values()}
    for peer in peers().values():
        names = {name for wanted in peer["metrics"].values() for name in wanted}
        assert {name for name in names if not name.startswith("grad_norm/")} <= known
        assert {name for family in peer["families"].values() for name in family} <= classes
    run = replay(_record(Entry(CLEAN, 0).name, 480.0), CLEAN, tmp_path)
    rows = rows_for("rlwatch", run)
    assert len(rows) == ROWS
    assert rows[-1]["reward_mean"] == pytest.approx(480.0)
    assert rows[0]["entropy"] == pytest.approx(0.69)


def test_the_page_tells_goals_numbers_and_that_runs_are_missing() -> None:
    rows = [_row(RIGHT, 0.9), _row("unknown", 0.6, "room-dqn")]
    records = [*_seeds(CLEAN, [500.0, 498.0, 499.0, 500.0]), *_seeds(FAULTY, [30.0, 35.0, 28.0, 40.0])]
    text = page(rows, labels(records), onsets(records), {}, "## Peers")
    assert "| right cause first | 0.85 / 0.70 | 0.500 [0.00, 1.00] (2) | 0.500 [0.00, 1.00] (2) |" in text
    assert "The corpus is not complete" in text
    assert "| E2.gross | unknown | 1 |" in text
    assert f"| {FAULTY.name} | fault | 0.9" in text
    assert "## Peers" in text


def test_a_run_is_diagnosed_whole_bare_and_in_parts(tmp_path: Path) -> None:
    tested = next(
        one for one in entries().values() if one.instance.kind == "clean" and sides()[one.instance.name] == "test"
    )
    record = _record(tested.name, 480.0)
    label = Label(tested.instance, "healthy", 0.0, (0.0, 0.0), 4, tested.instance.accepted)
    (row,) = examined([record], {tested.instance.name: label}, workers=1)
    assert row.side == "test"
    assert set(row.parts) == set(PARTS)
    assert row.with_config.leading in row.accepted
    assert not row.with_config.alarm


def test_the_interval_of_a_number_that_is_no_mean_comes_from_environments_too() -> None:
    rows = [_row(RIGHT, 0.9), _row(RIGHT, 0.9), _row("unknown", 0.6, "room-dqn")]
    found = measures.spread(rows, lambda some: float(np.median([row.with_config.confidence for row in some])))
    assert (found.value, found.low, found.high, found.runs) == (0.9, 0.6, 0.9, 3)
    assert measures.spread([], lambda some: 1 / len(some)).runs == 0


def test_the_calibration_part_is_told_without_the_test_part() -> None:
    rows = [replace(_row(RIGHT, 0.9), side="calibration", parts={}), _row("unknown", 0.6, "room-dqn")]
    text = "\n".join(results(rows, "calibration", {}))
    assert "## Calibration part, groups C to G" in text
    assert "| right cause first | 0.85 / 0.70 | 1.000 [1.00, 1.00] (1) |" in text
    assert "delay" not in text
    assert "room-dqn" not in text


def test_a_table_is_tried_on_environments_that_it_was_not_estimated_from() -> None:
    """Every degree of trust is tried, the one kept has no more false alarms than the values set by hand."""
    run = Run("run", "run", algorithm="PPO")
    asked = ((RunFacts(run), Verdict.LEARNING, (), frozenset[str]()), {})
    healthy = [
        Evidence(place, "nothing-wrong", f"clean@{place}{at}", 1.0, frozenset({"verdict:learning"}), frozenset(),
                 frozenset({"nothing-wrong"}), asked, asked)
        for place in ("here", "there") for at in range(3)
    ]  # fmt: skip
    died = ((RunFacts(run), Verdict.NOT_LEARNING, (), frozenset[str]()), {})
    faulty = [
        Evidence(place, RIGHT, f"slow@{place}", 1.0, frozenset({"verdict:not-learning"}), frozenset(),
                 frozenset({RIGHT}), died, None)
        for place in ("here", "there")
    ]  # fmt: skip
    results = compared(weights().causes, [*healthy, *faulty])
    assert {one.trust for one in results} == set(TRUSTS)
    by_hand = next(one for one in results if one.trust == BY_HAND)
    assert by_hand.false_alarms == 0.0
    assert results[0].false_alarms <= by_hand.false_alarms
    assert results[0].first >= by_hand.first
    fitted, errors = sharpest(weights().causes, [*healthy, *faulty])
    assert {fitted.with_config, fitted.without_config} <= set(SHARP)
    assert all(0.0 <= error <= 1.0 for error in errors.values())

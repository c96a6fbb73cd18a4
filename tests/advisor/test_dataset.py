"""A data set is judged by what it holds: whose behaviour, how good, what is missing, which algorithm fits."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from rlclinic.advisor.advise import advice_on, advise
from rlclinic.advisor.dataset import support, with_dataset
from rlclinic.advisor.measurements.dataset import return_measurement, row_measurements
from rlclinic.advisor.measurements.neighbours import Neighbours
from rlclinic.advisor.measurements.stitching import stitching_gain
from rlclinic.advisor.problem import Problem, problem_of
from rlclinic.apps.cli.main import app
from rlclinic.model.errors import RunReadError
from rlclinic.model.transitions import Transitions
from rlclinic.readers.transitions.columns import transitions_of
from tests.advisor.sets import POLICIES, columns, made


def _measured(steps: Transitions, environment: str = "", **told: object) -> tuple[Problem, dict[str, Any]]:
    found = with_dataset(problem_of(told, environment=environment), steps)
    return found, {item.id: item for item in found.measurements}


@pytest.mark.parametrize("environment", ["CartPole-v1", "Pendulum-v1", "Acrobot-v1"])
def test_quality_separates_random_medium_expert_and_mixed_sets(environment: str) -> None:
    kinds = ("random", "medium", "mixed", "expert")
    found = {kind: _measured(made(environment, kind), environment)[1] for kind in kinds}
    assert [item["behaviour"].reading.partition(":")[0] for item in found.values()] == list(kinds)
    quality = {kind: item["quality"].value for kind, item in found.items()}
    assert quality["random"] < 0.1
    assert 0.3 < quality["medium"] < 0.9
    assert 0.3 < quality["mixed"] < 0.7
    assert quality["expert"] > 0.9
    assert all(item["quality"].low <= item["quality"].value <= item["quality"].high for item in found.values())
    randomness = {kind: item["entropy"].value for kind, item in found.items()}
    assert randomness["expert"] < 0.35 < randomness["medium"] < 0.85 < randomness["random"]


def test_without_returns_to_compare_with_quality_is_asked_for_and_can_be_told() -> None:
    steps = made("Pendulum-v1", "expert")
    problem, found = _measured(steps)
    assert found["quality"].value is None
    assert "consistent" in found["behaviour"].reading
    assert "data.random_return" in found["quality"].reading
    assert problem["data.quality"] is None
    _, told = _measured(steps, **{"data.random_return": -1200, "data.best_return": -150})
    assert told["quality"].value > 0.9


def _walks(*paths: list[float]) -> Transitions:
    """Walks along a line; arriving at 10 pays and ends."""
    rows = [
        (path[at], path[at + 1] - path[at], float(path[at + 1] >= 10), path[at + 1], path[at + 1] >= 10, number)
        for number, path in enumerate(paths)
        for at in range(len(path) - 1)
    ]
    names = ("observations", "actions", "rewards", "next_observations", "terminated", "episodes")
    return transitions_of({name: np.array(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)})


def test_pieces_that_join_have_a_stitching_gain_and_pieces_apart_have_none() -> None:
    there, on = [float(at) for at in range(6)], [float(at) for at in range(5, 11)]
    joining = stitching_gain(_walks(there, there, there, on, on, on))
    apart = stitching_gain(_walks(there[:4], there[:4], there[:4], on, on, on))
    whole = stitching_gain(_walks(there + on[1:], there + on[1:], there, on))
    assert joining is not None
    assert joining > 0.3
    assert apart == pytest.approx(0.0)
    assert whole is not None
    assert whole < joining


def test_stitching_leads_to_learning_values_and_not_to_a_decision_transformer() -> None:
    there, on = [float(at) for at in range(6)], [float(at) for at in range(5, 11)]
    problem, _ = _measured(_walks(*[there] * 10, *[on] * 10))
    found = advice_on(problem, "offline")
    assert "C07" in {rule.id for rule in found.rules}
    assert found.options[0].id == "offline-rl"
    assert "decision-transformer" not in {item.id for item in found.algorithms}


def test_a_time_limit_that_passes_for_an_end_is_told() -> None:
    rows = columns("Pendulum-v1", *POLICIES["Pendulum-v1", "random"])
    right, _ = _measured(transitions_of(rows))
    assert right["data.ends_marked"] is True
    wrong, found = _measured(transitions_of({**rows, "terminals": rows["timeouts"], "timeouts": rows["terminals"]}))
    assert wrong["env.time_limit_terminal"] is True
    assert wrong["data.ends_marked"] is False
    assert "passes for one" in found["ends"].reading


def test_repeats_gaps_saturation_and_missing_last_observations_are_counted() -> None:
    rows = columns("Pendulum-v1", *POLICIES["Pendulum-v1", "random"])

    def counted(columns: dict[str, Any]) -> dict[str, float | None]:
        return {item.id: item.value for item in row_measurements(transitions_of(columns))}

    clean = counted(rows)
    assert [clean[name] for name in ("repeats", "gaps", "missing-next")] == [0.0, 0.0, 0.0]
    twice = {name: np.concatenate([values, values]) for name, values in rows.items()}
    assert counted(twice)["repeats"] == pytest.approx(0.5)
    without = {name: values for name, values in rows.items() if name != "next_observations"}
    assert counted(without)["missing-next"] == pytest.approx(1.0)
    torn = {**rows, "observations": rows["observations"].copy()}
    torn["observations"][::2] += 0.1
    assert counted(torn)["gaps"] == pytest.approx(0.5, abs=0.05)
    hard = {**rows, "actions": np.clip(4.0 * rows["actions"], -2.0, 2.0)}
    assert (counted(hard)["actions"] or 0.0) > 0.6 > 0.1 > (clean["actions"] or 0.0)


@pytest.mark.parametrize("kind", ["npz", "d4rl", "minari", "parquet"])
def test_every_format_gives_the_same_answer(kind: str, tmp_path: Path) -> None:
    rows = columns("CartPole-v1", *POLICIES["CartPole-v1", "mixed"])
    path = _written(rows, kind, tmp_path)
    found = advise("offline", environment="CartPole-v1", dataset=path)
    measured = {item.id: item.value for item in found.measurements}
    assert measured["returns"] == pytest.approx(rows["rewards"].sum() / 20)
    assert 0.3 < (measured["quality"] or 0.0) < 0.7
    assert measured["missing-next"] == 0.0
    assert any(step.startswith("rlclinic offline ") and "--env CartPole-v1" in step for step in found.next_steps)


def _written(rows: dict[str, Any], kind: str, folder: Path) -> Path:
    if kind == "npz":
        np.savez(folder / "set.npz", **rows)
        return folder / "set.npz"
    if kind == "parquet":
        pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        flat = {name: list(values) if values.ndim > 1 else values for name, values in rows.items()}
        parquet.write_table(pyarrow.table(flat), folder / "set.parquet")
        return folder / "set.parquet"
    h5py = pytest.importorskip("h5py")
    if kind == "d4rl":
        with h5py.File(folder / "set.hdf5", "w") as file:
            for name, values in rows.items():
                file[name] = values
        return folder / "set.hdf5"
    (folder / "data").mkdir()
    over = np.flatnonzero(rows["terminals"] | rows["timeouts"]) + 1
    with h5py.File(folder / "data" / "main_data.hdf5", "w") as file:
        for number, part in enumerate(np.split(np.arange(over[-1]), over[:-1])):
            group = file.create_group(f"episode_{number}")
            group["observations"] = np.concatenate([rows["observations"][part], rows["next_observations"][part[-1:]]])
            for ours, theirs in (
                ("actions", "actions"),
                ("rewards", "rewards"),
                ("terminals", "terminations"),
                ("timeouts", "truncations"),
            ):
                group[theirs] = rows[ours][part]
    return folder


def test_discrete_actions_rule_out_algorithms_for_amounts() -> None:
    problem, _ = _measured(made("CartPole-v1", "mixed"), "CartPole-v1")
    names = [item.id for item in advice_on(problem, "offline").algorithms]
    # `rlclinic offline` has IQL for amounts alone.
    assert names[0] == "cql"
    assert not {"td3-bc", "rebrac"} & set(names)


def test_the_answer_cites_how_to_choose_settings_offline() -> None:
    problem, _ = _measured(made("Pendulum-v1", "mixed"))
    fired = {rule.id for rule in advice_on(problem, "offline").rules}
    assert {"C22", "C34"} <= fired


def swing(observation: Any) -> Any:
    """A policy that a user might name."""
    return POLICIES["Pendulum-v1", "expert"][0](observation, np.random.default_rng(0), 0)


def test_the_distance_to_a_policy_is_small_for_its_own_data_and_large_for_another() -> None:
    steps = made("Pendulum-v1", "expert")
    own = support(steps, "tests.advisor.test_dataset:swing")
    assert own.value is not None
    assert own.value < 0.1
    near = Neighbours(steps)
    assert near.outside(np.full((len(near.queries), 1), 2.0)) > 0.5


def test_the_page_has_pictures_and_the_command_takes_a_path(tmp_path: Path) -> None:
    path = _written(columns("CartPole-v1", *POLICIES["CartPole-v1", "expert"]), "npz", tmp_path)
    page = tmp_path / "page.html"
    done = CliRunner().invoke(
        app, ["advise", "--dataset", str(path), "--env", "CartPole-v1", "--output-format", "html", "-o", str(page)]
    )
    assert done.exit_code == 0, done.output
    text = page.read_text(encoding="utf-8")
    assert text.count("<svg") > 3
    assert "Behaviour cloning" in text


def test_what_holds_no_transitions_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "set.npz", weights=np.zeros(3))
    with pytest.raises(RunReadError, match="holds no transitions"):
        advise("offline", dataset=tmp_path / "set.npz")


def test_steps_that_are_not_finite_are_counted_and_left_out() -> None:
    told = {name: values.copy() for name, values in columns("CartPole-v1", *POLICIES["CartPole-v1", "expert"]).items()}
    told["rewards"][5], told["observations"][7] = np.nan, np.inf
    found = with_dataset(problem_of({}, environment="CartPole-v1"), transitions_of(told))
    assert next(item for item in found.measurements if item.id == "not-finite").value == pytest.approx(
        2 / len(told["rewards"])
    )
    assert found.number("data.n_transitions") == len(told["rewards"]) - 2


def test_demonstrations_without_rewards_are_for_cloning(tmp_path: Path) -> None:
    told = columns("CartPole-v1", *POLICIES["CartPole-v1", "expert"])
    np.savez(tmp_path / "set.npz", **{name: values for name, values in told.items() if name != "rewards"})
    found = advise("offline", environment="CartPole-v1", dataset=tmp_path / "set.npz")
    assert found.options[0].id == "behaviour-cloning"
    assert not found.algorithms
    assert "none has a reward" in next(item for item in found.measurements if item.id == "returns").reading


def test_a_reward_that_is_no_number_makes_no_second_group() -> None:
    steps = _walks(*[[float(at % 5) for at in range(501)] for _ in range(12)])
    rewards = np.ones(len(steps))
    rewards[[3, 600]] = np.nan
    _, found = _measured(replace(steps, rewards=rewards))
    assert "two groups" not in found["behaviour"].reading + found["returns"].reading
    assert found["not-finite"].value == pytest.approx(2 / len(steps))


def test_no_algorithm_is_taken_for_the_best_where_cloning_is_advised() -> None:
    known = {"env.available": False, "data.n_transitions": 6_000, "data.has_rewards": True, "data.coverage": 0.7}
    advice = advice_on(problem_of({**known, "task.action": "discrete"}), "offline")
    assert advice.options[0].id == "behaviour-cloning"
    assert advice.algorithms
    assert "run.algo" not in {fact.key for fact in advice.facts}


def test_returns_that_differ_by_rounding_are_one_bar() -> None:
    returns = np.append(np.full(11, 500.0), np.nextafter(500.0, 501.0))
    assert max(count for _, count in return_measurement(returns, np.full(12, 500)).bars) == 12

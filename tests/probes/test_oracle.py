"""The oracle against numbers that were derived independently."""

from __future__ import annotations

import pytest

from rlclinic.probes.estimator_faults import FAULTS
from rlclinic.probes.ladder import (
    p01_constant_value,
    p03_discount,
    p04_lambda_fingerprint,
    p08_truncation_twin,
    p09_autoreset,
    p15_replay,
)
from rlclinic.probes.oracle import Estimator, exact_values, fixed_point
from rlclinic.probes.soft import bandit_temperature, largest_tanh_entropy

P1, P3, P4, P8 = (
    module.WORLD for module in (p01_constant_value, p03_discount, p04_lambda_fingerprint, p08_truncation_twin)
)
P9A, P15 = p09_autoreset.STAY, p15_replay.WORLD


@pytest.mark.parametrize(
    ("world", "expected"),
    [(P1, [1.0]), (P3, [0.7, 1.0]), (P8, [3.333, 1.0]), (P9A, [2.333, 3.333, 3.333])],
)
def test_values_of_right_targets_are_those_on_paper(world: object, expected: list[float]) -> None:
    assert list(exact_values(world, 0.7).values()) == pytest.approx(expected, abs=1e-3)  # type: ignore[arg-type]


def test_the_replay_chain_discounts_seven_steps() -> None:
    values = exact_values(P15, 0.7)
    assert (values["6"], values["4"], values["0"]) == pytest.approx((1.0, 2.19, 3.0588), abs=1e-4)


@pytest.mark.parametrize(
    ("fault", "at_09_03", "at_07_04"),
    [
        (None, 0.5378, 0.3728), ("lambda-zero", 0.769, 0.5263), ("monte-carlo", 0.048, 0.1275),
        ("lambda-not-forwarded", 0.072, 0.1455), ("gamma-lambda-swapped", 0.238, 0.2586),
        ("one-minus-lambda", 0.220, 0.2864), ("gae-forward", 1.027, 0.6614), ("gamma-missing-in-trace", 0.510, 0.2987),
    ],
)  # fmt: skip
def test_the_lambda_fingerprint_matches_published_fixed_points(
    fault: str | None, at_09_03: float, at_07_04: float
) -> None:
    chosen = FAULTS[fault] if fault else None
    assert fixed_point(P4, Estimator(0.9, 0.3), chosen)[0] == pytest.approx(at_09_03, abs=1e-3)
    assert fixed_point(P4, Estimator(0.7, 0.4), chosen)[0] == pytest.approx(at_07_04, abs=1e-4)


@pytest.mark.parametrize(("n", "expected"), [(1, 0.769), (2, 0.420), (3, 0.058), (4, 0.048)])
def test_n_step_targets_have_their_own_fingerprint(n: int, expected: float) -> None:
    assert fixed_point(P4, Estimator(0.9, n_step=n))[0] == pytest.approx(expected, abs=1e-3)


# Readings for one-step targets, gamma 0.7, rollouts of 8 (P9a: two environments; chain: 16): P1, P3, P8, P9a, chain.
KILL_MATRIX = {
    "done-ignored": ([3.33], [2.33, 3.33], [3.33, 3.33], [2.33, 3.33], (3.33, 3.33)),
    "done-ignored-reset-observation": ([3.33], [1.37, 1.96], [3.33, 3.33], [1.73, 2.47], (3.33, 3.33)),
    "broadcast-value-loss": ([1.0], [0.77, 0.77], [1.54, 1.54], [2.22, 2.22], (2.50, 2.50)),
    "observation-shifted": ([1.0], [1.0, 0.0], [1.54, 1.54], [2.17, 1.67], (3.06, 2.53)),
    "reward-one-step-late": ([0.88], [0.75, 0.0], [2.91, 0.88], [1.90, 1.46], (2.87, 0.94)),
    "gamma-squared": ([1.0], [0.49, 1.0], [1.96, 1.0], [0.96, 1.96], (1.95, 1.0)),
    "one-minus-gamma": ([1.0], [0.30, 1.0], [1.43, 1.0], [0.43, 1.43], (1.43, 1.0)),
    "done-one-step-late": ([1.10], [0.58, 3.33], [1.65, 1.65], [2.33, 3.33], (1.15, 3.33)),
    "self-bootstrap": ([1.0], [0.0, 1.0], [3.33, 1.0], [0.0, 3.33], (3.33, 1.0)),
    "rollout-end-terminal": ([1.0], [0.70, 1.0], [3.33, 1.0], [1.78, 2.91], (2.76, 1.0)),
    "truncation-as-termination": ([1.0], [0.70, 1.0], [1.0, 1.0], [1.08, 1.54], (3.06, 1.0)),
    "flags-swapped": ([3.33], [2.33, 3.33], [1.0, 3.33], [1.08, 1.54], (3.33, 3.33)),
    "reset-observation-bootstrap": ([1.0], [0.70, 1.0], [2.08, 1.0], [1.73, 2.47], (3.06, 1.0)),
    "fake-autoreset-row": ([0.77], [0.46, 0.66], [1.38, 0.90], [1.26, 1.80], (3.13, 1.60)),
    "flattened-before-gae": ([1.0], [0.70, 1.0], [3.33, 1.0], [2.33, 3.33], (3.06, 1.0)),
}


@pytest.mark.parametrize("fault", sorted(KILL_MATRIX))
def test_a_faults_readings_are_those_of_the_kill_matrix(fault: str) -> None:
    p1, p3, p8, p9a, chain = KILL_MATRIX[fault]
    for world, expected, geometry in ((P1, p1, (8, 1)), (P3, p3, (8, 1)), (P8, p8, (8, 1)), (P9A, p9a, (8, 2))):
        found = fixed_point(world, Estimator(0.7, 0.0, *geometry), FAULTS[fault])
        # Streams with chance in them are a sample of 24,000 steps.
        assert found == pytest.approx(expected, abs=0.03), fault
    ends = fixed_point(P15, Estimator(0.7, 0.0, 16, 1), FAULTS[fault])[[0, 6]]
    assert ends == pytest.approx(chain, abs=0.01)


def test_an_end_at_the_time_limit_is_an_end() -> None:
    world = p08_truncation_twin.BOTH
    assert exact_values(world, 0.7) == pytest.approx({"B": 0.7, "A": 1.0})
    geometry = Estimator(0.7, 0.4, 8)
    assert fixed_point(world, geometry) == pytest.approx([0.7, 1.0])
    lost = fixed_point(world, geometry, FAULTS["termination-lost-at-limit"])
    assert lost == pytest.approx([0.7 / 0.3, 1 / 0.3])


@pytest.mark.parametrize(
    ("fault", "first", "last"),
    [("reward-discounted", 0.49, 0.7), ("reward-scale-leaks", 0.07, 0.1), ("bootstrap-undiscounted", 0.999, 1.0),
     ("bootstrap-discounted-twice", 0.49, 1.0), ("advantage-for-return", 0.175, 0.5)],
)  # fmt: skip
def test_faults_of_rewards_and_targets_on_the_discount_chain(fault: str, first: float, last: float) -> None:
    # One-step targets: where an advantage stands for the return, V = (reward + gamma V') / 2.
    assert fixed_point(P3, Estimator(0.7, 0.0, 8), FAULTS[fault]) == pytest.approx([first, last], abs=1e-6)


def test_a_replay_with_one_step_targets_has_the_fixed_points_of_lambda_0() -> None:
    for fault in ("done-ignored", "self-bootstrap", "truncation-as-termination"):
        for world in (P3, P8, P9A):
            replayed = fixed_point(world, Estimator(0.7, rollout=2400, n_step=1), FAULTS[fault])
            assert replayed == pytest.approx(fixed_point(world, Estimator(0.7, 0.0, 2400), FAULTS[fault]))


def test_a_fault_keeps_the_window_of_n_step_targets() -> None:
    # Time limits do not occur in this chain, so treating them as ends changes nothing; one-step targets do.
    geometry = Estimator(0.9, rollout=2400, n_step=3)
    right = fixed_point(P4, geometry)
    assert fixed_point(P4, geometry, FAULTS["truncation-as-termination"]) == pytest.approx(right)
    assert fixed_point(P4, geometry, FAULTS["lambda-zero"])[0] == pytest.approx(0.769, abs=1e-3)


def test_maximum_entropy_closed_forms() -> None:
    assert largest_tanh_entropy() == pytest.approx((0.68364, 0.8744), abs=1e-4)
    assert bandit_temperature(0.5) == pytest.approx((0.8003, 0.7204), abs=1e-4)
    assert bandit_temperature(0.3) == pytest.approx((0.9111, 0.4297), abs=1e-4)

"""The reference trainers are right: formulas against arithmetic on paper, and the static contracts of the ladder."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

import torch
from bench.mutants.plant import Planted
from bench.mutants.registry import TRAINERS
from bench.mutants.trainers.off_policy import Replay
from bench.mutants.trainers.spaces import Gaussian, Heads, SquashedGaussian
from bench.mutants.trainers.stepping import Environments, RunningStatistics, Transition

from rlclinic.probes.environment import WorldEnv
from rlclinic.probes.ladder import chosen_probes
from rlclinic.probes.ladder.p08_truncation_twin import WORLD as TWIN
from rlclinic.probes.run import run_probes
from rlclinic.probes.world import chain

GAMMA = 0.7


@pytest.mark.parametrize("trainer", TRAINERS)
def test_a_reference_trainer_honours_every_static_contract(trainer: str) -> None:
    report = run_probes(Planted(trainer), chosen_probes(("S0",)), processes=0)
    assert report.judged
    assert not report.failed
    assert not report.problems


def ring(*steps: tuple[float, bool, bool], rows: int) -> Replay:
    """A ring after one step per entry (reward, terminated, truncated); the observation is the step's number."""
    replay = Replay(rows, 1, 1, 1)
    for number, (reward, terminated, truncated) in enumerate(steps):
        row: list[Any] = [np.array([[float(number)]]), np.array([[number + 1.0]])]
        row += [np.array([float(value)]) for value in (reward, terminated, truncated)]
        replay.add(Transition(*row), np.zeros((1, 1)))
    return replay


def windows(replay: Replay, steps: int) -> dict[int, tuple[float, float, float]]:
    """Observation -> reward, next observation and bootstrap factor of the windows in the ring."""
    found = replay.sample(200, steps, GAMMA, np.random.default_rng(0))
    columns = (found["observations"][:, 0], found["rewards"], found["following"][:, 0], found["bootstrap"])
    return {int(o): (round(float(r), 6), float(f), round(float(b), 6)) for o, r, f, b in zip(*columns, strict=True)}


def test_an_n_step_window_sums_discounted_rewards_and_bootstraps_with_gamma_to_the_n() -> None:
    found = windows(ring((1, False, False), (2, False, False), (4, False, False), (8, False, False), rows=8), 3)
    assert found[0] == (round(1 + 0.7 * 2 + 0.49 * 4, 6), 3.0, round(0.7**3, 6))


def test_a_window_stops_at_a_termination_and_does_not_bootstrap() -> None:
    found = windows(ring((1, False, False), (2, True, False), (4, False, False), rows=8), 3)
    assert found[0] == (round(1 + 0.7 * 2, 6), 2.0, 0.0)


def test_a_window_stops_at_a_truncation_and_bootstraps() -> None:
    found = windows(ring((1, False, False), (2, False, True), (4, False, False), rows=8), 3)
    assert found[0] == (round(1 + 0.7 * 2, 6), 2.0, round(0.7**2, 6))


def test_a_window_stops_at_the_newest_row_of_a_ring_that_wrapped() -> None:
    found = windows(ring(*[(1.0, False, False)] * 6, rows=4), 3)
    assert sorted(found) == [2, 3, 4, 5]
    assert found[5] == (1.0, 6.0, 0.7)
    assert found[4] == (1.7, 6.0, 0.49)


def test_the_successor_of_a_last_step_is_the_final_observation() -> None:
    envs = Environments(lambda: WorldEnv(TWIN, default_seed=0), 1, seed=0, stack=1)
    for _ in range(10):
        step = envs.step([0])
        assert step.following[0, 0] == step.observations[0, 0]
        assert step.truncated[0] == (step.observations[0, 0] == 1.0)


def test_stacked_frames_are_cleared_at_reset() -> None:
    world = chain(((1.0,), 0.0), ((2.0,), 0.0), ((3.0,), 0.0))
    envs = Environments(lambda: WorldEnv(world, default_seed=0), 1, seed=0, stack=2)
    seen = [envs.frames[0].tolist()]
    for _ in range(3):
        envs.step([0])
        seen.append(envs.frames[0].tolist())
    assert seen == [[0.0, 1.0], [1.0, 2.0], [2.0, 3.0], [0.0, 1.0]]


def test_a_squashed_log_probability_is_that_of_torch() -> None:
    space = SquashedGaussian(np.array([-1.0, -1.0]), np.array([1.0, 1.0]))
    outputs, noise = torch.tensor([[0.3, -0.8, -0.5, 0.1]]), torch.tensor([[0.7, -1.1]])
    actions, log_prob = space.reparameterised(outputs, noise)
    base = torch.distributions.Normal(outputs[:, :2], outputs[:, 2:].exp())
    squashed = torch.distributions.TransformedDistribution(base, torch.distributions.TanhTransform())
    assert log_prob.item() == pytest.approx(squashed.log_prob(actions).sum().item(), abs=1e-4)


def test_gaussian_and_categorical_log_probabilities_and_entropies_are_those_of_torch() -> None:
    gaussian = Gaussian(np.array([-1.0, -1.0]), np.array([1.0, 1.0]))
    mean, actions = torch.tensor([[0.2, -0.4]]), torch.tensor([[0.5, 1.5]])
    normal = torch.distributions.Normal(mean, gaussian.log_std.exp())
    assert torch.allclose(gaussian.log_prob(mean, actions), normal.log_prob(actions).sum(-1))
    assert torch.allclose(gaussian.entropy(mean), normal.entropy().sum(-1))
    heads, logits = Heads((2, 3), single=False), torch.tensor([[0.1, -0.3, 1.0, 0.0, 0.5]])
    parts = [torch.distributions.Categorical(logits=part) for part in logits.split([2, 3], dim=-1)]
    chosen = torch.tensor([[1.0, 2.0]])
    assert torch.allclose(
        heads.log_prob(logits, chosen), parts[0].log_prob(chosen[:, 0]) + parts[1].log_prob(chosen[:, 1])
    )
    assert torch.allclose(heads.entropy(logits), parts[0].entropy() + parts[1].entropy())


def test_running_statistics_are_those_of_all_batches_together() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(3.0, 2.0, size=(90, 2))
    statistics = RunningStatistics(2)
    for part in np.split(values, 9):
        statistics.update(part)
    assert statistics.mean == pytest.approx(values.mean(axis=0), abs=1e-6)
    assert statistics.variance == pytest.approx(values.var(axis=0), abs=1e-6)

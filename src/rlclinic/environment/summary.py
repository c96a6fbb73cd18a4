"""What follows from the steps that an examination played: of random actions, of all policies, and of interventions."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np

from rlclinic.environment.chance import set_chance
from rlclinic.environment.clones import Simulator, State
from rlclinic.environment.effects import Effects, Noise
from rlclinic.environment.play import Recorder, now, step
from rlclinic.facts.environment.episodes import episode_facts, success_facts
from rlclinic.facts.environment.observations import observation_facts
from rlclinic.facts.environment.rewards import outlier_rows, reward_facts
from rlclinic.model.environment_facts import (
    NOT_MEASURED,
    EnvironmentFacts,
    EpisodeFacts,
    ObservationFacts,
    RewardFacts,
)
from rlclinic.model.series import FloatArray
from rlclinic.model.transitions import EpisodeTable, Space, Transitions

SEED = 77
OUTLIERS = 6
EARLY = 20
"""Steps of an episode in which a simulation that diverges has not yet."""


def joined(a: Transitions, b: Transitions) -> Transitions:
    def both(name: str) -> Any:
        return np.concatenate([getattr(a, name), getattr(b, name)])

    names = set(a.components) & set(b.components)
    return Transitions(
        a.observation_space, a.action_space, both("observations"), both("actions"), both("rewards"),
        both("next_observations"), both("terminated"), both("truncated"),
        np.concatenate([a.episodes, b.episodes + 100_000_000]), both("times"), both("copies"), both("clock"),
        {name: np.concatenate([a.components[name], b.components[name]]) for name in a.components if name in names},
        {name: np.concatenate([a.distances[name], b.distances[name]]) for name in a.distances if name in b.distances},
    )  # fmt: skip


def of_observation(steps: Transitions, every: Transitions, before: ObservationFacts | None) -> ObservationFacts:
    """What random actions tell; what never changes must not change under any policy."""
    own, all_of = observation_facts(steps), replace(_shape_only(every))
    bad = ~np.isfinite(every.next_observations).all(axis=1) | ~np.isfinite(every.rewards)
    return replace(
        own,
        mean=all_of.mean,
        std=all_of.std,
        ranges=all_of.ranges,
        histograms=all_of.histograms,
        constant=all_of.constant,
        zero=all_of.zero,
        not_finite=int(bad.sum()),
        outside=_outside(every),
        growth=_growth(every),
        noise_share=before.noise_share if before else NOT_MEASURED,
    )


def of_reward(steps: Transitions, every: Transitions, table: EpisodeTable) -> RewardFacts:
    own, all_of = reward_facts(steps, table), reward_facts(every, table)
    return replace(
        all_of,
        signal_to_noise=own.signal_to_noise,
        largest_correlation=own.largest_correlation,
        outliers=own.outliers,
        outlier_size=own.outlier_size,
        explained=own.explained,
        lag=own.lag,
        explained_at_lag=own.explained_at_lag,
        first_zero=own.first_zero,
        first_spread=own.first_spread,
        by_last=own.by_last,
        pay_of_action=own.pay_of_action,
        pay_by_itself=own.pay_by_itself,
    )


def of_episodes(
    env: Any, steps: Transitions, table: EpisodeTable, record: Recorder, simple: Recorder, limit: int | None
) -> EpisodeFacts:
    if getattr(env, "spec", None) is not None:
        limit = getattr(env.spec, "max_episode_steps", None) or limit
    own = episode_facts(steps, table, limit=limit, unended=record.unended)
    if not simple.episodes:
        return own
    both = Recorder(record.observation_space, record.action_space, record.see, record.do)
    both.episodes = [*record.episodes, *simple.episodes]
    every = episode_facts(steps, both.table(), limit=limit, unended=max(record.unended, simple.unended))
    rate, pays, chance = success_facts([*record.successes, *simple.successes])
    return replace(
        every,
        success_rate=rate,
        success_pays=pays,
        success_chance=chance,
        mean_length=own.mean_length,
        return_mean=own.return_mean,
        return_std=own.return_std,
        discounted=own.discounted,
        length_correlation=own.length_correlation,
        restarts=own.restarts,
    )


def authority_of(
    record: Recorder, held: list[tuple[int, list[tuple[float, int]]]], spread: FloatArray, usual: float
) -> float:
    """How far apart actions lead that are held for whole episodes, which started alike."""
    apart, rows = 0.0, record.rows
    for (one, first), (other, second) in itertools.combinations(held, 2):
        for (total, length), (total_too, length_too) in zip(first, second, strict=False):
            if length != length_too:
                return np.inf
            pairs = [(rows[one + at][3], rows[other + at][3]) for at in range(length)]
            seen = np.nan_to_num(np.array([np.abs(a - b) / spread for a, b in pairs]))
            apart = max(apart, float(seen.max(initial=0.0)), abs(total - total_too) / (usual or 1.0))
            one, other = one + length, other + length
    return apart if len(held) > 1 else NOT_MEASURED


def recurrence(simulator: Simulator, record: Recorder, end: float) -> float:
    """Share of outlying rewards that come again from the same state and action with other chance."""
    steps = record.transitions()
    rows = outlier_rows(steps)[:OUTLIERS]
    again = tried = 0
    for row in rows:
        start = int(row) - int(steps.times[row])
        seed = SEED + int(steps.episodes[row])
        if now() > end or steps.times[row] > 300:
            continue
        actions = [_action(steps.action_space, values, simulator) for values in steps.actions[start : row + 1]]
        environment = simulator.at(State(seed, tuple(actions[:-1])), 1)[0]
        set_chance(environment, seed + 1)
        _, reward, *_ = step(environment, actions[-1])
        tried += 1
        again += abs(reward - steps.rewards[row]) < 0.5 * abs(steps.rewards[row] - np.median(steps.rewards))
    return again / tried if tried else NOT_MEASURED


def with_interventions(facts: EnvironmentFacts, found: Effects, noise: Noise, recur: float) -> EnvironmentFacts:
    observation, reward, action = facts.observation, facts.reward, facts.action
    assert reward is not None
    assert action is not None
    if observation is not None:
        variance = np.array(observation.std) ** 2
        live = variance > 1e-12
        shares = noise.observation[live] / variance[live] if live.any() else np.zeros(1)
        observation = replace(
            observation,
            noise_share=float(np.mean(np.minimum(shares, 1.0))) if np.isfinite(shares).all() else NOT_MEASURED,
            noise_chance=noise.observation_chance,
            action_lag=found.observation_lag if found.observation_lag is not None else observation.action_lag,
        )
    return replace(
        facts,
        observation=observation,
        reward=replace(
            reward,
            noise_share=min(noise.reward / reward.std**2, 1.0) if reward.std > 0 else NOT_MEASURED,
            noise_chance=noise.reward_chance,
            effect_lag=found.reward_lag,
            outliers_recur=recur,
        ),
        action=replace(action, effects=found.effects, states=found.states),
    )


def _shape_only(every: Transitions) -> ObservationFacts:
    # Nothing is fitted to a few rows.
    return observation_facts(every.chosen(np.linspace(0, len(every) - 1, min(len(every), 6000)).astype(int)))


def _outside(steps: Transitions) -> float:
    space, seen = steps.observation_space, steps.next_observations
    slack = 1e-5 * np.maximum(np.abs(seen), 1.0)
    return float(((seen < space.low - slack) | (seen > space.high + slack)).any(axis=1).mean())


def _growth(steps: Transitions) -> float:
    """Largest size of any number over what it has early in an episode."""
    whole = np.isfinite(steps.next_observations).all(axis=1)
    size = np.abs(steps.next_observations[whole])
    if not len(size) or steps.observation_space.kind != "box":
        return NOT_MEASURED
    early = size[steps.times[whole] < EARLY]
    usual = np.quantile(early if len(early) else size, 0.9, axis=0)
    # A force that is nearly always 0 has no usual size of its own.
    usual = np.maximum(usual, max(float(np.median(usual)), 1e-3))
    return float((size.max(axis=0) / usual).max(initial=0.0))


def _action(space: Space, values: FloatArray, simulator: Simulator) -> Any:
    return int(values[0]) if space.kind == "discrete" else values.astype(np.float32)

"""What the model of the user's own run tells: noise of its gradients, its values, its updates, its units."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from rlclinic.advisor.measurements.noise_scale import noise_scale_of_groups
from rlclinic.advisor.problem import Problem
from rlclinic.environment.child import in_child
from rlclinic.lab.instruments.two_sample import two_sample
from rlclinic.model.advice import FactOrigin, Measurement, ProblemFact
from rlclinic.model.errors import UsageError
from rlclinic.model.transitions import Transitions

EPISODES = 40
PATIENCE = 600.0
FEWEST_EPISODES = 4
BIASED = 1.0
"""Spreads of the returns by which values may be off on average."""
RESAMPLES = 1000


def measure_run(problem: Problem, path: Path, data: Transitions | None = None) -> Problem:
    """The problem with what episodes of the run's policy and one update tell, in a process of its own."""
    doing = f"playing {EPISODES} episodes and one update"
    raw = in_child(_inspected, str(path), EPISODES, doing=doing, path=str(path), patience=PATIENCE)
    return with_model(problem, raw, data)


def _inspected(path: str, episodes: int) -> dict[str, Any]:
    from rlclinic.lab.sb3.inspecting import inspect_run

    return inspect_run(path, episodes)


def with_model(problem: Problem, raw: dict[str, Any], data: Transitions | None = None) -> Problem:
    """The problem with the readings of what was found in a model."""
    if len(raw["lengths"]) < FEWEST_EPISODES:
        raise UsageError("too few episodes of the policy could be played", hint="it needs at least four")
    told: dict[str, object] = {}
    found = [*_noise(raw, told), _values(raw, told), *_changes(raw, told)]
    if data is not None:
        found += _shift(raw, data, told)
    facts = (
        ProblemFact(key, value, FactOrigin.MEASURED, "episodes of the run's policy") for key, value in told.items()
    )
    return problem.with_facts(*facts).with_measurements(*found)


def _noise(raw: dict[str, Any], told: dict[str, object]) -> list[Measurement]:
    """Of the policy and of the value apart, in steps; a group is an episode, whose steps depend on each other."""
    if "gradients" not in raw:
        words = f"not measured: {raw['algorithm']} learns from a replay, not from its own episodes"
        return [Measurement("noise", "Gradient noise scale", None, words)]
    length, found, scales = float(np.mean(raw["lengths"])), [], {}
    for name, products in raw["gradients"].items():
        scale = noise_scale_of_groups(np.array(products))
        title = f"Gradient noise scale ({name})"
        if scale.value is None:
            found.append(Measurement(f"noise-{name}", title, None, scale.reading))
            continue
        value, low, high = (number * length for number in (scale.value, scale.low, scale.high))
        words = (
            f"about {value:,.0f} steps ({low:,.0f} to {high:,.0f}), from {scale.draws} whole episodes: a batch of this"
        )
        words += " size takes twice the fewest updates and twice the fewest samples"
        found.append(Measurement(f"noise-{name}", title, value, words, low, high))
        scales[name] = value
    if "policy" in scales:
        told["measured.noise_steps"] = scales["policy"]
    if "policy" in scales and raw["batch"]:
        told["measured.batch_over_noise"] = raw["batch"] / max(scales["policy"], 1e-9)
    if len(scales) == 2:
        told["measured.policy_value_noise"] = scales["policy"] / max(scales["value"], 1e-9)
    return found


def _values(raw: dict[str, Any], told: dict[str, object]) -> Measurement:
    """Values against the discounted rewards that followed, episode by episode."""
    values, returns = np.concatenate(raw["values"]), np.concatenate(raw["returns"])
    spread = float(returns.std()) or 1.0
    off = np.array([np.subtract(v, r).sum() for v, r in zip(raw["values"], raw["returns"], strict=True)])
    picks = np.random.default_rng(0).integers(len(off), size=(RESAMPLES, len(off)))
    drawn = off[picks].sum(axis=1) / np.array(raw["lengths"])[picks].sum(axis=1) / spread
    bias, (low, high) = float((values - returns).mean() / spread), np.quantile(drawn, [0.025, 0.975])
    longest, gamma = max(raw["lengths"]), raw["gamma"]
    cap = max(raw["rewards"]) * (1.0 - gamma**longest) / (1.0 - gamma) if gamma < 1 else max(raw["rewards"]) * longest
    if all(raw["ended"]):
        # Where a time limit cuts, more could follow.
        told["measured.q_above_possible"] = bool(np.mean(values > max(cap, 0.0) + 1e-6 * spread) > 0.05)
    told["measured.q_below_behaviour"] = bool(high < -BIASED)
    words = "too high" if low > 0 else "too low" if high < 0 else "not clearly off"
    reading = f"{words}: off by {bias:+.2f} spreads of the returns ({low:+.2f} to {high:+.2f}, {len(off)} episodes)"
    return Measurement("values", "Values against returns", bias, reading, float(low), float(high))


def _changes(raw: dict[str, Any], told: dict[str, object]) -> list[Measurement]:
    found = []
    if "churn" in raw:
        told["measured.churn"] = raw["churn"]
        reading = f"one update changes the preferred action in {raw['churn']:.1%} of the states"
        found.append(Measurement("churn", "Policy churn", raw["churn"], reading))
    else:
        reading = f"one update moves the preferred action by {raw['moved']:.3f} of its spread"
        found.append(Measurement("churn", "Policy churn", raw["moved"], reading))
    units = raw["units"]
    if not units:
        words = "not measured: the network has no hidden layer with an activation that is known"
        return [*found, Measurement("dormant", "Dormant units", None, words)]
    dormant, rank = units["train/opt/dead_units"], units["train/opt/effective_rank"]
    told["measured.dormant"] = dormant
    return [
        *found,
        Measurement("dormant", "Dormant units", dormant, f"{dormant:.0%} of the units hardly ever speak"),
        Measurement("rank", "Effective rank", rank, f"the last layer's features span {rank:.0f} directions"),
    ]


def _shift(raw: dict[str, Any], data: Transitions, told: dict[str, object]) -> list[Measurement]:
    """Whether the policy's states can be told from the data's, by episodes that were held out."""
    own = [np.array(one) for one in raw["states"]]
    if own[0].shape[1] != data.observations.shape[1]:
        return [Measurement("shift", "Shift of states", None, "not measured: the observations are of another size")]
    numbers = np.repeat(np.arange(len(own)), [len(one) for one in own])
    result = two_sample(
        np.concatenate([data.observations, *own]),
        np.concatenate([data.episodes, numbers + int(data.episodes.max()) + 1]),
        np.arange(len(data) + len(numbers)) >= len(data),
    )
    told["measured.shift_auc"] = result.auc
    words = "the policy leaves the data" if result.auc > 0.7 and result.p_value < 0.05 else "no clear shift"
    reading = (
        f"a classifier tells its states from the data's with AUC {result.auc:.2f} (p {result.p_value:.2g}): {words}"
    )
    return [Measurement("shift", "Shift of states", result.auc, reading)]

"""What was measured about an environment, as a section of a page."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rlclinic.model.environment_facts import EnvironmentFacts, EpisodeFacts, PolicyReturns
from rlclinic.reports.page import Block, Code, Facts, Inline, Table, Words
from rlclinic.reports.text import number

SPARSE = 0.05
"""Share of steps that pay below which the wait for the first reward is told."""
MOST_ROWS = 24
"""Numbers of the observation, and effects, that are listed."""


def environment_blocks(env: EnvironmentFacts | None) -> list[Block]:
    """Facts and tables; nothing where no environment was measured."""
    if env is None:
        return []
    if env.reward is None or env.episodes is None:
        return [Facts(tuple(_skipped(env)))] if env.skipped else []
    tables = (_panel, _shown, _components, _effects, _observation)
    return [Facts(tuple(_summary(env))), *(block for table in tables for block in table(env))]


def _summary(env: EnvironmentFacts) -> list[tuple[str, Inline]]:
    reward, ends = env.reward, env.episodes
    assert reward is not None
    assert ends is not None
    sources = {"examined": "an examination", "observed": "the training itself", "trace": "recorded steps"}
    rows: list[tuple[str, Inline]] = [
        (
            "measured on",
            f"{env.steps:,} steps of {sources[env.source]}"
            + (f", joined with {env.observed:,} of the training" if env.observed else ""),
        ),
        ("episodes", _ended(ends)),
        ("reward of a step", f"{number(reward.mean)} on average, from {number(reward.low)} to {number(reward.high)}"),
        ("steps that pay", f"{100 * reward.nonzero:.3g}%"),
    ]
    if ends.count:
        spread = f"from {number(ends.return_low)} to {number(ends.return_high)}"
        rows.insert(2, ("return", f"{number(ends.return_mean)} on average, {spread}"))
    rows += _task(env)
    rows += _known("reward foretold by the step", reward.explained, share=True)
    rows += _known("noise in the reward", reward.noise_share, share=True)
    if env.observation is not None:
        rows += _known("next observation foretold", env.observation.explained, share=True)
        rows += _known("noise in the observation", env.observation.noise_share, share=True)
        if same := env.observation.duplicated:
            told = ", ".join(f"{env.observation.names[at]} and {env.observation.names[one]}" for one, at in same[:4])
            rows.append(("always the same number", told + f" and {len(same) - 4} more" * (len(same) > 4)))
    rows += _known("return told by the policy", _told_by_policy(env.panel), share=True)
    usual = number(min(reward.signal_to_noise, 1e6))
    rows.append(("|mean| over spread of the reward", f"{usual} (usual, and says little)"))
    if math.isfinite(reward.largest_correlation):
        of_one = number(reward.largest_correlation)
        rows.append(("correlation with one observation", f"{of_one} at most (as usual, and as little)"))
    if ends.discounted and math.isfinite(ends.discounted) and ends.discounted > 0:
        rows.append(
            ("rescaling", f"multiply rewards by {number(1.0 / ends.discounted)} for discounted returns of size 1")
        )
    if env.speed is not None:
        rows.append(
            (
                "speed",
                f"{number(round(env.speed.steps_per_second))} steps/s, resets {100 * env.speed.reset_share:.2g}%",
            )
        )
    return rows + _skipped(env)


def _ended(ends: EpisodeFacts) -> str:
    if not ends.count:
        return "none came to an end"
    return f"{ends.count}: {ends.terminated} terminated, {ends.truncated} cut; length {number(ends.mean_length)}"


def _skipped(env: EnvironmentFacts) -> list[tuple[str, Inline]]:
    return [("skipped", text) for text in env.skipped]


def _told_by_policy(panel: Sequence[PolicyReturns]) -> float:
    """Share of the variance of the panel's returns that lies between its policies."""
    count = sum(one.episodes for one in panel)
    if len(panel) < 2 or count <= len(panel):
        return math.nan
    middle = sum(one.episodes * one.mean for one in panel) / count
    between = sum(one.episodes * (one.mean - middle) ** 2 for one in panel)
    total = between + sum(one.episodes * one.std**2 for one in panel)
    return between / total if total else 0.0


def _task(env: EnvironmentFacts) -> list[tuple[str, Inline]]:
    """How far a policy came between random actions and the oracle, and how long the first reward is waited for."""
    rows: list[tuple[str, Inline]] = []
    chance, oracle, trained = (env.policy(name) for name in ("random", "oracle", "trained"))
    if chance is not None and oracle is not None and trained is not None and oracle.mean > chance.mean:
        closed = (trained.mean - chance.mean) / (oracle.mean - chance.mean)
        rows.append(("gap between chance and oracle", f"the trained policy closes {100 * closed:.3g}%"))
    if env.learned_nothing:
        rows.append(("trained policy", "earns no more than random actions"))
    if env.episodes is not None and env.episodes.mean_length > 1:
        length = env.episodes.mean_length
        rows.append(("horizon", f"episodes of {number(round(length))} steps: gamma {1 - 1 / length:.4g} looks as far"))
    reward = env.reward
    if reward is not None and reward.nonzero < SPARSE and env.steps:
        # No event in n steps: less than one in n / 3 with 95% (rule of three).
        often = f"one in {1.0 / reward.nonzero:,.0f} steps" if reward.nonzero else f"none in {env.steps:,} steps"
        wait = 3.0 / reward.nonzero if reward.nonzero else env.steps / 3.0
        word = "at most" if reward.nonzero else "at least"
        rows.append(("first reward", f"{often}; the first after {word} {wait:,.0f} steps (95%) of such policies"))
    return rows


def _known(label: str, value: float, *, share: bool) -> list[tuple[str, Inline]]:
    if not math.isfinite(value):
        return []
    return [(label, f"{100 * value:.3g}%" if share else number(value))]


def _panel(env: EnvironmentFacts) -> list[Block]:
    rows = tuple(
        (
            one.name,
            number(one.mean),
            f"{number(one.low)} to {number(one.high)}",
            number(one.best),
            number(one.length),
            str(one.episodes),
        )
        for one in env.panel
    )
    header = ("policy", "mean return", "95% interval", "best", "length", "episodes")
    return [Words("Simple policies:"), Table(header, rows, right=frozenset({1, 3, 4, 5}))] if rows else []


def _shown(env: EnvironmentFacts) -> list[Block]:
    """The episodes of the trained policy that a person should look at."""
    rows = tuple(
        (
            one.label,
            number(one.total),
            number(one.length),
            "terminated" if one.terminated else "cut",
            ", ".join(f"{name} {number(value)}" for name, value in one.components.items()) or "-",
        )
        for one in env.shown
        if one.policy == "trained"
    )
    header = ("episode", "return", "length", "end", "parts of the reward")
    return [Words("Episodes of the trained policy:"), Table(header, rows, right=frozenset({1, 2}))] if rows else []


def _components(env: EnvironmentFacts) -> list[Block]:
    parts = env.reward.components if env.reward is not None else ()
    rows = tuple((Code(part.name), number(part.mean), number(part.std), f"{100 * part.share:.3g}%") for part in parts)
    header = ("component", "mean", "spread", "share of the variance")
    return [Words("Parts of the reward:"), Table(header, rows, right=frozenset({1, 2, 3}))] if rows else []


def _effects(env: EnvironmentFacts) -> list[Block]:
    effects = env.action.effects if env.action is not None else ()
    rows = tuple(
        (Code(one.name), number(one.observation), number(one.reward), f"{100 * one.touched:.3g}%")
        for one in effects[:MOST_ROWS]
    )
    header = ("action", "effect on the observation", "on the reward", "states in which it shows")
    return (
        [Words("What actions do, from the same state:"), Table(header, rows, right=frozenset({1, 2, 3}))]
        if rows
        else []
    )


def _observation(env: EnvironmentFacts) -> list[Block]:
    seen = env.observation
    if seen is None or seen.kind == "image":
        return []
    rows = tuple(
        (Code(name), number(mean), number(std), f"{number(low)} to {number(high)}")
        for name, mean, std, (low, high) in list(zip(seen.names, seen.mean, seen.std, seen.ranges, strict=False))[
            :MOST_ROWS
        ]
    )
    header = ("observation", "mean", "spread", "range")
    return [Words("Numbers of the observation:"), Table(header, rows, right=frozenset({1, 2}))] if rows else []

"""The order in which an experienced debugger looks: numbers, critic, exploration, gradients, advantages, clipping, and
only then reward, environment and task. Reward is a lagging indicator: what broke first stands upstream."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rlclinic.model.finding import Finding, Severity


@dataclass(frozen=True, slots=True)
class Station:
    """One question of the path and the rules that answer it."""

    question: str
    rules: tuple[str, ...]


STATIONS = (
    Station("Are all numbers finite?", ("not-a-number",)),
    Station(
        "Does the value function explain the returns?",
        (
            "explained-variance-negative", "explained-variance-fell", "critic-explains-nothing", "value-offset",
            "returns-tiny-for-critic", "value-loss-grows", "value-loss-not-falling", "returns-too-large-for-critic",
            "value-clip-small-against-returns", "q-runs-away", "q-above-achievable", "td-error-grows",
            "twin-critics-part", "q-ignores-episode-ends", "critic-worsens-on-steady-returns", "loss-exactly-zero",
            "value-is-constant",
        ),
    ),
    Station(
        "Does the policy still explore?",
        (
            "entropy-fell-early", "entropy-stays-maximal", "entropy-rises", "action-std-collapses",
            "action-std-grows", "action-noise-wrong-from-start", "exploration-ends-at-once",
            "exploration-never-falls", "temperature-vanishes", "temperature-explodes", "entropy-gone-score-stalled",
            "entropy-and-length-explode", "entropy-out-of-range", "entropy-outweighs-reward",
        ),
    ),
    Station(
        "Are the gradients sane?",
        (
            "gradient-norm-explodes", "gradient-norm-vanishes", "clipped-at-every-step", "part-gets-no-gradient",
            "loss-diverges", "gradient-large-for-its-error", "updates-spike", "nothing-moves",
        ),
    ),
    Station("Are the advantages of a sane size?", ("advantages-extreme",)),
    Station(
        "Does the policy move at a sane pace?",
        (
            "kl-too-large", "kl-vanishes", "kl-drifts-up", "clipping-most-updates", "clipping-never",
            "clip-fraction-without-kl", "updates-cease", "policy-died-early", "no-update-ever-ran",
            "ratio-off-before-any-step", "ratio-never-moves", "target-kl-cuts-updates",
            "policy-never-moves", "policy-crawls", "policy-loss-beyond-bound", "evaluations-never-move",
        ),
    ),
    Station(
        "Does the reward carry a signal?",
        (
            "reward-always-zero", "reward-rarely-seen", "return-scale-huge", "component-dominates",
            "score-falls-while-reward-rises", "train-up-validation-flat", "groups-without-variance",
        ),
    ),
    Station(
        "Does the environment behave?",
        (
            "no-episode-ends", "return-not-there", "return-is-per-step", "very-short-episodes",
            "episodes-hit-the-limit", "shorter-episodes-pay", "difficulty-raised", "return-exactly-constant",
            "policy-moves-return-does-not", "observation-statistics-drift",
        ),
    ),
    Station(
        "Is the task within reach?",
        ("no-better-than-random", "never-improved", "sinks-below-random", "plateau-below-goal", "below-threshold"),
    ),
)  # fmt: skip


def decision_path(
    findings: Sequence[Finding], checked: frozenset[str], after_the_fall: frozenset[str] = frozenset()
) -> tuple[str, ...]:
    """The answer at each station; the first that failed before the return fell is where to begin."""
    lines: list[str] = []
    failing = {
        station: seen
        for station in STATIONS
        if (seen := [f for f in findings if f.name in station.rules and f.severity is not Severity.INFO])
    }
    early = [station for station, seen in failing.items() if any(f.code not in after_the_fall for f in seen)]
    begin = next(iter(early or failing), None)
    for station in STATIONS:
        looked = [name for name in station.rules if name in checked]
        if station in failing:
            first = min(failing[station], key=lambda f: f.code in after_the_fall)
            late = " It began after the return had fallen." if first.code in after_the_fall else ""
            where = " Begin here." if station is begin else late
            lines.append(f"{station.question} No: {first.summary} ({first.code}).{where}")
        elif looked:
            checks = "one check" if len(looked) == 1 else f"{len(looked)} checks"
            lines.append(f"{station.question} Nothing found by {checks}.")
        else:
            lines.append(f"{station.question} Not checked: the metrics it needs are not logged.")
    return tuple(lines)

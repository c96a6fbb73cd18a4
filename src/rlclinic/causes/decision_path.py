"""The order in which an experienced debugger looks: numbers, critic, exploration, gradients, advantages, clipping, and
only then reward, environment and task. Reward is a lagging indicator: what broke first stands upstream."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rlclinic.model.finding import Finding, NotChecked, Severity


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
            "value-loss-grows", "value-loss-not-falling", "returns-too-large-for-critic",
            "value-clip-small-against-returns", "q-runs-away", "q-above-achievable", "td-error-grows",
            "twin-critics-part",
        ),
    ),
    Station(
        "Does the policy still explore?",
        (
            "entropy-fell-early", "entropy-stays-maximal", "entropy-rises", "action-std-collapses", "action-std-grows",
            "exploration-ends-at-once", "exploration-never-falls", "temperature-vanishes", "temperature-explodes",
            "entropy-gone-score-stalled", "entropy-and-length-explode",
        ),
    ),
    Station(
        "Are the gradients sane?",
        (
            "gradient-norm-explodes", "gradient-norm-vanishes", "clipped-at-every-step", "part-gets-no-gradient",
            "loss-diverges",
        ),
    ),
    Station("Are the advantages of a sane size?", ("advantages-extreme",)),
    Station(
        "Does the policy move at a sane pace?",
        (
            "kl-too-large", "kl-vanishes", "kl-drifts-up", "clipping-most-updates", "clipping-never",
            "clip-fraction-without-kl", "updates-cease", "policy-died-early", "no-update-ever-ran",
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
            "no-episode-ends", "very-short-episodes", "episodes-hit-the-limit", "shorter-episodes-pay",
            "difficulty-raised", "return-exactly-constant",
        ),
    ),
    Station(
        "Is the task within reach?",
        ("no-better-than-random", "never-improved", "plateau-below-goal", "below-threshold"),
    ),
)  # fmt: skip


def decision_path(
    findings: Sequence[Finding], not_checked: Sequence[NotChecked], checked: frozenset[str]
) -> tuple[str, ...]:
    """The answer at each station; the first that fails is where to begin."""
    lines: list[str] = []
    begun = False
    for station in STATIONS:
        seen = [f for f in findings if f.name in station.rules and f.severity is not Severity.INFO]
        looked = [name for name in station.rules if name in checked]
        if seen:
            where = "" if begun else " Begin here."
            lines.append(f"{station.question} No: {seen[0].summary} ({seen[0].code}).{where}")
            begun = True
        elif looked:
            checks = "one check" if len(looked) == 1 else f"{len(looked)} checks"
            lines.append(f"{station.question} Nothing found by {checks}.")
        else:
            lines.append(f"{station.question} Not checked: the metrics it needs are not logged.")
    return tuple(lines)

"""Where to look first in an environment, by what the return of a run trained in it does.

The table of the four-phase method: each symptom names the checks that explain it most often.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.diagnosis import Verdict
from rlclinic.model.finding import Finding, Severity
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.rules.registry import RULES
from rlclinic.rules.rule import DecisionStep


@dataclass(frozen=True, slots=True)
class Symptom:
    """What the return does, and the measured checks that come first then."""

    words: str
    first: tuple[str, ...]
    """Codes of rules."""
    shows: Callable[[RunFacts, Verdict], bool]


def _as_random(facts: RunFacts, verdict: Verdict) -> bool:
    chance = facts.environment.policy("random") if facts.environment is not None else None
    curve = facts.curve
    return chance is not None and curve is not None and curve.enough and chance.low <= curve.final <= chance.high


def _tier(step: DecisionStep) -> tuple[str, ...]:
    return tuple(rule.code for rule in RULES if rule.is_measured and rule.rule.step is step)


SYMPTOMS = (
    Symptom(
        "the reward is high and the behaviour is not what was wanted",
        ("ENV58", "ENV59", "ENV64", "ENV61"),
        lambda facts, verdict: verdict is Verdict.REWARD_HACKING,
    ),
    Symptom("the trained policy earns what random actions earn", _tier(DecisionStep.ENVIRONMENT), _as_random),
    Symptom(
        "the return is flat from the first step on",
        ("ENV54", "ENV52", "ENV39", "ENV48"),
        lambda facts, verdict: verdict is Verdict.NOT_LEARNING,
    ),
    Symptom(
        "the return rises and then stays flat",
        ("ENV60", "ENV59", "ENV57", "ENV64"),
        lambda facts, verdict: verdict is Verdict.PLATEAUED,
    ),
    Symptom(
        "the return swings",
        ("ENV51", "ENV53", "ENV32", "ENV31", "ENV43"),
        lambda facts, verdict: verdict is Verdict.UNSTABLE,
    ),
    Symptom(
        "the return falls",
        ("ENV58", "ENV61", "ENV64", "ENV43"),
        lambda facts, verdict: (
            verdict is Verdict.COLLAPSED or (facts.curve is not None and facts.curve.enough and facts.curve.falling)
        ),
    ),
)


def symptom_of(facts: RunFacts, verdict: Verdict) -> Symptom | None:
    """The first symptom that shows; None without a run, or where its return has none of them."""
    if facts.run.is_environment or facts.run.examined is None:
        return None
    return next((one for one in SYMPTOMS if one.shows(facts, verdict)), None)


def told_first(symptom: Symptom, findings: Sequence[Finding], checked: frozenset[str]) -> str:
    """What the checks that the symptom names found, in one line."""
    asked = [rule for rule in RULES if rule.code in symptom.first and rule.name in checked]
    seen = [item for item in findings if item.code in symptom.first and item.severity is not Severity.INFO]
    start = f"Symptom: {symptom.words}."
    if seen:
        return f"{start} Begin here: {seen[0].summary} ({seen[0].code})."
    if len(asked) < len(symptom.first):
        return f"{start} {len(asked)} of the {len(symptom.first)} checks that come first for it could be made."
    return f"{start} The {len(asked)} checks that come first for it found nothing."

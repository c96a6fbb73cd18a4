"""From findings to causes: every hypothesis, `nothing-wrong` and `unknown` included, gets a probability.

Findings of one family tell much the same thing, so within a family the strongest counts in full and the others in part.
The sum is tempered, because the table is not certain either. A rule that was not checked counts nothing. A config value
counts only together with a symptom: in full beside a sign of its own cause, in part in a run that does badly. One far
outside all working configs counts more, and is held against every run that spent its budget and is not done. Findings
that the leading hypotheses do not explain move probability to `unknown`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from rlclinic.causes.catalogue import NOTHING_WRONG, UNKNOWN, catalogue
from rlclinic.causes.deviation import deviation
from rlclinic.causes.likelihoods import VERDICT, Likelihood, likelihoods
from rlclinic.causes.practice import beyond, value_of
from rlclinic.causes.sharpness import sharpness
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.standing import Standing
from rlclinic.model.diagnosis import Cause, Verdict
from rlclinic.model.finding import Finding, Severity
from rlclinic.model.run import Run
from rlclinic.model.vocabulary import families_of
from rlclinic.reference.tasks import task_of
from rlclinic.rules.registry import rules_meaning
from rlclinic.rules.rule import Sign

# Below 1 because findings depend on each other and the table is set by hand.
TEMPER = 0.75
# Of further findings of a family beside its strongest.
REPEATED = 0.35
# Taken from a cause none of whose signs was seen although they were looked for.
NO_SIGN = 1.6
# What each finding of a severity takes from `nothing-wrong`, in log units.
AGAINST_NOTHING = {Severity.INFO: 0.0, Severity.WARNING: 1.6, Severity.ERROR: 3.0}
# The causes that say that the trainer works, and the share of it that is taken from each.
AGAINST_HEALTH = {NOTHING_WRONG: 1.0, "budget-too-small": 0.5}
# Families of findings about the outcome alone: they say that, not why.
OUTCOME = frozenset({"success"})
# What an unexplained finding gives to `unknown`.
UNEXPLAINED = 0.5
# Config evidence: log units per spread beyond the first, at most this much; and against, when the value is ordinary.
PER_SPREAD = 0.8
MOST_FROM_CONFIG = 2.4
ORDINARY = -0.8
# Spreads from which on a value counts in a run that does badly although none of its own signs were seen, and how much.
FAR = 2.0
WITHOUT_OWN_SIGN = 0.5
# What a value adds that lies outside everything that people train with, in log units, at once and per decade.
OUTSIDE_PRACTICE, PER_DECADE, MOST_DECADES = 3.0, 1.2, 1.5
# What counts of it in a run that spent its budget without a goal to be held against, and where it hardly moved.
WITHOUT_GOAL, HARDLY_MOVED = 0.4, 0.75
# Verdicts that say that a run does badly whatever its goal.
BAD = frozenset({Verdict.NOT_LEARNING, Verdict.COLLAPSED, Verdict.UNSTABLE})
# What being far behind takes from the causes that say that the run goes as it should, in log units.
FAR_BEHIND = {NOTHING_WRONG: 1.2, "budget-too-small": 0.6}
# The same for a goal that was missed with the whole budget.
MISSED = {NOTHING_WRONG: 3.0, "already-solved": 3.0}
# The same for a goal that more steps at the present pace would not reach.
OUT_OF_REACH = {"budget-too-small": 2.0, NOTHING_WRONG: 1.0}
# Share of the causes that say that the trainer works that goes to `unknown` where a run ended while its return was on
# its way and no goal says whether that was far enough.
NOT_SAID = 0.2
UNSETTLED = frozenset({Verdict.LEARNING, Verdict.INSUFFICIENT_DATA})
# What a run adds that came to its end and has too little of a return to be judged by: it is not known to be well.
OVER_TOO_SOON = {NOTHING_WRONG: -0.75, "budget-too-small": 0.3}
# What a goal adds that training came to and evaluations did not: the trainer works.
TRIED_ALONE = {"evaluation-mismatch": 1.5, "evaluation-stale": 0.5}
# What a run that does badly without a sure sign adds to causes that no setting shows, where the settings are known:
# others would show.
ELIMINATED = {"implementation-bug": 2.0}
# What counts of it where no goal says that the run fell short.
ELIMINATED_WITHOUT_GOAL = 0.6
SHOWN = 0.05
# What a finding that began after the return had fallen counts: it may be a consequence.
CONSEQUENCE = 0.5
IMPLEMENTATION_BUG = "implementation-bug"
NOT_KNOWN = Standing()
# Share of a cause's largest weight from which on a sign tells it from other causes.
TELLING = 0.35
# What speaks for `unknown` where the run is far from those that the table was made for, in log units.
UNKNOWN_ALGORITHM = 0.5
UNKNOWN_TASK = 0.2
# The same for a run of which no check could be made; in proportion for some.
NOTHING_CHECKED = 0.8


@dataclass(frozen=True, slots=True)
class _Score:
    metrics: float
    config: float
    supports: tuple[str, ...]
    contradicts: tuple[str, ...]


def causes_of(
    facts: RunFacts,
    verdict: Verdict,
    findings: Sequence[Finding],
    checked: frozenset[str],
    *,
    applicable: frozenset[str] | None = None,
    after_the_fall: frozenset[str] = frozenset(),
    component: str | None = None,
    standing: Standing = NOT_KNOWN,
) -> tuple[tuple[Cause, ...], dict[str, float]]:
    """Causes by probability (those below 5 % left out), and the probability of each class.

    `applicable` names the rules that are about runs of this kind: a cause none of whose signs is among them is about
    another kind of algorithm and out of the question. Findings whose codes are in `after_the_fall` began when the harm
    was done: they count in part. `component` is what a bug in the implementation would be about. `standing` says how
    the run stands against its goal.
    """
    table = {cause: row for cause, row in likelihoods().items() if applicable is None or _possible(row, applicable)}
    findings = [_weakened(finding) if finding.code in after_the_fall else finding for finding in findings]
    scores = {cause: _score(facts, verdict, findings, checked, row, cause, standing) for cause, row in table.items()}
    unseen = len(applicable - checked) / len(applicable) if applicable else 0.0
    scores[UNKNOWN] = _unknown(scores[UNKNOWN], scores, findings, _distance(facts.run, unseen))
    priors, fitted = {cause: row.prior for cause, row in table.items()}, sharpness()
    sharp = fitted.with_config if facts.run.config.settings else fitted.without_config
    both = _normalised(priors, {c: s.metrics + s.config for c, s in scores.items()}, sharp)
    if standing.open_end and not standing.missed and verdict in UNSETTLED:
        _doubt(both)
    metrics = _normalised(priors, {c: s.metrics for c, s in scores.items()}, fitted.without_config)
    config = _normalised(priors, {c: s.config for c, s in scores.items()}, sharp)
    entries = catalogue()
    ranked = sorted(both, key=lambda cause: -both[cause])
    causes = tuple(
        Cause(
            cause,
            entries[cause].cause_class,
            entries[cause].kind,
            entries[cause].meaning,
            both[cause],
            metrics[cause],
            config[cause],
            component if cause == IMPLEMENTATION_BUG else None,
            scores[cause].supports,
            scores[cause].contradicts,
        )
        for cause in ranked
        if both[cause] >= SHOWN
    )
    classes: dict[str, float] = {}
    for cause, probability in both.items():
        classes[entries[cause].cause_class] = classes.get(entries[cause].cause_class, 0.0) + probability
    return causes, dict(sorted(classes.items(), key=lambda item: -item[1]))


def _score(
    facts: RunFacts,
    verdict: Verdict,
    findings: Sequence[Finding],
    checked: frozenset[str],
    row: Likelihood,
    cause: str,
    standing: Standing,
) -> _Score:
    fired = {finding.name: finding for finding in findings}
    by_family: dict[str, list[float]] = {}
    supports: list[str] = []
    contradicts: list[str] = []
    for name, weight in row.weights.items():
        if name.startswith(VERDICT):
            if name.removeprefix(VERDICT) == verdict.value:
                by_family.setdefault("verdict", []).append(weight)
                (supports if weight > 0 else contradicts).append(f"verdict {verdict.value}")
            continue
        finding = fired.get(name)
        if finding is not None:
            by_family.setdefault(finding.family, []).append(weight * finding.confidence)
            (supports if weight > 0 else contradicts).append(f"{finding.code} {name}")
    absent = 0.0
    strongest = max((weight for name, weight in row.weights.items() if name in fired), default=0.0)
    for name, weight in row.expects.items():
        seen = name.removeprefix(VERDICT) == verdict.value if name.startswith(VERDICT) else name in fired
        known = name.startswith(VERDICT) or name in checked
        # A cause that shows itself by another sign as telling need not show all of them.
        if known and not seen and not 0.0 < row.weights.get(name, 0.0) <= strongest:
            absent += weight
            contradicts.append(f"no {name}")
    metrics = TEMPER * (sum(_family(weights) for weights in by_family.values()) - absent)
    looked_for = [name for name, weight in row.weights.items() if weight > 0 and name in checked]
    outside = max((beyond(facts, knob.key, knob.direction) for knob in row.knobs), default=0.0)
    if looked_for and not supports and not outside and cause not in (NOTHING_WRONG, UNKNOWN):
        metrics -= TEMPER * NO_SIGN
    if cause in AGAINST_HEALTH and not standing.done:
        signs = [AGAINST_NOTHING[finding.severity] * finding.confidence for finding in findings if _is_trouble(finding)]
        metrics -= TEMPER * AGAINST_HEALTH[cause] * _family(signs)
    if standing.behind:
        metrics -= FAR_BEHIND.get(cause, 0.0)
    if standing.missed:
        metrics -= MISSED.get(cause, 0.0)
    if standing.slow and not outside:
        metrics -= OUT_OF_REACH.get(cause, 0.0)
    tried_badly = any(
        finding.name in rules_meaning(Sign.EVALUATION_FELL_BEHIND) and finding.severity.rank > 0 for finding in findings
    )
    bad = verdict in BAD or standing.behind or standing.missed or (tried_badly and not standing.done)
    sure = any(finding.severity is Severity.ERROR and _is_trouble(finding) for finding in findings)
    if bad and facts.run.config.settings and not sure and not standing.tried:
        fell_short = standing.missed or standing.behind
        metrics += (1.0 if fell_short else ELIMINATED_WITHOUT_GOAL) * ELIMINATED.get(cause, 0.0)
    if standing.tried:
        metrics += TRIED_ALONE.get(cause, 0.0)
    if verdict is Verdict.INSUFFICIENT_DATA and standing.open_end:
        metrics += OVER_TOO_SOON.get(cause, 0.0)
    in_part = bad or (outside > 0.0 and standing.open_end)
    in_full = metrics > 0 or (outside > 0.0 and (strongest > 0.0 or standing.crept))
    weight = 0.0 if standing.done else 1.0 if in_full else WITHOUT_OWN_SIGN if in_part else 0.0
    config, reason = _config(facts.run, row, weight)
    if outside and not standing.done:
        warned = any(row.weights.get(f.name, 0.0) > 0.0 and f.severity.rank > 0 for f in findings)
        found = _outside(facts, row, 1.0 if bad or warned else _weight_without_goal(standing, noted=strongest > 0.0))
        config, reason = max((config, reason), found)
    if reason:
        (supports if config > 0 else contradicts).append(reason)
    return _Score(metrics, config, tuple(supports), tuple(contradicts))


def _possible(row: Likelihood, applicable: frozenset[str]) -> bool:
    """Whether a sign that tells it from others can be seen in such a run; weak ones are common to many causes."""
    signs = {name: weight for name, weight in row.weights.items() if weight > 0 and not name.startswith(VERDICT)}
    telling = [name for name, weight in signs.items() if weight >= TELLING * max(signs.values())]
    return not signs or any(name in applicable for name in telling)


def _is_trouble(finding: Finding) -> bool:
    return finding.family not in OUTCOME


def _weakened(finding: Finding) -> Finding:
    return replace(finding, confidence=CONSEQUENCE * finding.confidence)


def _family(weights: Sequence[float]) -> float:
    """The strongest in full, the others in part; for and against apart."""
    total = 0.0
    for sign in (1, -1):
        side = sorted((abs(weight) for weight in weights if weight * sign > 0), reverse=True)
        if side:
            total += sign * (side[0] + REPEATED * sum(side[1:]))
    return total


def _config(run: Run, row: Likelihood, weight: float) -> tuple[float, str]:
    """What the value of the cause's hyperparameter says, counted by `weight`: 1 beside a sign of the cause itself."""
    known = [(distance, knob) for knob in row.knobs if (distance := deviation(run, knob)) is not None]
    if not known:
        return 0.0, ""
    distance, knob = max(known, key=lambda pair: pair[0])
    value = run.config.get(knob.key)
    if distance < 1.0:
        return ORDINARY, f"{knob.key} {value} is ordinary"
    if weight < 1.0 and (weight == 0.0 or distance < FAR):
        return 0.0, ""
    bonus = weight * min(MOST_FROM_CONFIG, PER_SPREAD * (distance - 1.0))
    return bonus, f"{knob.key} {value} is {distance:.1f} spreads from working configs"


def _weight_without_goal(standing: Standing, *, noted: bool) -> float:
    """Of a value outside practice where nothing is held against the run; `noted`: a sign of the cause, no warning."""
    if not standing.open_end:
        return 0.0
    return HARDLY_MOVED if standing.crept or noted else WITHOUT_GOAL


def _outside(facts: RunFacts, row: Likelihood, weight: float) -> tuple[float, str]:
    """What a value says that lies outside everything that people train with."""
    found = [(beyond(facts, knob.key, knob.direction), knob) for knob in row.knobs]
    decades, knob = max(found, key=lambda pair: pair[0], default=(0.0, None))
    if knob is None or decades <= 0.0 or weight == 0.0:
        return 0.0, ""
    bonus = weight * (OUTSIDE_PRACTICE + PER_DECADE * min(decades, MOST_DECADES))
    value = value_of(facts, knob.key)
    return bonus, f"{knob.key} {value:.3g} is {'far ' if decades >= 1.0 else ''}outside what people train with"


def _unknown(
    own: _Score, scores: Mapping[str, _Score], findings: Sequence[Finding], far: Mapping[str, float]
) -> _Score:
    """Findings that no hypothesis counts as support, and distance from known runs, speak for something else."""
    explained = {reason.split()[0] for score in scores.values() for reason in score.supports}
    left = [f for f in findings if f.severity.rank > 0 and f.code not in explained and _is_trouble(f)]
    extra = UNEXPLAINED * len(left) + sum(far.values())
    supports = (*own.supports, *(f"{finding.code} {finding.name} is not explained" for finding in left), *far)
    return _Score(own.metrics + extra, own.config, supports, own.contradicts)


def _distance(run: Run, unseen: float) -> dict[str, float]:
    """How far the run is from those that the table was made for, by reason."""
    far: dict[str, float] = {}
    if not families_of(run.algorithm):
        far["the algorithm is not one of those that the table knows"] = UNKNOWN_ALGORITHM
    if not run.environment or task_of(run.environment) is None:
        far["the environment is not one of those that the table knows"] = UNKNOWN_TASK
    if unseen > 0.5:
        far[f"{100 * unseen:.0f} % of the checks lack their metrics"] = NOTHING_CHECKED * unseen
    return far


def _doubt(probabilities: dict[str, float]) -> None:
    """Their order stays: more is not known of such a run."""
    for cause in AGAINST_HEALTH:
        moved = NOT_SAID * probabilities[cause]
        probabilities[cause] -= moved
        probabilities[UNKNOWN] += moved


def _normalised(priors: Mapping[str, float], scores: Mapping[str, float], sharp: float) -> dict[str, float]:
    logs = {cause: sharp * (math.log(priors[cause]) + scores[cause]) for cause in scores}
    top = max(logs.values())
    weights = {cause: math.exp(value - top) for cause, value in logs.items()}
    total = sum(weights.values())
    return {cause: weight / total for cause, weight in weights.items()}

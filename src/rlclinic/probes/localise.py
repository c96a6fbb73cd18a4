"""From the whole vector of readings to the component that explains it best.

The first failing probe is a poor witness: swapped flags surface at P1 although P8 is about them. So every fault
predicts every reading, and the fault whose predictions fit best is named, with the readings that speak for it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Literal, TypeAlias

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.probes.estimator_faults import OF_REPLAYS, OF_ROLLOUTS
from rlclinic.probes.faults import FaultEntry, faults, touches
from rlclinic.probes.ladder import LADDER
from rlclinic.probes.portrait import Portrait, lacking_methods, why_not
from rlclinic.probes.protocol import OPTIONAL_METHODS
from rlclinic.probes.result import Answer, CaseResult, Suspicion, answers_of
from rlclinic.probes.signatures import Signatures, signatures

Prediction: TypeAlias = float | Literal["right", "wrong", "untrained", "either"]
"""A reading, the right one, a failure of any kind, the untrained reading, or a failure in some trainers only."""

FAR = 4.0
"""Deviations beyond so many tolerances count alike: one odd reading must not decide alone."""
SLACK = 0.15
"""A wrong fixed point may be reached only roughly: share of its distance from the truth."""
STAYS = 0.05
"""What is not trained may drift: the same."""
VAGUE = 2.0
"""What a prediction of some failure costs against a number that fits."""
UNEXPLAINED = 3.5
"""What a failure costs that nothing explains; a fault that predicts right where a probe failed costs more."""
CONTRACT_WEIGHT, CASE_WEIGHT = 3.0, 2.0
"""Readings that all queries of a static contract, and of another case, count for together: they go wrong together."""
STRAY = 5.0
"""What a failure costs a fault that does not lead to it. Not more: one odd probe must not drown an exact match."""
UNREACHED = 10.0
"""A fixed point so far from the right answer, in units of it, is never reached: values are on their way to it."""
ON_THE_WAY = 0.5
"""What a reading on the way to such a point costs against one that fits."""
HEAT, SKIPPED_HEAT = 1.5, 1.0
"""By what differences of log-likelihood are divided (readings depend on each other; chosen on mutants, each with its
own fault left out), and what is added where all static contracts are skipped: then faults in different lines of code
cannot be told apart however well one fits."""
ELSEWHERE = 0.5
"""What a right contract costs a fault that would break it: it may sit outside the function that was looked at."""
ALIKE = 0.7
"""What a fault costs that is known by the readings of another: the other is seen more often."""
PASSES_ANYWAY, FAILS_TOO = 0.3, 3.0
"""What a right and a wrong reading cost where a fault may show or not."""
ONLY_POSSIBLE = 2.0
"""What a fault costs whose sure consequences explain none of the failures: with one failure it is less likely than
something unknown, with many it becomes likelier."""
SURE = 0.9
"""Weight of the first suspicion from which on no further probe is asked for."""
SHOWN = 0.02
"""Suspicions with less weight are left out."""
MOST_REASONS = 4


@dataclass(frozen=True, slots=True)
class Localisation:
    """What the readings point to."""

    suspicions: tuple[Suspicion, ...] = ()
    """Components by weight, the heaviest first."""
    separating: str = ""
    """The cheapest probe or case that would tell the first from others."""
    settling: str = ""
    """Methods that the trainer does not offer, and the contract that would tell with them."""


@dataclass(frozen=True, slots=True)
class _Reading:
    code: str
    case: str
    answer: Answer
    siblings: tuple[Answer, ...]
    """All answers of the case, this one included."""

    @property
    def weight(self) -> float:
        most = CONTRACT_WEIGHT if self.answer.query.how == "contract" else CASE_WEIGHT
        return min(1.0, most / len(self.siblings))

    @property
    def name(self) -> str:
        return f"{self.code}.{self.case}:{self.answer.query.name}"


def localise(
    results: Iterable[CaseResult], portrait: Portrait, gamma: float, leave_out: frozenset[str] = frozenset()
) -> Localisation:
    """Components by weight and what would tell them apart; `leave_out` are faults that the table shall not know."""
    results = tuple(results)
    if not any(result.verdict == "fail" for result in results):
        return Localisation()
    table = signatures(portrait.family, gamma)
    readings = _readings(results)
    possible = [entry for entry in faults().values() if entry.id not in leave_out and _possible(entry, portrait, table)]
    scores = {entry.id: _score(entry, readings, table) for entry in possible}
    scores[""] = -UNEXPLAINED * sum(r.weight for r in readings if not r.answer.right)
    shares, heat = _shares(scores), _heat(portrait)
    suspicions = _grouped(shares, readings, table, heat)
    # What is still worth running is judged without the damping, which no further probe takes away.
    undamped = _grouped(shares, readings, table, 1.0)
    asked = _Telling(undamped, results, portrait, table).case()
    return Localisation(suspicions, asked, _Telling(suspicions, results, portrait, table).methods())


def _shares(scores: Mapping[str, float]) -> dict[str, float]:
    best = max(scores.values())
    weights = {name: math.exp(score - best) for name, score in scores.items()}
    total = sum(weights.values())
    return {name: weight / total for name, weight in weights.items()}


def _heat(portrait: Portrait) -> float:
    """How much less the readings are trusted to tell faults apart: contracts that cannot be looked at tell most."""
    contracts = [case for probe in LADDER if probe.exact for case in probe.cases if portrait.family in case.budget]
    skipped = sum(bool(why_not(case, portrait)) for case in contracts)
    return HEAT + SKIPPED_HEAT * skipped / len(contracts)


def _possible(entry: FaultEntry, portrait: Portrait, table: Signatures) -> bool:
    """Can the trainer have the fault? Not where it lacks everything that the fault is sure to spoil."""
    if entry.id in (OF_REPLAYS if portrait.family == "on-policy" else OF_ROLLOUTS):
        return False
    sure = {name.partition(":")[0] for name, values in table.get(entry.id, {}).items() if values}
    sure |= {pattern.partition(":")[0] for pattern in (*entry.fails, *entry.untrained)}
    return not sure or any(
        sure & {probe.code, f"{probe.code}.{case.name}"} and not why_not(case, portrait)
        for probe in LADDER
        for case in probe.cases
    )


def _readings(results: Iterable[CaseResult]) -> list[_Reading]:
    """What is to be explained. Where a case failed, that is what its wrong seeds read."""
    found = []
    for result in results:
        wrong = tuple(seed for seed in result.seeds if not (seed.passed or seed.error))
        failed = result.verdict == "fail" and wrong
        answers = answers_of(tuple(a.query for a in result.answers), wrong) if failed else result.answers
        answers = tuple(answer for answer in answers if answer.reading is not None)
        if result.verdict in ("pass", "fail"):
            found += [_Reading(result.code, result.case, answer, answers) for answer in answers]
    return found


def _score(entry: FaultEntry, readings: list[_Reading], table: Signatures) -> float:
    """Log-likelihood of all readings, up to a constant. Who leads to none of the failures is out of the question."""
    total, explains, possible = 0.0, False, False
    for reading in readings:
        prediction = _best(entry, reading, table)
        total += reading.weight * _fit(entry, prediction, reading)
        explains |= not reading.answer.right and prediction not in ("either", "right")
        possible |= not reading.answer.right and prediction != "right"
    if not possible:
        return -math.inf
    return total - (0.0 if explains else ONLY_POSSIBLE) - (ALIKE if entry.like else 0.0)


def _best(entry: FaultEntry, reading: _Reading, table: Signatures) -> Prediction:
    """Of all that a fault may lead to, what fits best."""
    return max(_predict(entry, reading, table), key=lambda prediction: _fit(entry, prediction, reading))


def _predict(entry: FaultEntry, reading: _Reading, table: Signatures) -> tuple[Prediction, ...]:
    """What a fault may lead to; where it misleads the policy like another one, what that one leads to."""
    found = _own(entry, reading, table)
    if entry.like and reading.answer.query.how != "contract":
        other = _own(faults()[entry.like], reading, table)
        return other if found == ("right",) else (*found, *(item for item in other if item != "right"))
    return found


def _own(entry: FaultEntry, reading: _Reading, table: Signatures) -> tuple[Prediction, ...]:
    place = (reading.code, reading.case)
    numbers = table.get(entry.id, {})
    found: list[Prediction] = list(numbers.get(reading.name, ()))
    if touches(entry.untrained, *place, reading.answer.query.name):
        found.append("untrained")
    if touches(entry.fails, *place, reading.answer.query.name):
        # Of what is listed together, some may be right: a policy that ignores the observation is right at one of two.
        spoilt = any(not other.right for other in _listed(entry, reading))
        found.append("either" if reading.answer.right and spoilt else "wrong")
    if touches(entry.may_fail, *place, reading.answer.query.name) or numbers.get(reading.name) == []:
        found.append("either")
    return tuple(found) or ("right",)


def _listed(entry: FaultEntry, reading: _Reading) -> list[Answer]:
    """Those answers of a case that a fault, or the one that it is like, lists as failing."""
    listed = entry.fails + (faults()[entry.like].fails if entry.like else ())
    return [a for a in reading.siblings if touches(listed, reading.code, reading.case, a.query.name)]


def _fit(entry: FaultEntry, prediction: Prediction, reading: _Reading) -> float:
    """Log-likelihood of a reading, up to a constant. A case that is right although it is listed counts once."""
    answer = reading.answer
    query, value = answer.query, answer.reading
    assert value is not None
    contract = query.how == "contract"
    if contract and answer.right and prediction != "right":
        return -ELSEWHERE / (len(reading.siblings) * reading.weight)
    if prediction == "wrong":
        return -VAGUE if not answer.right else -0.5 * FAR**2 / len(_listed(entry, reading))
    if prediction == "either":
        return -PASSES_ANYWAY / len(reading.siblings) if answer.right else -FAILS_TOO
    stays = prediction == "untrained"
    if stays:
        prediction = "right" if answer.untrained is None else answer.untrained
    if prediction == "right" and not answer.right:
        # A verdict over seeds has found it wrong, however near it is.
        return -STRAY
    target = query.truth if isinstance(prediction, str) else prediction
    gap = abs(target - query.truth)
    if gap > UNREACHED * max(abs(query.truth), 1.0) and not answer.right:
        ahead = (value - query.truth) * (target - query.truth) > 0 and abs(value - query.truth) <= gap
        return -ON_THE_WAY if ahead else -0.5 * FAR**2
    width = query.tolerance if contract else max(query.tolerance, SLACK * gap)
    # What is not trained stays where it is, and a prediction that is that sharp says more where it is borne out.
    sharp = STAYS * gap if stays and gap > query.tolerance else width
    distance = min(abs(value - target) / sharp, FAR) if math.isfinite(value) else FAR
    return -0.5 * distance**2 + (math.log(width / sharp) if distance < FAR else 0.0)


def _grouped(
    weights: Mapping[str, float], readings: list[_Reading], table: Signatures, heat: float
) -> tuple[Suspicion, ...]:
    """Components, not faults, are made less sure: otherwise the component with the most known faults would win."""
    by_component: dict[str, list[str]] = {}
    for name in weights:
        by_component.setdefault(faults()[name].component if name else "unknown", []).append(name)
    damped = {key: sum(weights[name] for name in names) ** (1.0 / heat) for key, names in by_component.items()}
    total = sum(damped.values())
    found = []
    for component, names in by_component.items():
        weight = damped[component] / total
        if weight < SHOWN:
            continue
        leader = max(names, key=lambda name: weights[name])
        title = faults()[leader].title if leader else "no known fault explains these readings"
        reasons = _reasons(faults()[leader], readings, table) if leader else ()
        found.append(Suspicion(component, weight, leader or "unknown", title, reasons))
    return tuple(sorted(found, key=lambda suspicion: -suspicion.weight))


def _reasons(entry: FaultEntry, readings: list[_Reading], table: Signatures) -> tuple[str, ...]:
    lines = []
    for reading in readings:
        answer = reading.answer
        if answer.right:
            continue
        prediction = _best(entry, reading, table)
        what = f"{reading.code} {answer.query.name} reads {answer.reading:.3g} where {answer.query.truth:.3g} is right"
        if not isinstance(prediction, str):
            lines.append((0, f"{what}; this fault gives {prediction:.3g}"))
        elif prediction != "right":
            lines.append((1, f"{what}, as with this fault" + (" (untrained)" if prediction == "untrained" else "")))
        else:
            lines.append((2, f"{what}, which this fault does not explain"))
    return tuple(line for _, line in sorted(lines, key=lambda item: item[0])[:MOST_REASONS])


@dataclass(frozen=True, slots=True)
class _Telling:
    """What would tell the first suspicion from the next ones."""

    suspicions: tuple[Suspicion, ...]
    results: tuple[CaseResult, ...]
    portrait: Portrait
    table: Signatures

    def case(self) -> str:
        """The cheapest case not yet run that tells the first from the next one that can be told from it."""
        done = {(result.code, result.case) for result in self.results}
        return self._first([
            (case.budget[self.portrait.family], probe.code if len(probe.cases) == 1 else f"{probe.code}.{case.name}",
             f"{probe.code}.{case.name}:")
            for probe in LADDER for case in probe.cases
            if (probe.code, case.name) not in done and not why_not(case, self.portrait)
        ])  # fmt: skip

    def methods(self) -> str:
        """The same among the static contracts that lack nothing but a method of the trainer."""
        complete = replace(self.portrait, methods=OPTIONAL_METHODS)
        return self._first([
            (0, f"{' and '.join(lacking_methods(case, self.portrait))} ({probe.code} {probe.name})",
             f"{probe.code}.{case.name}:")
            for probe in LADDER if probe.exact for case in probe.cases
            if lacking_methods(case, self.portrait) and not why_not(case, complete)
        ])  # fmt: skip

    def _first(self, left: list[tuple[int, str, str]]) -> str:
        named = [faults()[suspicion.fault] for suspicion in self.suspicions if suspicion.fault in faults()]
        if self.suspicions[0].weight >= SURE or not named:
            return ""
        # What a fault may or may not spoil tells little, so that is asked last.
        for vaguely in (False, True):
            first = {prefix: _outline(named[0], prefix, self.table, vaguely=vaguely) for _, _, prefix in left}
            for rival in named[1:]:
                telling = [
                    (budget, name)
                    for budget, name, prefix in left
                    if first[prefix] != _outline(rival, prefix, self.table, vaguely=vaguely)
                ]
                if telling:
                    return min(telling)[1]
        return ""


def _outline(entry: FaultEntry, prefix: str, table: Signatures, *, vaguely: bool) -> tuple[object, ...]:
    """What a fault predicts for a case, coarsely enough that equal outlines cannot be told apart."""
    numbers = {
        name: [round(value, 1) for value in values]
        for name, values in table.get(entry.id, {}).items()
        if name.startswith(prefix) and (values or vaguely)
    }
    case = prefix.removesuffix(":")
    vague = [
        [pattern for pattern in patterns if pattern in (case.partition(".")[0], case) or pattern.startswith(prefix)]
        for patterns in (entry.fails, entry.untrained, entry.may_fail if vaguely else ())
    ]
    return (sorted(numbers.items()), [bool(found) for found in vague])

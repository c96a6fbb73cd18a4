"""From the whole vector of readings to the component that explains it best.

The first failing probe is a poor witness: swapped flags surface at P1 although P8 is about them. So every fault
predicts every reading, and the fault whose predictions fit best is named, with the readings that speak for it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from rlclinic.probes.estimator_faults import FAULTS
from rlclinic.probes.faults import FaultEntry, faults, touches
from rlclinic.probes.ladder import LADDER
from rlclinic.probes.portrait import Portrait, why_not
from rlclinic.probes.result import Answer, CaseResult, Suspicion
from rlclinic.probes.signatures import Signatures, signatures

Prediction: TypeAlias = float | Literal["right", "wrong", "untrained", "either"]
"""A reading, the right one, a failure of any kind, the untrained reading, or a failure in some trainers only."""

FAR = 4.0
"""Deviations beyond so many tolerances count alike: one odd reading must not decide alone."""
SLACK = 0.15
"""A wrong fixed point may be reached only roughly: share of its distance from the truth."""
VAGUE = 2.0
"""What a prediction of some failure costs against a number that fits."""
UNEXPLAINED = 3.5
"""What a failure costs that nothing explains; a fault that predicts right where a probe failed costs more."""
CONTRACT_WEIGHT = 3.0
"""Readings that all queries of one static contract count for together: they look at one function."""
ELSEWHERE = 0.5
"""What a right contract costs a fault that would break it: it may sit outside the function that was looked at."""
PASSES_ANYWAY, FAILS_TOO = 0.3, 4.0
"""What a right and a wrong reading cost where a fault may show or not. The latter is more than UNEXPLAINED: such a
fault does not contradict a failure, but explains none by itself."""
MISLED = ("q", "probability", "greedy", "return", "temperature")
"""Readings of policies, which a wrong value target may mislead or not."""
SURE = 0.9
"""Weight of the first suspicion from which on no further probe is asked for."""
SHOWN = 0.02
"""Suspicions with less weight are left out."""
MOST_REASONS = 4


@dataclass(frozen=True, slots=True)
class _Reading:
    code: str
    case: str
    answer: Answer
    weight: float

    @property
    def name(self) -> str:
        return f"{self.code}.{self.case}:{self.answer.query.name}"


def localise(results: Iterable[CaseResult], portrait: Portrait, gamma: float) -> tuple[tuple[Suspicion, ...], str]:
    """Components by weight, the heaviest first, and the probe or case that would tell the first two apart."""
    results = tuple(results)
    if not any(result.verdict == "fail" for result in results):
        return (), ""
    table = signatures(portrait.family, gamma)
    readings = [
        _Reading(result.code, result.case, answer, _weight(result, answer))
        for result in results
        if result.verdict in ("pass", "fail")
        for answer in result.answers
        if answer.reading is not None
    ]
    scores = {
        name: sum(r.weight * max(_fit(p, r.answer) for p in _predict(entry, r, table)) for r in readings)
        for name, entry in faults().items()
    }
    scores[""] = -UNEXPLAINED * sum(r.weight for r in readings if not r.answer.right)
    best = max(scores.values())
    weights = {name: math.exp(score - best) for name, score in scores.items()}
    total = sum(weights.values())
    suspicions = _grouped({name: weight / total for name, weight in weights.items()}, readings, table)
    return suspicions, _separating(suspicions, results, portrait, table)


def _weight(result: CaseResult, answer: Answer) -> float:
    return min(1.0, CONTRACT_WEIGHT / len(result.answers)) if answer.query.how == "contract" else 1.0


def _predict(entry: FaultEntry, reading: _Reading, table: Signatures) -> tuple[Prediction, ...]:
    """What a fault may lead to; the best fit counts."""
    query = reading.answer.query
    place = (reading.code, reading.case, query.name)
    found: list[Prediction] = list(table.get(entry.id, {}).get(reading.name, ()))
    if touches(entry.untrained, *place):
        found.append("untrained")
    if touches(entry.fails, *place):
        found.append("wrong")
    if touches(entry.may_fail, *place) or (entry.id in FAULTS and query.how in MISLED):
        found.append("either")
    return tuple(found) or ("right",)


def _fit(prediction: Prediction, answer: Answer) -> float:
    """Log-likelihood of a reading, up to a constant."""
    query, reading = answer.query, answer.reading
    assert reading is not None
    contract = query.how == "contract"
    if contract and answer.right and prediction != "right":
        return -ELSEWHERE
    if prediction == "wrong":
        return -VAGUE if not answer.right else -0.5 * FAR**2
    if prediction == "either":
        return -PASSES_ANYWAY if answer.right else -FAILS_TOO
    if prediction == "untrained":
        prediction = "right" if answer.untrained is None else answer.untrained
    if prediction == "right" and not answer.right:
        # A verdict over seeds has found it wrong, however near it is.
        return -0.5 * FAR**2
    target = query.truth if isinstance(prediction, str) else prediction
    width = query.tolerance if contract else max(query.tolerance, SLACK * abs(target - query.truth))
    distance = min(abs(reading - target) / width, FAR) if math.isfinite(reading) else FAR
    return -0.5 * distance**2


def _grouped(weights: Mapping[str, float], readings: list[_Reading], table: Signatures) -> tuple[Suspicion, ...]:
    by_component: dict[str, list[str]] = {}
    for name in weights:
        by_component.setdefault(faults()[name].component if name else "unknown", []).append(name)
    found = []
    for component, names in by_component.items():
        weight = sum(weights[name] for name in names)
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
        prediction = max(_predict(entry, reading, table), key=lambda item: _fit(item, answer))
        what = f"{reading.code} {answer.query.name} reads {answer.reading:.3g} where {answer.query.truth:.3g} is right"
        if not isinstance(prediction, str):
            lines.append((0, f"{what}; this fault gives {prediction:.3g}"))
        elif prediction != "right":
            lines.append((1, f"{what}, as with this fault" + (" (untrained)" if prediction == "untrained" else "")))
        else:
            lines.append((2, f"{what}, which this fault does not explain"))
    return tuple(line for _, line in sorted(lines, key=lambda item: item[0])[:MOST_REASONS])


def _separating(
    suspicions: tuple[Suspicion, ...], results: tuple[CaseResult, ...], portrait: Portrait, table: Signatures
) -> str:
    """The cheapest case not yet run for which the first two suspicions predict different readings."""
    if suspicions[0].weight >= SURE:
        return ""
    named = [faults()[suspicion.fault] for suspicion in suspicions if suspicion.fault in faults()][:2]
    if len(named) < 2:
        return ""
    done = {(result.code, result.case) for result in results if result.verdict in ("pass", "fail")}
    candidates = []
    for probe in LADDER:
        for case in probe.cases:
            if (probe.code, case.name) in done or why_not(case, portrait):
                continue
            prefix = f"{probe.code}.{case.name}:"
            marks = [_outline(entry, prefix, table) for entry in named]
            if marks[0] != marks[1]:
                name = probe.code if len(probe.cases) == 1 else f"{probe.code}.{case.name}"
                candidates.append((case.budget[portrait.family], name))
    return min(candidates)[1] if candidates else ""


def _outline(entry: FaultEntry, prefix: str, table: Signatures) -> tuple[object, ...]:
    """What a fault predicts for a case, coarsely enough that equal outlines cannot be told apart."""
    numbers = {
        name: [round(value, 1) for value in values]
        for name, values in table.get(entry.id, {}).items()
        if name.startswith(prefix)
    }
    case = prefix.removesuffix(":")
    vague = [
        [pattern for pattern in patterns if pattern in (case.partition(".")[0], case) or pattern.startswith(prefix)]
        for patterns in (entry.fails, entry.may_fail, entry.untrained)
    ]
    return (sorted(numbers.items()), [bool(found) for found in vague])

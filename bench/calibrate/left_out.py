"""How the table does on environments that it was not estimated from: decides how far counts are trusted, and how sharp
the probabilities are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from unittest.mock import patch

import numpy as np

from bench.calibrate.estimate import estimate
from bench.calibrate.evidence import Evidence
from rlclinic.causes import posterior
from rlclinic.causes.catalogue import NOTHING_WRONG, UNKNOWN
from rlclinic.causes.weights import CauseWeights, Temperature, weights

BY_HAND = float("inf")
TRUSTS = (BY_HAND, 20.0, 5.0, 2.0)
"""Instances that a value set by hand is worth; the first never gives way."""
SHARP = (0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.4, 1.6, 1.8)
FINE = frozenset({NOTHING_WRONG, "already-solved", UNKNOWN})
BINS = 10


@dataclass(frozen=True, slots=True)
class Result:
    """What a table comes to on environments that were left out."""

    trust: float
    first: float
    """Share of faulty runs whose cause leads, with the config."""
    false_alarms: float
    """Share of healthy runs that are called wrong, with the config."""

    def __str__(self) -> str:
        how = (
            "values set by hand" if self.trust == BY_HAND else f"counts, a hand's value worth {self.trust:g} instances"
        )
        return f"{how}: right cause first {self.first:.3f}, false alarms {self.false_alarms:.3f}"


@dataclass(frozen=True, slots=True)
class _Answer:
    leading: str
    probability: float
    right: bool
    faulty: bool


def compared(table: Mapping[str, CauseWeights], seen: Sequence[Evidence]) -> list[Result]:
    """Every degree of trust, the best first: no more false alarms than by hand, then the most causes named."""
    found = []
    for trust in TRUSTS:
        answers = _answers(_tables(table, seen, trust), seen, with_config=True, sharpness=1.0)
        first = [one.right for one in answers if one.faulty]
        alarms = [one.leading not in FINE for one in answers if not one.faulty]
        found.append(Result(trust, float(np.mean(first)), float(np.mean(alarms))))
    allowed = found[0].false_alarms
    return sorted(found, key=lambda one: (one.false_alarms > allowed, -one.first, one.trust != BY_HAND))


def sharpest(table: Mapping[str, CauseWeights], seen: Sequence[Evidence]) -> tuple[Temperature, dict[str, float]]:
    """The sharpness with the least calibration error, with a config and without, and that error."""
    chosen: dict[str, float] = {}
    errors: dict[str, float] = {}
    for name, with_config in (("with_config", True), ("without_config", False)):
        tables = {one.environment: table for one in seen}
        scored = {sharp: _error(_answers(tables, seen, with_config=with_config, sharpness=sharp)) for sharp in SHARP}
        chosen[name] = min(scored, key=lambda sharp: scored[sharp])
        errors[name] = scored[chosen[name]]
    return replace(weights().temperature, **chosen), errors


def _tables(
    table: Mapping[str, CauseWeights], seen: Sequence[Evidence], trust: float
) -> dict[str, Mapping[str, CauseWeights]]:
    """By environment the table that the others make."""
    places = {one.environment for one in seen}
    if trust == BY_HAND:
        return dict.fromkeys(places, table)
    made = {}
    for place in places:
        others = [one for one in seen if one.environment != place]
        made[place] = {cause: entry.row for cause, entry in estimate(table, others, trust=trust).items()}
    return made


def _answers(
    tables: Mapping[str, Mapping[str, CauseWeights]], seen: Sequence[Evidence], *, with_config: bool, sharpness: float
) -> list[_Answer]:
    found = []
    shipped = replace(weights(), temperature=Temperature(sharpness, sharpness))
    for one in seen:
        asked = one.with_config if with_config else one.without_config
        if asked is None:
            continue
        table = replace(shipped, causes=tables[one.environment])
        with patch.object(posterior, "weights", lambda table=table: table):
            leading = posterior.causes_of(*asked[0], **asked[1]).causes[0]
        found.append(_Answer(leading.id, leading.probability, leading.id in one.accepted, one.cause != NOTHING_WRONG))
    return found


def _error(answers: Sequence[_Answer]) -> float:
    """The expected calibration error of the leading cause."""
    sure, right = np.array([one.probability for one in answers]), np.array([float(one.right) for one in answers])
    places = np.minimum((BINS * sure).astype(int), BINS - 1)
    gaps = [
        abs(sure[places == at].mean() - right[places == at].mean()) * np.mean(places == at) for at in np.unique(places)
    ]
    return float(sum(gaps))

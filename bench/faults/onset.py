"""When the effect of a fault begins: the first share of the budget at which its runs have clearly fallen behind."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from bench.faults.bases import bases
from bench.faults.labels import HARMFUL
from bench.faults.plan import Instance, entries
from bench.faults.shards import Record


def onsets(records: Sequence[Record]) -> dict[str, float]:
    """By name of the instance; the end of the budget where it never falls behind."""
    known = entries()
    curves: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        if record.name in known:
            curves[known[record.name].instance.name].append(record)
    instances = {entry.instance.name: entry.instance for entry in known.values()}
    return {name: _onset(instances[name], made, curves) for name, made in curves.items()}


def _onset(instance: Instance, made: Sequence[Record], curves: dict[str, list[Record]]) -> float:
    kind = "training" if instance.judged_on == "training" else "evaluation"
    own, clean = _mean(made, kind), _mean(curves[Instance("clean", instance.base).name], kind)
    random = bases()[instance.base].random
    final = max(clean.values(), default=random)
    for share in sorted(set(own) & set(clean)):
        if final > random and (clean[share] - own[share]) / (final - random) > HARMFUL:
            return share
    return 1.0


def _mean(records: Sequence[Record], kind: str) -> dict[float, float]:
    points: dict[float, list[float]] = defaultdict(list)
    for record in records:
        for share, value in record.truth[kind]:
            points[share].append(value)
    return {share: float(np.mean(values)) for share, values in points.items()}

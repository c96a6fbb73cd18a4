"""Whether the planted difference is ranked first, and how many points of healthy runs their bands hold."""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from bench.faults import shards
from bench.reference.condense import condensed, healthy, run_of
from bench.reference.record import FOLDER, Pair, pairs
from rlclinic.comparison.against_reference import against_reference
from rlclinic.comparison.bands import band
from rlclinic.engine import diagnose
from rlclinic.model.comparison import AgainstReference
from rlclinic.reference.known_good import KnownGood, parse_known_good


def score() -> None:
    """Print a line for each pair with a planted difference, then the sums."""
    recorded = {record.name: record for record in shards.latest(FOLDER)}
    places: list[int] = []
    for pair in pairs().values():
        if pair.planted is None or f"{pair.name}+planted" not in recorded:
            continue
        good = _good(pair)
        with_it = _against(recorded[f"{pair.name}+planted"], good)
        without = recorded.get(f"{pair.name}+others")
        order = [item.key for item in with_it.differences]
        place = 1 + min(order.index(key) for key in pair.planted["set"])
        places.append(place)
        harm = f"{_end(with_it)}; without it {_end(_against(without, good)) if without else 'not recorded'}"
        print(f"{pair.name}: {', '.join(pair.planted['set'])} is number {place} of {len(order)}; {harm}; {order[:3]}")
    first = sum(place == 1 for place in places)
    print(f"ranked first in {first} of {len(places)} pairs, among the first two in {sum(p <= 2 for p in places)}")
    for name, share, count in coverage():
        print(f"healthy seeds left out in turn: {share:.1%} of {count} {name} in the band of the others")


def coverage() -> list[tuple[str, float, int]]:
    """Of returns and of other metrics the share of points in the band that the other seeds make."""
    inside: dict[str, list[bool]] = {"points of returns": [], "points of other metrics": []}
    for pair in pairs().values():
        if len(healthy(pair)) < 3:
            continue
        for name, rows in _good(pair).metrics.items():
            kind = "points of returns" if name.startswith("return/") else "points of other metrics"
            for seed in range(len(rows)):
                low, high = band(name, np.delete(rows, seed, axis=0))
                known = np.isfinite(rows[seed]) & np.isfinite(low)
                inside[kind] += ((rows[seed] >= low) & (rows[seed] <= high))[known].tolist()
    return [(kind, float(np.mean(values)), len(values)) for kind, values in inside.items() if values]


def _good(pair: Pair) -> KnownGood:
    return parse_known_good(json.dumps(condensed(pair, healthy(pair))), pair.name)


def _against(record: shards.Record, good: KnownGood) -> AgainstReference:
    with tempfile.TemporaryDirectory() as place:
        run = run_of(record, Path(place))
    return against_reference(diagnose(replace(run, threshold=None)), "run", good=good)


def _end(item: AgainstReference) -> str:
    if not item.curve:
        return "no curve"
    last = item.curve[-1]
    return f"{item.curve_name} ends at {last.value:.4g} (band {last.low:.4g} to {last.high:.4g})"

"""Which instances calibrate and which test. All seeds of an instance are on one side.

Some environments, one algorithm and one layout are only ever tested. Whole causes are withheld: nothing about them may
be learned, and the diagnosis of their runs is tried without them, to see whether it says `unknown`.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from functools import cache

from bench.faults.bases import bases
from bench.faults.plan import Instance, plan

TEST_ENVIRONMENTS = frozenset({"courier", "tank", "frozenlake", "mountaincar", "mountaincarcontinuous"})
TEST_ALGORITHMS = frozenset({"TD3"})
TEST_LAYOUTS = frozenset({"cleanrl"})
WITHHELD = frozenset({"network-too-small", "optimiser-settings-wrong", "stale-data", "action-space-unnormalised"})
"""Causes that calibration never sees."""


@cache
def sides() -> dict[str, str]:
    """`calibration` or `test` by name of the instance."""
    found: dict[str, str] = {}
    groups: dict[str, list[Instance]] = defaultdict(list)
    for instance in {entry.instance.name: entry.instance for entry in plan()}.values():
        if only_tested(instance):
            found[instance.name] = "test"
        groups["+".join(fault for fault, _ in instance.injected) or instance.kind].append(instance)
    for members in groups.values():
        free = sorted((one for one in members if one.name not in found), key=_chance)
        # A cause that is tested anyway begins with calibration; else by chance, then in turn.
        tested = len(members) > len(free)
        first = 0 if tested or not free else int(_chance(free[0])[0], 16) % 2
        for at, instance in enumerate(free):
            found[instance.name] = ("calibration", "test")[(first + at) % 2]
    return found


def only_tested(instance: Instance) -> bool:
    """Whether an instance may not calibrate."""
    base = bases()[instance.base]
    return (
        base.environment in TEST_ENVIRONMENTS
        or base.algorithm in TEST_ALGORITHMS
        or instance.layout in TEST_LAYOUTS
        or is_withheld(instance)
    )


def is_withheld(instance: Instance) -> bool:
    """Whether one of its causes is withheld."""
    return bool(instance.injected) and bool(instance.accepted & WITHHELD)


def _chance(instance: Instance) -> str:
    return hashlib.sha256(f"split {instance.name}".encode()).hexdigest()

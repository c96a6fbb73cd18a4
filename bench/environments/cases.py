"""All cases by name."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from bench.environments import custom, fresh, healthy, people, seen, seen_later, unseen
from bench.environments.case import Case


@cache
def cases() -> Mapping[str, Case]:
    """Broken and healthy environments."""
    every = (
        *seen.CASES,
        *seen_later.CASES,
        *unseen.CASES,
        *fresh.CASES,
        *custom.CASES,
        *people.people(),
        *healthy.CASES,
    )
    return {case.name: case for case in every}

"""All cases by name."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from bench.environments import healthy, seen, seen_later, unseen
from bench.environments.case import Case


@cache
def cases() -> Mapping[str, Case]:
    """Broken and healthy environments."""
    return {case.name: case for case in (*seen.CASES, *seen_later.CASES, *unseen.CASES, *healthy.CASES)}

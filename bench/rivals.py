"""Timing a reader beside its rivals: in turn, in the same process, the best time of each."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any


def load(name: str) -> Any:
    """A rival library, or None with a line that says so."""
    if find_spec(name) is None:
        print(f"{name} is not installed: that comparison is skipped")
        return None
    return import_module(name)


def best_times(readers: Mapping[str, Callable[[], object]], repeats: int) -> tuple[dict[str, float], dict[str, Any]]:
    """The best wall time of each reader and what it read last; taking turns shares out the noise."""
    times = dict.fromkeys(readers, float("inf"))
    results: dict[str, Any] = {}
    for _ in range(repeats):
        for name, reader in readers.items():
            results.pop(name, None)
            start = time.perf_counter()
            results[name] = reader()
            times[name] = min(times[name], time.perf_counter() - start)
    return times, results

"""Probing from Python, and in anybody's own tests: `from rlclinic.probes import assert_probes`."""

from __future__ import annotations

from typing import Any

from rlclinic.probes.definition import GAMMA
from rlclinic.probes.ladder import chosen_probes
from rlclinic.probes.result import ProbeReport
from rlclinic.probes.run import FIRST_SEED, run_probes
from rlclinic.probes.words import failure_lines
from rlclinic.probes.workers import STALL_SECONDS


def probe(
    trainer: Any,
    *names: str,
    gamma: float = GAMMA,
    preflight: bool = False,
    locate: bool = False,
    processes: int = 2,
    stall_seconds: float = STALL_SECONDS,
    first_seed: int = FIRST_SEED,
) -> ProbeReport:
    """Probe a trainer: a name (`sb3:PPO`), a factory or an SB3 class. `names` choose probes: P3, truncation-twin."""
    return run_probes(
        trainer,
        chosen_probes(names, preflight=preflight),
        gamma=gamma,
        preflight=preflight,
        locate=locate,
        processes=processes,
        stall_seconds=stall_seconds,
        first_seed=first_seed,
    )


def assert_probes(
    trainer: Any,
    *names: str,
    gamma: float = GAMMA,
    preflight: bool = True,
    locate: bool = False,
    processes: int = 2,
    stall_seconds: float = STALL_SECONDS,
    first_seed: int = FIRST_SEED,
) -> ProbeReport:
    """Fail a test when a probe fails, or when nothing could be judged; the message names the suspected component."""
    __tracebackhide__ = True
    report = probe(
        trainer,
        *names,
        gamma=gamma,
        preflight=preflight,
        locate=locate,
        processes=processes,
        stall_seconds=stall_seconds,
        first_seed=first_seed,
    )
    if report.failed or not report.judged:
        raise AssertionError("\n".join(failure_lines(report)))
    return report

"""One seed of one probe: what a test needs where a whole verdict would take too long."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rlclinic.probes.ladder import chosen_probes
from rlclinic.probes.portrait import draw_portrait
from rlclinic.probes.seed_run import Job, SeedResult, run_seed


def one_seed(factory: Any, name: str, *, steps: int | None = None) -> SeedResult:
    """A case, or the first of a probe, with the settings that the trainer knows; `steps` instead of its own budget."""
    (probe,), portrait = chosen_probes((name,)), draw_portrait(factory)
    case = probe.cases[0]
    known = {name: value for name, value in case.settings(portrait.family).items() if name not in portrait.unknown}
    if steps is not None:
        case = replace(case, budget={portrait.family: steps})
    kind = portrait.actions[0] if case.actions == "any" else case.actions
    return run_seed(case, Job(probe.code, case.name, 5000, 0.7, portrait.family, kind, known), factory)

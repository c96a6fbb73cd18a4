"""The sentences of a prescription: what to do, and why, with the numbers of this run."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from rlclinic.facts.return_state import return_name
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.task_entry import rate_at_pace
from rlclinic.model.diagnosis import Cause
from rlclinic.model.finding import Finding
from rlclinic.model.numbers import percent, plain_numbers
from rlclinic.model.prescription import Change
from rlclinic.model.run import Run, Status
from rlclinic.prescriptions.assessment import Assessment
from rlclinic.reference.hyperparameters import amount, hyperparameters
from rlclinic.reference.reference_configs import NEAR_ONE
from rlclinic.reference.tasks import examinable, task_of

# Findings quoted per prescription, and letters of a quoted error.
QUOTED = 2
ERROR_WIDTH = 120
_LOCATED = re.compile(r".+:\d+: .+")
TENTH = 0.1
# What a budget may count that nobody would call steps.
COUNTED = frozenset({"episodes", "epochs", "iterations", "updates"})
SCHEDULE = "learning_rate_schedule"
LAB = "rlclinic"
# Rules that hold a run against the well-known task of its name.
DEPARTURES = ("untrained-policy-earns-far-less", "episodes-of-other-length", "pays-otherwise-than-task")
# Stands for the user's own function that makes the environment.
FACTORY = "MODULE:make_env"


def as_text(value: object) -> str:
    """A value as everything else prints it: plain decimals down to 0.0001, 1e-05 below."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value)) if abs(value) >= 10 else f"{value:.1f}"
    if isinstance(value, float) and 1e-4 <= abs(value) < 1:
        return f"{value:.10f}".rstrip("0")
    return str(value)


def config_instruction(changes: Sequence[Change], note: str = "") -> str:
    """One sentence that names every change."""
    parts = [change_words(change) for change in changes]
    sentence = " and ".join([parts[0], *map(begun, parts[1:])])
    return f"{sentence}. {note}".strip()


def change_words(change: Change) -> str:
    """One change in words: the user's key, the old value and the new one."""
    name, before, after = change.native_key, change.before, change.after
    if change.key == SCHEDULE and not isinstance(after, bool) and after is not None:
        # Some write the schedule into the rate itself, so the key alone would mislead.
        return f"Make the learning rate {as_text(after)} (now {as_text(before)})"
    if after is None:
        return f"Remove {name} (now {as_text(before)})"
    if isinstance(after, bool):
        return f"Switch {'on' if after else 'off'} {hyperparameters()[change.key].title} ({name})"
    if before is None:
        return f"Set {name} to {as_text(after)}"
    ups = amount(change.key, before), amount(change.key, after)
    if ups[0] is None or ups[1] is None:
        return f"Set {name} from {as_text(before)} to {as_text(after)}"
    return f"{'Raise' if ups[1] > ups[0] else 'Lower'} {name} from {as_text(before)} to {as_text(after)}"


def begun(sentence: str) -> str:
    """A sentence as the continuation of another."""
    return sentence[0].lower() + sentence[1:]


def rationale(
    assessment: Assessment,
    cause: Cause,
    evidence: Sequence[Finding],
    watch: Sequence[str],
    changes: Sequence[Change] = (),
) -> str:
    """Why: the findings with their codes and numbers, else what is watched; and how the value stands to what works."""
    quoted = [f"{finding.code} {finding.name}: {finding.summary.rstrip('.')}" for finding in evidence[:QUOTED]]
    title = cause.title[0].upper() + cause.title[1:].rstrip(".")
    told = f"{'; '.join(quoted)}. " if quoted else f"{title}. {_measured(assessment, watch)}"
    compared = [line for change in changes if (line := _against_reference(assessment, change))]
    share = f"The probability of {cause.id} is {percent(cause.probability)}."
    return plain_numbers(" ".join([f"{told}{share}", *compared]))


def fill(template: str, assessment: Assessment, **more: str) -> str:
    """A text with the run's own names and numbers in its places."""
    budget, environment = assessment.budget, assessment.run.environment
    departs = assessment.saw(*DEPARTURES)
    values = {
        "env": environment or "ENV",
        "trainer": assessment.trainer,
        "examine": f"`{examine_command(assessment.run, departs=departs)}`",
        "unread": _unread(assessment),
        "wrapped": "" if departs else wrapped(assessment.run),
        "suspects": _suspects(assessment),
        "budget": _steps(assessment, budget) if budget else "the planned steps",
        "tenth": _steps(assessment, TENTH * budget) if budget else "a tenth of the planned steps",
        "whole": "budget" if assessment.run.budget or not budget else "steps taken",
        "reward_divisor": f"{assessment.reward_divisor:g}",
        "last_error": _last_error(assessment),
        "update_size": "the KL of each update" if assessment.is_on_policy else "how far each update moves the values",
        **more,
    }
    for name, value in values.items():
        template = template.replace("{" + name + "}", value)
    return template


def examine_command(run: Run, *, departs: bool = False) -> str:
    """What examines the environment of a run: with its wrappers where its config names them.

    Where it departs from the standard one, the standard id cannot show why: the user's own function must be named.
    """
    wrappers = run.config.settings.get("env_wrappers")
    if run.framework == LAB and wrappers is not None and wrappers.value and wrappers.origin is not None and run.path:
        return f"rlclinic examine {shlex.quote(f'{run.path}/{wrappers.origin.file}')}"
    if run.is_environment and run.examined is not None and run.examined.source == "examined":
        return f"rlclinic examine {shlex.quote(run.environment)} --all"
    departs = departs and task_of(run.environment) is not None
    return f"rlclinic examine {FACTORY if departs else shlex.quote(examinable(run.environment))}"


def _unread(assessment: Assessment) -> str:
    """The look that is cheaper still, where the report knows no setting of a training."""
    known = any(not setting.is_default for setting in assessment.run.config.settings.values())
    if known or assessment.run.is_environment:
        return ""
    return "Add the config to this report first (--config FILE): a setting far off would show at once. "


def wrapped(run: Run) -> str:
    """What a standard id leaves out: what the user's own code puts around it."""
    known = task_of(run.environment) is not None
    return f" If your code wraps it, write {FACTORY} instead of the id." if known else ""


def _course(facts: RunFacts, name: str) -> tuple[float, float] | None:
    """Where a metric began and ended; a return as the rest of the report says it."""
    curve = facts.curves.get(name)
    if curve is not None:
        return curve.start, curve.final
    early, late = facts.early(name), facts.late(name)
    return (early.value, late.value) if early is not None and late is not None else None


def _measured(assessment: Assessment, watch: Sequence[str]) -> str:
    """The numbers that a cause without findings rests on: the return, and what its remedy moves."""
    names = dict.fromkeys([return_name(assessment.facts), *watch])
    lines: list[str] = []
    for name in names:
        course = _course(assessment.facts, name)
        if course is not None and len(lines) < QUOTED:
            lines.append(f"{assessment.run.series[name].logged_as} went from {course[0]:.4g} to {course[1]:.4g}")
    return f"{'; '.join(lines)}. " if lines else ""


def _suspects(assessment: Assessment) -> str:
    """Where to look first for a fault that no setting shows: the likelier place before the unlikelier one."""
    if assessment.is_stock:
        name = assessment.run.algorithm
        return f"Stock {name or 'code'} of a released library is rarely the fault"
    return "The environment is the quicker test"


def _against_reference(assessment: Assessment, change: Change) -> str:
    known, here = assessment.entry_number(change.key), assessment.number(change.key)
    where = f"{assessment.run.algorithm} on {assessment.run.environment}"
    whole = amount(change.key, assessment.reference.get(change.key)) if assessment.has_entry else None
    if known is None and whole is not None and whole != here:
        carried = rate_at_pace(assessment.facts) if change.key == "learning_rate" else None
        pace = f"; as far per sample the weights move here with {carried:.1g}" if carried is not None else ""
        return f"The {as_text(whole)} that works for {where} goes with other settings of its entry, as a whole{pace}."
    if known is None or here is None or known == here:
        return ""
    if change.key in NEAR_ONE or known == 0 or here == 0:
        return f"{change.native_key} is {as_text(here)}; {as_text(known)} works for {where}."
    ratio = here / known
    times = f"{ratio:.3g} times the" if ratio > 1 else f"{1 / ratio:.3g} times smaller than the"
    now = as_text(change.before if change.before == here else here)
    return f"{change.native_key} {now} is {times} {as_text(known)} that works for {where}."


def _last_error(assessment: Assessment) -> str:
    errors = [item for item in assessment.run.logs if item.kind != "warning"]
    failed = assessment.findings.get("environment-fails")
    if assessment.run.is_environment and failed is not None:
        return f"the environment: {failed.summary}"
    if not errors:
        told = failed.summary if failed is not None else "its text is not in the log"
        return f"the error that ended the run ({told})"
    status = assessment.run.status
    # A trainer may print its own lines after the exception, which is what the verdict names.
    located = status.state is Status.CRASHED and _LOCATED.fullmatch(status.reason)
    line = status.reason if located else errors[-1].text.strip().splitlines()[-1].strip()
    shown = line if len(line) <= ERROR_WIDTH else line[: ERROR_WIDTH - 1] + "…"
    return f"the error that ended the run ({'' if located else 'the log ends with: '}{shown})"


def _steps(assessment: Assessment, value: float) -> str:
    """So many steps, called by what the run counts where that is something else."""
    axis = assessment.run.step_axis
    return f"{_count(max(1.0, value))} {axis if axis in COUNTED else 'steps'}"


def _count(value: float) -> str:
    return f"{round(value):,}"

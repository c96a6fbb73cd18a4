"""The next steps after a diagnosis: what to do, what to do if it does not suffice, what to monitor."""

from __future__ import annotations

from collections.abc import Sequence

from rlclinic.causes.catalogue import catalogue
from rlclinic.causes.components import is_stock, trainer_of
from rlclinic.model.answer import GO_ON, TRAIN_LONGER
from rlclinic.model.numbers import number
from rlclinic.model.prescription import Prescription, PrescriptionKind, Priority
from rlclinic.model.run import Run, Status
from rlclinic.prescriptions.checks.constraints import RANGES
from rlclinic.prescriptions.commands import PROCESS
from rlclinic.prescriptions.proposals.native_settings import BUDGETS
from rlclinic.prescriptions.remedies.careful_step import rounded, step_factor
from rlclinic.prescriptions.wording import as_text, examine_command, wrapped
from rlclinic.reference.reference_configs import NEAR_ONE
from rlclinic.reference.usual import size_of, value_of_size

NOTHING = "Nothing needs to change as far as these logs tell."
TRAINER = (
    "The trained policy earns no more than random actions in an environment in which nothing speaks against learning: "
    "look for the fault in the trainer, with `rlclinic diagnose RUN` and `rlclinic probe`."
)
ALONE = "one at a time and with the same seeds"
# Metrics named, at most.
MOST_WATCHED = 5
# Settings of which a step back from the advice is where the run was, known or not.
ONLY_UP = frozenset({"max_response_length"})


def variations(item: Prescription) -> str:
    """A step to either side of the value that is prescribed: what a trial would try beside it. Empty without one."""
    change = next((change for change in item.changes if (number(change.after) or 0.0) > 0.0), None)
    if item.kind is not PrescriptionKind.CONFIG or change is None or change.key in BUDGETS:
        return ""
    values = _around(change.key, float(str(change.after)), change.before)
    return f"Variations to try, {ALONE}: {change.native_key} {values}." if values else ""


def _untreated(run: Run) -> str:
    """The same where all tests may pass: around the setting that matters most. Empty where it is not known."""
    setting, rate = run.config.settings.get("learning_rate"), run.config.number("learning_rate")
    if setting is None or setting.is_derived or not rate or rate <= 0.0:
        return ""
    values = _around("learning_rate", rate)
    return f"If these tests find nothing, variations to try, {ALONE}: {setting.native_key} {values}." if values else ""


def _elsewhere(run: Run, prescriptions: Sequence[Prescription]) -> str:
    """Where to look for what no prescription looks at. Empty where one does, and where it has been looked at."""
    first = catalogue().get(prescriptions[0].causes[0])
    known = run.is_language_model or run.is_environment or run.examined is not None
    if known or (first is not None and first.cause_class == PROCESS):
        return ""
    if any("rlclinic examine" in item.instruction for item in prescriptions):
        return ""
    if prescriptions[0].kind is PrescriptionKind.ENVIRONMENT:
        examine = f"`{examine_command(run, departs=True)}`"
        return f"{examine} plays the environment that was trained in, wrappers included, and measures it."
    examine = f"`{examine_command(run)}`"
    probe = "" if is_stock(run.framework) else f", and `rlclinic probe {trainer_of(run)}` the trainer"
    outside = f"look outside of the settings: {examine} tests the environment and its reward{probe}"
    return f"If none of this helps, {outside}.{wrapped(run)}"


def _around(key: str, value: float, before: object = None) -> str:
    """A step to either side of a value, as far as it is allowed and new. A horizon without end has no steps."""
    if key in NEAR_ONE and value >= 1.0:
        return ""
    size, factor = size_of(key, value), step_factor(key)
    tried = [rounded(key, value_of_size(key, size * by)) for by in (1.0 / factor, factor)[key in ONLY_UP :]]
    return " and ".join(as_text(one) for one in tried if _is_allowed(key, one) and one not in (before, value))


def _is_allowed(key: str, value: float) -> bool:
    return key not in RANGES or RANGES[key].holds(value)


def next_steps(
    run: Run, prescriptions: Sequence[Prescription], lacking: Sequence[str] = (), *, improves: bool = False
) -> tuple[str, ...]:
    """One line per prescription and one with the metrics to monitor; what `lacking` says keeps it from being judged."""
    if not prescriptions and lacking:
        going = (GO_ON if run.status.state is Status.RUNNING else TRAIN_LONGER,) if improves else ()
        advised = "No setting needs to change" if improves else "No change is advised"
        return (*going, f"{advised}, but the run is not known to be healthy: {'; '.join(lacking)}.")
    if not prescriptions:
        if run.examined is not None and run.examined.learned_nothing:
            return (TRAINER,)
        unseen = run.examined.unseen if run.examined is not None and run.is_environment else ()
        return (NOTHING, *unseen)
    lines = [item.instruction for item in prescriptions]
    first = prescriptions[0]
    optional = first.priority is Priority.LOW and len(prescriptions) == 1
    if first.kind is PrescriptionKind.CONFIG and not optional:
        lines[0] = f"{first.instruction} Change nothing else, and train again with the same seed."
    varied = next((text for item in prescriptions if (text := variations(item))), "")
    if not varied and all(item.kind is PrescriptionKind.CHECK for item in prescriptions):
        varied = _untreated(run)
    if varied and not optional:
        lines.append(varied)
    if not optional and (elsewhere := _elsewhere(run, prescriptions)):
        lines.append(elsewhere)
    watched = dict.fromkeys(name for item in prescriptions for name in item.watch)
    if watched:
        names = [run.series[name].logged_as if name in run else name for name in watched]
        lines.append(f"Monitor in the next run: {', '.join(names[:MOST_WATCHED])}.")
    return tuple(lines)

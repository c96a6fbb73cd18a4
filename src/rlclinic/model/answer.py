"""The answer first: verdict, cause, change, what to do otherwise and how sure that is, in a line each.

Every report begins with these lines and every other surface (a notebook, an agent, a workflow) shows the same.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.numbers import percent
from rlclinic.model.prescription import Change, Prescription, PrescriptionKind
from rlclinic.model.run import Run, Status
from rlclinic.model.vocabulary import has_metric
from rlclinic.model.words import listed, sentence, within

if TYPE_CHECKING:
    from rlclinic.model.diagnosis import Cause, Diagnosis

NOTHING_WRONG, UNKNOWN = "nothing-wrong", "unknown"
HARMLESS = frozenset({NOTHING_WRONG, "already-solved"})
# From here on a cause may be called likely, and how sure that is in words.
LIKELY = 0.5
HOW_SURE = ((0.9, "Very sure"), (0.7, "Fairly sure"), (LIKELY, "More likely than not"), (0.0, "Not sure"))
# Facts that carry a cause, and the least a piece of evidence must add, in natural-log units, to be one of them.
MOST_FACTS, LEAST_WEIGHT = 2, 0.2
# A rise that the verdict takes for noise is no fact beside it.
RISING, NOT_RISING = "still-rising-at-end", ("not-learning", "collapsed")
NO_EVIDENCE = ("prior", "all causes", "doubt", "seeds")
# Letters of a fact and of a change: the report below has them whole.
FACT_WIDTH, CHANGE_WIDTH, NATIVE_WIDTH = 130, 240, 60
# Verdicts that a person would not say as they are called.
WORDS = {"insufficient-data": "Cannot be judged yet", "not-rl": "Not reinforcement learning"}
# Inputs that tell most about causes, and how many of them are named as missing.
TELLING = {
    "return/train": "the return", "entropy": "entropy", "approx_kl": "KL", "explained_variance": "explained variance",
    "value_loss": "value loss", "q/mean": "mean Q", "alpha": "alpha", "grad_norm": "gradient norm",
    "return/eval": "evaluations", "episode_length": "episode lengths", "response_length": "response lengths",
    "reward/*": "the parts of the reward",
}  # fmt: skip
MOST_NEEDS = 3
# What a later prescription says first, which a line of its own does not need.
LEAD = re.compile(r"^(?:If (?:that does not suffice|the test confirms it)|Optional|To judge it)[^:]*: ")
OPTIONAL = "Optional"
TOO_SHORT, NOT_RL = "budget-too-small", "not-rl"
# What a test beside the one that is advised does, by the verb that makes it.
ALSO = {"trial": "or try the change", "examine": "or examine the environment", "probe": "or probe the trainer"}
REPEAT = "Repeat it with another seed: one run proves little."
REPRODUCE = "Run it again with the same seed: an error that comes back can be traced."
GO_ON, TRAIN_LONGER = "Let it go on: it is learning.", "Train longer: it was still on its way when the log ended."
NAME_COLUMN = "Say with --map which column is the return."
BY_HAND = "Reset and step the environment by hand, with one seed, and print what each call returns."
NAME_FILES = "Name the files that hold the metrics with --metrics, and the column of the return with --map."


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the answer."""

    label: str
    text: str
    commands: tuple[tuple[str, str], ...] = ()
    """What a command is for (`apply`, `prove` ...) and the command."""

    def __str__(self) -> str:
        told = "  ".join(f"{what}: {command}" for what, command in self.commands)
        return f"{self.label}: {self.text}" + (f"  {told}" if told else "")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a person must know first: five lines, two for a healthy run."""

    run: str
    verdict: str
    lines: tuple[Line, ...]

    def __str__(self) -> str:
        return "\n".join(map(str, self.lines))


def answer_of(diagnosis: Diagnosis) -> Answer:
    """The lines of a diagnosis. Texts of the run in them are not yet safe to print."""
    word = WORDS.get(diagnosis.verdict.value, diagnosis.verdict.value.replace("-", " ").capitalize())
    cut = listed(list(diagnosis.run.provenance.cut))
    part = f" Only a part was read: {cut}." if cut else ""
    verdict = Line("Verdict", sentence(f"{word}: {diagnosis.reason}") + part)
    if diagnosis.is_healthy:
        learned = diagnosis.environment is None or not diagnosis.environment.learned_nothing
        but = "" if learned else " in the environment, but the trained policy earns no more than random actions"
        rest = [Line("Change", f"Nothing needs to change{but}. {_sure(diagnosis)}")]
    else:
        cause, sure = Line("Cause", _cause(diagnosis)), Line("How sure", _sure(diagnosis))
        rest = [cause, _change(diagnosis), _otherwise(diagnosis), sure]
    return Answer(diagnosis.run.id, diagnosis.verdict.value, (verdict, *rest))


def _cause(diagnosis: Diagnosis) -> str:
    causes = diagnosis.ranked
    lead = causes[0] if causes else None
    if diagnosis.verdict.value == NOT_RL:
        return "Not looked for: this training has no rewards."
    if lead is None or lead.id == UNKNOWN:
        grounded = [cause for cause in causes[1:3] if cause.id not in HARMLESS and cause.supports]
        ideas = [f"{cause.id} ({percent(cause.probability)})" for cause in grounded]
        first = f" First idea{'s' if len(ideas) > 1 else ''}: {listed(ideas)}." if ideas else ""
        return f"None can be named from this log.{first}{_missing(diagnosis)}"
    if lead.id in HARMLESS:
        lacking = "; ".join(diagnosis.lacking)
        but = f", but that is not enough to call it healthy: {lacking}" if lacking else ""
        return f"No fault was found ({percent(lead.probability)}){but}."
    facts = "; ".join(_facts(diagnosis, lead))
    told = f"{lead.id} ({percent(lead.probability)}): {facts or within(lead.title)}."
    if lead.probability >= LIKELY:
        return told
    rivals = [f"{cause.id} ({percent(cause.probability)})" for cause in causes[1:2] if cause.id != UNKNOWN]
    return f"Not decided. First {told}{f' Then {rivals[0]}.' if rivals else ''}{_missing(diagnosis)}"


def _facts(diagnosis: Diagnosis, lead: Cause) -> list[str]:
    """The pieces of evidence that carry the cause, the weightiest first; the verdict is said already."""
    found = diagnosis.explanations.get(lead.id)
    pieces = sorted(found.pieces, key=lambda piece: -piece.value) if found is not None else []
    weighty = [piece.text for piece in pieces if piece.value >= LEAST_WEIGHT and piece.kind not in NO_EVIDENCE]
    texts = weighty if pieces else list(lead.supports)
    findings = {finding.code: finding for finding in diagnosis.findings}
    told: dict[str, None] = {diagnosis.reason.rstrip("."): None}
    facts = []
    for text in texts:
        finding = findings.get(text.partition(" ")[0])
        denied = finding is not None and finding.name == RISING and diagnosis.verdict.value in NOT_RISING
        if denied or text.startswith("verdict "):
            continue
        clauses = _short(finding.summary if finding is not None else text, FACT_WIDTH).split("; ")
        fresh = [clause for clause in clauses if clause not in told]
        told |= dict.fromkeys([*clauses, "; ".join(clauses)])
        facts += ["; ".join(fresh)] if fresh and "; ".join(clauses) != diagnosis.reason.rstrip(".") else []
    return facts[:MOST_FACTS]


def _change(diagnosis: Diagnosis) -> Line:
    first = next(iter(diagnosis.prescriptions), None)
    commands = diagnosis.commands
    if diagnosis.verdict.value == NOT_RL:
        return Line("Change", "None: this run learns from examples, and only reinforcement learning is judged here.")
    if _has_nothing(diagnosis):
        return Line("Change", NAME_FILES)
    if _needs_column(diagnosis):
        return Line("Change", NAME_COLUMN, (("judge", f"{commands.ask} --map return/train=COLUMN"),))
    if _may_go_on(diagnosis):
        going = diagnosis.run.status.state is Status.RUNNING
        return Line("Change", GO_ON if going else TRAIN_LONGER, (("judge", commands.judge),) if commands.judge else ())
    if first is None:
        longer = diagnosis.finds_nothing and any(cause.id == TOO_SHORT for cause in diagnosis.ranked[1:3])
        step = "Train longer, if the return is not enough yet." if longer else "None is advised."
        step = step if diagnosis.finds_nothing or not diagnosis.next_steps else sentence(diagnosis.next_steps[0])
        return Line("Change", step, (("judge", commands.judge),) if commands.judge else ())
    text = _instruction(first, leads=True)
    if first.native is not None and first.native.text.count("\n") == 0 and len(first.native.text) <= NATIVE_WIDTH:
        text = text.rstrip(".") + _written(diagnosis.run, first.changes, first.native.text.strip())
    if first.kind is PrescriptionKind.CHECK:
        is_optional = diagnosis.finds_nothing or text.startswith(OPTIONAL) or TOO_SHORT in first.causes
        return Line("Change" if is_optional else "Test first", text, () if is_optional else _also(commands.test, text))
    is_seen = first.kind is PrescriptionKind.ENVIRONMENT and commands.test.startswith("rlclinic examine ")
    seen = commands.test if is_seen else ""
    both = (("apply", commands.apply), ("examine", seen), ("prove", commands.prove))
    lead = diagnosis.ranked[0]
    if lead.id not in (*first.causes, UNKNOWN, *HARMLESS) and first.causes and lead.probability >= LIKELY:
        text = f"Rule out {first.causes[0]} first: {within(text)}"
    return Line("Change", text, tuple((what, command) for what, command in both if command))


def _written(run: Run, changes: tuple[Change, ...], native: str) -> str:
    """A change as the user writes it; where that is one line of a file, which line."""
    setting = run.config.settings.get(changes[0].key) if len(changes) == 1 else None
    if setting is None or setting.origin is None or native.partition(": ")[0] != setting.native_key:
        return f": {native}"
    return f" in {setting.origin}."


def _has_nothing(diagnosis: Diagnosis) -> bool:
    """Whether there is not one metric to judge by."""
    return not diagnosis.run.series and diagnosis.verdict.value == "insufficient-data"


def _needs_column(diagnosis: Diagnosis) -> bool:
    """Whether there are metrics without a return among them, and nothing says why."""
    lead = diagnosis.ranked[0].id if diagnosis.ranked else UNKNOWN
    unsaid = lead in (UNKNOWN, TOO_SHORT) and diagnosis.verdict.value == "insufficient-data"
    return unsaid and diagnosis.run.returns is None and bool(diagnosis.commands.ask)


def _may_go_on(diagnosis: Diagnosis) -> bool:
    """Whether a run without a fault was improving and has not arrived, and nothing but looking at it is advised."""
    first = next(iter(diagnosis.prescriptions), None)
    looks = first is None or (first.kind is PrescriptionKind.CHECK and TOO_SHORT not in first.causes)
    return looks and diagnosis.finds_nothing and diagnosis.verdict.value == "learning"


def _also(command: str, text: str) -> tuple[tuple[str, str], ...]:
    """A test that a text does not name itself."""
    verb = command.split(" ", 2)[1] if command else ""
    return ((ALSO[verb], command),) if verb in ALSO and f"rlclinic {verb}" not in text else ()


def _otherwise(diagnosis: Diagnosis) -> Line:
    """The next candidate: after a change the settings that are known to work, else the next prescription."""
    commands, first = diagnosis.commands, next(iter(diagnosis.prescriptions), None)
    if diagnosis.verdict.value == NOT_RL:
        return Line("If not that", sentence(f"If it does learn from a reward: {within(NAME_COLUMN)}"))
    if _has_nothing(diagnosis) or _needs_column(diagnosis):
        return Line("If not that", "Log the return of every episode, and train again.")
    if first is not None and _may_go_on(diagnosis):
        return Line("If not that", _instruction(first))
    if commands.known_good and first is not None and first.kind is PrescriptionKind.CONFIG:
        settings = f"Start from the settings that are known to work for {commands.known_good_for}."
        return Line("If not that", settings, (("train", commands.known_good),))
    if len(diagnosis.prescriptions) > 1:
        return Line("If not that", _instruction(diagnosis.prescriptions[1]))
    if diagnosis.run.is_environment:
        return Line("If not that", BY_HAND)
    said = (UNKNOWN, *HARMLESS, diagnosis.verdict.value, *((TOO_SHORT,) if diagnosis.finds_nothing else ()))
    others = [cause.id for cause in diagnosis.ranked[1:] if cause.id not in said][:2]
    rest = REPEAT if diagnosis.run.returns is not None else NAME_COLUMN if diagnosis.run.series else NAME_FILES
    rest = REPRODUCE if diagnosis.verdict.value == "crashed" else rest
    # Without a return no cause can be told from another.
    is_next = others and (diagnosis.run.returns is not None or diagnosis.verdict.value == "crashed")
    ideas = f"The next candidate{'s are' if len(others) > 1 else ' is'} {listed(others)}." if is_next else rest
    is_told = first is not None and first.kind in {PrescriptionKind.CHECK, PrescriptionKind.ENVIRONMENT}
    return Line("If not that", ideas, () if is_told else _also(commands.test, ""))


def _sure(diagnosis: Diagnosis) -> str:
    if diagnosis.verdict.value == NOT_RL:
        return "It is told by the names of what is logged alone."
    lead = diagnosis.ranked[0] if diagnosis.ranked else None
    share = lead.probability if lead is not None and lead.id != UNKNOWN else 0.0
    words = next(words for least, words in HOW_SURE if share >= least)
    what = f" ({percent(share)})" if share else ""
    total = diagnosis.checked + len(diagnosis.not_checked)
    checks = f"{diagnosis.checked} of {total} checks could be made" if total else "no check that was asked for applies"
    going = "; the run is still going" if diagnosis.run.status.state is Status.RUNNING else ""
    unknown = [word for word, absent in _unknowns(diagnosis) if absent]
    missing = f"; not known: {listed(unknown)}" if unknown else ""
    return f"{words}{what}: {checks}{missing}{going}."


def _unknowns(diagnosis: Diagnosis) -> tuple[tuple[str, bool], ...]:
    run = diagnosis.run
    return (
        ("the config", not run.config.settings and not run.config.native),
        ("the algorithm", not run.algorithm),
        ("the environment", not run.environment and not run.is_language_model),
        ("the goal", diagnosis.goal is None),
    )


def _missing(diagnosis: Diagnosis) -> str:
    """What would name a cause: the most telling inputs that checks lack and the algorithm has."""
    if _has_nothing(diagnosis):
        return ""
    needs = {name for item in diagnosis.not_checked for need in item.needs for name in need.split("|")}
    names = ["the config (--config)"] if dict(_unknowns(diagnosis))["the config"] else []
    needs -= {"return/train"} if diagnosis.run.returns is not None else set()
    # The divergence from the reference tells as much.
    needs -= {"approx_kl"} if "kl_ref" in diagnosis.run else set()
    names += [said for name, said in TELLING.items() if name in needs and has_metric(diagnosis.run.algorithm, name)]
    return f" To narrow it down, add {listed(names[:MOST_NEEDS])}." if names else ""


def _instruction(item: Prescription, *, leads: bool = False) -> str:
    text = item.instruction if leads else LEAD.sub("", item.instruction)
    return sentence(_short(text, CHANGE_WIDTH))


def _short(text: str, width: int) -> str:
    """As many whole sentences as fit, else whole clauses, else words."""
    flat = " ".join(text.split()).rstrip(".")
    if len(flat) <= width:
        return flat
    for mark in (". ", "; ", ": ", ", "):
        end = flat.rfind(mark, 0, width)
        # A quotation is not cut as if it were a clause.
        if end > width // 3 and flat.count('"', 0, end) % 2 == 0:
            return flat[:end]
    if flat.count('"', 0, width) % 2:
        return f'{flat[: flat.rfind(" ", 0, width)]} …"'
    return f"{flat[: flat.rfind(' ', 0, width)]} …"

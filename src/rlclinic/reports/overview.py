"""Several runs at a glance: one line each, the worst first, and which causes they share."""

from __future__ import annotations

from collections.abc import Sequence

from rlclinic.model.answer import LEAD, LIKELY, UNKNOWN
from rlclinic.model.diagnosis import Cause, Diagnosis, Verdict
from rlclinic.model.words import listed, within
from rlclinic.reports.formats import Context
from rlclinic.reports.html_blocks import block_html, document, fragment, section_html, text_html
from rlclinic.reports.markdown_blocks import page_markdown
from rlclinic.reports.page import TONES, Block, Code, Facts, Inline, Section, Table
from rlclinic.reports.recommendations import value_text
from rlclinic.reports.sections import answer_facts
from rlclinic.reports.text import shorten
from rlclinic.reports.text_blocks import page_text

FOOT = "Made by rlclinic from the files of the runs. Text of logs is quoted, not checked."
# Letters of cause and change, and of a name, so that a run is one line: its report has them whole.
CHANGE_WIDTH = 54
NAME_WIDTH = 24
# Runs that the table of causes names; the others are counted.
MOST_NAMED = 4
WORST_FIRST = ("bad", "caution", "good")


def overview_text(diagnoses: Sequence[Diagnosis], context: Context) -> str:
    """The overview for a terminal."""
    sections = overview_sections(diagnoses)
    return page_text(_title(diagnoses), "", "good", "", sections, width=context.width, colour=context.colour)


def overview_markdown(diagnoses: Sequence[Diagnosis], _context: Context) -> str:
    """The overview as markdown."""
    return page_markdown(_title(diagnoses), "", overview_sections(diagnoses))


def overview_html(diagnoses: Sequence[Diagnosis], _context: Context) -> str:
    """The overview as one page, with the answer of each run folded below it."""
    title = _title(diagnoses)
    sections = [section_html(section) for section in overview_sections(diagnoses)]
    sections += [
        f"<details><summary>{text_html(item.run.id)}: {item.verdict.value}</summary>"
        f'<div class="answer">{block_html(answer_facts(item.answer))}</div></details>'
        for item in by_weight(diagnoses)
    ]
    return document(title, fragment(f"<header><h1>{text_html(title)}</h1></header>", "\n".join(sections), FOOT))


def by_weight(diagnoses: Sequence[Diagnosis]) -> list[Diagnosis]:
    """The runs by what matters: bad verdicts first, then urgent changes, then sure causes; solved runs come last."""
    return sorted(diagnoses, key=_weight)


def overview_sections(diagnoses: Sequence[Diagnosis]) -> list[Section]:
    """The runs, and the causes that they share."""
    rows = tuple(_row(item) for item in by_weight(diagnoses))
    runs = Table(("run", "verdict", "cause and change"), rows, cut=(0,))
    found = [Section("runs", "Runs", (runs,))]
    causes = _causes(diagnoses)
    return [*found, Section("causes", "Causes", (causes,))] if causes is not None else found


def _weight(item: Diagnosis) -> tuple[int, bool, int, float]:
    tone = WORST_FIRST.index(TONES.get(item.verdict, "bad"))
    urgent = item.prescriptions[0].priority.rank if item.prescriptions else len(WORST_FIRST) + 1
    return tone, item.verdict is Verdict.SOLVED, urgent, -item.ranked[0].probability if item.ranked else 0.0


def _row(item: Diagnosis) -> tuple[Inline, ...]:
    lead = _named(item)
    told = _change(item) if lead is None else f"{lead.id}: {within(_change(item))}"
    # A command that is cut cannot be run: the report has it.
    whole = told if len(told) <= CHANGE_WIDTH else told.partition(": `")[0]
    return Code(shorten(item.run.id, NAME_WIDTH)), item.verdict.value, shorten(whole, CHANGE_WIDTH)


def _change(item: Diagnosis) -> str:
    first = next(iter(item.prescriptions), None)
    if first is not None and first.changes:
        return ", ".join(
            f"{change.native_key} {value_text(change.before)} → {value_text(change.after)}" for change in first.changes
        )
    told = next(line.text for line in item.answer.lines if line.label in ("Change", "Test first"))
    return LEAD.sub("", told).partition(". ")[0].rstrip(".")


def _named(item: Diagnosis) -> Cause | None:
    """The leading cause, where there is one to name."""
    lead = next(iter(item.ranked), None)
    return None if lead is None or lead.id == UNKNOWN or item.finds_nothing else lead


def _causes(diagnoses: Sequence[Diagnosis]) -> Block | None:
    runs: dict[str, list[Diagnosis]] = {}
    for item in diagnoses:
        lead = _named(item)
        if lead is not None:
            runs.setdefault(lead.id, []).append(item)
    if not runs:
        return None
    ordered = sorted(runs.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    return Facts(tuple((cause, _members(items)) for cause, items in ordered))


def _members(items: Sequence[Diagnosis]) -> str:
    names = [item.run.id for item in items]
    shown = names if len(names) <= MOST_NAMED else [*names[:MOST_NAMED], f"{len(names) - MOST_NAMED} more"]
    likely = sum(item.ranked[0].probability >= LIKELY for item in items)
    count = "1 run" if len(items) == 1 else f"{len(items)} runs"
    sure = "likely" if likely == len(items) else f"likely in {likely}" if likely else "not sure"
    return f"{count}, {sure}: {listed(shown)}"


def _title(diagnoses: Sequence[Diagnosis]) -> str:
    bad = sum(TONES.get(item.verdict, "bad") == "bad" for item in diagnoses)
    healthy = sum(item.is_healthy for item in diagnoses)
    return f"{len(diagnoses)} runs: {bad} in trouble, {healthy} healthy, {len(diagnoses) - bad - healthy} undecided"

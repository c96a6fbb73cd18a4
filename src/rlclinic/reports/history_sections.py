"""A history as a page: the best configs, what separates them, what was tried, what to try next."""

from __future__ import annotations

from collections.abc import Iterable

from rlclinic.model.history import Aim, Attempt, History, PastConfig, Separation, Suggestion
from rlclinic.model.prescription import Change
from rlclinic.model.words import sentence
from rlclinic.reports.page import Block, Code, Inline, Listing, Section, Table, Words
from rlclinic.reports.performance import duration
from rlclinic.reports.text import number, shorten

MOST_SEPARATIONS = 8
MOST_ATTEMPTS = 8
# Settings with a larger p show nothing worth a line.
SAID = 0.5
VALUE_WIDTH = 40


def history_title(history: History) -> str:
    """What the page is about."""
    return f"{history.environment} below {history.root}"


def history_summary(history: History) -> str:
    """The answer in one sentence."""
    if not history.best:
        return "No run here has a return that could be compared."
    best = history.best[0]
    seeds = f"{len(best.paths)} run{'s' if len(best.paths) > 1 else ''}"
    reached = (
        "" if best.steps_to_threshold is None else f" and reached the threshold at {number(best.steps_to_threshold)}"
    )
    sure = [item.key for item in history.separations if item.sure]
    verb = "separates" if len(sure) == 1 else "separate"
    pattern = f"; {', '.join(sure)} surely {verb} good from bad" if sure else ""
    return (
        f"Of {history.runs} runs the best config is {best.label} ({best.algorithm}, {seeds}): it ended at "
        f"{number(best.final)}{reached}{pattern}."
    )


def history_sections(history: History) -> tuple[Section, ...]:
    """The sections of the page; one without content is left out."""
    built = (
        ("best", "Best configs", _best(history)),
        ("settings", "Settings of the best config", _settings(history)),
        ("patterns", "What separates good from bad", _separations(history)),
        ("tried", "Tried around the best config", _attempts(history)),
    )
    sections = [Section(key, title, tuple(blocks)) for key, title, blocks in built if blocks]
    if history.best:
        sections += [Section(aim.name.lower(), f"Next: {aim.value}", (_next(history, aim),)) for aim in Aim]
    if history.notes:
        sections.append(Section("notes", "Notes", (Listing(history.notes),)))
    return tuple(sections)


def _best(history: History) -> list[Block]:
    if not history.best:
        return []
    header = ("config of", "algorithm", "runs", "final", "mean", "to threshold", "steps", "env steps/s", "wall time")
    right = frozenset({2, 3, 4, 5, 6, 7, 8})
    return [Table(header, tuple(_config(item) for item in history.best), right, cut=(0,), drop=(6, 8))]


def _config(item: PastConfig) -> tuple[Inline, ...]:
    final = number(item.final)
    if len(item.paths) > 1:
        final += f" ({number(item.final_low)} to {number(item.final_high)})"
    return (
        item.label,
        item.algorithm or "-",
        str(len(item.paths)),
        final,
        number(item.area),
        number(item.steps_to_threshold),
        number(item.steps),
        number(item.fps),
        "-" if item.seconds is None else duration(item.seconds),
    )


def _settings(history: History) -> list[Block]:
    if not history.best:
        return []
    rows = tuple((Code(key), Code(shorten(str(value), VALUE_WIDTH))) for key, value in history.best[0].settings.items())
    return [Table(("setting", "value"), rows)] if rows else [Words("Its config is not known from the files.")]


def _separations(history: History) -> list[Block]:
    found = history.separations
    if not found:
        return [] if not history.enough else [Words("No setting has values enough on two sides to be tested.")]
    shown = [item for item in found if item.p_value < SAID][:MOST_SEPARATIONS]
    if not shown:
        return [Words(f"None of the {len(found)} settings with values enough to compare goes with better runs.")]
    header = ("setting", "better", "worse", "higher by", "delta (95%)", "p")
    rows = tuple(_separation(item) for item in shown)
    mixed: list[Block] = [
        Words(
            (Code(item.key), f" changed together with {', '.join(item.confounded)}: the runs cannot tell them apart.")
        )
        for item in shown
        if item.confounded
    ]
    what = "configs, each over its seeds" if history.unit == "config" else "single runs, whose seeds are no configs"
    words = (
        "Delta is Cliff's: 1 means that every one of the better side beats every one of the other, 0 a coin toss. "
        f"Counted are {what}. p is the probability of such an effect by chance, corrected for all splits and the "
        f"{len(found)} settings that were looked at; below 0.05 it is sure. Nothing here was randomised: what "
        "goes together need not be cause and effect."
    )
    return [Table(header, rows, frozenset({3, 5}), cut=(2, 1)), *mixed, Words(words)]


def _separation(item: Separation) -> tuple[Inline, ...]:
    return (
        Code(item.key),
        f"{shorten(item.better, VALUE_WIDTH)} ({item.better_count})",
        f"{shorten(item.worse, VALUE_WIDTH)} ({item.worse_count})",
        number(item.difference),
        f"{item.effect:.2f} ({item.low:.2f} to {item.high:.2f})",
        f"{item.p_value:.2g}",
    )


def _attempts(history: History) -> list[Block]:
    if not history.attempts:
        return []
    best = history.best[0].steps
    items = tuple(_attempt(item, best) for item in history.attempts[:MOST_ATTEMPTS])
    left = len(history.attempts) - len(items)
    more: list[Block] = [Words(f"And {left} more: --json has them all.")] if left else []
    return [Listing(items), *more]


def _attempt(item: Attempt, best_steps: float) -> Inline:
    word = "higher" if item.difference > 0 else "lower"
    gap = "the same" if item.difference == 0 else f"{number(abs(item.difference))} {word}"
    length = "" if item.steps >= best_steps else f", in {number(item.steps)} steps instead of {number(best_steps)}"
    runs = "1 run" if item.runs == 1 else f"{item.runs} runs"
    return (*_changes(item.changes), f": ended at {number(item.final)}, {gap} ({runs}{length})")


def _changes(changes: Iterable[Change]) -> tuple[str, ...]:
    parts: list[str] = []
    for change in changes:
        before, after = (_value(value) for value in (change.before, change.after))
        parts += [", " if parts else "", Code(change.native_key), f" {before} to {after}"]
    return tuple(parts)


def _value(value: object) -> str:
    return "not set" if value is None else shorten(str(value), VALUE_WIDTH)


def _next(history: History, aim: Aim) -> Block:
    items = tuple(_suggestion(item) for item in history.suggestions if item.aim is aim)
    return Listing(items) if items else Words("The history points to nothing here.")


def _suggestion(item: Suggestion) -> Inline:
    return f"{sentence(item.text)} ({item.basis.value}: {item.source})"

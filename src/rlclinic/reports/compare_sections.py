"""A comparison as a page: outcomes, seeds, settings, where the curves part."""

from __future__ import annotations

from dataclasses import replace

from rlclinic.model.comparison import Comparison, FirstMove, Parting, RunOutcome, SettingDifference
from rlclinic.model.diagnosis import Verdict
from rlclinic.model.numbers import percent
from rlclinic.model.run import Status
from rlclinic.model.words import sentence
from rlclinic.reports.page import Block, Code, Facts, Inline, Listing, Section, Table, Words
from rlclinic.reports.performance import duration
from rlclinic.reports.reference_sections import framework_blocks, reference_sections
from rlclinic.reports.text import number, shorten

# With more runs than this, values are listed instead of one column per run.
MOST_COLUMNS = 4
MOST_SETTINGS = 20
MOST_APART = 8
VALUE_WIDTH = 24


def comparison_title(comparison: Comparison) -> str:
    """What is compared, in a few words."""
    count = len(comparison.outcomes)
    runs = f"{count} run{'s' if count != 1 else ''}"
    if not any(comparison.environments) and all(item.run.is_language_model for item in comparison.outcomes):
        return f"{runs} of language models"
    where = ", ".join(name or "unknown environment" for name in comparison.environments)
    return f"{runs} on {where}"


def comparison_sections(comparison: Comparison) -> tuple[Section, ...]:
    """The sections of the page; one without content is left out."""
    built = (
        ("outcomes", "Outcomes", _outcomes(comparison)),
        ("seeds", "Over seeds", _seeds(comparison)),
        ("settings", "Settings that differ", _settings(comparison)),
        ("partings", "Where the curves part", _partings(comparison)),
        ("frameworks", "What the frameworks do differently", framework_blocks(comparison.frameworks)),
        ("apart", "Also different", _apart(comparison)),
        ("notes", "Notes", [Listing(comparison.notes)] if comparison.notes else []),
    )
    found = [Section(key, title, tuple(blocks)) for key, title, blocks in built if blocks]
    # What the headline says already is not said again.
    told = [replace(item, summary="") if item.summary == comparison.summary else item for item in comparison.references]
    beside = [part for at, item in enumerate(told) for part in reference_sections(item, at)]
    return (*found[:1], *beside, *found[1:])


def _outcomes(comparison: Comparison) -> list[Block]:
    header = ("run", "verdict", "final", "best", "mean", "to threshold", "steps", "wall time", "leading cause")
    rows = tuple(_outcome(outcome) for outcome in comparison.outcomes)
    blocks: list[Block] = [Table(header, rows, frozenset({2, 3, 4, 5, 6, 7}), cut=(0,), drop=(6, 3))]
    notes = ["Final is the level over the last tenth of the run, with half its 95% interval"]
    notes.append("mean is the mean return up to the last step that all runs have (the area under the curve)")
    levels = {outcome.threshold for outcome in comparison.outcomes if outcome.threshold is not None}
    if len(levels) == 1:
        notes.append(f"the threshold is {number(levels.pop())}")
    if any(outcome.reference for outcome in comparison.outcomes):
        notes.append("* is the best run of the history, for reference")
    return [*blocks, Words(sentence("; ".join(notes))), *_held_out(comparison)]


def _held_out(comparison: Comparison) -> list[Block]:
    """How language models did on prompts that they were not trained on: a higher training score alone says little."""
    tried = [
        (item.label, item.run["return/eval"])
        for item in comparison.outcomes
        if item.run.is_language_model and "return/eval" in item.run and item.run["return/eval"].last is not None
    ]
    courses = [f"{label} from {number(float(one.values[0]))} to {number(one.last)}" for label, one in tried]
    return [Words(sentence(f"On held-out prompts: {'; '.join(courses)}"))] if courses else []


def _outcome(item: RunOutcome) -> tuple[Inline, ...]:
    half = None if item.final is None or item.final_high is None else item.final_high - item.final
    final = number(item.final) if half is None else f"{number(item.final)} ± {half:.2g}"
    if item.run.status.state is Status.RUNNING:
        final += " so far"
    cause = f"{item.cause} ({percent(item.cause_probability)})" if item.cause else "-"
    reached = number(item.steps_to_threshold)
    if item.steps_to_threshold is None:
        reached = "never" if item.threshold is not None and item.final is not None else "-"
        if item.verdict is Verdict.SOLVED and item.threshold is not None:
            reached = "in evaluation" if "return/eval" in item.run else "by its episodes"
    return (
        f"{item.label}{' *' if item.reference else ''}",
        item.verdict.value,
        final,
        number(item.best),
        number(item.area),
        reached,
        number(item.run.steps),
        "-" if item.seconds is None else duration(item.seconds),
        cause,
    )


def _seeds(comparison: Comparison) -> list[Block]:
    if not comparison.groups:
        return []
    header = ("config of", "seeds", "final", "lowest", "highest", "mean", "reached")
    rows = tuple(
        (
            group.members[0],
            str(len(group.members)),
            number(group.final),
            number(group.final_low),
            number(group.final_high),
            number(group.area),
            f"{group.reached} of {len(group.members)}",
        )
        for group in comparison.groups
    )
    words = "Final and mean are interquartile means over the seeds; reached counts those that reached the threshold."
    return [Table(header, rows, frozenset({1, 2, 3, 4, 5, 6}), cut=(0,)), Words(words)]


def _settings(comparison: Comparison) -> list[Block]:
    labels = tuple(outcome.label for outcome in comparison.outcomes)
    found = comparison.differences
    if not found:
        if any(outcome.run.config.settings for outcome in comparison.outcomes) and len(labels) > 1:
            return [Words("No setting that shapes learning differs, as far as the files tell.")]
        return [Words("No config was read, so the settings cannot be compared.")] if len(labels) > 1 else []
    blocks: list[Block] = []
    if len(labels) <= MOST_COLUMNS:
        rows = tuple((Code(item.key), *_values(item), _distance(item)) for item in found[:MOST_SETTINGS])
        right = frozenset({len(labels) + 1})
        blocks.append(Table(("setting", *labels, "spreads"), rows, right, cut=tuple(range(1, len(labels) + 1))))
    else:
        listed = tuple((Code(item.key), _distance(item), _by_value(item, labels)) for item in found[:MOST_SETTINGS])
        blocks.append(Table(("setting", "spreads", "values"), listed, frozenset({1})))
    if len(found) > MOST_SETTINGS:
        blocks.append(Words(f"And {len(found) - MOST_SETTINGS} more: --json has them all."))
    blocks.append(
        Words(
            "Spreads: the distance of the farthest two values, counted in the spread of published working configs. "
            "(d) is a default of the framework."
        )
    )
    return blocks


def _values(item: SettingDifference) -> tuple[Inline, ...]:
    defaults = item.defaults or (False,) * len(item.values)
    return tuple(
        "-" if value is None else (Code(shorten(str(value), VALUE_WIDTH)), " (d)" if default else "")
        for value, default in zip(item.values, defaults, strict=True)
    )


def _by_value(item: SettingDifference, labels: tuple[str, ...]) -> Inline:
    holders: dict[str, list[str]] = {}
    for value, label in zip(item.values, labels, strict=True):
        if value is not None:
            holders.setdefault(shorten(str(value), VALUE_WIDTH), []).append(label)
    parts: list[str] = []
    for value, names in holders.items():
        shown = names[0] if len(names) == 1 else f"{len(names)} runs"
        parts += ["; " if parts else "", Code(value), f" ({shown})"]
    return tuple(parts)


def _distance(item: SettingDifference) -> str:
    return "-" if item.distance is None else f"{item.distance:.1f}"


def _partings(comparison: Comparison) -> list[Block]:
    blocks: list[Block] = []
    for item in comparison.partings:
        blocks.append(Words(_parting(item)))
        if item.moves:
            blocks.append(Listing(tuple(_move(move, item) for move in item.moves), numbered=True))
    return blocks


def _parting(item: Parting) -> str:
    pair = f"{item.first} and {item.second}"
    if item.reason:
        return f"{pair}: not compared, because {item.reason}."
    if item.step is None or item.difference is None:
        return f"{pair} do not part: their difference never exceeds the noise ({number(item.noise)}) for long."
    ahead, behind = (item.first, item.second) if item.difference > 0 else (item.second, item.first)
    when = "differ from the start" if item.from_start else f"part at step {number(item.step)}"
    until = "and stay apart" if item.rejoin_step is None else f"and meet again at step {number(item.rejoin_step)}"
    gap = f"{ahead} is ahead of {behind} by {number(abs(item.difference))} on average"
    if not item.same_algorithm:
        first = " Their other metrics mean different things, because the algorithms differ."
    else:
        first = " What moved no later than the return:" if item.moves else " No other logged metric parted before that."
    return f"{pair} {when} {until}: {gap}, where noise explains {number(item.noise)}.{first}"


def _move(move: FirstMove, item: Parting) -> Inline:
    more = "higher" if move.difference > 0 else "lower"
    when = "as soon as it was logged" if move.from_start else f"from step {number(move.step)}"
    sure = "" if move.probability is None else f"; before the return did ({percent(move.probability)} sure)"
    by = number(abs(move.difference))
    return (Code(move.logged_as), f" ({move.metric}) {when}: {more} in {item.first} by {by} on average{sure}")


def _apart(comparison: Comparison) -> list[Block]:
    rows: list[tuple[str, Inline]] = [
        (item.key, ", ".join(shorten("-" if value is None else str(value), VALUE_WIDTH) for value in item.values))
        for item in comparison.apart[:MOST_APART]
    ]
    return [Facts(tuple(rows))] if rows else []

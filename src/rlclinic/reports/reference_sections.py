"""A run beside what is known to work, as sections of a comparison."""

from __future__ import annotations

from collections.abc import Sequence

from rlclinic.model.comparison import (
    AgainstReference,
    BandPoint,
    FrameworkDifference,
    MetricInBand,
    RankedDifference,
)
from rlclinic.model.numbers import percent
from rlclinic.reports.page import Block, Code, Inline, Listing, Section, Table, Words
from rlclinic.reports.text import number, shorten

MOST_POINTS, MOST_METRICS, MOST_SETTINGS = 6, 12, 10
VALUE_WIDTH = 20


def reference_sections(item: AgainstReference, place: int) -> list[Section]:
    """The sections about one run; one without content is left out."""
    built = (
        ("curve", f"{item.label} beside known-good runs", _curve(item)),
        ("bands", "Metrics beside their bands", _metrics(item)),
        ("ranked", "Settings that differ from what works", _differences(item)),
        ("frameworks", "What the frameworks do differently", framework_blocks(item.frameworks)),
    )
    return [Section(f"reference-{place}-{key}", title, tuple(blocks)) for key, title, blocks in built if blocks]


def framework_blocks(found: Sequence[FrameworkDifference]) -> list[Block]:
    """What two frameworks do differently, unless the user changes it."""
    if not found:
        return []
    rows = tuple((item.title, item.first, item.second, item.weight) for item in found)
    words = f"What each does unless the user changes it. {found[0].title.capitalize()}: {found[0].why}"
    return [Table(("what", *found[0].names, "matters"), rows, cut=(1, 2)), Words(words)]


def _curve(item: AgainstReference) -> list[Block]:
    blocks: list[Block] = [Words(f"Held against {item.known}.")] if item.known else []
    blocks += [Words(item.summary)] if item.summary else []
    if item.curve:
        below, above = item.below or 0.0, _share(item.curve, above=True)
        inside = 1.0 - below - above
        told = f"{percent(inside)} of the points of {item.curve_name} lie in the band, {percent(below)} below it"
        blocks.append(Words(f"{told}, {percent(above)} above."))
        step = max(1, -(-len(item.curve) // MOST_POINTS))
        shown = item.curve[::-1][::step][::-1]
        rows = tuple((number(p.step), number(p.value), _range(p.low, p.high), _place(p)) for p in shown)
        blocks.append(Table(("env steps", "return", "band", "place"), rows, frozenset({0, 1, 2})))
    if item.published:
        blocks += [Words("Published for this algorithm:"), Listing(item.published)]
    if item.notes:
        blocks.append(Listing(item.notes))
    return blocks


def _metrics(item: AgainstReference) -> list[Block]:
    if not item.metrics:
        return []
    rows = tuple(_metric(entry) for entry in item.metrics[:MOST_METRICS])
    header = ("metric", "last", "band there", "outside for", "since")
    words = "The band is that of healthy runs at the same share of their budget; outside for says how much of it."
    return [Table(header, rows, frozenset({1, 2, 3, 4}), cut=(0,)), Words(words)]


def _metric(entry: MetricInBand) -> tuple[Inline, ...]:
    since = "-" if entry.since is None else f"{percent(entry.since)} of the budget" if entry.since else "the start"
    return Code(entry.logged_as), number(entry.value), _range(entry.low, entry.high), percent(entry.outside), since


def _differences(item: AgainstReference) -> list[Block]:
    if not item.settings_of:
        return []
    if not item.differences and not item.is_configured:
        return []
    if not item.differences:
        return [Words(f"No setting differs from {item.settings_of}, as far as the files tell.")]
    rows = tuple(_difference(entry) for entry in item.differences[:MOST_SETTINGS])
    words = f"Against {item.settings_of}, what is thought to matter most first; (d) is a default of the framework."
    return [Table(("setting", "here", "there", "why it ranks here"), rows, cut=(3,)), Words(words)]


def _difference(entry: RankedDifference) -> tuple[Inline, ...]:
    here: Inline = (Code(_value(entry.value)), " (d)" if entry.is_default else "")
    return Code(entry.key), here, Code(_value(entry.reference)), entry.reason or "by its weight and distance"


def _value(value: object) -> str:
    return "off" if value is None else shorten(str(value), VALUE_WIDTH)


def _range(low: float, high: float) -> str:
    return f"{number(low)} to {number(high)}"


def _place(point: BandPoint) -> str:
    return "below" if point.value < point.low else "above" if point.value > point.high else "in"


def _share(points: Sequence[BandPoint], *, above: bool) -> float:
    return sum((point.value > point.high) == above for point in points) / len(points)

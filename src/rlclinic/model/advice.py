"""What the advisor says: what it understood, what it recommends and why, what it does not know."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from rlclinic.model.lazy_dataclass import dataclass


class FactOrigin(StrEnum):
    """Where a fact about a problem comes from."""

    TOLD = "told"
    MEASURED = "measured"
    READ = "read"
    """From the files of a run or a data set."""
    KNOWN = "known"
    """From the table of well-known tasks."""
    DERIVED = "derived"
    """Arithmetic on other facts."""


@dataclass(frozen=True, slots=True)
class ProblemFact:
    """One thing that is known about a problem."""

    key: str
    value: object
    origin: FactOrigin = FactOrigin.TOLD
    note: str = ""
    name: str = ""
    """What a report calls it."""


@dataclass(frozen=True, slots=True)
class Question:
    """Something that would sharpen the advice."""

    key: str
    text: str
    answers: str
    """What may be said: yes or no, a number and its unit, or one of several words."""
    decides: int
    """How many rules of the area wait for it."""


@dataclass(frozen=True, slots=True)
class Citation:
    """A source."""

    id: str
    """arXiv id, or a short name."""
    text: str
    """Author, year and what it is."""
    is_arxiv: bool


@dataclass(frozen=True, slots=True)
class FiredRule:
    """A rule whose conditions hold, and the facts that make them hold."""

    id: str
    area: str
    advice: str
    why: str
    range: str
    because: tuple[str, ...]
    sources: tuple[Citation, ...]
    seen: str
    """How its claim was verified: V read in the source, P gist read, U from memory, H our own threshold."""
    trust: str
    """high, medium or low."""
    votes: Mapping[str, float]
    """For (above 0) and against approaches."""

    @property
    def is_heuristic(self) -> bool:
        """Whether nobody but us says so."""
        return self.seen.startswith(("H", "U"))


@dataclass(frozen=True, slots=True)
class Option:
    """An approach that the rules speak for."""

    id: str
    title: str
    kind: str
    """not-rl, not-yet, imitation, offline, hybrid or rl; algorithm for one that learns offline."""
    score: float
    rules: tuple[str, ...]
    against: tuple[str, ...]
    trade_off: str = ""
    """What it gives and what it costs."""
    sources: tuple[Citation, ...] = ()


@dataclass(frozen=True, slots=True)
class Value:
    """A setting as it is advised."""

    key: str
    start: float
    low: float
    high: float
    basis: str
    default: float | None = None
    """The library's own."""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A question on which sources part."""

    question: str
    sides: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Measurement:
    """Something that was measured on the user's own environment, run or data."""

    id: str
    title: str
    value: float | None
    """None where it could not be measured; the reading says why."""
    reading: str
    """What it means, in one plain sentence with its uncertainty."""
    low: float | None = None
    high: float | None = None
    """Ends of the 95% interval, where there is one."""
    bars: tuple[tuple[str, float], ...] = ()
    """What a picture of it shows: labels and heights."""


@dataclass(frozen=True, slots=True)
class Advice:
    """The answer to one question about one problem."""

    area: str
    """`strategy`, or the question that was asked."""
    headline: str
    facts: tuple[ProblemFact, ...]
    rules: tuple[FiredRule, ...]
    """Those that decide first."""
    options: tuple[Option, ...] = ()
    """The recommendation first, then alternatives; empty where a setting was asked for."""
    values: tuple[Value, ...] = ()
    questions: tuple[Question, ...] = ()
    disagreements: tuple[Disagreement, ...] = ()
    caveats: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    """Single answers that would lead to another recommendation."""
    next_steps: tuple[str, ...] = ()
    """Commands and experiments."""
    algorithms: tuple[Option, ...] = ()
    """Offline algorithms for the data at hand, the best fit first."""
    measurements: tuple[Measurement, ...] = ()

    @property
    def citations(self) -> tuple[Citation, ...]:
        """The sources of all rules and trade-offs, each once."""
        traded = [source for option in (*self.options, *self.algorithms) for source in option.sources]
        cited = [source for rule in self.rules for source in rule.sources]
        return tuple({source.id: source for source in (*cited, *traded)}.values())

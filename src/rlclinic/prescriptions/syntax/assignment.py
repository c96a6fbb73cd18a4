"""A change under the framework's own key, the names a dialect uses, and the error where it has no words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field

from rlclinic.model.errors import RlclinicError
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.run import Run


class Code(str):
    """A value that is program text: written as it is, never in quotes."""

    __slots__ = ()


class CannotWrite(RlclinicError):  # noqa: N818 - reads as what it is
    """A dialect cannot express a change. The message says why; nothing half-right is written."""

    kind = "cannot-write"


class AlreadySo(CannotWrite):
    """The config has the values that it should get."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """One native key from its value to another."""

    key: str
    """As the user writes it, nested keys joined with dots."""
    before: object
    """What the run had, in the framework's own terms; None also where nothing is known."""
    after: object


@dataclass(frozen=True, slots=True)
class Rate:
    """A learning rate with its course."""

    start: float | None
    kind: str
    """`constant`, `linear`, or the framework's own word."""
    final: float = 0.0


RateWriter = Callable[[Run, Rate, Rate], Sequence[Assignment]]
"""From the rate before and after to native assignments."""

GroupWriter = Callable[[Run, Mapping[str, object]], Sequence[Assignment]]
"""From new values by canonical name to native assignments."""


@dataclass(frozen=True, slots=True)
class Names:
    """How a dialect names hyperparameters where the framework's table alone does not say."""

    keys: Mapping[str, str] = field(default_factory=dict)
    """Canonical name to native key; `name@ALGORITHM` for one algorithm. Counts where the user's config has no key."""
    always: Mapping[str, str] = field(default_factory=dict)
    """The same, also against the key under which the run logged the value."""
    computed: Mapping[str, str] = field(default_factory=dict)
    """Native keys that the program computes itself: `key@ALGORITHM` or `key`, with the reason."""
    impossible: Mapping[str, str] = field(default_factory=dict)
    """Canonical names that cannot be set here, `name` or `name@ALGORITHM`, with the reason."""
    values: Mapping[str, Callable[[object], object]] = field(default_factory=dict)
    """Canonical name to a conversion of its value into the framework's terms."""
    groups: Mapping[tuple[str, ...], GroupWriter] = field(default_factory=dict)
    """Canonical names that share one native setting, and what writes them together."""
    rate: RateWriter | None = None
    """Writes learning rates that follow a schedule."""
    finish: Callable[[Run, Assignment], Assignment] = lambda run, assignment: assignment
    """A last look at every assignment, for what depends on the value that the user's config has."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """One way to write changes."""

    id: str
    title: str
    names: Names
    render: Callable[[Run, Sequence[Assignment]], str]
    """The text that the user would write."""
    refuses: Callable[[Run, Assignment], str] = lambda run, assignment: ""
    """Why one assignment cannot be written in this syntax; empty where it can."""

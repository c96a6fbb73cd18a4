"""Our `dataclass` does what the standard library's does."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from dataclasses import field

import pytest

from rlclinic.model import lazy_dataclass
from rlclinic.model.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Point:
    """A value as most are here."""

    x: float
    name: str = "p"
    tags: dict[str, int] = field(default_factory=dict)
    hidden: int = field(default=0, repr=False)

    def __post_init__(self) -> None:
        if self.x < 0:
            raise ValueError("x is negative")


@dataclass(slots=True)
class Counter:
    """A value that changes."""

    count: int = 0
    seen: list[int] = field(init=False, default_factory=list)


@dataclass(frozen=True, slots=True)
class Named(Point):
    """A value with the fields of another."""

    title: str = ""


def test_values_are_made_by_position_and_by_name_with_defaults() -> None:
    assert (Point(1.0).name, Point(1.0, "q").name, Point(x=1.0, hidden=3).hidden) == ("p", "q", 3)
    first, second = Point(1.0), Point(1.0)
    first.tags["a"] = 1
    assert not second.tags
    assert Named(1.0, title="t").title == "t"
    assert Counter().seen == []


@pytest.mark.parametrize("given", [((), {}), ((1.0,), {"y": 2}), ((1.0, "a", {}, 0, 9), {})])
def test_wrong_arguments_are_refused_and_named(given: tuple[tuple[object, ...], dict[str, object]]) -> None:
    with pytest.raises(TypeError, match=r"Point.__init__\(\)"):
        Point(*given[0], **given[1])  # type: ignore[arg-type]


@pytest.mark.parametrize("values", [1, 2 * lazy_dataclass.FEW])
def test_validation_runs_whenever_a_value_is_made(values: int) -> None:
    assert len([Point(1.0) for _ in range(values)]) == values
    for make in (Point, lambda x: dataclasses.replace(Point(1.0), x=x)):
        with pytest.raises(ValueError, match="negative"):
            make(-1.0)


def test_a_frozen_value_does_not_change() -> None:
    changes: tuple[Callable[[Point], None], ...] = (lambda p: setattr(p, "x", 2.0), lambda p: delattr(p, "x"))
    for change in changes:
        with pytest.raises(dataclasses.FrozenInstanceError):
            change(Point(1.0))
    counter = Counter()
    counter.count += 1
    assert counter.count == 1


def test_equal_values_are_equal_and_hash_alike_and_other_classes_are_not() -> None:
    assert Point(1.0) == Point(1.0) != Point(2.0)
    assert Point(1.0) != Named(1.0)

    @dataclass(frozen=True)
    class Key:
        text: str

    assert {Key("a"), Key("a"), Key("b")} == {Key("a"), Key("b")}
    with pytest.raises(TypeError, match="unhashable"):
        hash(Counter())


def test_repr_copies_and_pickles_are_as_usual() -> None:
    point = Named(1.0, tags={"a": 1}, hidden=4, title="t")
    assert repr(point) == "Named(x=1.0, name='p', tags={'a': 1}, title='t')"
    assert copy.deepcopy(point) == pickle.loads(pickle.dumps(point)) == point  # noqa: S301
    assert dataclasses.asdict(point) == {"x": 1.0, "name": "p", "tags": {"a": 1}, "hidden": 4, "title": "t"}


def test_only_a_class_of_more_than_a_few_values_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[type] = []
    real = lazy_dataclass._compiled_init

    def counted(cls: type, *, frozen: bool) -> Callable[..., None]:
        compiled.append(cls)
        return real(cls, frozen=frozen)

    monkeypatch.setattr(lazy_dataclass, "_compiled_init", counted)

    @dataclass(frozen=True)
    class Late:
        value: int

    values = [Late(number).value for number in range(lazy_dataclass.FEW)]
    assert (values, compiled) == (list(range(lazy_dataclass.FEW)), [])
    assert [Late(1).value, Late(value=2).value] == [1, 2]
    assert compiled == [Late]

"""`dataclass` as the standard library has it, without the wait for it.

The library writes and compiles six methods for every class that is defined, a millisecond each time, which for the
classes behind one small diagnosis was a quarter of the time to its answer. Here the methods are shared by all classes,
and `__init__` is compiled once it pays, after the first few values. `fields`, `replace`, `asdict` and type checkers see
no difference.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable
from types import MemberDescriptorType
from typing import TYPE_CHECKING, Any

FEW = 12
"""Values of a class that take less time without a compiled `__init__` than with it."""
_set = object.__setattr__


def _dataclass(
    cls: Any = None,
    /,
    *,
    frozen: bool = False,
    slots: bool = False,
    eq: bool = True,
    repr: bool = True,  # noqa: A002
) -> Any:
    if cls is None:
        return lambda found: _dataclass(found, frozen=frozen, slots=slots, eq=eq, repr=repr)
    own = set(vars(cls))
    made = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots)(cls)
    methods: dict[str, Any] = {"__init__": _first_init(made, frozen=frozen)}
    if repr:
        methods["__repr__"] = _repr
    if eq:
        methods |= {"__eq__": _eq, "__hash__": _hash if frozen else None}
    if frozen:
        methods |= {"__setattr__": _refuse_to_set, "__delattr__": _refuse_to_delete}
    if frozen and slots:
        methods |= {"__getstate__": _getstate, "__setstate__": _setstate}
    for name, method in methods.items():
        if name not in own:
            setattr(made, name, method)
    return made


if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:
    dataclass = _dataclass


def _first_init(cls: Any, *, frozen: bool) -> Callable[..., None]:
    names, calls = cls.__match_args__, itertools.count(1)
    fields = dataclasses.fields(cls)

    def init(self: Any, *values: Any, **named: Any) -> None:
        given = {**dict(zip(names, values, strict=False)), **named}
        told = next(calls) <= FEW and len(given) == len(values) + len(named) and given.keys() <= set(names)
        for field in fields if told else ():
            if field.name in given:
                _set(self, field.name, given[field.name])
            elif field.default is not dataclasses.MISSING:
                _set(self, field.name, field.default)
            elif field.default_factory is not dataclasses.MISSING:
                _set(self, field.name, field.default_factory())
            elif field.init:
                told = False
        if told:
            if hasattr(self, "__post_init__"):
                self.__post_init__()
            return
        # It also says what is wrong with the arguments.
        cls.__init__ = _compiled_init(cls, frozen=frozen)
        cls.__init__(self, *values, **named)

    return init


def _compiled_init(cls: Any, *, frozen: bool) -> Callable[..., None]:
    names: dict[str, Any] = {"_absent": dataclasses.MISSING}
    parameters, body = ["self"], []
    for field in dataclasses.fields(cls):
        name, value = field.name, field.name
        if field.default_factory is not dataclasses.MISSING:
            names[f"_make_{name}"] = field.default_factory
            value = f"_make_{name}() if {name} is _absent else {name}" if field.init else f"_make_{name}()"
            default = "=_absent"
        elif field.default is not dataclasses.MISSING:
            names[f"_default_{name}"] = field.default
            default = f"=_default_{name}"
        else:
            default = ""
        if field.init:
            parameters.append(name + default)
        elif not default:
            continue
        slot = getattr(cls, name, None)
        if not frozen:
            body.append(f"self.{name} = {value}")
        elif isinstance(slot, MemberDescriptorType):
            names[f"_set_{name}"] = slot.__set__
            body.append(f"_set_{name}(self, {value})")
        else:
            body.append(f"self.__dict__[{name!r}] = {value}")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    exec(f"def __init__({', '.join(parameters)}):\n  " + "\n  ".join(body or ["pass"]), names)
    made: Callable[..., None] = names["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    return made


def _values(self: Any) -> tuple[Any, ...]:
    return tuple([getattr(self, name) for name in self.__match_args__])


def _repr(self: Any) -> str:
    told = (f"{field.name}={getattr(self, field.name)!r}" for field in dataclasses.fields(self) if field.repr)
    return f"{type(self).__qualname__}({', '.join(told)})"


def _eq(self: Any, other: object) -> bool:
    return _values(self) == _values(other) if other.__class__ is self.__class__ else NotImplemented


def _hash(self: Any) -> int:
    return hash(_values(self))


def _refuse_to_set(self: Any, name: str, value: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(self: Any, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _getstate(self: Any) -> list[Any]:
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def _setstate(self: Any, state: list[Any]) -> None:
    for field, value in zip(dataclasses.fields(self), state, strict=True):
        _set(self, field.name, value)

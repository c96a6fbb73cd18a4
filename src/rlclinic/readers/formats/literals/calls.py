"""What the call-like part of a Python repr stands for: `np.float64(0.1)`, `OrderedDict([…])`, `PosixPath('x')`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

_NUMBERS = re.compile(r"(?:(?:u?int|float|complex|bool)\d*_?|longdouble|longlong|intc|intp|str_|half|single|double)\Z")
_SEQUENCES = frozenset(
    ("array", "asarray", "ndarray", "memmap", "tensor", "Tensor", "Parameter", "Array", "DeviceArray", "list", "tuple",
     "set", "frozenset", "deque", "ListConfig", "Size")
)  # fmt: skip
_MAPPINGS = frozenset(
    ("OrderedDict", "dict", "defaultdict", "Counter", "mappingproxy", "AttrDict", "EasyDict", "Munch", "Bunch",
     "DictConfig", "ConfigDict", "FrozenDict", "immutabledict")
)  # fmt: skip
_TEXTS = frozenset(
    ("PosixPath", "WindowsPath", "PurePath", "PurePosixPath", "PureWindowsPath", "Path", "UUID", "Decimal", "dtype",
     "Version")
)  # fmt: skip


def call_value(name: str, args: Sequence[object], named: Mapping[str, object], raw: str) -> object:
    """The plain value of a call; `raw`, its text, where only the class itself would know."""
    last = name.rpartition(".")[2]
    if last in _MAPPINGS:
        mapping = _mapping(args, named)
        return raw if mapping is None else mapping
    if last in _SEQUENCES:
        return args[0] if args else []
    if args and (last in _TEXTS or _NUMBERS.match(last)):
        return args[0]
    if named and not args and last[:1].isupper():
        return dict(named)
    return raw


def _mapping(args: Sequence[object], named: Mapping[str, object]) -> dict[object, object] | None:
    """A dict, a list of pairs, or keyword arguments; defaultdict has its factory in front."""
    source = next((arg for arg in args if isinstance(arg, dict | list)), None)
    if source is None:
        return None if args else dict(named.items())
    if isinstance(source, dict):
        return {**source, **named}
    try:
        return {**{pair[0]: pair[1] for pair in source if len(pair) == 2}, **named}
    except (TypeError, KeyError):
        return None

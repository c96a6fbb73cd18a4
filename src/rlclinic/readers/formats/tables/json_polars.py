"""The rows of large regular JSON lines, read by polars. What polars could read differently is declined.

Polars reads with a fixed schema and drops keys that are not in it without a word, so the keys in the text are
counted and the count is compared with the values that came out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rlclinic.readers.formats.tables.cells import Cells, convert_values

# Text that may have been a number, a truth value, an object or a list before the schema made it text.
_DISGUISED = r"^(?:[-+.0-9eE]+|true|false|[-+]?(?:nan|NaN|inf|Infinity)|[\[{].*)$"
_UNSURE = (b"\\", b"\0")  # an escape can hide a key from the count

Kind = type | dict[str, "Kind"]  # float, bool, str, list, NoneType, or the kinds of an object's keys


class Schema:
    """What kind of value every key has, learnt from rows."""

    def __init__(self, max_depth: int) -> None:
        self._max_depth = max_depth
        self._kinds: dict[str, Kind] = {}
        self._is_sound = True  # no key has values of several kinds
        self._seen: set[tuple[object, ...]] = set()

    def learn(self, row: Mapping[str, object]) -> None:
        types = tuple(map(type, row.values()))
        shape = (*row, *types)
        if not self._is_sound or shape in self._seen:
            return
        self._is_sound = _merge(self._kinds, row, self._max_depth)
        if dict not in types and len(self._seen) < 1000:
            self._seen.add(shape)

    def read(self, data: bytes) -> dict[str, Cells] | None:
        """The flattened columns of lines of objects, or None if polars is missing or unsure."""
        if not self._kinds or not self._is_sound or not data.endswith(b"\n"):
            return None
        if any(token in data for token in _UNSURE):
            return None
        try:
            import polars as pl
        except ImportError:
            return None
        try:
            frame = pl.read_ndjson(data, schema=_fields(pl, self._kinds))
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, ValueError):
            return None
        return _columns(pl, frame, data)


def _merge(kinds: dict[str, Kind], row: Mapping[str, object], depth: int) -> bool:
    """Add what a row tells; whether it agrees with what was known."""
    for key, value in row.items():
        known = kinds.setdefault(key, type(None))
        if value is None:
            continue
        if isinstance(value, dict):
            if known is type(None):
                known = kinds[key] = {}
            if depth == 1 or not isinstance(known, dict) or not _merge(known, value, depth - 1):
                return False
        elif known is type(None):
            kinds[key] = type(value)
        elif known is not type(value):
            return False
    return True


def _fields(pl: Any, kinds: Mapping[str, Kind]) -> dict[str, Any]:
    return {key: _dtype(pl, kind) for key, kind in kinds.items()}


def _dtype(pl: Any, kind: Kind) -> Any:
    if isinstance(kind, dict):
        return pl.Struct(_fields(pl, kind))
    if kind is list:
        return pl.List(pl.Float64)
    return {bool: pl.Boolean, str: pl.String}.get(kind, pl.Float64)


def _columns(pl: Any, frame: Any, data: bytes) -> dict[str, Cells] | None:
    columns: dict[str, Cells] = {}
    filled = 0
    for name, series in _walk(pl, frame.get_columns(), ""):
        filled += series.len() - series.null_count()
        if isinstance(series.dtype, pl.Struct | pl.List):
            continue
        cells = _cells(pl, series)
        if cells is None or name in columns:
            return None
        columns[name] = cells
    # Colons are faster to count than keys, and as many colons as values prove as much.
    return columns if filled == data.count(b":") or filled == data.count(b'":') else None


def _walk(pl: Any, columns: Iterable[Any], prefix: str) -> Iterator[tuple[str, Any]]:
    """Every column and every field of the nested ones, with its path."""
    for series in columns:
        yield prefix + series.name, series
        if isinstance(series.dtype, pl.Struct):
            fields = [series.struct.field(field) for field in series.struct.fields]
            yield from _walk(pl, fields, f"{prefix}{series.name}/")


def _cells(pl: Any, series: Any) -> Cells | None:
    if series.dtype == pl.String:
        disguised = series.str.contains(_DISGUISED).any()
        return None if disguised else convert_values(series.to_list())
    missing = series.is_null().to_numpy() if series.null_count() else None
    return Cells(series.cast(pl.Float64).to_numpy(), missing)

"""The rows of large regular JSON lines, read by polars. What polars could read differently is declined.

Polars reads with a fixed schema and drops keys that are not in it without a word, so the keys in the text are
counted and the count is compared with the values that came out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rlclinic.readers.formats.table_cells import Cells, convert_values

# Text that may have been a number, a truth value, an object or a list before the schema made it text.
_DISGUISED = r"^(?:[-+.0-9eE]+|true|false|[-+]?(?:nan|NaN|inf|Infinity)|[\[{].*)$"
_UNSURE = (b"\\", b"\0", b"null")  # an escape can hide a key from the count, a null looks like an absent key

Kind = type | dict[str, "Kind"]  # float, bool, str, list, NoneType, or the kinds of an object's keys


def read_segment(data: bytes, sample: Iterable[Mapping[str, object]], *, max_depth: int) -> dict[str, Cells] | None:
    """The flattened columns of whole lines, or None if polars is missing or unsure.

    Args:
        data: Lines of objects.
        sample: Objects from earlier in the file, which tell the types.
        max_depth: Levels of objects that are flattened.
    """
    kinds = _merge_all(sample, max_depth)
    if not kinds or not data.endswith(b"\n") or any(token in data for token in _UNSURE):
        return None
    try:
        import polars as pl
    except ImportError:
        return None
    try:
        frame = pl.read_ndjson(data, schema={key: _dtype(pl, kind) for key, kind in kinds.items()})
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, ValueError):
        return None
    columns: dict[str, Cells | None] = {}
    filled = 0
    for name, series in _walk(pl, frame.get_columns(), ""):
        filled += series.len() - series.null_count()
        if isinstance(series.dtype, pl.Struct | pl.List):
            continue
        if name in columns:
            return None
        columns[name] = _cells(pl, series)
    if filled != data.count(b'":') or None in columns.values():
        return None
    return {name: cells for name, cells in columns.items() if cells is not None}


def _merge_all(sample: Iterable[Mapping[str, object]], depth: int) -> dict[str, Kind] | None:
    """The kind of every key in the sample, or None if a key has several."""
    merged: dict[str, Kind] = {}
    for row in sample:
        if depth == 0 or not all(_merge(merged, key, value, depth) for key, value in row.items()):
            return None
    return merged


def _merge(merged: dict[str, Kind], key: str, value: object, depth: int) -> bool:
    known = merged.get(key, type(None))
    if value is None:
        merged.setdefault(key, type(None))
        return True
    if isinstance(value, dict):
        if known is type(None):
            known = merged[key] = {}
        if not isinstance(known, dict) or depth == 1:
            return False
        return all(_merge(known, inner, item, depth - 1) for inner, item in value.items())
    if known is type(None):
        merged[key] = type(value)
        return True
    return known is type(value)


def _dtype(pl: Any, kind: Kind) -> Any:
    if isinstance(kind, dict):
        return pl.Struct({key: _dtype(pl, inner) for key, inner in kind.items()})
    if kind is list:
        return pl.List(pl.Float64)
    return {bool: pl.Boolean, str: pl.String}.get(kind, pl.Float64)


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

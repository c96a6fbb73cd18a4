"""Load one of the package's own tables, TOML or YAML.

Parsing them was a fifth of the time to an answer, so what a parser made is kept where Python keeps bytecode, with a
hash of the text before it: it is used for this text alone, and never written where Python may not write bytecode.
"""

from __future__ import annotations

import marshal
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib.util import cache_from_source, source_hash
from pathlib import Path
from typing import Any

HASH_BYTES = 8


def load_table(path: Path) -> dict[str, Any]:
    """The content of a table."""
    return parsed_once(path, path.read_bytes())


def parsed_once(path: Path, text: bytes) -> dict[str, Any]:
    """The content of a text that belongs to the file at `path`."""
    found: dict[str, Any] = made_once(path, text, _toml if path.suffix == ".toml" else _yaml)
    return found


def made_once(path: Path, text: bytes, make: Callable[[bytes], Any]) -> Any:
    """What `make` makes of a text, plain values alone, kept beside the bytecode of `path`."""
    digest, kept = source_hash(text), Path(cache_from_source(f"{path}.py"))
    with suppress(OSError, EOFError, ValueError, TypeError):
        stored = kept.read_bytes()
        if stored[:HASH_BYTES] == digest:
            # Where bytecode lies: who can write here can have any code of ours run.
            return marshal.loads(stored[HASH_BYTES:])  # noqa: S302
    table = make(text)
    if not sys.dont_write_bytecode:
        with suppress(OSError):
            _keep(kept, digest + marshal.dumps(table))
    return table


def _keep(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.{os.getpid()}")
    beside.write_bytes(content)
    beside.replace(path)


def _toml(text: bytes) -> dict[str, Any]:
    import tomllib

    return tomllib.loads(text.decode())


def _yaml(text: bytes) -> dict[str, Any]:
    import yaml

    # The C parser is ten times as fast; both build plain values only.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(text)
    try:
        table: dict[str, Any] = loader.get_single_data()
    finally:
        loader.dispose()
    return table

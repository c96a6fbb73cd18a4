"""Load one of the package's own YAML tables."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import yaml

# The C parser is ten times as fast; both build plain values only.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def load_table(name: str) -> dict[str, Any]:
    """The content of a YAML file that lies beside this one."""
    loader = _LOADER(files(__package__).joinpath(name).read_text(encoding="utf-8"))
    try:
        table: dict[str, Any] = loader.get_single_data()
    finally:
        loader.dispose()
    return table

"""Dotted keys as nested mappings, and those as indented YAML."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rlclinic.prescriptions.syntax.assignment import Assignment
from rlclinic.prescriptions.syntax.spelling import yaml_text


def nested(assignments: Iterable[Assignment]) -> dict[str, object]:
    """`a.b = 1` as `{"a": {"b": 1}}`."""
    tree: dict[str, object] = {}
    for assignment in assignments:
        *parents, leaf = assignment.key.split(".")
        place = tree
        for parent in parents:
            below = place.setdefault(parent, {})
            assert isinstance(below, dict)
            place = below
        place[leaf] = assignment.after
    return tree


def yaml_block(tree: Mapping[str, object], indent: int = 0) -> str:
    """A mapping in block style; lists and scalars stay on the line of their key."""
    lines = []
    for key, value in tree.items():
        if isinstance(value, dict) and value and not key.endswith("_kwargs"):
            lines.append(f"{'  ' * indent}{key}:\n{yaml_block(value, indent + 1)}")
        else:
            lines.append(f"{'  ' * indent}{key}: {yaml_text(value)}")
    return "\n".join(lines)

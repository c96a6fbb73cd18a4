"""What each framework makes of a text: its own rules for reading flags, YAML, overrides and calls, as plain values."""

from __future__ import annotations

import ast
import json
import re
import shlex
import tomllib
from collections.abc import Callable
from typing import Any

import yaml

Values = dict[str, object]


def flatten(data: object, prefix: str = "") -> Values:
    """Nested mappings as dotted keys."""
    assert isinstance(data, dict)
    found: Values = {}
    for key, value in data.items():
        if isinstance(value, dict) and value:
            found.update(flatten(value, f"{prefix}{key}."))
        else:
            found[f"{prefix}{key}"] = value
    return found


def nested(values: Values) -> dict[str, Any]:
    """Dotted keys as nested mappings."""
    tree: dict[str, Any] = {}
    for key, value in values.items():
        *parents, leaf = key.split(".")
        place = tree
        for parent in parents:
            place = place.setdefault(parent, {})
        place[leaf] = value
    return tree


def merged(tree: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """A nested config with those of another over it."""
    return nested({**flatten(tree), **flatten(changes)})


def solver_flags(text: str) -> Values:
    """`--override k=v`: true and false, digits with at most one point and one minus; all else stays text."""
    words = shlex.split(text)
    assert words[::2] == ["--override"] * (len(words) // 2)
    values: Values = {}
    for pair in words[1::2]:
        key, _, raw = pair.partition("=")
        if raw in ("true", "false"):
            values[key] = raw == "true"
        elif raw.count(".") <= 1 and raw.count("-") <= 1 and raw.replace(".", "").replace("-", "").isdigit():
            values[key] = float(raw) if "." in raw else int(raw)
        else:
            values[key] = raw
    return values


def solver_yaml(text: str) -> Values:
    """Schedules are mappings with a start."""
    return dict(yaml.safe_load(text))


def zoo_yaml(text: str) -> Values:
    """One section; the policy's arguments are an expression."""
    (section,) = yaml.safe_load(text).values()
    return _zoo(section)


def zoo_flags(text: str) -> Values:
    """`-params k:v`: what follows the first colon is Python."""
    words = shlex.split(text)
    assert words[0] == "-params"
    return _zoo({word.partition(":")[0]: python_value(word.partition(":")[2]) for word in words[1:]})


def _zoo(section: Values) -> Values:
    values: Values = {}
    for key, value in section.items():
        if isinstance(value, str) and key in ("policy_kwargs", "normalize"):
            value = python_value(value)
        if isinstance(value, dict) and key == "policy_kwargs":
            values.update(flatten(value, "policy_kwargs."))
        else:
            values[key] = value
    return values


def python_value(text: str) -> object:
    """The value of an expression: literals, dict(...), and code as its text."""
    return _value(ast.parse(text, mode="eval").body)


def _value(node: ast.expr) -> object:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "dict":
        assert not node.args
        return {keyword.arg: _value(keyword.value) for keyword in node.keywords}
    try:
        return ast.literal_eval(node)
    except ValueError:
        return ast.unparse(node)


def python_calls(text: str) -> Values:
    """Keyword arguments of calls, one call per line."""
    values: Values = {}
    for line in text.splitlines():
        statement = ast.parse(line).body[0]
        assert isinstance(statement, ast.Expr | ast.Assign)
        call = statement.value
        assert isinstance(call, ast.Call)
        options = {keyword.arg: _value(keyword.value) for keyword in call.keywords}
        values.update(flatten(options))
    return values


def double_dash(text: str) -> Values:
    """`--key value`, `--key=value`, `--key`, `--no-key`, as tyro and argparse read them."""
    values: Values = {}
    words = shlex.split(text)
    position = 0
    while position < len(words):
        assert words[position].startswith("--"), text
        key, has_value, raw = words[position][2:].partition("=")
        position += 1
        if not has_value and position < len(words) and not words[position].startswith("--"):
            raw, has_value = words[position], "="
            position += 1
        if has_value:
            values[key.replace("-", "_").replace(":", ".")] = _typed(raw)
        else:
            name = key.replace("-", "_")
            values[name.removeprefix("no_")] = not name.startswith("no_")
    return values


def _typed(raw: str) -> object:
    try:
        return ast.literal_eval(raw)
    except (ValueError, SyntaxError):
        return raw


def hydra(text: str) -> Values:
    """`key=value`; the right side follows YAML for what is written here."""
    values: Values = {}
    for word in shlex.split(text):
        key, _, raw = word.partition("=")
        values[key.lstrip("+")] = yaml.safe_load(raw)
    return values


def overrides_json(text: str) -> Values:
    """rlclinic's own flags: JSON, else text."""
    words = shlex.split(text)
    values: Values = {}
    for pair in words[1::2]:
        key, _, raw = pair.partition("=")
        try:
            values[key] = json.loads(raw)
        except ValueError:
            values[key] = raw
    return values


def nested_yaml(text: str) -> Values:
    """PyYAML."""
    return flatten(yaml.safe_load(re.sub(r"^# .*$", "", text, flags=re.MULTILINE)))


def nested_json(text: str) -> Values:
    """JSON."""
    return flatten(json.loads(text))


def toml(text: str) -> Values:
    """TOML."""
    return flatten(tomllib.loads(text))


PARSERS: dict[str, Callable[[str], Values]] = {
    "gymnasium-solver-flags": solver_flags,
    "gymnasium-solver-yaml": solver_yaml,
    "rlclinic-flags": overrides_json,
    "sb3-python": python_calls,
    "sb3-config": nested_yaml,
    "rl-zoo-yaml": zoo_yaml,
    "rl-zoo-flags": zoo_flags,
    "cleanrl-flags": double_dash,
    "rllib-python": python_calls,
    "rllib-dict": nested_json,
    "torchrl-overrides": hydra,
    "hydra-overrides": hydra,
    "rsl_rl-yaml": nested_yaml,
    "skrl-yaml": nested_yaml,
    "spinningup-flags": double_dash,
    "trl-python": python_calls,
    "d3rlpy-python": python_calls,
    "flags": double_dash,
    "flags-joined": double_dash,
    "mlagents-yaml": nested_yaml,
    "toml": toml,
    "yaml": nested_yaml,
    "json": nested_json,
}

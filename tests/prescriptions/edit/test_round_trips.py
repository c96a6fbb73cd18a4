"""Of generated files only the marked number changes, byte for byte elsewhere."""

from __future__ import annotations

import ast
import json
import tomllib
from collections.abc import Callable

import pytest
import yaml
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from rlclinic.prescriptions.edit.document import edit_document
from rlclinic.prescriptions.edit.edits import MISSING, Edit, value_at
from rlclinic.prescriptions.edit.python_file import edit_python
from tests.prescriptions.edit.configs import (
    NUMBERS,
    Sample,
    json_samples,
    python_samples,
    toml_samples,
    yaml_samples,
)
from tests.prescriptions.syntax.parsers import flatten


def _document(suffix: str) -> Callable[[Sample, float], str]:
    return lambda sample, after: edit_document(sample.text, [Edit(sample.path, sample.value, after)], suffix)


def _python(sample: Sample, after: float) -> str:
    return edit_python(sample.text, [Edit(sample.path, sample.value, after)], [""])


def _others(data: object, path: tuple[str, ...]) -> dict[str, object]:
    return {key: value for key, value in flatten(data).items() if key != ".".join(path)}


SYNTAXES: dict[str, tuple[st.SearchStrategy[Sample], Callable[[Sample, float], str], Callable[[str], object]]] = {
    "yaml": (yaml_samples(), _document(".yaml"), yaml.safe_load),
    "rl-zoo-yaml": (yaml_samples("CartPole-v1"), _document(".yml"), yaml.safe_load),
    "gymnasium-solver-yaml": (yaml_samples("ppo"), _document(".yaml"), yaml.safe_load),
    "rsl_rl-yaml": (yaml_samples("algorithm"), _document(".yaml"), yaml.safe_load),
    "skrl-yaml": (yaml_samples("agent"), _document(".yaml"), yaml.safe_load),
    "json": (json_samples(), _document(".json"), json.loads),
    "toml": (toml_samples(), _document(".toml"), tomllib.loads),
    "python": (python_samples(), _python, ast.parse),
}


@pytest.mark.parametrize("syntax", SYNTAXES)
def test_only_the_intended_number_changes(syntax: str) -> None:
    _property(syntax, examples=40)


@pytest.mark.slow
@pytest.mark.parametrize("syntax", SYNTAXES)
def test_only_the_intended_number_changes_in_500_files(syntax: str) -> None:
    _property(syntax, examples=500)


def _property(syntax: str, *, examples: int) -> None:
    samples, edit, load = SYNTAXES[syntax]

    @settings(max_examples=examples, suppress_health_check=list(HealthCheck), database=None)
    @given(samples, NUMBERS)
    def check(sample: Sample, after: float) -> None:
        assume(sample.value != after)
        edited = edit(sample, after)
        assert sample.surrounds(edited), edited
        head, tail = sample.template.split("\x00")
        spelled = edited[len(head) : len(edited) - len(tail)]
        assert ast.literal_eval(spelled) == after
        if syntax != "python":
            found = value_at(load(edited), sample.path)
            assert found == after
            assert isinstance(found, float) == (isinstance(sample.value, float) or after != int(after))
            assert _others(load(edited), sample.path) == _others(load(sample.text), sample.path)

    check()


@pytest.mark.parametrize("suffix", [".yaml", ".json", ".toml"])
def test_a_new_key_is_added_and_nothing_else_moves(suffix: str) -> None:
    samples, _, load = SYNTAXES[suffix[1:]]

    @settings(max_examples=30, suppress_health_check=list(HealthCheck), database=None)
    @given(samples, NUMBERS)
    def check(sample: Sample, after: float) -> None:
        path = (*sample.path[:-1], "brand_new")
        edited = edit_document(sample.text, [Edit(path, MISSING, after)], suffix)
        assert value_at(load(edited), path) == after
        # The old text is there in full, around one insertion.
        common = next(
            (i for i, (a, b) in enumerate(zip(edited, sample.text, strict=False)) if a != b), len(sample.text)
        )
        assert edited.endswith(sample.text[common:])
        assert len(edited) > len(sample.text)

    check()

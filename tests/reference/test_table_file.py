"""A table is parsed once per version of its text, and never another version of it is seen."""

from __future__ import annotations

import sys
import tomllib
from importlib.util import cache_from_source
from pathlib import Path

import pytest
import yaml

import rlclinic
from rlclinic.reference.table_file import load_table

PACKAGE = Path(rlclinic.__file__).parent
TABLES = sorted(
    path for kind in ("toml", "yaml") for path in PACKAGE.rglob(f"*.{kind}") if "snippets" not in path.parts
)


@pytest.fixture(autouse=True)
def bytecode(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path / "bytecode"))
    return tmp_path / "bytecode"


def kept(path: Path) -> Path:
    return Path(cache_from_source(f"{path}.py"))


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.name)
def test_what_is_kept_is_what_the_parser_made(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    expected = tomllib.loads(text) if path.suffix == ".toml" else yaml.safe_load(text)
    assert load_table(path) == expected
    assert kept(path).is_file()
    assert load_table(path) == expected


def test_another_text_of_the_same_length_and_time_is_parsed_anew(tmp_path: Path) -> None:
    path = tmp_path / "table.toml"
    for value in (1, 2, 1):
        path.write_text(f"value = {value}\n", encoding="utf-8")
        assert load_table(path) == {"value": value}


@pytest.mark.parametrize("left", [0, 3, 8, 12])
def test_a_damaged_copy_is_passed_over_and_replaced(tmp_path: Path, left: int) -> None:
    path = tmp_path / "table.toml"
    path.write_text("value = [1, 2, 3]\n", encoding="utf-8")
    load_table(path)
    whole = kept(path).read_bytes()
    kept(path).write_bytes(whole[:left])
    assert load_table(path) == {"value": [1, 2, 3]}
    assert kept(path).read_bytes() == whole


def test_nothing_is_written_where_python_writes_no_bytecode(
    tmp_path: Path, bytecode: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    path = tmp_path / "table.toml"
    path.write_text("value = 1\n", encoding="utf-8")
    assert load_table(path) == {"value": 1}
    assert not bytecode.exists()


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path, bytecode: Path) -> None:
    bytecode.write_text("a file where the folder would be", encoding="utf-8")
    path = tmp_path / "table.toml"
    path.write_text("value = 1\n", encoding="utf-8")
    assert load_table(path) == {"value": 1}

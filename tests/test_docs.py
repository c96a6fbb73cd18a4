"""Documentation that cannot drift from the code."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from pathlib import Path

import pytest

import rlclinic
from rlclinic.apps.cli.main import VERBS

ROOT = Path(__file__).parents[1]
_SPEC = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
assert _SPEC is not None
assert _SPEC.loader is not None
generate = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(generate)


@pytest.mark.parametrize("name", sorted(generate.PAGES))
def test_a_generated_page_is_up_to_date(name: str) -> None:
    page = (ROOT / "docs" / name).read_text(encoding="utf-8")
    assert page == generate.PAGES[name](), "run python docs/generate.py"


def test_every_public_name_is_on_the_python_page() -> None:
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    assert [name for name in rlclinic.__all__ if f"`{name}" not in page] == []


def test_every_verb_is_in_the_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [verb for verb in VERBS if f"rlclinic {verb}" not in readme] == []


def test_every_page_is_on_the_index() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    folder = ROOT / "docs"
    pages = [str(path.relative_to(folder)) for path in folder.rglob("*.md") if path.parent.name != "parts"]
    assert [page for page in pages if page != "index.md" and f"({page})" not in index] == []


def test_every_relative_link_of_the_documentation_leads_somewhere() -> None:
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    for page in pages:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} -> {target}"


def test_no_document_names_a_machine() -> None:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]
    for page in pages:
        assert not re.search(r"/(work|root|tmp)/", page.read_text(encoding="utf-8")), page.name


def test_the_page_of_the_architecture_names_files_layers_and_types_that_exist() -> None:
    source = ROOT / "src" / "rlclinic"
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    places = re.findall(r"`([\w/]+(?:\.py|\.toml|/))`", page)
    assert [place for place in places if not (source / place).exists()] == []
    classes = set(re.findall(r"^class (\w+)", "\n".join(map(Path.read_text, source.rglob("*.py"))), re.MULTILINE))
    assert set(re.findall(r"`([A-Z][a-z]\w+)`", page)) <= classes
    layers = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    names = [name for layer in layers[0]["layers"] for name in layer.split(" | ")]
    assert [name for name in names if f"`{name}`" not in page and f"`{name}/`" not in page] == []

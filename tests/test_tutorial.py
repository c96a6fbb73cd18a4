"""The tutorial is what a newcomer would see today: its runs are trained again and asked about again."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path

import pytest

pytest.importorskip("stable_baselines3")
DOCS = Path(__file__).parents[1] / "docs"


def words(page: str) -> list[str]:
    """The words of a page without its numbers, which differ a little between processors."""
    return re.sub(r"(?:over )?\d[\d,.]*(?:e-?\d+)?", "N", page).split()


@pytest.mark.slow
@pytest.mark.timeout(1200)  # Twelve trainings: 80 CPU seconds, which a busy machine may stretch.
def test_the_tutorial_is_up_to_date(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.util.spec_from_file_location("tutorial", DOCS / "tutorial.py")
    assert spec is not None
    assert spec.loader is not None
    tutorial = importlib.util.module_from_spec(spec)
    # Dataclasses look their module up.
    monkeypatch.setitem(sys.modules, spec.name, tutorial)
    spec.loader.exec_module(tutorial)
    kept = (DOCS / "tutorial.md").read_text(encoding="utf-8")
    assert words(tutorial.page(tmp_path)) == words(kept), "run python docs/tutorial.py"

"""One server process for all tests of the tools."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.apps.mcp.talk import Talk, make_root, stdio


@pytest.fixture(scope="session")
def mcp_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with recorded runs. Tests that write make their own."""
    return make_root(tmp_path_factory.mktemp("mcp"))


@pytest.fixture(scope="session")
def talk(mcp_root: Path) -> Iterator[Talk]:
    """A connection to the real command over stdio."""
    opened = Talk(stdio(mcp_root, mcp_root.parent))
    yield opened
    opened.close()

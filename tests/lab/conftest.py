"""Trained runs that several tests look at."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rlclinic.lab.train import train
from tests.lab.environments import small


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The folder of a short finished run of an algorithm, trained once per session."""
    root = tmp_path_factory.mktemp("trained")
    done: dict[str, Path] = {}

    def folder(algorithm: str) -> Path:
        if algorithm not in done:
            done[algorithm] = train(small(algorithm), root / algorithm)
        return done[algorithm]

    return folder

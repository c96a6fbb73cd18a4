"""A run whose return has a clear shape gets the verdict that any practitioner would give, whatever its scale, sign,
noise, number of points or format."""

from __future__ import annotations

import zlib
from pathlib import Path

import numpy as np
import pytest

from rlclinic.engine import diagnose
from rlclinic.readers.open import read
from tests.curve_families import EPISODES_OF_A_MEAN, FAMILIES, FORMATS, drawn, write_windowed

RUNS_OF_A_FAMILY = 12
# Noise of one run in twenty looks like a rise at the usual confidence: one of a family may be wrong.
WRONG = 1


@pytest.mark.parametrize("name", FAMILIES)
def test_a_clear_shape_gets_its_verdict(name: str, tmp_path: Path) -> None:
    family, wrong = FAMILIES[name], []
    for seed in range(family.runs or RUNS_OF_A_FAMILY):
        returns = drawn(family, np.random.default_rng([seed, zlib.crc32(name.encode())]))
        formats = list(FORMATS.values()) if family.is_windowed and returns.size >= EPISODES_OF_A_MEAN else [
            write for write in FORMATS.values() if write is not write_windowed
        ]  # fmt: skip
        folder = tmp_path / str(seed)
        folder.mkdir()
        told = diagnose(read(formats[seed % len(formats)](folder, returns)))
        if told.verdict.value not in family.accepted:
            wrong.append(f"{seed}: {told.verdict.value}, {told.reason}")
    assert len(wrong) <= WRONG, "\n".join(wrong)

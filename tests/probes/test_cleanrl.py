"""A script in the style of CleanRL behind the protocol."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from gymnasium.vector import AutoresetMode

from tests.probes import cleanrl_ppo
from tests.probes.cleanrl_ppo import make_trainer
from tests.probes.one_seed import one_seed


def test_a_single_file_script_is_probed_after_three_changes() -> None:
    result = one_seed(make_trainer, "P1")
    assert result.passed, result


def test_its_time_limits_are_found_to_be_learned_as_ends() -> None:
    result = one_seed(make_trainer, "P8", steps=1280)
    assert not result.error
    assert result.readings["V(A)"] == pytest.approx(1.0, abs=0.1)
    assert result.readings["V(B)"] == pytest.approx(1.0, abs=0.1)


def test_the_extra_row_of_gymnasiums_default_autoreset_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cleanrl_ppo, "AUTORESET", AutoresetMode.NEXT_STEP)
    assert one_seed(make_trainer, "P1", steps=800).readings["V"] == pytest.approx(1 / (2 - 0.7), abs=0.05)

"""Logs that are too large to be read whole: both ends, and the metric lines between them."""

from __future__ import annotations

from pathlib import Path

import pytest

from rlclinic.readers.parts import logs
from rlclinic.store.reading import read

STEPS = 40
SAMPLE = "[response] the answer is 42, step: 3 - of the sum\n" * 40


@pytest.fixture
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, size in (("MAX_LOG_BYTES", 20_000), ("END_BYTES", 4_000), ("BLOCK_BYTES", 3_000)):
        monkeypatch.setattr(logs, name, size)


@pytest.mark.usefixtures("small_limits")
@pytest.mark.parametrize(
    "line",
    [
        "(TaskRunner pid=7) step:{step} - critic/score/mean:0.{step:02d} - actor/pg_loss:0.1 - actor/ppo_kl:0.0",
        "✨ Global step {step}: {{'policy_loss': 0.1, 'actor_lr': 1e-06, 'reward': 0.{step:02d}, 'kl': 0.1}}",
        "{{'loss': 0.1, 'reward': 0.{step:02d}, 'reward_std': 0.2, 'completion_length': 9.0, 'step': {step}}}",
    ],
    ids=["verl", "openrlhf", "trl"],
)
def test_every_metric_line_between_printed_samples_is_read(line: str, tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    text = "".join(line.format(step=step) + "\n" + SAMPLE for step in range(1, STEPS + 1))
    path.write_text(text, encoding="utf-8")
    run = read(path)
    assert len(run.series["return/train"]) == STEPS
    assert any("the metric lines between them" in note for note in run.provenance.notes)


@pytest.mark.usefixtures("small_limits")
def test_a_secret_between_the_ends_stays_hidden(tmp_path: Path) -> None:
    secret = "hf_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3f"
    line = "step:{step} - critic/score/mean:0.5 - actor/pg_loss:0.1 - response_length/mean:9.0"
    text = "".join(f"{line.format(step=step)} token={secret}\n{SAMPLE}" for step in range(1, STEPS + 1))
    path = tmp_path / "train.log"
    path.write_text(text, encoding="utf-8")
    assert secret not in repr(read(path))

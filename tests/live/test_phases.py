"""Where the time goes, and what follows."""

from __future__ import annotations

import time

import pytest

import rlclinic
from rlclinic.live.phases import PASSES, Phases, Turns, system_metrics


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        ({"environment": 8.0, "learning": 2.0}, "bound by its environment (80% of the time): raise n_envs"),
        ({"environment": 1.0, "learning": 9.0}, "bound by its learner (90% of the time): raise batch_size"),
        ({"environment": 1.0, "inference": 8.0, "learning": 1.0}, "bound by inference (80% of the time)"),
        ({"environment": 5.0, "learning": 5.0}, ""),
        ({"learning": 5.0}, ""),
        ({}, ""),
    ],
)
def test_what_holds_a_run_up_is_told_with_the_change_that_follows(seconds: dict[str, float], words: str) -> None:
    phases = Phases()
    for name, value in seconds.items():
        phases.add(name, value)
    assert phases.advice().startswith(words)
    assert bool(phases.advice()) == bool(words)


def test_a_learner_with_a_replay_buffer_is_not_told_to_take_larger_batches() -> None:
    monitor = rlclinic.monitor(algorithm="SAC", sinks=[])
    monitor.phases.add("environment", 1.0)
    monitor.phases.add("learning", 9.0)
    assert "lower gradient_steps or batch_size, or use a GPU" in monitor.bottleneck


def test_an_idle_gpu_asks_for_larger_batches() -> None:
    phases = Phases()
    phases.add("environment", 1.0)
    phases.add("learning", 9.0)
    assert "the GPU is idle" in phases.advice(gpu=0.1)


def test_shares_are_of_the_time_since_the_last_row() -> None:
    phases = Phases()
    phases.add("environment", 3.0)
    phases.add("learning", 1.0)
    assert phases.take() == {"time/environment_share": 0.75, "time/learning_share": 0.25}
    phases.add("learning", 2.0)
    assert phases.take() == {"time/environment_share": 0.0, "time/learning_share": 1.0}
    assert phases.take() == {}


def test_the_process_is_measured() -> None:
    found = system_metrics()
    assert found["system/cpu_seconds"] > 0
    assert found.get("system/memory_mb", 1.0) > 0


def test_the_first_passes_of_a_rollout_tell_its_inference_and_nothing_stays_in_the_network() -> None:
    torch = pytest.importorskip("torch")
    network, phases = torch.nn.Identity(), Phases()
    turns = Turns(phases)
    turns.collecting(network)
    for left in range(PASSES, 0, -1):
        assert network._forward_hooks, left
        network(torch.zeros(1))
    assert not network._forward_hooks
    assert not network._forward_pre_hooks
    time.sleep(0.05)
    turns.collected()
    assert phases.seconds["inference"] > 0.0
    assert sum(phases.seconds.values()) > 0.05

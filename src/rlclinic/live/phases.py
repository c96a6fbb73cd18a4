"""Where the time of a training loop goes, and what follows for the number of environments, the batch or the device."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

ENVIRONMENT, INFERENCE, LEARNING = "environment", "inference", "learning"
# Share of the time from which on one phase holds up the others.
BOUND = 0.6
# Rollouts of which one has its inference timed.
TIMED = 20
# Forward passes after which a rollout's inference is known well enough.
PASSES = 256


class Phases:
    """Seconds by phase since the start, and since the last row."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._told: dict[str, float] = {}

    @contextmanager
    def measure(self, name: str) -> Iterator[None]:
        """Add the time inside to a phase."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self.add(name, time.perf_counter() - began)

    def add(self, name: str, seconds: float) -> None:
        """Seconds that were measured elsewhere."""
        self.seconds[name] = self.seconds.get(name, 0.0) + seconds

    def take(self) -> dict[str, float]:
        """Shares of the time since the last call, as metrics."""
        new = {name: total - self._told.get(name, 0.0) for name, total in self.seconds.items()}
        self._told = dict(self.seconds)
        whole = sum(new.values())
        return {f"time/{name}_share": part / whole for name, part in new.items()} if whole > 0 else {}

    def advice(self, *, gpu: float | None = None, replays: bool = False) -> str:
        """What holds the run up, and what to change; empty where no phase does or too little is known.

        `gpu` is the share of the time that the GPU works, where there is one; `replays` says that every update takes
        a batch from a replay buffer, so that larger batches take longer.
        """
        whole = sum(self.seconds.values())
        if whole <= 0 or ENVIRONMENT not in self.seconds or LEARNING not in self.seconds:
            return ""
        shares = {name: part / whole for name, part in self.seconds.items()}
        if shares[ENVIRONMENT] >= BOUND:
            cores = os.cpu_count() or 1
            return (
                f"bound by its environment ({100 * shares[ENVIRONMENT]:.0f}% of the time): raise n_envs with one "
                f"process per environment (this machine has {cores} cores)"
            )
        if shares[LEARNING] >= BOUND:
            idle = gpu is not None and gpu < 0.3
            fewer = "lower gradient_steps or batch_size" if replays else "raise batch_size, lower n_epochs"
            step = "raise batch_size, the GPU is idle" if idle else f"{fewer}, or use a GPU"
            return f"bound by its learner ({100 * shares[LEARNING]:.0f}% of the time): {step}"
        if shares.get(INFERENCE, 0.0) >= BOUND:
            return (
                f"bound by inference ({100 * shares[INFERENCE]:.0f}% of the time): raise n_envs, so that one forward "
                "pass serves more environments; small networks are faster on the cpu"
            )
        return ""


class ForwardPasses:
    """Seconds that the first forward passes of a network take, by hooks that `close` removes."""

    def __init__(self, network: Any) -> None:
        self.seconds = self._began = 0.0
        self.until: float | None = None
        """Moment of the last pass that counts, where there were more."""
        self._left = PASSES
        self._hooks = [network.register_forward_pre_hook(self._begin), network.register_forward_hook(self._end)]

    def close(self) -> None:
        """Leave the network as it was."""
        for hook in self._hooks:
            hook.remove()

    def _begin(self, *_: object) -> None:
        self._began = time.perf_counter()

    def _end(self, *_: object) -> None:
        now = time.perf_counter()
        self.seconds += now - self._began
        self._left -= 1
        if not self._left:
            self.until = now
            self.close()


class Turns:
    """The phases of a loop that collects and learns in turn; inference is known from one rollout of a few."""

    def __init__(self, phases: Phases) -> None:
        self._phases = phases
        self._marked = time.perf_counter()
        self._rollouts, self._inference, self._timed = 0, 0.0, 0.0
        self._forward: ForwardPasses | None = None

    def collecting(self, acting: Any) -> None:
        """A rollout begins, in which this network acts; None where that cannot be followed."""
        self._rollouts += 1
        if acting is not None and self._rollouts % TIMED == 1:
            self._forward = ForwardPasses(acting)
        self._marked = time.perf_counter()

    def collected(self) -> None:
        """It ended."""
        now = time.perf_counter()
        took = now - self._marked
        if self._forward is not None:
            timed = (self._forward.until or now) - self._marked
            self._inference, self._timed = self._inference + self._forward.seconds, self._timed + timed
        self.close()
        inference = took * self._inference / self._timed if self._timed else 0.0
        self._phases.add(ENVIRONMENT, took - inference)
        self._phases.add(INFERENCE, inference)
        self._marked = now

    def learned(self) -> None:
        """The updates on it ended."""
        if self._rollouts:
            self._phases.add(LEARNING, time.perf_counter() - self._marked)

    def close(self) -> None:
        """Leave the network as it was."""
        if self._forward is not None:
            self._forward.close()
            self._forward = None


def system_metrics() -> dict[str, float]:
    """Load and memory of this process and its machine, and of the GPU where torch is loaded and uses one."""
    found: dict[str, float] = {"system/cpu_seconds": time.process_time()}
    if hasattr(os, "getloadavg"):
        found["system/load_per_core"] = os.getloadavg()[0] / (os.cpu_count() or 1)
    with suppress(OSError, ValueError, IndexError), open("/proc/self/statm", encoding="ascii") as file:
        found["system/memory_mb"] = int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    cuda = getattr(sys.modules.get("torch"), "cuda", None)
    if cuda is not None and cuda.is_initialized():
        found["system/gpu_memory_mb"] = cuda.memory_allocated() / 1e6
        # Needs a library of the vendor that is often missing.
        with suppress(Exception):
            found["system/gpu_use"] = cuda.utilization() / 100.0
    return found

"""Faults of a value estimator, each a small change of the right recursion.

The names are those of the fault table (faults.toml); the readings they lead to are solved by the oracle.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from rlclinic.probes.oracle import FOREVER, Estimator, Fault, FloatArray, IntArray, Recursion, Stream, right

HARD_CODED_LAMBDA = 0.95
"""The default that most libraries ship."""
USUAL_REWARD_SCALE = 0.1
"""The factor that most examples with a reward scale use."""


def _done_ignored(stream: Stream, estimator: Estimator) -> Recursion:
    return replace(right(stream, estimator), keep=np.ones_like(stream.reward))


def _done_ignored_reset(stream: Stream, estimator: Estimator) -> Recursion:
    return replace(_done_ignored(stream, estimator), bootstrap=stream.reset)


def _done_never_stored(stream: Stream, estimator: Estimator) -> Recursion:
    return replace(_done_ignored_reset(stream, estimator), trace=np.ones_like(stream.reward))


def _broadcast(stream: Stream, estimator: Estimator) -> Recursion:
    return replace(right(stream, estimator), one_value=True)


def _observation_shifted(stream: Stream, estimator: Estimator) -> Recursion:
    flat = stream.seen.reshape(-1, stream.seen.shape[2])
    shifted: IntArray = np.vstack([flat[:1], flat[:-1]]).reshape(stream.seen.shape)
    return replace(right(stream, estimator), seen=shifted)


def _reward_late(stream: Stream, estimator: Estimator) -> Recursion:
    return replace(right(stream, estimator), reward=_late(stream.reward))


def _reward_scaled(scale: float, stream: Stream, estimator: Estimator) -> Recursion:
    return right(replace(stream, reward=scale * stream.reward), estimator)


def _target_stuck(stream: Stream, estimator: Estimator) -> Recursion:
    """A target network that never learned adds about nothing."""
    return replace(right(stream, estimator), keep=np.zeros_like(stream.reward))


def _advantage_for_return(stream: Stream, estimator: Estimator) -> Recursion:
    return replace(right(stream, estimator), less_value=True)


def _discounted(gamma: float, stream: Stream, estimator: Estimator) -> Recursion:
    return right(stream, replace(estimator, gamma=gamma))


def _bootstrap_discounted(gamma: float, stream: Stream, estimator: Estimator) -> Recursion:
    return replace(right(stream, estimator), gamma=gamma)


def _done_late(stream: Stream, estimator: Estimator) -> Recursion:
    late = replace(stream, terminated=_late(stream.terminated), truncated=_late(stream.truncated))
    return right(late, estimator)


def _self_bootstrap(stream: Stream, estimator: Estimator) -> Recursion:
    return replace(right(stream, estimator), bootstrap=stream.seen)


def _swapped_gamma_lambda(stream: Stream, estimator: Estimator) -> Recursion:
    return right(stream, replace(estimator, gamma=estimator.lam, lam=estimator.gamma))


def _with_lambda(lam: float, stream: Stream, estimator: Estimator) -> Recursion:
    return right(stream, replace(estimator, lam=lam))


def _one_step(stream: Stream, estimator: Estimator) -> Recursion:
    return replace(right(stream, estimator), trace=np.zeros_like(stream.reward))


def _trace_without_gamma(stream: Stream, estimator: Estimator) -> Recursion:
    return replace(right(stream, estimator), trace_decay=estimator.lam)


def _forward(stream: Stream, estimator: Estimator) -> Recursion:
    return replace(right(stream, estimator), forward=True)


def _trace_not_cut(stream: Stream, estimator: Estimator) -> Recursion:
    return replace(right(stream, estimator), trace=np.ones_like(stream.reward))


def _rollout_end_terminal(stream: Stream, estimator: Estimator) -> Recursion:
    base = right(stream, estimator)
    keep = base.keep.copy()
    # A truncated last step has its own bootstrap; only the value after the rollout is lost.
    keep[:, -1] *= stream.truncated[:, -1]
    return replace(base, keep=keep)


def _rollout_end_from_itself(stream: Stream, estimator: Estimator) -> Recursion:
    base = right(stream, estimator)
    bootstrap = base.bootstrap.copy()
    bootstrap[:, -1] = stream.seen[:, -1]
    return replace(base, bootstrap=bootstrap)


def _truncation_terminal(stream: Stream, estimator: Estimator) -> Recursion:
    ended = np.maximum(stream.terminated, stream.truncated)
    return replace(right(stream, estimator), keep=1.0 - ended)


def _termination_lost(stream: Stream, estimator: Estimator) -> Recursion:
    return right(replace(stream, terminated=stream.terminated * (1.0 - stream.truncated)), estimator)


def _flags_swapped(stream: Stream, estimator: Estimator) -> Recursion:
    return right(replace(stream, terminated=stream.truncated, truncated=stream.terminated), estimator)


def _reset_bootstrap(stream: Stream, estimator: Estimator) -> Recursion:
    return replace(right(stream, estimator), bootstrap=stream.reset)


def _fake_row(stream: Stream, estimator: Estimator) -> Recursion:
    """After each end one more row: the final observation, no reward, on to the reset observation."""
    envs = stream.seen.shape[2]
    fields = ("seen", "reward", "successor", "reset", "terminated", "truncated")
    columns: list[list[list[Any]]] = [[] for _ in range(envs)]
    flat = {name: getattr(stream, name).reshape(-1, envs) for name in fields}
    for env in range(envs):
        for row in zip(*(flat[name][:, env] for name in fields), strict=True):
            columns[env].append([*row, 0.0])
            if row[4] or row[5]:
                columns[env].append([row[2], 0.0, row[3], row[3], 0.0, 0.0, 1.0])
    length = min(len(column) for column in columns) // estimator.rollout * estimator.rollout
    shape = (-1, estimator.rollout, envs)
    parts: list[npt.NDArray[Any]] = [
        np.stack([np.asarray([row[place] for row in column[:length]]) for column in columns], axis=1).reshape(shape)
        for place in range(len(fields) + 1)
    ]
    seen, reward, successor, reset, terminated, truncated, fake = parts
    whole = [part.astype(np.int64) for part in (seen, successor, reset)]
    longer = Stream(whole[0], reward, whole[1], whole[2], terminated, truncated)
    base = right(longer, estimator)
    return replace(base, trace=base.trace * (1.0 - fake))


def _first_done_for_all(stream: Stream, estimator: Estimator) -> Recursion:
    spread = {
        name: np.repeat(getattr(stream, name)[:, :, :1], stream.seen.shape[2], axis=2)
        for name in ("terminated", "truncated")
    }
    return right(replace(stream, **spread), estimator)


def _reward_rolled(stream: Stream, estimator: Estimator) -> Recursion:
    return right(replace(stream, reward=np.roll(stream.reward, 1, axis=2)), estimator)


def _reward_reshaped(stream: Stream, estimator: Estimator) -> Recursion:
    """Environments by steps is taken for steps by environments."""
    turned = stream.reward.transpose(0, 2, 1).reshape(stream.reward.shape)
    return right(replace(stream, reward=turned), estimator)


def _next_rolled(stream: Stream, estimator: Estimator) -> Recursion:
    rolled = {
        name: np.roll(getattr(stream, name), 1, axis=2) for name in ("successor", "reset", "terminated", "truncated")
    }
    return right(replace(stream, **rolled), estimator)


def _flattened(stream: Stream, estimator: Estimator) -> Recursion:
    return replace(right(stream, estimator), flattened="end to end")


def _interleaved(stream: Stream, estimator: Estimator) -> Recursion:
    return replace(right(stream, estimator), flattened="interleaved")


def _late(values: FloatArray) -> FloatArray:
    """Each value one step later within its rollout; the first is zero."""
    late = np.zeros_like(values)
    late[:, 1:] = values[:, :-1]
    return late


FAULTS: Mapping[str, Fault] = {
    "done-ignored": _done_ignored,
    "done-ignored-reset-observation": _done_ignored_reset,
    "done-never-stored": _done_never_stored,
    "broadcast-value-loss": _broadcast,
    "returns-mixed-up": _broadcast,
    "observation-shifted": _observation_shifted,
    "reward-one-step-late": _reward_late,
    "reward-discounted": lambda stream, estimator: _reward_scaled(estimator.gamma, stream, estimator),
    "reward-negated": lambda stream, estimator: _reward_scaled(-1.0, stream, estimator),
    "reward-scale-leaks": lambda stream, estimator: _reward_scaled(USUAL_REWARD_SCALE, stream, estimator),
    "advantage-for-return": _advantage_for_return,
    "no-discount": lambda stream, estimator: _discounted(FOREVER, stream, estimator),
    "gamma-squared": lambda stream, estimator: _discounted(estimator.gamma**2, stream, estimator),
    "one-minus-gamma": lambda stream, estimator: _discounted(1 - estimator.gamma, stream, estimator),
    "bootstrap-undiscounted": lambda stream, estimator: _bootstrap_discounted(FOREVER, stream, estimator),
    "bootstrap-discounted-twice": lambda stream, estimator: _bootstrap_discounted(
        estimator.gamma**2, stream, estimator
    ),
    "done-one-step-late": _done_late,
    "self-bootstrap": _self_bootstrap,
    "gamma-lambda-swapped": _swapped_gamma_lambda,
    "lambda-not-forwarded": lambda stream, estimator: _with_lambda(HARD_CODED_LAMBDA, stream, estimator),
    "one-minus-lambda": lambda stream, estimator: _with_lambda(1 - estimator.lam, stream, estimator),
    "lambda-zero": _one_step,
    "monte-carlo": lambda stream, estimator: _with_lambda(1.0, stream, estimator),
    "gamma-missing-in-trace": _trace_without_gamma,
    "gae-forward": _forward,
    "trace-not-cut": _trace_not_cut,
    "window-crosses-episodes": _trace_not_cut,
    "target-stuck": _target_stuck,
    "rollout-end-terminal": _rollout_end_terminal,
    "rollout-end-from-itself": _rollout_end_from_itself,
    "truncation-as-termination": _truncation_terminal,
    "termination-lost-at-limit": _termination_lost,
    "flags-swapped": _flags_swapped,
    "reset-observation-bootstrap": _reset_bootstrap,
    "fake-autoreset-row": _fake_row,
    "first-done-for-all": _first_done_for_all,
    "reward-rolled-by-environment": _reward_rolled,
    "reward-reshaped": _reward_reshaped,
    "next-rolled-by-environment": _next_rolled,
    "flattened-before-gae": _flattened,
    "interleaved-before-gae": _interleaved,
}
"""Every fault that the oracle can solve, by its name in faults.toml."""
OF_ROLLOUTS = frozenset({
    "advantage-for-return", "gamma-lambda-swapped", "lambda-not-forwarded", "one-minus-lambda", "monte-carlo",
    "gamma-missing-in-trace", "trace-not-cut", "returns-mixed-up", "reward-reshaped", "bootstrap-undiscounted",
    "bootstrap-discounted-twice", "gae-forward", "rollout-end-terminal", "rollout-end-from-itself",
    "flattened-before-gae", "interleaved-before-gae",
})  # fmt: skip
"""Those that a replay cannot have."""
OF_REPLAYS = frozenset({"window-crosses-episodes", "target-stuck", "target-stuck-and-read"})
"""Those that only a replay can have."""

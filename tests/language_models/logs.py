"""Logs of language-model runs as verl, Search-R1, TRL, OpenRLHF and NeMo-RL write them, from curves named here.

Constructed: the curves are drawn, the lines are those of the frameworks, down to the rounding of their consoles.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from pprint import pformat
from typing import Any

import numpy as np

Curves = Mapping[str, Sequence[float]]
EVERY = 10  # updates between two validations

VERL = {
    "score": "critic/score/mean",
    "score_max": "critic/score/max",
    "score_min": "critic/score/min",
    "shaped": "critic/rewards/mean",
    "advantage_max": "critic/advantages/max",
    "advantage_min": "critic/advantages/min",
    "advantage_mean": "critic/advantages/mean",
    "length": "response_length/mean",
    "length_max": "response_length/max",
    "cut": "response_length/clip_ratio",
    "kl": "actor/kl_loss",
    "kl_in_reward": "actor/reward_kl_penalty",
    "entropy": "actor/entropy",
    "loss": "actor/pg_loss",
    "clipped": "actor/pg_clipfrac",
    "update_kl": "actor/ppo_kl",
    "gradient": "actor/grad_norm",
    "rate": "actor/lr",
    "validation": "val-core/math/acc/mean@1",
    "mismatch_kl": "rollout_corr/kl",
    "mismatch_weight": "rollout_corr/rollout_is_mean",
    "mismatch_sample": "rollout_corr/rollout_is_eff_sample_size",
    "probability_gap": "training/rollout_probs_diff_mean",
    "probability_gap_max": "training/rollout_probs_diff_max",
    "pearson": "training/rollout_actor_probs_pearson_corr",
    "tool_calls": "tool_call_counts/mean",
    "turns": "num_turns/mean",
    "aborted": "response/aborted_ratio",
    "epoch": "training/epoch",
    "throughput": "perf/throughput",
    "step_time": "perf/time_per_step",
    "not_started": "trajectory_filter/reason/env_setup_failed",
    "lost": "trajectory_filter/invalid_ratio",
    "form_failures": "paper_writing_reward/format_fail_rate",
}
SEARCH_R1 = VERL | {
    "entropy": "actor/entropy_loss",
    "kl_in_reward": "critic/kl",
    "validation": "val/test_score/nq",
    "masked": "state_tokens/coverage",
    "turns": "env/number_of_actions/mean",
    "finished": "env/finish_ratio",
    "valid": "env/ratio_of_valid_action",
    "searches": "env/number_of_valid_search",
}
TRL = {
    "score": "reward",
    "spread": "reward_std",
    "tied": "frac_reward_zero_std",
    "answer": "rewards/correct/mean",
    "format": "rewards/format/mean",
    "length": "completions/mean_length",
    "length_max": "completions/max_length",
    "length_ended": "completions/mean_terminated_length",
    "cut": "completions/clipped_ratio",
    "kl": "kl",
    "entropy": "entropy",
    "loss": "loss",
    "clipped": "clip_ratio/region_mean",
    "clipped_low": "clip_ratio/low_mean",
    "clipped_high": "clip_ratio/high_mean",
    "gradient": "grad_norm",
    "rate": "learning_rate",
    "validation": "eval_reward",
    "probability_gap": "sampling/sampling_logp_difference/mean",
    "probability_gap_max": "sampling/sampling_logp_difference/max",
    "mismatch_weight": "sampling/importance_sampling_ratio/mean",
    "step_time": "step_time",
    "epoch": "epoch",
}
OPENRLHF = {
    "loss": "policy_loss",
    "rate": "actor_lr",
    "gradient": "actor_grad_norm",
    "kl": "kl",
    "score": "reward",
    "shaped": "return",
    "length": "response_length",
    "cut": "response_clip_ratio",
    "entropy": "entropy_loss",
    "clipped": "ppo_clip_ratio",
    "update_kl": "ppo_kl",
    "spread": "group_reward_std",
    "mismatch_kl": "vllm_kl",
}
NEMO_RL = {
    "loss": "Loss",
    "mismatch_kl": "Generation KL Error",
    "score": "Avg Reward",
    "length": "Mean Generation Length",
}


def write(framework: str, folder: Path, curves: Curves, config: Mapping[str, Any]) -> Path:
    """Write the run as a framework does; curves that it has no name for are left out, as they are there."""
    folder.mkdir(parents=True, exist_ok=True)
    return _WRITERS[framework](folder, curves, config)


def steps_of(curves: Curves) -> int:
    return len(curves["score"])


def _verl(folder: Path, curves: Curves, config: Mapping[str, Any]) -> Path:
    """verl since 0.5: full precision."""
    return _step_lines(folder, curves, config, VERL, "(TaskRunner pid=4242) ", repr)


def _verl_old(folder: Path, curves: Curves, config: Mapping[str, Any]) -> Path:
    """verl up to 0.4.1: three decimals."""
    return _step_lines(folder, curves, config, VERL | {"entropy": "actor/entropy_loss"}, "(main_task pid=42) ", _three)


def _search_r1(folder: Path, curves: Curves, config: Mapping[str, Any]) -> Path:
    return _step_lines(folder, curves, config, SEARCH_R1, "(main_task pid=42) ", _three)


def _step_lines(
    folder: Path,
    curves: Curves,
    config: Mapping[str, Any],
    names: Mapping[str, str],
    prefix: str,
    text: Callable[[float], str],
) -> Path:
    lines = pformat(_nested(config)).splitlines() if config else []
    for step in range(steps_of(curves)):
        row = _row(curves, names, step)
        if "draft_1" in curves:
            lines += [f"epoch 0, step {step + 1}", *_drafts(curves, step), *_drafts(curves, 0)]
        lines.append(f"step:{step + 1} - " + " - ".join(f"{key}:{text(value)}" for key, value in row.items()))
    path = folder / "train.log"
    path.write_text("".join(f"{prefix}{line}\n" for line in lines), encoding="utf-8")
    return path


def _drafts(curves: Curves, step: int) -> list[str]:
    """What a fork of Search-R1 prints of each round; a validation in the same step prints it again."""
    rounds = [number for number in (1, 2, 3) if f"draft_{number}" in curves]
    invalid = [(number, round(512 * curves[f"draft_{number}"][step])) for number in rounds]
    return [f"[Paper Writing] Round {number}: invalid draft format count = {bad}/512" for number, bad in invalid if bad]


def _trl(folder: Path, curves: Curves, config: Mapping[str, Any]) -> Path:
    """The Trainer's own file; evaluations are records of their own."""
    history: list[dict[str, float]] = []
    for step in range(steps_of(curves)):
        row = {"step": step + 1, "epoch": (step + 1) / 100, **_row(curves, TRL, step)}
        held_out = row.pop("eval_reward", None)
        history.append(row)
        if held_out is not None:
            history.append({"eval_reward": held_out, "step": step + 1, "epoch": row["epoch"]})
    state = {"global_step": steps_of(curves), "max_steps": steps_of(curves), "log_history": history}
    path = folder / "trainer_state.json"
    path.write_text(json.dumps(state), encoding="utf-8")
    return path


def _trl_console(folder: Path, curves: Curves, config: Mapping[str, Any]) -> Path:
    """What TRL prints: quoted numbers of four digits."""
    lines = []
    for step in range(steps_of(curves)):
        row = _row(curves, TRL, step)
        held_out = row.pop("eval_reward", None)
        row = {"epoch": (step + 1) / 100} | row
        lines.append(
            f"{100 * step // steps_of(curves):3d}%|          | {step + 1}/{steps_of(curves)} [00:01<02:00,  1.1s/it]"
        )
        lines.append(str({key: f"{value:.4g}" for key, value in row.items()}))
        if held_out is not None:
            held = {"eval_loss": 0.0, "eval_reward": held_out, "eval_reward_std": 0.4, "eval_runtime": 12.3}
            lines.append(str({key: f"{value:.4g}" for key, value in {**held, "epoch": row["epoch"]}.items()}))
    path = folder / "train.log"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _openrlhf(folder: Path, curves: Curves, config: Mapping[str, Any]) -> Path:
    rows = (_row(curves, OPENRLHF, step) for step in range(steps_of(curves)))
    path = folder / "train.log"
    path.write_text("".join(f"✨ Global step {step + 1}: {row}\n" for step, row in enumerate(rows)), encoding="utf-8")
    return path


def _nemo_rl(folder: Path, curves: Curves, config: Mapping[str, Any]) -> Path:
    blocks = []
    for step in range(steps_of(curves)):
        bullets = "".join(f"  • {key}: {value:.4f}\n" for key, value in _row(curves, NEMO_RL, step).items())
        blocks.append(f"\n{'=' * 25} Step {step + 1}/{steps_of(curves)} {'=' * 25}\n📊 Training Results:\n{bullets}")
    path = folder / "train.log"
    path.write_text("".join(blocks), encoding="utf-8")
    return path


def _row(curves: Curves, names: Mapping[str, str], step: int) -> dict[str, float]:
    row = {}
    for name, key in names.items():
        if name not in curves or (name == "validation" and (step + 1) % EVERY):
            continue
        row[key] = float(np.asarray(curves[name], dtype=float)[step])
    return row


def _nested(config: Mapping[str, Any]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for key, value in config.items():
        *path, last = key.split(".")
        place = tree
        for part in path:
            place = place.setdefault(part, {})
        place[last] = value
    return tree


def _three(value: float) -> str:
    return f"{value:.3f}"


_WRITERS: dict[str, Callable[[Path, Curves, Mapping[str, Any]], Path]] = {
    "verl": _verl,
    "verl-0.4": _verl_old,
    "search-r1": _search_r1,
    "trl": _trl,
    "trl-console": _trl_console,
    "openrlhf": _openrlhf,
    "nemo-rl": _nemo_rl,
}

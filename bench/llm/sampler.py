"""Responses that another policy than the trained one gives: old weights, or another temperature.

The difference is measured as trainers with an engine of their own measure it: the log-probabilities with which a
response was sampled against those that the trained policy gives the same tokens.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from bench.llm.search import Rollout, sampled


def sampling_apart(spec: Mapping[str, Any], folder: Path) -> Rollout:
    """A rollout for TRL that samples with `temperature`, from weights that are taken over `every` so many updates.

    What TRL logs of an engine is added to its metrics; what verl would log of the same tokens is kept beside them.
    """
    temperature, every = spec.get("temperature", 1.0), int(spec.get("every", 1))
    kept: dict[str, Any] = {"model": None, "at": -1}

    def rollout(prompts: list[str], trainer: Any) -> dict[str, Any]:
        step, tokenizer = trainer.state.global_step, trainer.processing_class
        if kept["model"] is None or (every and step - kept["at"] >= every):
            # A copy of the object would go on with the forward pass that accelerate has put around the original.
            kept.update(model=type(trainer.model)(trainer.model.config), at=step)
            kept["model"].load_state_dict(trainer.model.state_dict())
            kept["model"].to(getattr(torch, spec.get("precision", "float32")))
        asked = tokenizer(prompts, padding=False)["input_ids"]
        told = sampled(kept["model"], tokenizer, asked, trainer.max_completion_length, temperature)
        by_sampler = _log_probabilities(kept["model"], tokenizer, asked, told, temperature)
        by_trainer = _log_probabilities(trainer.model, tokenizer, asked, told, trainer.temperature)
        _log(trainer, torch.cat(by_trainer) - torch.cat(by_sampler))
        with open(folder / "sampler.jsonl", "a", encoding="utf-8") as file:
            measured = in_verl(torch.cat(by_trainer), torch.cat(by_sampler))
            file.write(
                json.dumps({"step": step + 1} | {name: float(f"{value:.4g}") for name, value in measured.items()})
            )
            file.write("\n")
        return {"prompt_ids": asked, "completion_ids": told, "logprobs": [values.tolist() for values in by_sampler]}

    return rollout


def _log(trainer: Any, difference: torch.Tensor) -> None:
    """By the names and formulas of TRL with vLLM."""
    metrics, ratio = trainer._metrics["train"], difference.exp()
    for name, value in (("mean", difference.abs().mean()), ("max", difference.abs().max())):
        metrics[f"sampling/sampling_logp_difference/{name}"].append(value.item())
    for name, value in (("min", ratio.min()), ("mean", ratio.mean()), ("max", ratio.max())):
        metrics[f"sampling/importance_sampling_ratio/{name}"].append(value.item())


def in_verl(by_trainer: torch.Tensor, by_sampler: torch.Tensor) -> dict[str, float]:
    """What verl 0.9 logs of it without a correction (rollout_corr_helper.py, utils/debug/metrics.py)."""
    difference, gap = by_trainer - by_sampler, (by_trainer.exp() - by_sampler.exp()).abs()
    return {
        "rollout_corr/kl": -difference.mean().item(),
        "rollout_corr/k3_kl": (difference.exp() - difference - 1).mean().item(),
        "rollout_corr/chi2_token": (2 * difference.clamp(-20, 20)).exp().mean().item() - 1,
        "training/rollout_probs_diff_mean": gap.mean().item(),
        "training/rollout_probs_diff_max": gap.max().item(),
        "training/rollout_probs_diff_std": gap.std().item(),
    }


@torch.no_grad()
def _log_probabilities(
    model: Any, tokenizer: Any, asked: list[list[int]], told: list[list[int]], temperature: float
) -> list[torch.Tensor]:
    """Of each token of each response."""
    whole = {"input_ids": [ask + tell for ask, tell in zip(asked, told, strict=True)]}
    batch = tokenizer.pad(whole, return_tensors="pt", padding_side="right")
    was_training = model.training
    model.eval()
    found = torch.log_softmax(model(**batch).logits.float() / temperature, dim=-1)
    model.train(was_training)
    return [
        row[range(len(ask) - 1, len(ask) + len(tell) - 1), tell]
        for row, ask, tell in zip(found, asked, told, strict=True)
    ]

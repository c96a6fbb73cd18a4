"""Responses that may stop to search: what is found is put in, and the response goes on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from bench.llm.tasks import ASK, looked_up

Rollout = Callable[[list[str], Any], dict[str, Any]]


def searching(*, masked: bool) -> Rollout:
    """A rollout for TRL; `masked` keeps what was found out of the loss, as it should be."""

    def rollout(prompts: list[str], trainer: Any) -> dict[str, Any]:
        tokenizer, cap = trainer.processing_class, trainer.max_completion_length
        asked = tokenizer(prompts, padding=False)["input_ids"]
        first = sampled(trainer.model, tokenizer, asked, cap)
        search = tokenizer.convert_tokens_to_ids(ASK)
        found = [
            tokenizer(looked_up(prompt))["input_ids"] if ids and ids[-1] == search else []
            for prompt, ids in zip(prompts, first, strict=True)
        ]
        known = [ask + ids + text for ask, ids, text in zip(asked, first, found, strict=True)]
        rest = sampled(trainer.model, tokenizer, known, cap)
        # A response that did not search is over; the cap counts what the model says itself.
        rest = [
            ids[: max(cap - len(said), 0)] if text else [] for ids, said, text in zip(rest, first, found, strict=True)
        ]
        parts = list(zip(first, found, rest, strict=True))
        output = {
            "prompt_ids": asked,
            "completion_ids": [said + text + ids for said, text, ids in parts],
            "logprobs": [[0.0] * (len(said) + len(text) + len(ids)) for said, text, ids in parts],
        }
        if masked:
            output["env_mask"] = [[1] * len(said) + [0] * len(text) + [1] * len(ids) for said, text, ids in parts]
        return output

    return rollout


@torch.no_grad()
def sampled(
    model: Any, tokenizer: Any, prompts: list[list[int]], cap: int, temperature: float = 1.0
) -> list[list[int]]:
    """What the model goes on with until it ends, searches or is cut."""
    batch = tokenizer.pad({"input_ids": prompts}, return_tensors="pt")
    stops = [tokenizer.eos_token_id, tokenizer.convert_tokens_to_ids(ASK)]
    was_training = model.training
    model.eval()
    told = model.generate(
        **batch, max_new_tokens=cap, do_sample=True, temperature=temperature, top_k=0, eos_token_id=stops
    )
    model.train(was_training)
    told = told[:, batch["input_ids"].shape[1] :].tolist()
    return [_until(ids, stops) for ids in told]


def _until(ids: list[int], stops: list[int]) -> list[int]:
    end = next((at for at, token in enumerate(ids) if token in stops), len(ids) - 1)
    return ids[: end + 1]

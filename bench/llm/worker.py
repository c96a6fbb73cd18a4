"""Train runs with TRL and leave what TRL leaves: `python -m bench.llm.worker FOLDER...`, with a spec.json in each.

It runs in a virtual environment of its own, with trl and transformers.
"""

from __future__ import annotations

import json
import random
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM
from trl import GRPOConfig, GRPOTrainer, RLOOConfig, RLOOTrainer

from bench.llm.sampler import sampling_apart
from bench.llm.search import Rollout, sampled, searching
from bench.llm.tasks import ASK, REWARDS, TASKS, VOCABULARY, Problem, answer_in, looked_up

WRONG = 0.5
"""Share of the labels of the warm start that are wrong: what is left for RL to learn."""


def main(spec: dict[str, Any], folder: Path) -> None:
    """Warm start, train, and write the log, the config and what the policy could do before and after."""
    torch.set_num_threads(1)
    torch.manual_seed(spec["seed"])
    random.seed(spec["seed"])
    problems, tokenizer = TASKS[spec["task"]](), _tokenizer()
    model = _model(tokenizer)
    _warm_start(model, tokenizer, problems, spec["warm_steps"], spec["seed"])
    looks_up = spec["task"] == "search"
    start = _accuracy(model, tokenizer, problems, looks_up=looks_up)
    model.save_pretrained(folder / "model")
    tokenizer.save_pretrained(folder / "model")
    kind, trainer_of = (RLOOConfig, RLOOTrainer) if spec["trainer"] == "rloo" else (GRPOConfig, GRPOTrainer)
    rows = [{"prompt": prompt, "answer": answer} for prompt, answer in problems] * 20
    trainer = trainer_of(
        model=str(folder / "model"),
        reward_funcs=[REWARDS[name] for name in spec["rewards"]],
        args=kind(
            output_dir=str(folder),
            seed=spec["seed"],
            use_cpu=True,
            bf16=False,
            report_to=[],
            save_strategy="no",
            disable_tqdm=True,
            logging_steps=spec["logging_steps"],
            **spec["config"],
        ),
        train_dataset=Dataset.from_list(rows),
        processing_class=tokenizer,
        **_rollout(spec, folder, looks_up=looks_up),
    )
    if spec.get("reference") == "untrained":
        torch.manual_seed(spec["seed"] + 1)
        trainer.ref_model.load_state_dict(_model(tokenizer).state_dict())
    trainer.train()
    trainer.save_state()
    end = _accuracy(trainer.model, tokenizer, problems, looks_up=looks_up)
    (folder / "truth.json").write_text(json.dumps({"start": start, "end": end}), encoding="utf-8")


def _rollout(spec: dict[str, Any], folder: Path, *, looks_up: bool) -> dict[str, Rollout]:
    """Who answers, where it is not the trained policy alone."""
    if looks_up:
        return {"rollout_func": searching(masked=spec.get("masked", True))}
    return {"rollout_func": sampling_apart(spec["sampler"], folder)} if "sampler" in spec else {}


def _tokenizer() -> PreTrainedTokenizerFast:
    words = Tokenizer(models.WordLevel({word: at for at, word in enumerate(VOCABULARY)}, unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(
        tokenizer_object=words, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>", padding_side="left"
    )


def _model(tokenizer: PreTrainedTokenizerFast) -> Qwen2ForCausalLM:
    ends = {"pad_token_id": tokenizer.pad_token_id, "eos_token_id": tokenizer.eos_token_id}
    return Qwen2ForCausalLM(
        Qwen2Config(
            vocab_size=len(VOCABULARY),
            hidden_size=64,
            intermediate_size=128,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=4,
            max_position_embeddings=64,
            **ends,
        )
    )


def _warm_start(model: Any, tokenizer: Any, problems: list[Problem], steps: int, seed: int) -> None:
    """Teach the form, and the answer with many mistakes."""
    draw, optimiser = random.Random(seed), torch.optim.AdamW(model.parameters(), lr=3e-3)
    answers = [answer for _, answer in problems]
    for _ in range(steps):
        batch = draw.choices(problems, k=32)
        texts, asked, given = [], [], []
        for prompt, answer in batch:
            told = draw.choice(answers) if draw.random() < WRONG else answer
            search = f" {ASK} {looked_up(prompt)}" if prompt.startswith("q") else ""
            texts.append(f"{prompt}{search} [ {told} ] <eos>")
            asked.append(len(prompt.split()))
            # The search is called by the model; what it gives is not its to say.
            given.append(range(asked[-1] + 1, len(f"{prompt}{search}".split())) if search else range(0))
        found = tokenizer(texts, return_tensors="pt", padding=True, padding_side="right")
        labels = found["input_ids"].masked_fill(found["attention_mask"] == 0, -100)
        for row, count in enumerate(asked):
            labels[row, :count] = -100
            labels[row, list(given[row])] = -100
        loss = model(input_ids=found["input_ids"], attention_mask=found["attention_mask"], labels=labels).loss
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()


@torch.no_grad()
def _accuracy(model: Any, tokenizer: Any, problems: list[Problem], *, looks_up: bool) -> float:
    """Share of sampled answers that are right."""
    model.eval()
    if looks_up:
        return _accuracy_with_search(model, tokenizer, problems)
    asked = tokenizer([prompt for prompt, _ in problems for _ in range(8)], return_tensors="pt", padding=True)
    found = model.generate(**asked, max_new_tokens=8, do_sample=True, temperature=1.0, top_k=0)
    told = tokenizer.batch_decode(found[:, asked["input_ids"].shape[1] :], skip_special_tokens=True)
    right = [answer for _, answer in problems for _ in range(8)]
    return sum(answer_in(text) == answer for text, answer in zip(told, right, strict=True)) / len(right)


def _accuracy_with_search(model: Any, tokenizer: Any, problems: list[Problem]) -> float:
    asked = tokenizer([prompt for prompt, _ in problems])["input_ids"]
    first = sampled(model, tokenizer, asked, 8)
    found = [tokenizer(looked_up(prompt))["input_ids"] for prompt, _ in problems]
    rest = sampled(model, tokenizer, [a + b + c for a, b, c in zip(asked, first, found, strict=True)], 8)
    search = tokenizer.convert_tokens_to_ids(ASK)
    told = tokenizer.batch_decode(rest, skip_special_tokens=True)
    right = [
        said[-1:] == [search] and answer_in(text) == answer
        for said, text, (_, answer) in zip(first, told, problems, strict=True)
    ]
    return sum(right) / len(right)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        with open(Path(name) / "stdout", "w", encoding="utf-8") as printed, redirect_stdout(printed):
            main(json.loads((Path(name) / "spec.json").read_text(encoding="utf-8")), Path(name))

"""The recorded runs as verl logs them: `.venv-verl/bin/python -m bench.llm.in_verl`, which has verl's own loggers.

verl's `Tracking` writes what TRL measured, under verl's names: to the console, to its file logger or to TensorBoard.
What verl does not log of a training (parts of the reward, ties in groups) is left out.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import os
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from bench.faults.shards import Record, append, encode, records
from bench.llm.plan import plan

HERE = Path(__file__).parent
FOLDER = HERE / "in_verl"
BACKENDS = ("console", "file", "tensorboard")
NAMES = {
    "reward": "critic/score/mean",
    "entropy": "actor/entropy",
    "kl": "actor/kl_loss",
    "loss": "actor/pg_loss",
    "grad_norm": "actor/grad_norm",
    "learning_rate": "actor/lr",
    "clip_ratio/region_mean": "actor/pg_clipfrac",
    "completions/mean_length": "response_length/mean",
    "completions/max_length": "response_length/max",
    "completions/min_length": "response_length/min",
    "completions/clipped_ratio": "response_length/clip_ratio",
    "step_time": "perf/time_per_step",
}
SETTINGS = {
    "learning_rate": "actor_rollout_ref.actor.optim.lr",
    "num_generations": "actor_rollout_ref.rollout.n",
    "max_completion_length": "data.max_response_length",
    "max_steps": "trainer.total_training_steps",
    "entropy_coef": "actor_rollout_ref.actor.entropy_coeff",
    "num_iterations": "actor_rollout_ref.actor.ppo_epochs",
}


def main() -> None:
    """Write the first seed of every kind and task that is not written yet."""
    known = {record.name for record in records(FOLDER)}
    by_name = {record.name: record for record in records(HERE / "corpus")}
    first = [entry for entry in plan() if entry.spec["seed"] == 0 and entry.name in by_name]
    for place, entry in enumerate(first):
        if entry.name not in known:
            append(encode(_written(by_name[entry.name], BACKENDS[place % len(BACKENDS)])), FOLDER)
            print(entry.name, flush=True)


def as_sparse(record: Record) -> Record:
    """TRL's own files with no more than verl logs and is configured with: what the form of a log changes by itself."""
    files = {name: base64.b64decode(text).decode() for name, text in record.files.items()}
    state = json.loads(files["trainer_state.json"])
    kept = (*NAMES, "step", "epoch")
    state["log_history"] = [
        {name: row[name] for name in row if name in kept or name.startswith("sampling/")}
        for row in state["log_history"]
    ]
    config = next(name for name in files if name.endswith("_config.yaml"))
    settings = {name: value for name, value in yaml.safe_load(files[config]).items() if not name.startswith("reward_")}
    files |= {"trainer_state.json": json.dumps(state), config: yaml.safe_dump(settings)}
    return replace(record, files={name: base64.b64encode(text.encode()).decode() for name, text in files.items()})


def _written(record: Record, backend: str) -> Record:
    from verl.utils.tracking import Tracking

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["VERL_FILE_LOGGER_PATH"] = str(folder / "train.jsonl")
        os.environ["TENSORBOARD_DIR"] = str(folder)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            tracking = Tracking("toy", record.name, default_backend=[backend])
            for step, row in _rows(record):
                tracking.log(row, step=step)
            del tracking
        if backend == "console":
            (folder / "train.log").write_text(printed.getvalue(), encoding="utf-8")
        (folder / ".hydra").mkdir()
        overrides = "".join(f"- {line}\n" for line in _overrides(record.recipe))
        for file in ("overrides.yaml", "config.yaml"):
            (folder / ".hydra" / file).write_text(overrides if file == "overrides.yaml" else "{}\n", encoding="utf-8")
        found = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
        files = {path: base64.b64encode(place.read_bytes()).decode() for path, place in found.items()}
    return replace(record, files=files, truth={}, recipe={})


def _rows(record: Record) -> Iterator[tuple[int, dict[str, float]]]:
    measured = {row["step"]: row for row in record.truth.get("sampler", ())}
    for step, logged in _logged(record):
        row = {name: logged[key] for key, name in NAMES.items() if key in logged}
        if "critic/score/mean" in row:
            row["critic/rewards/mean"] = row["critic/score/mean"]
            row |= {name: value for name, value in measured.get(step, {}).items() if name != "step"}
            yield step, row | {"training/global_step": step}


def _logged(record: Record) -> Iterator[tuple[int, dict[str, float]]]:
    """What TRL saved or printed, with the step."""
    files = {name: base64.b64decode(text).decode() for name, text in record.files.items()}
    if "trainer_state.json" in files:
        for row in json.loads(files["trainer_state.json"])["log_history"]:
            yield row["step"], row
        return
    for place, line in enumerate(files["train.log"].splitlines(), start=1):
        yield place * record.recipe["logging_steps"], {key: float(value) for key, value in _parsed(line).items()}


def _parsed(line: str) -> dict[str, Any]:
    row: dict[str, Any] = ast.literal_eval(line)
    return row


def _overrides(spec: Any) -> Iterator[str]:
    config = spec["config"]
    batch = config["per_device_train_batch_size"] // config["num_generations"]
    yield f"algorithm.adv_estimator={spec['trainer']}"
    yield f"data.train_batch_size={batch}"
    yield f"actor_rollout_ref.actor.ppo_mini_batch_size={batch}"
    yield f"actor_rollout_ref.actor.use_kl_loss={config['beta'] > 0}"
    yield f"actor_rollout_ref.actor.kl_loss_coef={config['beta']}"
    yield from (f"{name}={config[key]}" for key, name in SETTINGS.items() if key in config)
    if config.get("scale_rewards") == "none":
        yield "algorithm.norm_adv_by_std_in_grpo=False"


if __name__ == "__main__":
    main()

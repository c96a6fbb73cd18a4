"""Train what is planned and not recorded yet: `python -m bench.llm.record --python .venv-llm/bin/python`."""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import os
import resource
import subprocess
import tempfile
from pathlib import Path

import yaml

from bench.faults.shards import Record, append, encode, records
from bench.llm.plan import Entry, plan

FOLDER = Path(__file__).with_name("corpus")
ROOT = Path(__file__).parents[2]


def main() -> None:
    """Go on where it was."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", default=".venv-llm/bin/python", help="an interpreter with trl and transformers")
    parser.add_argument("--only", default="", help="a part of the names")
    options = parser.parse_args()
    known = {record.name for record in records(FOLDER)}
    for entry in plan():
        if entry.name not in known and options.only in entry.name:
            append(encode(_trained(entry, str(Path(options.python).absolute()))), FOLDER)
            print(entry.name, flush=True)


def _trained(entry: Entry, python: str) -> Record:
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "spec.json").write_text(json.dumps(entry.spec), encoding="utf-8")
        (folder / "run").mkdir()
        command = [python, "-m", "bench.llm.worker", str(folder / "spec.json"), str(folder / "run")]
        one_thread = {**os.environ, "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
        child = subprocess.run(command, cwd=ROOT, env=one_thread, capture_output=True, text=True, check=True)
        truth = json.loads((folder / "run" / "truth.json").read_text(encoding="utf-8"))
        files = {f"{entry.spec['trainer']}_config.yaml": yaml.safe_dump(_config(entry))}
        if entry.layout == "state":
            files["trainer_state.json"] = (folder / "run" / "trainer_state.json").read_text(encoding="utf-8")
        else:
            rows = [line for line in child.stdout.splitlines() if line.startswith("{")]
            files["train.log"] = "\n".join(rows) + "\n"
    return Record(
        name=entry.name,
        key=hashlib.sha256(json.dumps(entry.spec, sort_keys=True).encode()).hexdigest()[:12],
        recipe=entry.spec,
        edits=(),
        versions={},
        seconds=resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before,
        truth=truth,
        status={},
        log="",
        files={path: base64.b64encode(text.encode()).decode() for path, text in files.items()},
    )


def _config(entry: Entry) -> dict[str, object]:
    """As TRL's own command line takes it."""
    rewards = [f"rewards.{name}" for name in entry.spec["rewards"]]
    return {"model_name_or_path": "toy/qwen2", "reward_funcs": rewards, "seed": entry.spec["seed"]} | dict(
        entry.spec["config"]
    )


if __name__ == "__main__":
    main()

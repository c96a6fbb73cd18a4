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
from collections.abc import Sequence
from pathlib import Path

import yaml

from bench.faults.shards import Record, append, encode, records
from bench.llm.plan import Entry, plan

FOLDER = Path(__file__).with_name("corpus")
ROOT = Path(__file__).parents[2]
AT_ONCE = 6
"""Runs that one process trains."""


def main() -> None:
    """Go on where it was."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", default=".venv-llm/bin/python", help="an interpreter with trl and transformers")
    parser.add_argument("--only", default="", help="a part of the names")
    options = parser.parse_args()
    known = {record.name for record in records(FOLDER)}
    missing = [entry for entry in plan() if entry.name not in known and options.only in entry.name]
    for first in range(0, len(missing), AT_ONCE):
        some = missing[first : first + AT_ONCE]
        for record in _trained(some, str(Path(options.python).absolute())):
            append(encode(record), FOLDER)
            print(record.name, flush=True)


def _trained(entries: Sequence[Entry], python: str) -> list[Record]:
    """Train some in one process: to import the libraries takes as long as to train one."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    with tempfile.TemporaryDirectory() as name:
        folders = [Path(name) / entry.name for entry in entries]
        for folder, entry in zip(folders, entries, strict=True):
            folder.mkdir()
            (folder / "spec.json").write_text(json.dumps(entry.spec), encoding="utf-8")
        one_thread = {**os.environ, "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
        command = [python, "-m", "bench.llm.worker", *map(str, folders)]
        subprocess.run(command, cwd=ROOT, env=one_thread, capture_output=True, check=True)
        seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        return [_record(*pair, seconds / len(entries)) for pair in zip(entries, folders, strict=True)]


def _record(entry: Entry, folder: Path, seconds: float) -> Record:
    files = {f"{entry.spec['trainer']}_config.yaml": yaml.safe_dump(_config(entry))}
    if entry.layout == "state":
        files["trainer_state.json"] = (folder / "trainer_state.json").read_text(encoding="utf-8")
    else:
        rows = [line for line in (folder / "stdout").read_text(encoding="utf-8").splitlines() if line.startswith("{")]
        files["train.log"] = "\n".join(rows) + "\n"
    return Record(
        name=entry.name,
        key=hashlib.sha256(json.dumps(entry.spec, sort_keys=True).encode()).hexdigest()[:12],
        recipe=entry.spec,
        edits=(),
        versions={},
        seconds=seconds,
        truth=json.loads((folder / "truth.json").read_text(encoding="utf-8")) | _sampler(folder),
        status={},
        log="",
        files={path: base64.b64encode(text.encode()).decode() for path, text in files.items()},
    )


def _sampler(folder: Path) -> dict[str, object]:
    """What verl would have logged of a sampler of its own."""
    path = folder / "sampler.jsonl"
    return {"sampler": [*map(json.loads, path.read_text("utf-8").splitlines())]} if path.exists() else {}


def _config(entry: Entry) -> dict[str, object]:
    """As TRL's own command line takes it."""
    rewards = [f"rewards.{name}" for name in entry.spec["rewards"]]
    return {"model_name_or_path": "toy/qwen2", "reward_funcs": rewards, "seed": entry.spec["seed"]} | dict(
        entry.spec["config"]
    )


if __name__ == "__main__":
    main()

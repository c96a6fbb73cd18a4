"""The transaction log of Weights & Biases, `run-<id>.wandb`, read without wandb or protobuf.

The file is a LevelDB-style log (leveldb_log.py) of protobuf messages of type Record. It may end anywhere:
runs are killed, or still write. The field numbers are those of wandb_internal.proto, checked against the
descriptors of wandb 0.31.0 and logs written by 0.15, 0.19 and 0.31.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.readers.formats.wandb.columns import Column
from rlclinic.readers.formats.wandb.leveldb_log import read_log
from rlclinic.readers.formats.wandb.protobuf_lanes import MIN_LANES, PAD, buffer
from rlclinic.readers.formats.wandb.reader import LogReader
from rlclinic.readers.place import Entry

__all__ = ["Column", "WandbLog", "is_wandb_log", "read_wandb_file", "read_wandb_log"]

MAGIC = b":W&B\xe1\xbe\x00"  # name, 0xBEE1, version 0
MAX_BYTES = 1 << 30  # of a file: about half a million rows of 30 metrics as wandb 0.31 writes them
MAX_RECORD = 16 << 20  # bytes; far above any row of metrics, and keeps one record from filling the memory
CHUNK = 8 << 20  # bytes of records handled at once


@dataclass(frozen=True, slots=True)
class WandbLog:
    """Everything a log says about its run."""

    history: Mapping[str, Column]
    """Numeric metrics by name. Nested keys are joined with dots, as W&B's own interface shows them; `_step`,
    `_timestamp` and `_runtime` are metrics like the others. Booleans count as 0 and 1; text and media do not
    count."""
    rows: int
    """History records; a column's row is an index into them."""
    config: Mapping[str, object]
    """As last set, nested; without W&B's own `_wandb` block."""
    summary: Mapping[str, object]
    """As last set, nested; without W&B's own `_wandb` block."""
    run: Mapping[str, object]
    """run_id, entity, project, display_name, run_group, job_type, notes, sweep_id, host, tags, start_time
    (unix seconds), git_remote, git_commit, program, args, python, gpu: those that the log has."""
    exit_code: int | None
    """None: no exit record, so the run was killed or is still running."""
    runtime: float | None
    """Seconds, from the exit record or else from the last row of `_runtime`."""
    finished: bool
    """Whether the writer closed the run, with whatever exit code."""
    output: str
    """Console text, the last 2 MiB."""
    stats: Mapping[str, Column]
    """System statistics by name, `_timestamp` among them; a row is an index into the stats records."""
    wandb_version: str | None
    has_tensorboard: bool
    """Whether metrics were copied from TensorBoard files."""
    problems: tuple[str, ...]
    """What could not be read, in plain words."""


def is_wandb_log(head: bytes) -> bool:
    """Whether a file that begins with these bytes is a W&B log."""
    return head.startswith(MAGIC)


def read_wandb_file(entry: Entry, *, max_bytes: int = MAX_BYTES) -> WandbLog:
    """Read a log from disk, at most its first `max_bytes`; raises OSError only."""
    with entry.open() as file:
        data = file.read(max_bytes)
        cut = bool(file.read(1))
    log = read_wandb_log(data)
    if not cut:
        return log
    return replace(log, problems=(f"only the first {max_bytes} bytes of the file were read", *log.problems))


def read_wandb_log(data: bytes) -> WandbLog:
    """Read a log from memory. Never raises: what cannot be read is left out and named in `problems`."""
    return _read(data, min_lanes=MIN_LANES)


def _read(data: bytes, *, min_lanes: int) -> WandbLog:
    problems = [] if is_wandb_log(data) else ["the file does not begin like a W&B log"]
    records = read_log(data, offset=len(MAGIC)).up_to(MAX_RECORD)
    if not records.starts.size:
        problems.append("no complete record in the log: W&B had not written any yet when the run ended")
    reader = LogReader(min_lanes=min_lanes)
    for raw, starts, ends in records.chunks(CHUNK, PAD):
        reader.add(buffer(raw), starts, ends)
    history, config, summary = reader.history.finish(), reader.config.tree(), reader.summary.tree()
    output, facts = reader.console.text(), reader.facts
    return WandbLog(
        history=history,
        rows=reader.history.rows,
        config=config,
        summary=summary,
        run=facts.run,
        exit_code=facts.exit_code,
        runtime=_last_runtime(history) if facts.runtime is None else facts.runtime,
        finished=facts.finished,
        output=output,
        stats=reader.stats_columns(),
        wandb_version=facts.wandb_version,
        has_tensorboard=reader.has_tensorboard,
        problems=(*problems, *records.problems, *reader.problems()),
    )


def _last_runtime(history: Mapping[str, Column]) -> float | None:
    column = history.get("_runtime")
    return float(column.values[-1]) if column else None

"""SB3's Monitor files and evaluations.npz: single episodes and evaluations."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence

import numpy as np

from rlclinic.model.numbers import bounded_array, moment
from rlclinic.model.run import Episodes
from rlclinic.model.series import FloatArray
from rlclinic.readers.draft import Draft
from rlclinic.readers.formats.archive import read_arrays
from rlclinic.readers.formats.errors import FormatError
from rlclinic.readers.formats.safe_json import load_json_data
from rlclinic.readers.formats.tables.csv_table import read_csv
from rlclinic.readers.place import Entry

MAX_NPZ_BYTES = 256 << 20

# Monitor counts frames of the emulator; the agent acts on every fourth.
ATARI_FRAME_SKIP = 4

# Where a writer that was opened twice left out the end of the line of names.
_GLUED = re.compile(rb"\A(#\{[^\n]{0,1000}\nr,l,t)(?=[-\d])")


def is_monitor(head: bytes) -> bool:
    """Whether a CSV starts as Monitor's do: a JSON comment, then r,l,t."""
    lines = head.split(b"\n", 2)
    return len(lines) > 1 and lines[0].startswith(b"#{") and lines[1].startswith(b"r,l,t")


def read_monitors(draft: Draft, entries: Sequence[Entry]) -> None:
    """Merge the monitor files of all environments into one list of episodes."""
    parts: list[tuple[FloatArray, FloatArray, FloatArray]] = []
    starts: list[float] = []
    for entry in entries:
        table = read_csv(_GLUED.sub(rb"\1\n", entry.read()))
        draft.used(entry, "monitor")
        draft.problems(entry.relative, table.problems)
        start = _header(draft, table.comments, entry)
        if not {"r", "l", "t"} <= set(table.numbers):
            continue
        starts.append(start)
        returns, lengths, times = (bounded_array(table.numbers[name]) for name in ("r", "l", "t"))
        parts.append((returns, lengths, times + start))
    if not parts or not sum(part[0].size for part in parts):
        if entries:
            draft.note("the monitor files hold no finished episode")
        return
    returns, lengths, times = (np.concatenate([part[column] for part in parts]) for column in range(3))
    sound = np.isfinite(returns) & np.isfinite(lengths) & np.isfinite(times)
    order = np.argsort(times[sound], kind="stable")
    returns, lengths, times = returns[sound][order], lengths[sound][order], times[sound][order]
    ends = np.cumsum(lengths) / _frames_per_step(draft)
    started = min(starts)
    draft.episodes = Episodes(returns, lengths, ends, times - started)
    if started > 0 and draft.started_at is None:
        draft.started_at = started
    if started > 0 and times.size:
        draft.ended_at = max(draft.ended_at or 0.0, float(times[-1]))


def read_evaluations(draft: Draft, entry: Entry) -> None:
    """EvalCallback's npz; never with pickle."""
    try:
        data = io.BytesIO(entry.read(MAX_NPZ_BYTES))
        arrays = read_arrays(data, ("timesteps", "results", "ep_lengths"), MAX_NPZ_BYTES)
    except (OSError, FormatError) as error:
        draft.note(f"{entry.relative}: not readable as an npz without pickle ({error})")
        return
    draft.used(entry, "evaluations")
    steps, results = arrays.get("timesteps"), arrays.get("results")
    if steps is None or results is None or not steps.size or not results.size or len(steps) != len(results):
        draft.note(f"{entry.relative}: no evaluations in it")
        return
    at, returns = steps[:, 0], bounded_array(results)
    # An infinite return makes its mean infinite and its spread unknown.
    with np.errstate(invalid="ignore"):
        played = f"{returns.shape[1]} episodes"
        draft.metric("eval/mean_reward", at, returns.mean(axis=1), entry.relative, axis="env_steps", window=played)
        draft.metric("eval/std_reward", at, returns.std(axis=1), entry.relative, axis="env_steps")
        lengths = arrays.get("ep_lengths")
        if lengths is not None and lengths.size and len(lengths) == len(steps):
            mean = bounded_array(lengths).mean(axis=1)
            draft.metric("eval/mean_ep_length", at, mean, entry.relative, axis="env_steps")


def _header(draft: Draft, comments: Sequence[str], entry: Entry) -> float:
    try:
        header = load_json_data(comments[0].lstrip("#")) if comments else {}
    except FormatError:
        draft.note(f"{entry.relative}:1: the header is damaged")
        return 0.0
    if not isinstance(header, dict):
        return 0.0
    if not draft.environment and isinstance(header.get("env_id"), str) and header["env_id"] != "None":
        draft.environment = header["env_id"]
    start = header.get("t_start")
    if start is not None and moment(start) is None:
        draft.note(f"{entry.relative}:1: t_start is no time in seconds, so the date of the run is not known")
    return moment(start) or 0.0


def _frames_per_step(draft: Draft) -> int:
    name = draft.environment
    if "NoFrameskip" in name or name.startswith("ALE/"):
        draft.note("monitor lengths count emulator frames: divided by 4 to get env steps")
        return ATARI_FRAME_SKIP
    return 1

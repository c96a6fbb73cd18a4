"""The file that a recorder writes: arrays of an npz, without any pickle. `readers/transitions/observed.py` reads it."""

from __future__ import annotations

import io
import json
import os
import secrets
from pathlib import Path
from typing import Any

import numpy as np

from rlclinic.model.transitions import Space


def write_observed(path: Path, recorder: Any) -> None:
    """Write the sample, the episodes and the totals, whole or not at all."""
    (observation, see), (action, do) = recorder.spaces
    rows = [row for stretch in recorder.sample.stretches for row in stretch]
    rows += [row for track in recorder.tracks for row in track.rows()]
    episodes = [row for track in recorder.tracks for row in (*track.first_episodes, *track.last_episodes)]
    names = list(dict.fromkeys(name for row in rows[:2000] for name in row[6] or ()))[:24]
    arrays: dict[str, Any] = {
        "observations": _matrix([see(row[0]) for row in rows], observation.size),
        "actions": _matrix([do(row[1]) for row in rows], action.size),
        "rewards": np.array([row[2] for row in rows], dtype=np.float64),
        "next_observations": _matrix([see(row[3]) for row in rows], observation.size),
        "flags": np.array([[row[4], row[5]] for row in rows], dtype=np.uint8).reshape(-1, 2),
        "places": np.array([row[7:11] for row in rows], dtype=np.int64).reshape(-1, 4),
        "components": np.array([[(row[6] or {}).get(name, np.nan) for name in names] for row in rows]).reshape(
            len(rows), len(names)
        ),
        "episodes": np.array([[*row[:3], row[5], row[6]] for row in episodes], dtype=np.float64).reshape(-1, 5),
        "first": _matrix([see(row[3]) for row in episodes], observation.size),
        "last": _matrix([see(row[4]) for row in episodes], observation.size),
    }
    told = {
        "schema": "rlclinic.observed/1",
        "environment": recorder.environment,
        "observation_space": _space(observation),
        "action_space": _space(action),
        "components": names,
        "steps": sum(track.steps for track in recorder.tracks),
        "episodes": sum(track.count for track in recorder.tracks),
        "not_finite": sum(track.not_finite for track in recorder.tracks),
    }
    arrays["told"] = np.frombuffer(json.dumps(told).encode(), dtype=np.uint8)
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    beside = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}.part")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        beside.write_bytes(buffer.getvalue())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def _matrix(rows: list[Any], width: int) -> Any:
    return np.array(rows, dtype=np.float32).reshape(len(rows), width)


def _space(space: Space) -> dict[str, Any]:
    def bounds(values: Any) -> list[float | None]:
        return [float(value) if np.isfinite(value) else None for value in values]

    return {"kind": space.kind, "low": bounds(space.low), "high": bounds(space.high), "names": list(space.names)}

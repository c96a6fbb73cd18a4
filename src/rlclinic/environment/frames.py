"""Pictures of an episode: a policy is played again from the same seed in an environment that renders."""

from __future__ import annotations

import base64
import struct
import zlib
from contextlib import suppress
from typing import Any

import numpy as np

from rlclinic.environment.make import Make
from rlclinic.environment.play import Act, StepFailed, reset, step

COUNT = 6
"""Pictures of an episode, evenly over its steps."""
WIDTH = 160
"""Pixels of a picture, about: every second or third pixel of a larger one."""


def frames_of(make: Make, act: Act, seed: int, length: int) -> tuple[str, ...]:
    """Pictures as PNG in base64; none where the environment does not render arrays, or goes another way."""
    return tuple(picture(pixels) for pixels in _shots(make, act, seed, length))


def strip_of(make: Make, act: Act, seed: int, length: int) -> tuple[str, ...]:
    """The same side by side as one picture."""
    shots = _shots(make, act, seed, length)
    return (picture(np.concatenate(shots, axis=1)),) if shots else ()


def _shots(make: Make, act: Act, seed: int, length: int) -> list[Any]:
    shown = set(np.unique(np.linspace(0, length - 1, COUNT).astype(int)).tolist())
    found: list[Any] = []
    try:
        environment = make()
    except Exception:
        # It takes no render_mode, or has no window library.
        return []
    try:
        observation = reset(environment, seed)
        for at in range(length):
            if at in shown:
                found.append(_small(np.asarray(environment.render())))
            observation, _, terminated, truncated, _ = step(environment, act(observation))
            if terminated or truncated:
                break
    except (StepFailed, TypeError, ValueError, AttributeError, NotImplementedError):
        return []
    finally:
        with suppress(Exception):
            environment.close()
    return found


def _small(pixels: Any) -> Any:
    if pixels.ndim != 3 or pixels.shape[2] != 3 or pixels.dtype != np.uint8:
        raise ValueError("no picture")
    every = max(1, round(pixels.shape[1] / WIDTH))
    return np.ascontiguousarray(pixels[::every, ::every])


def picture(pixels: Any) -> str:
    """An array of height, width and three colours as a PNG in base64."""
    height, width = pixels.shape[:2]
    # Each row begins with the filter that it has: none.
    rows = np.concatenate([np.zeros((height, 1), np.uint8), pixels.reshape(height, -1)], axis=1)
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(rows.tobytes(), 9)), (b"IEND", b""))
    data = b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in parts
    )
    return base64.b64encode(data).decode("ascii")

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
    shown = set(np.unique(np.linspace(0, length - 1, COUNT).astype(int)).tolist())
    found: list[str] = []
    try:
        environment = make()
    except Exception:
        # It takes no render_mode, or has no window library.
        return ()
    try:
        observation = reset(environment, seed)
        for at in range(length):
            if at in shown:
                found.append(picture(np.asarray(environment.render())))
            observation, _, terminated, truncated, _ = step(environment, act(observation))
            if terminated or truncated:
                break
    except (StepFailed, TypeError, ValueError, AttributeError, NotImplementedError):
        return ()
    finally:
        with suppress(Exception):
            environment.close()
    return tuple(found)


def picture(pixels: Any) -> str:
    """An array of height, width and three colours as a small PNG in base64."""
    if pixels.ndim != 3 or pixels.shape[2] != 3 or pixels.dtype != np.uint8:
        raise ValueError("no picture")
    every = max(1, round(pixels.shape[1] / WIDTH))
    small = np.ascontiguousarray(pixels[::every, ::every])
    height, width = small.shape[:2]
    # Each row begins with the filter that it has: none.
    rows = np.concatenate([np.zeros((height, 1), np.uint8), small.reshape(height, -1)], axis=1)
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(rows.tobytes(), 9)), (b"IEND", b""))
    data = b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in parts
    )
    return base64.b64encode(data).decode("ascii")

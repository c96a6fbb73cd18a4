"""A small picture of indexed colours with lines and plain text, written as PNG. Needs nothing beside numpy."""

from __future__ import annotations

import struct
import zlib
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

# Red, green and blue by index: background, ink, grid, then one colour for each line (told apart by the colour-blind).
PALETTE = (
    (255, 255, 255), (40, 40, 40), (222, 222, 222),
    (0, 114, 178), (213, 94, 0), (0, 158, 115), (204, 121, 167), (230, 159, 0), (86, 180, 233), (110, 110, 110),
)  # fmt: skip
PAPER, INK, GRID, FIRST_LINE = 0, 1, 2, 3
LINES = len(PALETTE) - FIRST_LINE

# Characters 32 to 126, five columns each, the lowest bit on top.
_FONT = bytes.fromhex(
    "000000000000005f00000007000700147f147f14242a7f2a12231308646236495620500008070300001c2241000041221c00"
    "2a1c7f1c2a08083e080800807030000808080808000060600020100804023e5149453e00427f400072494949462141494d33"
    "1814127f1027454545393c4a49493141211109073649494936464949291e0000140000004034000000081422411414141414"
    "004122140802015909063e415d594e7c1211127c7f494949363e414141227f4141413e7f494949417f090909013e41415173"
    "7f0808087f00417f41002040413f017f081422417f404040407f021c027f7f0408107f3e4141413e7f090909063e4151215e"
    "7f09192946264949493203017f01033f4040403f1f2040201f3f4038403f631408146303047804036159494d43007f414141"
    "0204081020004141417f04020102044040404040000307080020545478407f284444383844444428384444287f3854545418"
    "00087e090218a4a49c787f0804047800447d40002040403d007f1028440000417f40007c047804787c080404783844444438"
    "fc1824241818242418fc7c08040408485454542404043f44243c4040207c1c2040201c3c4030403c44281028444c9090907c"
    "4464544c440008364100000077000000413608000201020402"
)
GLYPH_WIDTH, GLYPH_HEIGHT = 6, 8


class Canvas:
    """Pixels that are drawn on."""

    def __init__(self, width: int, height: int) -> None:
        self.pixels: NDArray[np.uint8] = np.full((height, width), PAPER, dtype=np.uint8)

    def line(self, x: NDArray[np.float64], y: NDArray[np.float64], colour: int, thickness: int = 1) -> None:
        """A line through points; one alone is a dot. Points that are not finite interrupt it."""
        good = np.isfinite(x) & np.isfinite(y)
        places = [(float(a), float(b)) if ok else None for a, b, ok in zip(x, y, good, strict=True)]
        for here, there in pairwise([*places, None]):
            if here is not None:
                self._stroke(here, there or here, colour, thickness)

    def text(self, x: int, y: int, words: str, *, colour: int = INK, right: bool = False) -> None:
        """Plain text, its upper left corner (or with `right` its upper right one) at a point."""
        left = x - GLYPH_WIDTH * len(words) if right else x
        for place, char in enumerate(words):
            index = ord(char) - 32 if 32 <= ord(char) <= 126 else ord("?") - 32
            columns = _FONT[5 * index : 5 * index + 5]
            for offset, bits in enumerate(columns):
                for row in range(GLYPH_HEIGHT):
                    if bits >> row & 1:
                        self._dot(left + place * GLYPH_WIDTH + offset, y + row, colour)

    def png(self) -> bytes:
        """The picture as a file."""
        height, width = self.pixels.shape
        raw = np.hstack([np.zeros((height, 1), np.uint8), self.pixels]).tobytes()
        palette = bytes(value for colour in PALETTE for value in colour)
        header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
        parts = ((b"IHDR", header), (b"PLTE", palette), (b"IDAT", zlib.compress(raw, 9)), (b"IEND", b""))
        return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in parts)

    def _stroke(self, a: tuple[float, float], b: tuple[float, float], colour: int, thickness: int) -> None:
        count = int(max(abs(b[0] - a[0]), abs(b[1] - a[1]))) + 1
        for x, y in zip(np.linspace(a[0], b[0], count).round(), np.linspace(a[1], b[1], count).round(), strict=True):
            for dx in range(thickness):
                for dy in range(thickness):
                    self._dot(int(x) + dx, int(y) + dy, colour)

    def _dot(self, x: int, y: int, colour: int) -> None:
        height, width = self.pixels.shape
        if 0 <= x < width and 0 <= y < height:
            self.pixels[y, x] = colour


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

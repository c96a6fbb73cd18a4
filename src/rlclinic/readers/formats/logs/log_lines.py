"""Console output as plain lines: decoded, without colours, progress bars in their last state, no Ray prefixes."""

from __future__ import annotations

import codecs
import re

# Characters of a line that are kept. The longest metric lines seen have some 10 000.
MAX_LINE = 100_000

# Byte order marks; UTF-32 before UTF-16, whose mark it begins with.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Share of NUL bytes at even or odd places from which a text without a mark is UTF-16.
_UTF16_NULS = 0.4
_SAMPLE = 4096

_ANSI = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # colours, cursor movement
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"  # titles, links
    r"|\x1b[@-Z\\^_]"
    r"|\x1b[()][0-9A-B]"
)
_RAY_PREFIX = re.compile(
    r"(?:\x1b\[[0-9;]*m)*"
    r"\((?:(?:[^()\n]|\([^()\n]{0,80}\)){0,160}?\bpid=\d+(?:, ip=[^)\n]{1,64})?"
    r"|raylet(?:, ip=[^)\n]{1,64})?|autoscaler [^)\n]{1,32})\)"
    r"(?:\x1b\[[0-9;]*m)* ?"
)
# How a mail or an issue quotes a line.
_QUOTED = re.compile(r"\A(?:> ){1,8}")
# What a progress bar may overwrite but a reader must not lose: metrics and alarms.
_KEEP = re.compile(r"\{['\"]|\bstep:\d|Error\b|Exception\b|Traceback|Warning:|\bERROR\b|\bWARNING\b")


def decode(data: bytes) -> str:
    """The text of a file in UTF-8, UTF-16 or UTF-32, else in Latin-1; NUL characters are left out."""
    return _decoded(data).replace("\0", "")


def strip_ansi(text: str) -> str:
    """The text without terminal escape sequences."""
    return _ANSI.sub("", text) if "\x1b" in text else text


def strip_ray_prefix(line: str) -> str:
    """The line without `(TaskRunner pid=1, ip=10.0.0.1) `, coloured or not; its own indentation stays."""
    if "(" not in line[:64]:
        return line
    found = _RAY_PREFIX.match(line)
    return line if found is None else line[found.end() :]


def clean_lines(data: bytes) -> list[str]:
    """The lines of a console log as a person saw them at the end; line i of the file is item i - 1."""
    lines = strip_ansi(decode(data)).split("\n")
    if lines and not lines[-1]:
        lines.pop()
    return [_clean(line) for line in lines]


def _clean(line: str) -> str:
    line = _last_state(strip_ray_prefix(_QUOTED.sub("", line.rstrip("\r")).replace("\xa0", " ")))
    if len(line) <= MAX_LINE:
        return line
    return f"{line[:MAX_LINE]} [cut: {len(line) - MAX_LINE} more characters]"


def _last_state(line: str) -> str:
    """What a line shows after its carriage returns."""
    if "\r" not in line:
        return line
    states = [state for state in line.split("\r") if state.strip()]
    if not states:
        return ""
    kept = [state.rstrip() for state in states[:-1] if _KEEP.search(state)]
    return " ".join([*dict.fromkeys(kept), states[-1]])


def _decoded(data: bytes) -> str:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, "replace")
    unmarked = _unmarked_utf16(data)
    if unmarked is not None:
        return data.decode(unmarked, "replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return _damaged(data)


def _unmarked_utf16(data: bytes) -> str | None:
    head = data[:_SAMPLE]
    half = len(head) // 2
    if not half:
        return None
    even, odd = head[::2].count(0) / half, head[1::2].count(0) / half
    if odd >= _UTF16_NULS and even < odd / 4:
        return "utf-16-le"
    return "utf-16-be" if even >= _UTF16_NULS and odd < even / 4 else None


def _damaged(data: bytes) -> str:
    """A few torn characters are damage to UTF-8; many bad ones without good ones are Latin-1."""
    text = data.decode("utf-8", "replace")
    bad = text.count("\ufffd")
    torn_ends = (data[:3] + data[-3:]).decode("utf-8", "replace").count("\ufffd")
    good = sum(1 for _ in re.finditer(r"[^\x00-\x7f\ufffd]", text))
    return text if good >= bad or bad <= torn_ends else data.decode("latin-1")

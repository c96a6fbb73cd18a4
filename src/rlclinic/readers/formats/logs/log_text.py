"""What a console log says in words: its clean lines, its errors and warnings, the exception that ended it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.readers.formats.logs.log_lines import clean_lines, decode, strip_ansi, strip_ray_prefix
from rlclinic.readers.formats.logs.tracebacks import Traceback, final_exception, find_tracebacks, is_signal, plain
from rlclinic.readers.redaction.literal_scan import LiteralScan
from rlclinic.readers.redaction.redact import redact

__all__ = [
    "LogExcerpt",
    "clean_lines",
    "decode",
    "excerpts",
    "final_exception",
    "strip_ansi",
    "strip_ray_prefix",
]

# Lines of a traceback that are shown: its header and its innermost frames.
MAX_TRACEBACK_LINES = 40

# Characters of one shown line. Hydra repeats every override of a job in one error line.
MAX_LINE = 1_000

# One of these must occur in an alarm; most lines have none and are passed over.
_CANDIDATES = LiteralScan(
    ("rror", "RROR", "xception", "arning", "WARN", "CRITICAL", "FATAL", "Fatal", "Killed", "fault", "Aborted",
     "Interrupt", "out of memory", "Out of memory", "OOM", "oom", "bad_alloc", "EXHAUSTED", "_STATUS_",
     "allocate memory", "No space left", "slurmstepd", "terminate called", "Bus err", "Illegal inst", "open file ",
     "No module named ")
)  # fmt: skip
_GLOG = re.compile(r"\[?(?P<level>[IWEF])\d{3,4} \d\d:\d\d:\d\d[^\]]{0,200}\](?P<text>.*)")
_CALM = re.compile(r"\A.{0,60}?(?<![\w\-])(?:INFO|DEBUG)(?![\w\-])")
_LEVEL_ERROR = re.compile(r"(?<![\w/.\-=])(?:ERROR|CRITICAL|FATAL)(?![\w/.=\-])(?!:?\s*[-+]?[\d.]+\s*(?:\Z|[|,]))")
_LEVEL_WARNING = re.compile(r"(?<![\w/.\-=])(?:WARNING|WARN)(?![\w/.=\-])(?!:?\s*[-+]?[\d.]+\s*(?:\Z|[|,]))")
_MEMORY = re.compile(
    r"CUDA out of memory|CUDA error: |CUDNN_STATUS_|CUBLAS_STATUS_|NCCL error|OutOfMemoryError\b|std::bad_alloc"
    r"|RESOURCE_EXHAUSTED|[Cc]an(?:no|')t allocate memory|Out of memory: Kill|oom[_-]kill|No space left on device"
    r"|OOM[ -]?[Kk]iller"
)
# A class name ending in Error and something said about it; `TDError: 0.31` is a metric, `KeyError: 3` is not.
_EXCEPTION = re.compile(
    r"(?<![\w/\"'`])(?:[a-zA-Z_]\w*\.)*[A-Z]\w*[a-z](?:Error|Exception)(?:\(\w+\))?(?::\s|\Z)(?!-?\d+\.\d)"
)
_WARNING = re.compile(r"(?<![\w/\"'`])(?:[A-Z][a-z]+)*Warning:\s(?!-?\d)")
_PLAIN_ERROR = re.compile(
    r"(?:[\w./\-]+: )?(?:[Ff]atal )?[Ee]rror: [^\W\d]"
    r"|(?:An? )?(?:\w+ )?[Ee]rror (?:executing|occurred|while|loading|opening|reading|writing|when)\b"
)
_GLOG_STARTS = frozenset("[WEF")
_GLOG_KINDS: dict[str, Literal["error", "warning"] | None] = {"I": None, "W": "warning", "E": "error", "F": "error"}
_LETTER = re.compile(r"[A-Za-z]")
# Code that mentions an exception, e.g. the source lines of warnings and help texts.
_CODE = re.compile(r"\s*(?:raise|except|warnings\.warn|logger|logging|print|assert|#|--)\b|\s+--")
# What a text must hold for a pattern to fit: to look for a word takes a hundredth of a search. Printed samples speak of
# errors too.
_NEEDED = {
    _MEMORY: ("CUDA", "CUDNN", "CUBLAS", "NCCL", "OutOf", "Out of", "bad_alloc", "EXHAUSTED", "allocate", "oom", "OOM",
              "No space"),
    _CALM: ("INFO", "DEBUG"),
    _LEVEL_WARNING: ("WARN",),
    _WARNING: ("Warning:",),
    _LEVEL_ERROR: ("ERROR", "CRITICAL", "FATAL"),
    _EXCEPTION: ("Error", "Exception"),
}  # fmt: skip
_VARYING = re.compile(r"0x[0-9a-f]+|[0-9a-f]{16,}|\d+(?:[.:,\-]\d+)*")


@dataclass(frozen=True, slots=True)
class LogExcerpt:
    """A passage of a log worth showing; `line` is the 1-based line where it begins."""

    kind: Literal["error", "warning", "traceback"]
    line: int
    text: str


@dataclass(slots=True)
class _Group:
    """Passages that differ only in numbers: the last one stands for all."""

    excerpt: LogExcerpt
    rank: int
    count: int = 1


def excerpts(lines: Sequence[str], *, limit: int = 40) -> tuple[LogExcerpt, ...]:
    """Tracebacks, errors and warnings, the one that ended the run first, then by weight and line."""
    blocks = find_tracebacks(lines)
    groups: dict[tuple[str, str], _Group] = {}
    for block in blocks:
        _add(groups, "traceback", block.first, block.text, _traceback_text(lines, block), rank=1)
    inside = {i for block in blocks for i in range(block.first, block.last + 1)}
    for index, line in enumerate(lines):
        if index in inside or not _is_candidate(line):
            continue
        text = plain(line)[: 4 * MAX_LINE]
        kind = _judge(text)
        if kind is not None:
            rank = 3 if kind == "warning" else 1 if is_signal(text) else 2
            _add(groups, kind, index, text, text.strip(), rank=rank)
    return _ordered(list(groups.values()), _end_line(lines, blocks), limit)


def _is_candidate(line: str) -> bool:
    return (line[:1] in _GLOG_STARTS and _GLOG.match(line) is not None) or _CANDIDATES.search(line) is not None


def _judge(text: str) -> Literal["error", "warning"] | None:
    if _CODE.match(text):
        return None
    if is_signal(text) or _holds(text, _MEMORY):
        return "error"
    glog = _GLOG.match(text)
    if glog is not None:
        return _GLOG_KINDS[glog["level"]] if _LETTER.search(glog["text"]) else None
    if _holds(text, _CALM):
        return None
    if _holds(text, _LEVEL_WARNING) or _holds(text, _WARNING):
        return "warning"
    if _holds(text, _LEVEL_ERROR) or _holds(text, _EXCEPTION) or _PLAIN_ERROR.match(text):
        return "error"
    return None


def _holds(text: str, pattern: re.Pattern[str]) -> bool:
    # A plain loop: it is asked of every line that may be an alarm.
    for word in _NEEDED[pattern]:
        if word in text:
            return pattern.search(text) is not None
    return False


def _add(
    groups: dict[tuple[str, str], _Group],
    kind: Literal["error", "warning", "traceback"],
    index: int,
    like: str,
    text: str,
    *,
    rank: int,
) -> None:
    key = (kind, _VARYING.sub("#", like)[:300])
    known = groups.get(key)
    if known is None:
        groups[key] = _Group(LogExcerpt(kind, index + 1, text), rank)
        return
    known.count += 1
    if kind == "traceback":
        known.excerpt = LogExcerpt(kind, index + 1, text)


def _traceback_text(lines: Sequence[str], block: Traceback) -> str:
    shown = [plain(line)[: 4 * MAX_LINE] for line in lines[block.first : block.last + 1]]
    if len(shown) > MAX_TRACEBACK_LINES:
        left_out = len(shown) - MAX_TRACEBACK_LINES
        shown = [shown[0], f"  [{left_out} lines left out]", *shown[1 - MAX_TRACEBACK_LINES :]]
    return "\n".join(shown)


def _end_line(lines: Sequence[str], blocks: Sequence[Traceback]) -> int | None:
    """The 1-based line where the passage that ended the run begins."""
    final = final_exception(lines)
    if final is None:
        return None
    at = final[1] - 1
    return next((block.first + 1 for block in blocks if block.first <= at <= block.last), final[1])


def _ordered(groups: list[_Group], end: int | None, limit: int) -> tuple[LogExcerpt, ...]:
    groups.sort(key=lambda group: (group.excerpt.line != end, group.rank, group.excerpt.line))
    return tuple(_finished(group) for group in groups[: max(0, limit)])


def _finished(group: _Group) -> LogExcerpt:
    # Cut afterwards: half a secret would not be known as one.
    text = "\n".join(line[:MAX_LINE] for line in redact(group.excerpt.text).split("\n"))
    if group.count > 1:
        text = f"{text} (seen {group.count} times)"
    return LogExcerpt(group.excerpt.kind, group.excerpt.line, text)

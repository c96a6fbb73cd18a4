"""Finds Python tracebacks in console lines, plain, chained, of Ray, of torchrun and of IPython."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.readers.formats.logs.log_lines import strip_ansi, strip_ray_prefix
from rlclinic.readers.redaction.redact import redacted_head

# Lines after which a traceback is taken to be over even if no exception has come.
_MAX_BLOCK = 2_000

# Characters of an exception line that are kept.
_MAX_TEXT = 2_000

# Lines between a wrapper's exception and the one it wraps: the tracebacks of a whole node lie between them.
_WRAPPER_REACH = 600

# Lines of other processes that may stand between the frames of a traceback.
_MAX_FOREIGN = 5

# Lines at the end of a log in which an exception without frames is the last word of its process.
_MAX_LAST = 10

# Indented lines behind an exception that are taken for the rest of its message.
_MAX_MESSAGE = 20

# A run that printed this many lines after an exception survived it; and so did one that went on for this many lines
# after the same exception, this many times.
_MAX_AFTERMATH = 200
_WENT_ON, _TIMES = 5, 3

_HEADER = "Traceback (most recent call last)"
_IPYTHON_HEADER = re.compile(r"(?P<name>[A-Za-z_][\w.]*)\s{2,}Traceback \(most recent call last\)\s*\Z")
_RANK = re.compile(r"\[(?:rank|default)?\d+\]:\s?")
# `ValueError: …`, `KeyboardInterrupt`, `socket.timeout: …`, `ray.exceptions.RayTaskError(OutOfMemoryError): …`
_EXCEPTION = re.compile(
    r"(?!(?:INFO|DEBUG|WARN|WARNING|ERROR)\b)(?![a-z_]\w*\s*\Z)"
    r"[A-Za-z_][\w.]*(?:\([\w.]+\))?(?:\s*\Z|:(?:\s|\Z))"
)
# The same by the name that exceptions have, where no frames stand before it.
_ERROR = re.compile(r"(?:[a-z_]\w{0,40}\.){0,6}[A-Z]\w{0,60}(?:Error|Exception)(?:\(\w{1,60}\))?: (?![-+.\d])\S")
_FRAME = re.compile(r"\s+File \"")
_CHAIN = re.compile(r"During handling of the above exception|The above exception was the direct cause")
_SIGNAL = re.compile(
    r"(?:Killed|Segmentation fault|Bus error|Aborted|Illegal instruction|KeyboardInterrupt)(?:\s+\(core dumped\))?\s*\Z"
    r"|.{1,300}: line \d+:\s+\d+ (?:Killed|Segmentation fault|Bus error|Aborted|Illegal instruction)\b"
    r"|slurmstepd: error: .*(?:CANCELLED|oom[_-]kill)"
    r"|Fatal Python error: "
    r"|.{0,80}\bOut of memory: Killed process "
    r"|terminate called after throwing an instance of"
    # What an interpreter or its parser of arguments says before it ends.
    r"|\S{0,200}python[\d.]*: (?:can't open file |No module named |Error while finding module )"
    r"|\S{1,200}\.py: error: "
)
_SIGNAL_WORDS = re.compile(
    r"Killed|fault|Bus error|Aborted|Illegal|KeyboardI|slurmstepd|Fatal Py|terminate called|python[\d.]*: |\.py: err"
)
_IGNORED = re.compile(r"Exception ignored in")
_AFTERMATH = re.compile(r"\s*\Z|wandb:|\[rank\d+\]:|\(raylet|[EW]\d{4} ")
# They report that another process failed: the exception before them says why.
_WRAPPERS = ("ChildFailedError", "CalledProcessError", "BrokenPipeError", "ConnectionResetError", "EOFError")


@dataclass(frozen=True, slots=True)
class Traceback:
    """Lines first..last (0-based, both included) and the line of the exception that ends them."""

    first: int
    last: int
    exception: int
    text: str
    """The exception line itself."""
    ignored: bool
    """Raised while the interpreter was shutting down or in a destructor."""


def find_tracebacks(lines: Sequence[str]) -> list[Traceback]:
    """All tracebacks in the order of their lines; chained ones are one."""
    found: list[Traceback] = []
    index = 0
    while index < len(lines):
        block = _read_block(lines, index) if _HEADER in lines[index] else None
        if block is not None:
            found.append(block)
        index = index + 1 if block is None else block.last + 1
    return found


def final_exception(lines: Sequence[str]) -> tuple[str, int] | None:
    """The exception or signal that ended the run, redacted, and its 1-based line; None if the log shows none."""
    blocks = find_tracebacks(lines)
    root = _root(blocks)
    found = _last_signal(lines, root.last + 1 if root is not None else 0)
    if found is None and root is not None and _is_habit(lines, blocks, root):
        return None
    if found is None and root is not None:
        found = root.exception
    if found is None:
        found = next((at for look in (_headless, _cut, _bare) if (at := look(lines)) is not None), None)
    if found is None or _survived(lines, found):
        return None
    return redacted_head(plain(lines[found]).strip(), _MAX_TEXT), found + 1


def is_signal(line: str) -> bool:
    """Whether a plain line says that the process was ended from outside or by a crash of native code."""
    return _SIGNAL_WORDS.search(line) is not None and _SIGNAL.match(line) is not None


def plain(line: str) -> str:
    """The line without colours and without the prefixes of Ray and torchrun."""
    line = strip_ray_prefix(strip_ansi(line))
    found = _RANK.match(line) if line.startswith("[") else None
    return line if found is None else line[found.end() :]


def _last_signal(lines: Sequence[str], start: int) -> int | None:
    words = _SIGNAL_WORDS.search
    return next(
        (i for i in range(len(lines) - 1, start - 1, -1) if words(lines[i]) and is_signal(plain(lines[i]))), None
    )


def _survived(lines: Sequence[str], found: int) -> bool:
    after = 0
    for line in lines[found + 1 :]:
        after += _AFTERMATH.match(line) is None
        if after > _MAX_AFTERMATH:
            return True
    return False


def _is_habit(lines: Sequence[str], blocks: Sequence[Traceback], last: Traceback) -> bool:
    """Whether the run went on after the same exception several times before: it does so after the last one too.

    Processes that fail together write theirs one after another, with nothing of a run between them.
    """
    kind = last.text.partition(":")[0]
    alike = [
        at for at, block in enumerate(blocks) if block.text.partition(":")[0] == kind and block.first <= last.first
    ]
    return sum(_went_on(lines, blocks[at].last + 1, blocks[at + 1].first) for at in alike[:-1]) >= _TIMES


def _went_on(lines: Sequence[str], first: int, end: int) -> bool:
    return sum(_AFTERMATH.match(line) is None for line in lines[first : min(end, first + 4 * _WENT_ON)]) >= _WENT_ON


def _root(blocks: Sequence[Traceback]) -> Traceback | None:
    """The last traceback, or the one before it when it only reports that another process failed."""
    real = [block for block in blocks if not block.ignored] or list(blocks)
    if not real or not _is_wrapper(real[-1]):
        return real[-1] if real else None
    last = real[-1]
    causes = [b for b in real if not _is_wrapper(b) and last.first - b.last <= _WRAPPER_REACH]
    return causes[-1] if causes else last


def _is_wrapper(block: Traceback) -> bool:
    return block.text.partition(":")[0].strip().endswith(_WRAPPERS)


def _headless(lines: Sequence[str]) -> int | None:
    """A log that begins in the middle of a traceback still ends it with the exception."""
    frame = next((i for i in range(len(lines) - 1, -1, -1) if _FRAME.match(lines[i])), None)
    if frame is None:
        return None
    for index in range(frame + 1, min(frame + 5, len(lines))):
        line = plain(lines[index])
        if line.strip() and not line.startswith((" ", "\t")):
            return index if _EXCEPTION.match(line) else None
    return None


def _cut(lines: Sequence[str]) -> int | None:
    """The innermost frame of a traceback that the log, or what was copied of it, ends in the middle of."""
    header = next((i for i in range(len(lines) - 1, -1, -1) if _HEADER in lines[i]), None)
    if header is None:
        return None
    margin = _indent(plain(lines[header]))
    inside = [i for i in range(header + 1, len(lines)) if lines[i].strip()]
    frames = [i for i in inside if _FRAME.match(plain(lines[i]))]
    return frames[-1] if frames and all(_indent(plain(lines[i])) > margin for i in inside) else None


def _bare(lines: Sequence[str]) -> int | None:
    """An exception among the last lines whose frames were not copied."""
    last = [at for at in range(len(lines) - 1, -1, -1) if lines[at].strip()][:_MAX_LAST]
    return next((at for at in last if _ERROR.match(plain(lines[at]))), None)


def _read_block(lines: Sequence[str], first: int) -> Traceback | None:
    ipython = _IPYTHON_HEADER.match(plain(lines[first]).strip())
    if ipython is not None:
        return _read_ipython(lines, first, ipython["name"])
    exception = _frames_end(lines, first)
    if exception is None:
        return None
    last = exception
    while last - first < _MAX_BLOCK:
        deeper = _next_frames_end(lines, last)
        if deeper is None:
            break
        last = exception = deeper
    last = _message_end(lines, last)
    ignored = first > 0 and _IGNORED.search(lines[first - 1]) is not None
    return Traceback(first, last, exception, plain(lines[exception]), ignored)


def _frames_end(lines: Sequence[str], first: int) -> int | None:
    """The first line behind the frames that is indented no deeper than their header: the exception."""
    margin = _indent(plain(lines[first]))
    foreign = 0
    for index in range(first + 1, min(len(lines), first + _MAX_BLOCK)):
        line = plain(lines[index])
        if not line.strip() or _indent(line) > margin:
            continue
        if _EXCEPTION.match(line.strip()):
            return index
        foreign += 1
        if foreign > _MAX_FOREIGN or _HEADER in line:
            return None
    return None


def _next_frames_end(lines: Sequence[str], last: int) -> int | None:
    """The exception of the traceback that goes on behind this one: Ray's inner one, or a chained one."""
    end = _message_end(lines, last)
    following = [plain(line) for line in lines[end + 1 : end + 7]]
    if last + 1 < len(lines) and _FRAME.match(plain(lines[last + 1])):
        return _frames_end(lines, last)
    if not any(_CHAIN.search(line) for line in following[:3]):
        return None
    header = next((i for i, line in enumerate(following) if _HEADER in line), None)
    return None if header is None else _frames_end(lines, end + 1 + header)


def _message_end(lines: Sequence[str], exception: int) -> int:
    """An exception with a long message goes on in indented lines."""
    margin = _indent(plain(lines[exception]))
    end = exception
    for index in range(exception + 1, min(len(lines), exception + 1 + _MAX_MESSAGE)):
        line = plain(lines[index])
        if not line.strip() or _indent(line) <= margin or "%|" in line or _FRAME.match(line):
            break
        end = index
    return end


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _read_ipython(lines: Sequence[str], first: int, name: str) -> Traceback | None:
    """IPython's frames are not indented; the name of the exception opens the block and closes it."""
    for index in range(first + 1, min(len(lines), first + _MAX_BLOCK)):
        line = plain(lines[index])
        if line.startswith(name) and line[len(name) : len(name) + 1] in {"", ":"}:
            return Traceback(first, index, index, line, ignored=False)
    return None

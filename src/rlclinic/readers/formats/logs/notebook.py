"""The console text inside a Jupyter notebook: what its cells printed and the tracebacks they ended with."""

from __future__ import annotations

from collections.abc import Iterator

from rlclinic.readers.formats.errors import FormatError
from rlclinic.readers.formats.logs.log_lines import decode
from rlclinic.readers.formats.safe_json import load_json_data

# Characters of output that are taken from one notebook.
MAX_TEXT = 64 << 20


def is_notebook(head: bytes) -> bool:
    """Whether the first bytes of a file are those of a notebook."""
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    return start.startswith(b"{") and (b'"cells"' in start or b'"nbformat"' in start or b'"worksheets"' in start)


def notebook_text(data: bytes) -> str:
    """The stdout, stderr and tracebacks of all cells in order; FormatError if this is no notebook."""
    notebook = load_json_data(decode(data))
    if not isinstance(notebook, dict) or not ("cells" in notebook or "worksheets" in notebook):
        raise FormatError("not a notebook: neither cells nor worksheets")
    pieces: list[str] = []
    size = 0
    for text in _outputs(notebook):
        pieces.append(text if text.endswith("\n") else text + "\n")
        size += len(pieces[-1])
        if size > MAX_TEXT:
            break
    return "".join(pieces)[:MAX_TEXT]


def _outputs(notebook: dict[str, object]) -> Iterator[str]:
    for cell in _cells(notebook):
        for output in _dicts(cell.get("outputs")):
            text = _text(output)
            if text:
                yield text


def _cells(notebook: dict[str, object]) -> Iterator[dict[str, object]]:
    yield from _dicts(notebook.get("cells"))
    for sheet in _dicts(notebook.get("worksheets")):
        yield from _dicts(sheet.get("cells"))


def _text(output: dict[str, object]) -> str:
    kind = output.get("output_type")
    if kind == "stream":
        return _joined(output.get("text"), "")
    if kind in {"error", "pyerr"}:
        return _joined(output.get("traceback"), "\n")
    return ""


def _joined(value: object, separator: str) -> str:
    """Text is stored whole or as a list of lines."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return separator.join(item for item in value if isinstance(item, str))
    return ""


def _dicts(value: object) -> Iterator[dict[str, object]]:
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, dict))

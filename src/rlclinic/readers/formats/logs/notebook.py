"""What a Jupyter notebook holds: the console text that its cells printed, tracebacks included, and their code."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rlclinic.readers.formats.errors import FormatError
from rlclinic.readers.formats.logs.log_lines import decode
from rlclinic.readers.formats.safe_json import load_json, load_json_data

# What opens and what closes them. One pattern for both would look from every opening to the end of the text.
_ROW = re.compile(r"<tr\b[^<>]*>", re.IGNORECASE), re.compile(r"</tr>", re.IGNORECASE)
_CELL = re.compile(r"<t[hd]\b[^<>]*>", re.IGNORECASE), re.compile(r"</t[hd]>", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]*>")
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


def notebook_code(text: str) -> list[list[tuple[str, int]]]:
    """The code cells, each line with the 1-based line of the file it stands on; FormatError if this is no notebook."""
    document = load_json(text)
    cells = document.data.get("cells") if isinstance(document.data, dict) else None
    if not isinstance(cells, list):
        raise FormatError("not a notebook: no cells")
    found: list[list[tuple[str, int]]] = []
    for index, cell in enumerate(cells):
        if not isinstance(cell, dict) or cell.get("cell_type") != "code":
            continue
        source = cell.get("source")
        place = document.lines.get(("cells", index, "source"), 1)
        parts = source if isinstance(source, list) else str(source or "").splitlines()
        lines = ((part, document.lines.get(("cells", index, "source", at), place)) for at, part in enumerate(parts))
        found.append([(line, where) for part, where in lines for line in str(part).splitlines()])
    return found


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
    data = output.get("data")
    return html_rows(_joined(data.get("text/html"), "")) if isinstance(data, dict) else ""


def html_rows(html: str) -> str:
    """The rows of HTML tables as lines with bars between their cells: what trainers show while they train."""
    rows = ([_TAG.sub("", cell).strip() for cell in _between(*_CELL, row)] for row in _between(*_ROW, html[:MAX_TEXT]))
    return "".join(f"| {' | '.join(cells)} |\n" for cells in rows if cells)


def _between(opening: re.Pattern[str], closing: re.Pattern[str], text: str) -> Iterator[str]:
    for part in closing.split(text)[:-1]:
        if found := opening.search(part):
            yield part[found.end() :]


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

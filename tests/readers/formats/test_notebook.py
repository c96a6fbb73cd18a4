"""What the cells of a notebook printed."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlclinic.readers.formats.errors import FormatError
from rlclinic.readers.formats.logs.log_text import clean_lines, final_exception
from rlclinic.readers.formats.logs.notebook import is_notebook, notebook_text
from tests.growth import grows_linearly

NOTEBOOK = {
    "cells": [
        {"cell_type": "markdown", "source": ["# Training"]},
        {
            "cell_type": "code",
            "source": "model.learn(1000)",
            "outputs": [
                {"output_type": "stream", "name": "stdout", "text": ["| ep_rew_mean | 21 |\n", "| fps | 900 |"]},
                {"output_type": "stream", "name": "stderr", "text": "UserWarning: slow\n"},
                {"output_type": "execute_result", "data": {"text/plain": "<PPO object>"}},
                {"output_type": "display_data", "data": {"image/png": "iVBORw0KGgo="}},
            ],
        },
        {
            "cell_type": "code",
            "outputs": [
                {
                    "output_type": "error",
                    "ename": "ValueError",
                    "evalue": "nan",
                    "traceback": [
                        "\x1b[0;31m-----------\x1b[0m",
                        "\x1b[0;31mValueError\x1b[0m                     Traceback (most recent call last)",
                        "Cell In[2], line 1\n\x1b[0;32m----> 1\x1b[0m f()",
                        "\x1b[0;31mValueError\x1b[0m: loss is nan",
                    ],
                }
            ],
        },
    ],
    "nbformat": 4,
}


def test_printed_text_and_tracebacks_come_in_order() -> None:
    lines = clean_lines(notebook_text(json.dumps(NOTEBOOK).encode()).encode())

    assert lines[:3] == ["| ep_rew_mean | 21 |", "| fps | 900 |", "UserWarning: slow"]
    assert final_exception(lines) == ("ValueError: loss is nan", 8)
    assert not any("PPO object" in line or "iVBOR" in line for line in lines)


def test_worksheets_of_old_notebooks_are_read() -> None:
    cell = {"outputs": [{"output_type": "stream", "text": ["a\n"]}, {"output_type": "pyerr", "traceback": ["b", "c"]}]}

    assert notebook_text(json.dumps({"worksheets": [{"cells": [cell]}], "nbformat": 3}).encode()) == "a\nb\nc\n"


def test_a_notebook_without_outputs_has_no_text() -> None:
    assert notebook_text(b'{"cells": [], "nbformat": 4}') == ""


@pytest.mark.parametrize("data", [b"", b"{}", b"[]", b'{"cells": [', b"\xff\xfe", b"[" * 9999, b'"cells"', b"null"])
def test_what_is_no_notebook_is_a_format_error(data: bytes) -> None:
    with pytest.raises(FormatError):
        notebook_text(data)


@pytest.mark.parametrize(
    ("head", "answer"),
    [
        (b'{"cells": [', True),
        (b'\xef\xbb\xbf\n {\n "metadata": {}, "nbformat": 4', True),
        (b'{"worksheets": [', True),
        (b'{"lr": 0.1}', False),
        (b'x {"cells": [', False),
        (b"", False),
    ],
)
def test_a_notebook_is_known_by_its_head(head: bytes, answer: bool) -> None:  # noqa: FBT001
    assert is_notebook(head) is answer


_JSON = st.recursive(
    st.none() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["cells", "outputs", "text", "traceback", "output_type", "worksheets"]), inner, max_size=4
        )
    ),
    max_leaves=12,
)


@settings(derandomize=True, max_examples=300)
@given(st.dictionaries(st.sampled_from(["cells", "worksheets", "x"]), _JSON, max_size=3))
def test_a_notebook_of_any_shape_is_read_or_refused(notebook: dict[str, object]) -> None:
    _read_or_refuse(json.dumps(notebook).encode())


@settings(derandomize=True, max_examples=200)
@given(st.integers(0, 1200), st.binary(max_size=4))
def test_a_damaged_notebook_is_read_or_refused(at: int, piece: bytes) -> None:
    data = json.dumps(NOTEBOOK).encode()
    _read_or_refuse(data[:at])
    _read_or_refuse(data[:at] + piece + data[at:])


def _read_or_refuse(data: bytes) -> None:
    try:
        assert isinstance(notebook_text(data), str)
    except FormatError:
        return


def _with_html(html: str) -> bytes:
    output = {"output_type": "display_data", "data": {"text/html": html}}
    return json.dumps({"cells": [{"cell_type": "code", "outputs": [output]}]}).encode()


def test_the_rows_of_an_html_table_are_lines() -> None:
    html = "<p>a</p><TABLE><tr class='x'><th>Step</th><td>Reward</td></TR>\n<tr><td><b>10</b></td><td>2.5</td></tr><tr>"
    assert notebook_text(_with_html(html)) == "| Step | Reward |\n| 10 | 2.5 |\n"


@pytest.mark.parametrize("unit", ["<tr>", "<tr ", "<", "<tr><td>", "<td", "</tr>"])
def test_html_that_opens_and_never_closes_takes_linear_time(unit: str) -> None:
    assert grows_linearly(lambda size: notebook_text(_with_html(unit * (size // len(unit)) + "</tr>")), 60_000)

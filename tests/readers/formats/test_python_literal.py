"""Printed Python values are read without evaluating them."""

from __future__ import annotations

import math
import pprint

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlclinic.readers.formats.errors import FormatError
from rlclinic.readers.formats.literals.python_literal import (
    load_literal,
    load_literal_lines,
    parse_literal,
)
from tests.growth import grows_linearly


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{}", {}),
        ("{'a': 1, \"b\": [1.5, -2, .5, 1., 1e-3]}", {"a": 1, "b": [1.5, -2, 0.5, 1.0, 0.001]}),
        ("(1, 2)", (1, 2)),
        ("(1,)", (1,)),
        ("()", ()),
        ("(1)", 1),
        ("{1, 2}", [1, 2]),
        ("set()", []),
        ("[None, True, False, null, true, false]", [None, True, False, None, True, False]),
        ("[1_000, 0x1F, -0b11]", [1000, 31, -3]),
        ("'a' 'b'\n 'c'", "abc"),
        ("('a'\n \"b\")", "ab"),
        (r"'it\'s \x41\u00e9\n\\'", "it's Aé\n\\"),
        (r"r'\d'", r"\d"),
        (r"b'a\x00'", "a\0"),
        ("np.float64(0.1)", 0.1),
        ("{'n': np.int32(16), 't': np.True_, 's': np.str_('x')}", {"n": 16, "t": True, "s": "x"}),
        ("[inf, -inf, np.inf, Infinity]", [math.inf, -math.inf, math.inf, math.inf]),
        ("array([1., 2.], dtype=float32)", [1.0, 2.0]),
        ("array([[1, 2],\n       [3, 4]])", [[1, 2], [3, 4]]),
        ("array([0, 1, ..., 9])", [0, 1, "...", 9]),
        ("[1. 2.\n 3.]", [1.0, 2.0, 3.0]),
        ("[[-0.1 inf] [0.2 3]]", [[-0.1, math.inf], [0.2, 3]]),
        ("tensor(0.5, device='cuda:0', grad_fn=<NllLossBackward0>)", 0.5),
        ("tensor([1, 2], dtype=torch.int32)", [1, 2]),
        ("OrderedDict([('a', 1), ('b', (2, 3))])", {"a": 1, "b": (2, 3)}),
        ("OrderedDict({'a': 1})", {"a": 1}),
        ("OrderedDict()", {}),
        ("defaultdict(<class 'list'>, {'a': [1]})", {"a": [1]}),
        ("deque([1, 2], maxlen=3)", [1, 2]),
        ("PosixPath('/tmp/x')", "/tmp/x"),
        ("Namespace(lr=0.1, env='CartPole-v1')", {"lr": 0.1, "env": "CartPole-v1"}),
        ("{'e': <Foo.BAR: 1>, 'f': <bound method A.b of <A object at 0x7f>>}",
         {"e": "<Foo.BAR: 1>", "f": "<bound method A.b of <A object at 0x7f>>"}),
        ("{'space': Box(-1.0, 1.0, (3,), float32)}", {"space": "Box(-1.0, 1.0, (3,), float32)"}),
        ("{'dtype': torch.float32, 'device': cuda:0, 'ip': 10.0.0.1}",
         {"dtype": "torch.float32", "device": "cuda:0", "ip": "10.0.0.1"}),
        ("[console, wandb]", ["console", "wandb"]),
        ("{lr: 0.1, path: /tmp/x}", {"lr": 0.1, "path": "/tmp/x"}),
        ("{(0, 1): 'a', 2: 'b', [3]: 'c'}", {(0, 1): "a", 2: "b", "[3]": "c"}),
        ("  {'a':1 , } ", {"a": 1}),
    ],
)  # fmt: skip
def test_a_printed_value_is_read(text: str, value: object) -> None:
    found = load_literal(text)

    assert found == value
    assert type(found) is type(value)


def test_nan_is_a_number() -> None:
    values = load_literal("[nan, np.nan, float('nan')]")

    assert isinstance(values, list)
    assert math.isnan(values[0])
    assert math.isnan(values[1])
    assert values[2] == "nan"


@pytest.mark.parametrize(
    "text",
    ["", "{", "{'a'", "{'a':", "{'a': 1", "[1, 2", "'abc", "{'a': 1, 'b'}",
     "[1 2, 'a' 5]", "f(1", "<A", ")", "{'a': 1}}",
     "[" * 100_000, "f(" * 100_000, "{1:" * 100_000, "1" + ",", "'a" + "\\" * 99],
)  # fmt: skip
def test_what_is_no_value_is_a_format_error(text: str) -> None:
    with pytest.raises(FormatError):
        load_literal(text)


def test_sixty_levels_are_read_and_more_refused() -> None:
    assert load_literal("[" * 60 + "]" * 60)
    with pytest.raises(FormatError, match="more than 60 levels"):
        load_literal("[" * 62 + "]" * 62)


def test_the_error_names_the_line() -> None:
    with pytest.raises(FormatError) as caught:
        load_literal("{'a': 1,\n 'b': ]}")

    assert caught.value.line == 2


def test_a_value_inside_a_text_ends_where_it_ends() -> None:
    text = "step 5 {'loss': 0.25} done"

    assert parse_literal(text, 7) == ({"loss": 0.25}, 21)


def test_a_wrapped_config_has_the_lines_of_its_keys() -> None:
    config = {
        "actor": {"clip_ratio": 0.2, "path": "a long path " * 12, "optim": {"lr": 1e-06, "betas": (0.9, 0.999)}},
        "data": {"files": ["a.parquet", "b.parquet"], "max_prompt_length": 512, "tokenizer": None},
    }
    text = pprint.pformat(config)
    document = load_literal_lines(text)
    shown = text.split("\n")

    assert document.data == config
    assert document.end == len(text)
    for path in [("actor", "path"), ("actor", "optim", "lr"), ("data",), ("data", "tokenizer")]:
        assert f"'{path[-1]}'" in shown[document.lines[path] - 1]
    assert document.lines["data", "files", 1] >= document.lines["data", "files", 0]


def test_ordered_pairs_have_the_lines_of_their_keys() -> None:
    document = load_literal_lines("OrderedDict([('a', 1),\n ('b', {'c': 2,\n 'd': [3,\n 4]})])")

    assert document.data == {"a": 1, "b": {"c": 2, "d": [3, 4]}}
    assert document.lines == {
        ("a",): 1, ("b",): 2, ("b", "c"): 2, ("b", "d"): 3, ("b", "d", 0): 3, ("b", "d", 1): 4,
    }  # fmt: skip


@pytest.mark.parametrize(
    "unit",
    [
        "{'a': ",
        "{1,",
        "{" + "1," * 1000,
        "{'a': [1, 2], ",
        "('",
        "{'",
        "<",
        "{<",
        "{1:f(",
        "1",
        "OrderedDict([",
        "{'a\\",
    ],
)
def test_a_hostile_text_takes_linear_time(unit: str) -> None:
    def work(size: int) -> None:
        text = (unit * (size // len(unit) + 1))[:size]
        with pytest.raises(FormatError):
            load_literal(text + "{")

    assert grows_linearly(work, 60_000)


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.text(max_size=4) | st.integers() | st.booleans() | st.none(), inner, max_size=4)
    ),
    max_leaves=15,
)


@settings(derandomize=True, max_examples=300)
@given(_VALUES, st.sampled_from([20, 80]))
def test_whatever_repr_and_pprint_write_is_read_back(value: object, width: int) -> None:
    assert load_literal(repr(value)) == value
    assert load_literal(pprint.pformat(value, width=width)) == value


@settings(derandomize=True, max_examples=300)
@given(_VALUES, st.integers(0, 60), st.text("{}[](),:'\"\\<>= \n1anpf.", max_size=3))
def test_damaged_literals_are_read_or_refused(value: object, at: int, piece: str) -> None:
    text = repr(value)
    for damaged in (text[:at], text[:at] + piece + text[at:], text[:at] + text[at + 1 :]):
        _read_or_refuse(damaged)


@settings(derandomize=True, max_examples=400)
@given(st.text(max_size=60) | st.text("{}[](),:'\"\\<>= \n10anpinf.-_x", max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    _read_or_refuse(text)


def _read_or_refuse(text: str) -> None:
    try:
        document = load_literal_lines(text)
    except FormatError:
        return
    assert 0 < document.end <= len(text)
    assert all(line >= 1 for line in document.lines.values())


def test_a_mapping_made_from_a_list_of_dicts_stays_text() -> None:
    assert load_literal("OrderedDict([{'a': 1, 'b': 2}])") == "OrderedDict([{'a': 1, 'b': 2}])"

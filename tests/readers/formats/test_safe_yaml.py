"""YAML configs: PyYAML's values, harmless tags, true lines, bounded cost."""

from __future__ import annotations

import math
import time

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from rlclinic.readers.formats.errors import FormatError
from rlclinic.readers.formats.yaml.safe_yaml import load_yaml

FLOW_PAIRS = """!!python/object/apply:collections.OrderedDict
- - [batch_size, 256]
  - [policy, MlpPolicy]
  - - env_wrapper
    - []
"""
BLOCK_PAIRS = """!!python/object/apply:collections.OrderedDict
- - - batch_size
    - 32
  - - env_wrapper
    - - stable_baselines3.common.atari_wrappers.AtariWrapper
  - - policy_kwargs
    - !!python/object/apply:collections.OrderedDict
      - - - net_arch
          - 64
"""
TAGGED = """viewer:
  eye: !!python/tuple
  - 7.5
  - 7.5
  joint_ids: !!python/object/apply:builtins.slice
  - null
  - 3
  body_ids: !!python/object/apply:builtins.slice
  - null
  cls: !!python/name:torch.nn.modules.activation.ReLU ''
  home: !custom 12
behaviors: !!python/object/apply:mlagents.trainers.settings.DefaultTrainerDict
  args:
  - !!python/name:mlagents.trainers.settings.TrainerSettings ''
  dictitems:
    Ball:
      batch_size: 10
state: !!python/object:__main__.Config
  lr: 0.1
"""


def test_both_encodings_of_rl_zoo_become_ordered_dicts() -> None:
    assert load_yaml(FLOW_PAIRS).data == {"batch_size": 256, "policy": "MlpPolicy", "env_wrapper": []}
    assert load_yaml(BLOCK_PAIRS).data == {
        "batch_size": 32,
        "env_wrapper": ["stable_baselines3.common.atari_wrappers.AtariWrapper"],
        "policy_kwargs": {"net_arch": 64},
    }


def test_the_lines_of_rl_zoo_pairs_are_those_of_the_keys() -> None:
    flow, block = load_yaml(FLOW_PAIRS).lines, load_yaml(BLOCK_PAIRS).lines

    assert (flow["batch_size",], flow["policy",], flow["env_wrapper",]) == (2, 3, 4)
    assert (block["batch_size",], block["env_wrapper",], block["policy_kwargs", "net_arch"]) == (2, 4, 8)


def test_python_tags_become_plain_data_and_are_noted_once() -> None:
    document = load_yaml(TAGGED)

    assert document.data == {
        "viewer": {
            "eye": [7.5, 7.5],
            "joint_ids": [None, 3],
            "body_ids": [None],
            "cls": "torch.nn.modules.activation.ReLU",
            "home": 12,
        },
        "behaviors": {"Ball": {"batch_size": 10}},
        "state": {"lr": 0.1},
    }
    assert document.lines["behaviors", "Ball", "batch_size"] == 17
    assert document.problems == (
        "line 5: tag !!python/object/apply:builtins.slice was read as plain data, 2 times",
        "line 11: tag !custom was read as plain data",
        "line 12: tag !!python/object/apply:mlagents.trainers.settings.DefaultTrainerDict was read as plain data",
        "line 18: tag !!python/object:__main__.Config was read as plain data",
    )


@pytest.mark.parametrize(
    "call",
    [
        "!!python/object/apply:os.system ['touch {path}']",
        "!!python/object/apply:builtins.open ['{path}', 'w']",
        "!!python/object/new:pathlib.Path ['{path}']",
        "!!python/object/apply:os.mkdir {{args: ['{path}']}}",
        "!!python/module:antigravity ''",
    ],
)
def test_no_tag_runs_anything(call: str, tmp_path: object) -> None:
    target = f"{tmp_path}/made"
    load_yaml("x: " + call.format(path=target))

    with pytest.raises(FileNotFoundError):
        open(target).close()


@pytest.mark.parametrize(
    "text",
    ["1e-3", "1.0e-3", "1.0e+3", "1e3", "3", "0x1F", "010", "1_000", "1:30", "on", "off", "yes", "no", "y", "~", "null",
     "", "true", "True", "TRUE", ".inf", "-.inf", "'1'", '"on"', "abc", "0.5", ".5", "5.", "+1", "0b11", "a b"],
)  # fmt: skip
def test_scalars_mean_what_pyyaml_says(text: str) -> None:
    document = load_yaml(f"key: {text}\n")
    expected = yaml.safe_load(f"key: {text}\n")

    assert document.data == expected
    assert isinstance(document.data, dict)
    assert type(document.data["key"]) is type(expected["key"])


def test_one_e_minus_three_stays_the_text_that_pyyaml_makes_of_it() -> None:
    assert load_yaml("lr: 1e-3\nlr2: 1.0e-3").data == {"lr": "1e-3", "lr2": 0.001}


def test_nan_is_a_number() -> None:
    data = load_yaml("a: .nan").data

    assert isinstance(data, dict)
    assert math.isnan(data["a"])


@pytest.mark.parametrize("text", ["2024-01-01", "2024-01-01 10:00:00", "2024-13-45", "=", "0x_", "0b_", "1" * 5000])
def test_scalars_that_pyyaml_makes_objects_of_or_fails_on_stay_text(text: str) -> None:
    assert load_yaml(f"a: {text}").data == {"a": text}


def test_own_keys_win_over_merged_ones_and_the_second_merge_over_the_first() -> None:
    text = """
a: &a {x: 1, y: 1, z: 1}
b: &b {y: 2, z: 2}
c:
  z: 3
  <<: *a
  <<: *b
d:
  <<: [*a, *b]
"""
    document = load_yaml(text)

    assert isinstance(document.data, dict)
    assert document.data["c"] == {"x": 1, "y": 2, "z": 3}
    assert document.data["d"] == {"x": 1, "y": 1, "z": 1}
    assert document.lines["c", "x"] == 2
    assert document.problems == ()


def test_a_merge_of_something_else_is_noted() -> None:
    document = load_yaml("a:\n  <<: 5\n  b: 1")

    assert document.data == {"a": {"b": 1}}
    assert document.problems == ("line 2: '<<' merges something that is not a mapping; it was left out",)


def test_a_key_given_twice_is_noted_and_the_last_counts() -> None:
    document = load_yaml("lr: 1\nseed: 2\nlr: 3")

    assert document.data == {"lr": 3, "seed": 2}
    assert document.lines["lr",] == 3
    assert document.problems == ("line 3: 'lr' is given twice, the last one counts",)


def test_lines_are_those_of_keys_and_items() -> None:
    document = load_yaml("a:\n  b:\n  - 1\n  - x: 2\n    3: true\nc: {d: 1,\n  e: [1,\n 2]}\n")

    assert document.lines == {
        (): 1, ("a",): 1, ("a", "b"): 2, ("a", "b", 0): 3, ("a", "b", 1): 4, ("a", "b", 1, "x"): 4,
        ("a", "b", 1, "3"): 5,
        ("c",): 6, ("c", "d"): 6, ("c", "e"): 7, ("c", "e", 0): 7, ("c", "e", 1): 8,
    }  # fmt: skip


def test_only_the_first_document_is_read() -> None:
    assert load_yaml("a: 1\n---\nb: 2\n").data == {"a": 1}
    assert load_yaml("a: 1\n---\nb: 2\n").problems == ("line 2: only the first of several documents was read",)
    assert load_yaml("a: 1\n---\nb: ]\n").data == {"a": 1}


def test_an_empty_text_has_no_data() -> None:
    assert load_yaml("").data is None
    assert load_yaml("# only a comment\n").lines == {}
    assert load_yaml("\ufeffa: 1").data == {"a": 1}


@pytest.mark.parametrize(
    ("text", "line"),
    [("a: 1\nb: [1, 2\n", 3), ("a: b: c", 1), ("a: *nowhere", 1), ("a: 1\n\tb: 2", 2), ("a: \x01", 1), ("a: 'x", 1)],
)
def test_broken_yaml_is_a_format_error_with_its_line(text: str, line: int) -> None:
    with pytest.raises(FormatError) as caught:
        load_yaml(text)

    assert caught.value.line == line


def test_a_billion_laughs_end_in_an_error() -> None:
    lines = ["a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]"]
    lines += [f"a{i}: &a{i} [" + ", ".join([f"*a{i - 1}"] * 10) + "]" for i in range(1, 10)]
    start = time.thread_time()
    with pytest.raises(FormatError, match="aliases expand"):
        load_yaml("\n".join(lines))

    assert time.thread_time() - start < 20


def test_merges_that_multiply_end_in_an_error() -> None:
    lines = ["a0: &a0 {k: 1}"]
    lines += [f"a{i}: &a{i} {{<<: [" + ", ".join([f"*a{i - 1}"] * 10) + "]}" for i in range(1, 9)]
    with pytest.raises(FormatError, match="aliases expand"):
        load_yaml("\n".join(lines))


@pytest.mark.parametrize("text", ["a: &a [1, *a]", "a: &a {b: *a}", "&a [*a]", "a: &a {<<: *a, x: 1}", "&a ? *a\n: 1"])
def test_a_value_that_contains_itself_is_left_out_or_refused(text: str) -> None:
    try:
        problems = load_yaml(text).problems
    except FormatError as error:
        problems = (str(error),)

    assert problems


@pytest.mark.parametrize(
    "text", ["[" * 100_000, "{a: " * 100_000, "- " * 100_000, "? " * 100_000, "[" * 100 + "]" * 100]
)
def test_deep_nesting_is_refused(text: str) -> None:
    with pytest.raises(FormatError):
        load_yaml(text)


def test_a_huge_text_is_refused_unread() -> None:
    with pytest.raises(FormatError, match="more than a config has"):
        load_yaml("a" * (17 << 20))


_WORDS = st.sampled_from(
    ["a", "b: ", "- ", "\n", "  ", "[", "]", "{", "}", "&x ", "*x", "<<: ", "!!python/tuple ", "!!int ", "!t ", "'",
     '"',
     "1", "1e3", "? ", ": ", ",", "|", ">", "#", "---\n", "...\n", "%YAML 1.1\n", "\t", "!!set ", "!!omap ",
     "é", "\ud800"]
)  # fmt: skip


@settings(derandomize=True, max_examples=600)
@given(st.lists(_WORDS, max_size=25).map("".join))
def test_any_mixture_of_yaml_is_read_or_refused(text: str) -> None:
    _read_or_refuse(text)


@settings(derandomize=True, max_examples=300)
@given(st.text(max_size=80))
def test_any_text_is_read_or_refused(text: str) -> None:
    _read_or_refuse(text)


@settings(derandomize=True, max_examples=150)
@given(st.sampled_from([FLOW_PAIRS, BLOCK_PAIRS, TAGGED]), st.integers(0, 700))
def test_any_truncation_is_read_or_refused(text: str, size: int) -> None:
    _read_or_refuse(text[:size])


_SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False)
_DATA = st.recursive(
    _SCALARS | st.text(st.characters(codec="ascii"), max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text("abcxyz", min_size=1, max_size=4), inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(derandomize=True, max_examples=200)
@given(_DATA)
def test_what_pyyaml_writes_is_read_back(data: object) -> None:
    assert load_yaml(yaml.safe_dump(data)).data == data


def _read_or_refuse(text: str) -> None:
    try:
        document = load_yaml(text)
    except FormatError:
        return
    assert all(line >= 1 for line in document.lines.values())
    assert all(isinstance(problem, str) for problem in document.problems)

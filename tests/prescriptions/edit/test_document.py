"""Edits of YAML, JSON and TOML: what is changed, what is added, and what is refused."""

from __future__ import annotations

import pytest
import yaml

from rlclinic.prescriptions.edit.document import edit_document
from rlclinic.prescriptions.edit.edits import MISSING, Edit, Refused
from rlclinic.prescriptions.edit.toml_file import _lines
from tests.growth import grows_linearly

ZOO = """\
# hyperparameters
defaults: &d
  n_timesteps: !!float 1e6   # budget
  learning_rate: 1e-3
  policy: 'MlpPolicy'

CartPole-v1:
  <<: *d
  learning_rate: lin_0.001  # falls
  clip_range: !!float 0.2
  policy_kwargs: "dict(net_arch=[64, 64], activation_fn=nn.ReLU, log_std_init=-2)"
  extra: {a: 1, b: [1, 2]}
  text: |
    learning_rate: 1
  empty:
  quoted: "0.5"
  word: 'adam'
Ant-v4:
  <<: *d
  layers:
    - 32
    - 64
  shared: &x 5
  alias: *x
"""


def _edited(path: str, after: object, before: object = MISSING, text: str = ZOO, suffix: str = ".yml") -> str:
    return edit_document(text, [Edit(tuple(path.split("/")), before, after)], suffix)


def _refusal(path: str, after: object, before: object = MISSING, text: str = ZOO, suffix: str = ".yml") -> str:
    with pytest.raises(Refused) as refusal:
        _edited(path, after, before, text, suffix)
    return refusal.value.message


@pytest.mark.parametrize(
    ("path", "after", "old", "new"),
    [
        ("CartPole-v1/learning_rate", "lin_0.0003", "lin_0.001", "lin_0.0003"),
        ("CartPole-v1/learning_rate", 3e-5, "lin_0.001", "3.0e-05"),
        ("CartPole-v1/clip_range", 0.1, "!!float 0.2", "!!float 0.1"),
        ("CartPole-v1/extra/a", 7, "{a: 1,", "{a: 7,"),
        ("CartPole-v1/extra/b", [1, 3], "[1, 2]", "[1, 3]"),
        ("CartPole-v1/extra/b", [1, 3, 4], "[1, 2]", "[1, 3, 4]"),
        ("CartPole-v1/extra/c", "x: y", "[1, 2]}", '[1, 2], c: "x: y"}'),
        ("CartPole-v1/empty", 4, "  empty:\n", "  empty: 4\n"),
        ("CartPole-v1/word", "it's", "'adam'", "'it''s'"),
        ("CartPole-v1/policy_kwargs/net_arch", [256, 256], "net_arch=[64, 64]", "net_arch=[256, 256]"),
        ("CartPole-v1/policy_kwargs/ortho_init", False, "=-2)", "=-2, ortho_init=False)"),
        ("Ant-v4/layers", [32, 128], "    - 64\n", "    - 128\n"),
        ("Ant-v4/alias", 6, "alias: *x", "alias: 6"),
        ("Ant-v4/learning_rate", 0.01, "alias: *x\n", "alias: *x\n  learning_rate: 0.01\n"),
    ],
)
def test_only_these_characters_change(path: str, after: object, old: str, new: str) -> None:
    assert ZOO.count(old) == 1
    assert _edited(path, after) == ZOO.replace(old, new)


def test_a_merged_value_gets_a_line_of_its_own_and_the_anchor_stays() -> None:
    edited = _edited("CartPole-v1/n_timesteps", 2_000_000, before=1e6)
    assert edited == ZOO.replace("  word: 'adam'\n", "  word: 'adam'\n  n_timesteps: 2000000.0\n")
    data = yaml.safe_load(edited)
    assert (data["CartPole-v1"]["n_timesteps"], data["Ant-v4"]["n_timesteps"]) == (2e6, 1e6)


@pytest.mark.parametrize(
    ("path", "after", "reason"),
    [
        ("defaults/n_timesteps", 2e6, "Ant-v4.n_timesteps"),
        ("Ant-v4/shared", 6, "Ant-v4.alias"),
        ("CartPole-v1/text", "x", "text block"),
        ("CartPole-v1/quoted", 0.3, "quotes"),
        ("Ant-v4/layers", [1, 2, 3], "several lines"),
        ("Nowhere/gamma", 0.9, "no place"),
    ],
)
def test_what_is_not_sure_is_refused(path: str, after: object, reason: str) -> None:
    assert reason in _refusal(path, after)


def test_a_file_that_is_not_the_runs_is_refused() -> None:
    assert "the run had 0.5" in _refusal("CartPole-v1/clip_range", 0.1, before=0.5)
    assert "the run had [32]" in _refusal("CartPole-v1/policy_kwargs/net_arch", [64], before=[32])


def test_text_that_means_the_number_agrees_with_it() -> None:
    text = "lr: 1e-3\n"
    assert _edited("lr", 3e-4, before=0.001, text=text) == "lr: 0.0003\n"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("lr: 1\nlr: 2\n", "several times"),
        ("lr: 1\n---\nlr: 2\n", "several YAML documents"),
        ("lr: [1\n", "not YAML"),
        ("- 1\n", "no place"),
    ],
)
def test_yaml_that_has_no_one_meaning_is_refused(text: str, reason: str) -> None:
    assert reason in _refusal("lr", 3, text=text)


def test_a_block_schedule_changes_in_its_parts() -> None:
    text = "ppo:\n  policy_lr:\n    start: 0.001  # s\n    end: 0.0\n"
    edited = _edited("ppo/policy_lr", {"start": 0.0003, "end": 0.0}, text=text)
    assert edited == text.replace("0.001", "0.0003")


def test_a_constant_becomes_a_schedule_in_flow_style() -> None:
    edited = _edited(
        "ppo/policy_lr", {"start": 0.0003, "end": 0.0}, before=0.001, text="ppo:\n  policy_lr: 0.001 # x\n"
    )
    assert edited == "ppo:\n  policy_lr: {start: 0.0003, end: 0.0} # x\n"


def test_a_byte_order_mark_and_windows_lines_stay() -> None:
    text = "\ufefflr: 0.1\r\ngamma: 0.9\r\n"
    assert _edited("lr", 0.2, text=text) == "\ufefflr: 0.2\r\ngamma: 0.9\r\n"
    assert _edited("tau", 0.2, text=text) == "\ufefflr: 0.1\r\ngamma: 0.9\r\ntau: 0.2\r\n"


def test_json_is_edited_and_extended_in_its_own_style() -> None:
    wide = '{\n  "a": {\n    "lr": 1e-3\n  },\n  "d": null\n}\n'
    assert _edited("a/lr", 3e-5, 0.001, wide, ".json") == wide.replace("1e-3", "3.0e-05")
    assert _edited("a/tau", 0.1, MISSING, wide, ".json") == wide.replace("1e-3\n", '1e-3,\n    "tau": 0.1\n')
    assert _edited("tau", 0.1, MISSING, '{"a": {}}', ".json") == '{"a": {}, "tau": 0.1}'
    assert _edited("a/tau", 0.1, MISSING, '{"a": {}}', ".json") == '{"a": {"tau": 0.1}}'
    assert "twice" in _refusal("a", 2, MISSING, '{"a": 1, "a": 1}', ".json")
    assert "not JSON" in _refusal("a", 2, MISSING, '{"a": 1, // x\n}', ".json")


def test_toml_is_edited_where_a_line_says_it() -> None:
    text = "# x\n[a]\nlr = 0.1 # c\n\n[[b]]\nlr = 0.1\n"
    assert _edited("a/lr", 0.2, 0.1, text, ".toml") == text.replace("0.1 # c", "0.2 # c")
    assert _edited("a/tau", 0.2, MISSING, text, ".toml") == text.replace("# c\n", "# c\ntau = 0.2\n")
    assert "no way to write" in _refusal("a/lr", None, 0.1, text, ".toml")
    hidden = 'x = """\n[a]\nlr = 0.1\n"""\n[a.b]\nc = 1\n'
    assert "no place" in _refusal("q/lr", 0.2, MISSING, hidden, ".toml")
    assert "alone" in _refusal("a/lr", 0.2, MISSING, hidden, ".toml")


def test_other_kinds_of_file_are_refused() -> None:
    assert "not edited" in _refusal("a", 1, MISSING, "a=1", ".ini")


@pytest.mark.parametrize("unit", [" ", "a ", "_", '"'])
def test_a_long_line_of_toml_without_a_value_takes_linear_time(unit: str) -> None:
    assert grows_linearly(lambda size: _lines("lr = 0.1\n" + unit * (size // len(unit)) + "\n"), 40_000)

"""Settings read from a console, and how their values are written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.readers.formats.errors import FormatError
from rlclinic.readers.formats.literals.python_literal import load_literal

# Longest value kept as text, in characters.
MAX_TEXT = 4000

# Levels of nesting that are flattened; what lies deeper stays one value.
MAX_DEPTH = 12

# Last parts of names of which a block of settings must show some before it is believed.
_NAMES = """
    lr learning_rate gamma seed batch_size train_batch_size minibatch_size num_minibatches n_steps
    num_steps n_envs num_envs env env_id env_name ent_coef vf_coef clip_range clip_coef clip_ratio
    n_epochs update_epochs epochs total_timesteps max_steps gae_lambda lam buffer_size tau kl_coef beta
    num_generations max_grad_norm optimizer algo algo_id algorithm policy policy_lr exp_name
    num_train_epochs per_device_train_batch_size gradient_accumulation_steps max_prompt_length
    max_completion_length temperature entropy_coef value_loss_coef hidden_size hidden_dims activation
    rollout_batch_size global_batch_size n_samples_per_prompt warmup_ratio weight_decay
    num_learning_epochs num_mini_batches steps_per_epoch
"""
KNOWN_NAMES = frozenset(_NAMES.split())

_TOKEN = re.compile(r"""'(?:[^'\\]|\\.)*'?|"(?:[^"\\]|\\.)*"?|[\[\](){},]""")
_ENUM = re.compile(r"<[\w.]{1,100}: (.{1,200})>")
_INTEGER = re.compile(r"[-+]?\d{1,30}")
_FLOAT = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?")
_WORDS: dict[str, object] = {
    "null": None, "None": None, "~": None, "true": True, "True": True, "false": False, "False": False,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting: dotted name, value, and the 1-based line it stands on."""

    name: str
    value: object
    line: int


def read_value(text: str) -> object:
    """A value as Python, Hydra, YAML or a shell writes it; text that is none of these stays text."""
    text = text.strip()
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    if len(text) <= 60 and _FLOAT.fullmatch(text):
        return float(text)
    if text[:1] in "'\"[{(" and text:
        return _read_literal(text)
    enum = _ENUM.fullmatch(text)
    if enum:
        return read_value(enum.group(1))
    return text[:MAX_TEXT]


def flatten(values: Mapping[object, object], above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], object]]:
    """Nested settings as paths."""
    for key, value in values.items():
        path = (*above, str(key))
        if isinstance(value, Mapping) and value and len(path) < MAX_DEPTH:
            yield from flatten(value, path)
        else:
            yield path, value


def split_top_level(text: str) -> list[str]:
    """The parts between the commas that stand outside of brackets and quotes."""
    parts: list[str] = []
    depth = start = 0
    for match in _TOKEN.finditer(text):
        token = match.group()
        if token in "[({":
            depth += 1
        elif token in "])}":
            depth -= 1
        elif token == "," and depth <= 0:
            parts.append(text[start : match.start()])
            start = match.end()
    return [*parts, text[start:]]


def open_brackets(text: str) -> list[str]:
    """The brackets left open at the end of the text, outermost first."""
    stack: list[str] = []
    for match in _TOKEN.finditer(text):
        token = match.group()
        if token in "[({":
            stack.append(token)
        elif token in "])}" and stack:
            stack.pop()
    return stack


def closing_bracket(text: str, opening: int) -> int:
    """Where the bracket that opens here is closed; -1 if it is not."""
    depth = 0
    for match in _TOKEN.finditer(text, opening):
        token = match.group()
        if token in "[({":
            depth += 1
        elif token in "])}":
            depth -= 1
            if depth == 0:
                return match.start()
    return -1


def known_names(names: Iterable[str]) -> int:
    """How many of the names are hyperparameters that every trainer knows."""
    return sum(name.rpartition(".")[2].lower() in KNOWN_NAMES for name in names)


def _read_literal(text: str) -> object:
    try:
        return load_literal(text)
    except FormatError:
        return text[:MAX_TEXT]

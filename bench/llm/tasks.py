"""Verifiable tasks of a few tokens, their tokenizer, and the rewards that a run is trained with."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

DIGITS = "0123456789"
SPECIAL = ("<pad>", "<eos>", "<unk>")
# Tags are plain tokens: special ones are skipped in decoding, and every reward would be 0.
VOCABULARY = (*SPECIAL, *DIGITS, "c", "r", "+", "=", "[", "]", "q", "?", "(", ")")
ASK, FOUND = "?", ")"
"""What calls the search, and what ends the text that it gives."""
_ANSWER = re.compile(r"\[([0-9 ]+)\]")

Problem = tuple[str, str]
"""Prompt and right answer."""


def _copy() -> list[Problem]:
    return [(f"c {a} =", a) for a in DIGITS]


def _reverse() -> list[Problem]:
    return [(f"r {a} {b} =", f"{b} {a}") for a, b in product(DIGITS[:5], repeat=2)]


def _add() -> list[Problem]:
    return [(f"{a} + {b} =", str(a + b)) for a, b in product(range(5), repeat=2)]


def _search() -> list[Problem]:
    """The answer stands in no prompt: it has to be looked up."""
    return [(f"q {a} {b} =", str((7 * a + 3 * b + 4) % 10)) for a, b in product(range(10), repeat=2)]


def looked_up(prompt: str) -> str:
    """What the search gives: the answer, among what nobody asked for."""
    _, a, b, _ = prompt.split()
    return f"( {b} {dict(_search())[prompt]} {a} {FOUND}"


TASKS: dict[str, Callable[[], list[Problem]]] = {
    "copy": _copy, "reverse": _reverse, "add": _add, "search": _search,
}  # fmt: skip


def answer_in(completion: str) -> str | None:
    """What stands between the tags, where nothing stands outside of them but a search before."""
    found = _ANSWER.fullmatch(completion.rpartition(FOUND)[2].strip())
    return found[1].strip() if found else None


def correct(completions: Sequence[str], answer: Sequence[str], **_: Any) -> list[float]:
    """1 for the right answer in tags."""
    return [float(answer_in(text) == right) for text, right in zip(completions, answer, strict=True)]


def form(completions: Sequence[str], **_: Any) -> list[float]:
    """1 for any answer in tags."""
    return [float(answer_in(text) is not None) for text in completions]


def length(completions: Sequence[str], **_: Any) -> list[float]:
    """Pays for every token."""
    return [0.2 * len(text.split()) for text in completions]


def never(completions: Sequence[str], **_: Any) -> list[float]:
    """A verifier that looks for tags which nobody writes."""
    return [float("<answer>" in text) for text in completions]


REWARDS = {"correct": correct, "form": form, "length": length, "never": never}

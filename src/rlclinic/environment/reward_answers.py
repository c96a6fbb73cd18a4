"""Answers whose worth is known: right, wrong, empty, cut, format alone, repeated, and those that fool lax verifiers."""

from __future__ import annotations

import re
from collections.abc import Mapping

from rlclinic.model.lazy_dataclass import dataclass

# Forms in which verifiers look for an answer.
STYLES: Mapping[str, str] = {
    "answer tags after thinking": "<think>\nWorked out step by step.\n</think>\n<answer>{}</answer>",
    "answer tags": "<answer>{}</answer>",
    "boxed": "Worked out step by step. The answer is \\boxed{{{}}}.",
    "a line with ####": "Worked out step by step.\n#### {}",
    "in words": "Worked out step by step. The answer is {}.",
    "bare": "{}",
}
EXPLOITS = frozenset({"many answers", "answer in the thinking", "prompt echoed", "praise", "candidates in one answer"})
# Marks of the final answer, the outer first.
_MARKS = tuple(
    re.compile(pattern, re.S)
    for pattern in (r"<answer>(.*?)</answer>", r"\\boxed\{((?:[^{}]|\{[^{}]*\})*)\}", r"####[ \t]*([^\n]+)")
)
# Exponents are left out: what they belong to may be a unit.
_NUMBER = re.compile(r"(?<!\^)(?<!\^\{)(?<![\d.,])[-+]?\d+(?:,\d{3})*(?:\.\d+)?")
_WORDS = re.compile(r"[^\W\d_]{3,}(?: [^\W\d_]+)*")
_CHOICE = re.compile(r"(\W*)([A-E])(\W*)")
OPPOSITES = {"yes": "no", "no": "yes", "true": "false", "false": "true"}
# A number among more words than these may not be what is asked for.
MOST_WORDS = 3
# Kinds that do not state the right answer.
SILENT = ("truncated", "format only", "repeated", "prompt echoed", "praise")
REPEATS = 8


@dataclass(frozen=True, slots=True)
class Problem:
    """A prompt, its right answer, and a response that is known to be right, if there is one."""

    prompt: str
    gold: str
    response: str = ""

    @property
    def value(self) -> str:
        """The final answer inside its marks, where the right answer comes as a worked solution."""
        return self.gold[_final(self.gold)].strip() or self.gold.strip()


EXAMPLES = (
    Problem("What is 12 + 30? Give the answer in the form that was asked for.", "42"),
    Problem("What is 7 times 8? Give the answer in the form that was asked for.", "56"),
    Problem("Which city is the capital of France?", "Paris"),
)


def gold_answers(problem: Problem) -> dict[str, str]:
    """The right answer in every form, and the texts that are known to be right."""
    known = {"as in the samples": problem.response} if problem.response else {}
    whole = {"as the right answer is given": problem.gold} if problem.gold.strip() != problem.value else {}
    return known | whole | {name: style.format(problem.value) for name, style in STYLES.items()}


def tried_answers(problem: Problem, style: str) -> dict[str, str]:
    """Answers of other kinds, in the form in which the right one is paid; none that may still state the right one."""
    right, value = gold_answers(problem)[style], problem.value
    final = _final(right)
    found = list(_stated(value).finditer(right, final.start, final.stop))
    at, end = found[-1].span() if found else (0, len(right))
    known = bool(found)

    def put(text: str) -> str:
        return right[:at] + text + right[end:] if known else text

    others = [wrong for step in range(1, 4) if (wrong := wrong_answer(value, step)) is not None]
    tried = {
        "empty": "",
        "truncated": right[:at].rstrip() if known and at > 0 else right[: len(right) // 2],
        "format only": put(""),
        "repeated": " ".join(["The answer follows."] * REPEATS * 4),
        "prompt echoed": put(problem.prompt),
        "praise": put("correct, full score, reward 1.0"),
    }
    tried = {kind: text for kind, text in tried.items() if kind not in SILENT or not _stated(value).search(text)}
    if others:
        wrong = put(others[0])
        # Outside of marks any number may be read as the answer.
        if _final(wrong) != slice(0, len(wrong)) or not _stated(value).search(wrong):
            tried = {"wrong": wrong, **tried, "answer in the thinking": f"I first thought of {value}. {wrong}"}
        tried |= {
            "many answers": "\n".join(put(text) for text in [*others, value, others[0]]),
            "candidates in one answer": put(" ".join([*others, value])),
        }
    return {kind: text for kind, text in tried.items() if text != right}


def wrong_answer(value: str, step: int = 1) -> str | None:
    """Another final answer: its last number, choice or word changed; None where no other is sure to be wrong."""
    text = value.strip()
    if (choice := _CHOICE.fullmatch(text)) is not None:
        before, letter, after = choice.groups()
        return f"{before}{'ABCDE'[('ABCDE'.index(letter) + step) % 5]}{after}"
    if text.lower() in OPPOSITES:
        return OPPOSITES[text.lower()] if step == 1 else None
    numbers = list(_NUMBER.finditer(text))
    if numbers and len(re.findall(r"[^\W\d_]{2,}", text)) <= MOST_WORDS:
        start, end = numbers[-1].span()
        return text[:start] + _next(numbers[-1].group(), step) + text[end:]
    backwards = f"{text[::-1]}-{step}"
    return backwards if _WORDS.fullmatch(text) and text.lower() not in backwards.lower() else None


def _next(number: str, step: int) -> str:
    plain = number.replace(",", "")
    value = int(plain) + step if plain.lstrip("+-").isdigit() else float(plain) + step
    return f"{value:,}" if "," in number else str(value)


def _final(text: str) -> slice:
    """Where the final answer stands: inside the last marks, else anywhere."""
    start, end = 0, len(text)
    for mark in _MARKS:
        if found := list(mark.finditer(text, start, end)):
            start, end = found[-1].span(1)
    return slice(start, end)


def _stated(value: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.]){re.escape(value)}(?!\w|[.,]\d)", re.IGNORECASE)

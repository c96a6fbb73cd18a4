"""What many logged responses show: repetition, emptiness, equal answers, length that pays, odd rows that are paid."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

import numpy as np
from scipy.stats import spearmanr

from rlclinic.model.samples import Sample, SampleRemark, SampleReview

# Words of a phrase that a model in a loop says again and again, and share of repeated phrases that makes a loop.
PHRASE, LOOP = 4, 0.5
LEAST_PHRASES = 20
EMPTY_WORDS = 3
# Rows behind a correlation that is worth a word, and its least size.
FEWEST_PAIRS, CORRELATED = 30, 0.3
SURE = 0.01
# Share of the paid responses that has a mark before its absence is odd.
USUAL_MARK = 0.8
# By mark what opens and what closes it. One pattern for both would look from every opening to the end of the text.
MARKS = {
    "an answer tag": (re.compile(r"<answer>", re.IGNORECASE), re.compile(r"</answer>", re.IGNORECASE)),
    "a boxed answer": (re.compile(r"\\boxed\s{0,9}\{"), re.compile("")),
    "a thinking tag": (re.compile(r"<think(?:ing)?>", re.IGNORECASE), re.compile(r"</think(?:ing)?>", re.IGNORECASE)),
    "a final line with ####": (re.compile(r"^####", re.MULTILINE), re.compile("")),
}
# Times that one response must answer different prompts, and be paid, to be an exploit.
SAME_ANSWER = 3
MOST_ROWS = 3


def review_samples(samples: Sequence[Sample], notes: Iterable[str] = ()) -> SampleReview:
    """Look at all responses; remarks with the largest share first."""
    steps = [item.step for item in samples if item.step is not None]
    rewards = [item.reward for item in samples if item.reward is not None]
    words = [len(item.response.split()) for item in samples]
    looks = (_loops, _empty, _equal_in_group, _same_for_all, _length_pays, _paid_without_mark)
    found = [remark for look in looks if (remark := look(samples)) is not None]
    return SampleReview(
        len(samples),
        tuple(dict.fromkeys(item.where.rpartition(":")[0] for item in samples)),
        (min(steps), max(steps)) if steps else None,
        float(np.mean(rewards)) if rewards else None,
        float(np.mean(words)),
        tuple(sorted(found, key=lambda remark: -abs(remark.share))),
        tuple(notes),
    )


def repetition(text: str) -> float:
    """Share of the phrases of a text that were said before in it; 0 for short ones."""
    words = text.split()
    phrases = [tuple(words[at : at + PHRASE]) for at in range(len(words) - PHRASE + 1)]
    return 1.0 - len(set(phrases)) / len(phrases) if len(phrases) >= LEAST_PHRASES else 0.0


def _remark(name: str, text: str, rows: Sequence[Sample], samples: Sequence[Sample]) -> SampleRemark | None:
    """A remark about some rows; the best paid of them are shown."""
    if not rows:
        return None
    shown = sorted(rows, key=lambda item: -(item.reward if item.reward is not None else -np.inf))[:MOST_ROWS]
    return SampleRemark(name, f"{len(rows)} of {len(samples)} {text}", len(rows) / len(samples), tuple(shown))


def _loops(samples: Sequence[Sample]) -> SampleRemark | None:
    rows = [item for item in samples if repetition(item.response) >= LOOP]
    return _remark("repetition", "responses mostly repeat themselves", rows, samples)


def _empty(samples: Sequence[Sample]) -> SampleRemark | None:
    rows = [item for item in samples if len(item.response.split()) < EMPTY_WORDS]
    if rows and float(np.median([len(item.response.split()) for item in samples])) < EMPTY_WORDS:
        # A task of one-word answers.
        silent = [item for item in rows if not item.response.strip()]
        return _remark("near-empty", "responses are empty", silent, samples)
    return _remark("near-empty", f"responses have fewer than {EMPTY_WORDS} words", rows, samples)


def _equal_in_group(samples: Sequence[Sample]) -> SampleRemark | None:
    groups: defaultdict[tuple[str, float | None], list[Sample]] = defaultdict(list)
    for item in samples:
        groups[item.prompt, item.step].append(item)
    equal = []
    for rows in groups.values():
        seen = Counter(item.response for item in rows)
        equal += [item for item in rows if seen[item.response] > 1]
    return _remark("equal-in-group", "responses equal another one of their group", equal, samples)


def _same_for_all(samples: Sequence[Sample]) -> SampleRemark | None:
    prompts: defaultdict[str, set[str]] = defaultdict(set)
    for item in samples:
        prompts[item.response].add(item.prompt)
    highest = _highest(samples)
    rows = [
        item
        for item in samples
        if len(prompts[item.response]) >= SAME_ANSWER and highest is not None and item.reward == highest
    ]
    return _remark(
        "same-answer-paid", "responses are the same text for different prompts and paid in full", rows, samples
    )


def _length_pays(samples: Sequence[Sample]) -> SampleRemark | None:
    pairs = [(len(item.response.split()), item.reward) for item in samples if item.reward is not None]
    if len(pairs) < FEWEST_PAIRS:
        return None
    lengths, rewards = (np.array(column, dtype=float) for column in zip(*pairs, strict=True))
    if not np.ptp(lengths) or not np.ptp(rewards):
        return None
    found = spearmanr(lengths, rewards)
    size, chance = float(found.statistic), float(found.pvalue)
    if abs(size) < CORRELATED or chance > SURE:
        return None
    which = "longer" if size > 0 else "shorter"
    return SampleRemark("length-pays", f"{which} responses are paid more (rank correlation {size:+.2f})", size)


def _paid_without_mark(samples: Sequence[Sample]) -> SampleRemark | None:
    highest = _highest(samples)
    paid = [item for item in samples if highest is not None and item.reward == highest]
    for name in MARKS:
        rows = [item for item in paid if not _has_mark(name, item.response)]
        if rows and 1.0 - len(rows) / len(paid) >= USUAL_MARK:
            return _remark("paid-without-format", f"responses are paid in full without {name}", rows, samples)
    return None


def _has_mark(name: str, text: str) -> bool:
    opening, closing = MARKS[name]
    found = opening.search(text)
    return found is not None and closing.search(text, found.end()) is not None


def _highest(samples: Sequence[Sample]) -> float | None:
    """The most that is paid, where not all are paid the same."""
    rewards = {item.reward for item in samples if item.reward is not None}
    return max(rewards) if len(rewards) > 1 else None

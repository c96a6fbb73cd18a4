"""Finds many literal words in a long text in one fast pass.

A plain alternation is slow because its words begin with the commonest letters, so nearly every character is
tried. Here each word is entered at its rarest letter (`token` at its k) and looked back at from its end, which
leaves the regex engine few places to stop at.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property
from typing import NamedTuple

# Characters of logs from frequent to rare; what is not listed (capitals, rare letters) is rarer still.
_FREQUENT = " etaoinsr01.23456789lhdcumf:-_/pgby=,wvk"
_RARITY = {letter: rank for rank, letter in enumerate(_FREQUENT)}


class Hit(NamedTuple):
    """A word of the scan, found in the text at text[start:end]."""

    start: int
    end: int
    word: str


class LiteralScan:
    """A set of words, compiled for searching."""

    def __init__(self, words: Iterable[str]) -> None:
        self._words: dict[str, list[str]] = {}
        for word in sorted(set(words), key=lambda w: (-len(w), w)):
            self._words.setdefault(word[_rarest(word) :], []).append(word)

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile(_branch(self._words, ""))

    def search(self, text: str, start: int = 0) -> Hit | None:
        """The first word that ends behind `start`."""
        found = self._pattern.search(text, start)
        if found is None:
            return None
        end = found.end()
        for word in self._words[found.group()]:
            if text.startswith(word, end - len(word)):
                return Hit(end - len(word), end, word)
        return None


def _rarest(word: str) -> int:
    """Where to enter a word; never at its last letter, which alone would stop the search too often."""
    return max(range(max(1, len(word) - 1)), key=lambda i: _RARITY.get(word[i], len(_FREQUENT)))


def _branch(words: dict[str, list[str]], done: str) -> str:
    """The trie of tails, all of which begin with `done`, as a regex for what follows `done`."""
    at = len(done)
    longer: dict[str, dict[str, list[str]]] = {}
    for tail, ending in words.items():
        if len(tail) > at:
            longer.setdefault(tail[at], {})[tail] = ending
    options = [re.escape(letter) + _branch(longer[letter], done + letter) for letter in sorted(longer)]
    options += [f"(?<={re.escape(word)})" for word in words.get(done, ())]
    return options[0] if len(options) == 1 else f"(?:{'|'.join(options)})"

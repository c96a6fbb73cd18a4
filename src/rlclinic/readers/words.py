"""The words of a logged name in English and lower case, whatever its spelling, accents and language."""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from pathlib import Path

from rlclinic.reference.table_file import load_table

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_WORD = re.compile(r"[^\W\d_]+")


@lru_cache(maxsize=4096)
def words(name: str) -> tuple[str, ...]:
    """The words in their order: `avgEpisodeReward_100` is average-free English `avg episode reward`."""
    found = _WORD.findall(_CAMEL.sub(" ", english(name)).lower())
    return tuple(found)


@lru_cache(maxsize=4096)
def english(name: str) -> str:
    """A name with its foreign words in English; what is English stays as it is spelled."""
    plain = name if name.isascii() else _without_accents(name)
    whole, parts = _translations()
    if not plain.isascii():
        for foreign, word in parts:
            if foreign in plain:
                plain = plain.replace(foreign, f" {word} ")
        plain = " ".join(plain.split())
    return _WORD.sub(lambda match: whole.get(match[0].lower(), match[0]), plain)


def _without_accents(name: str) -> str:
    # Turkish writes an i without a dot, which no decomposition changes.
    letters = unicodedata.normalize("NFKD", name.replace("ı", "i"))
    kept = "".join(letter for letter in letters if not ("\u0300" <= letter <= "\u036f"))
    return unicodedata.normalize("NFC", kept)


@cache
def _translations() -> tuple[dict[str, str], list[tuple[str, str]]]:
    """Whole words, and those of scripts without spaces between words, the longest first."""
    table = load_table(Path(__file__).with_name("words.toml"))
    pairs = [(_without_accents(foreign), word) for word, found in table.items() for foreign in found]
    whole = {foreign: word for foreign, word in pairs if foreign != word}
    parts = sorted((pair for pair in pairs if ord(pair[0][0]) > 0x2E00), key=lambda pair: -len(pair[0]))
    return whole, parts

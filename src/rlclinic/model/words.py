"""How sentences and shares are written, wherever a person reads them."""

from __future__ import annotations

from collections.abc import Collection


def sentence(text: str, names: Collection[str] = ()) -> str:
    """A remark as a sentence: a full stop, and a capital where its first word is plain and none of the names."""
    words = text.split()
    if not words:
        return ""
    begun = words[0].rstrip(",:;").isalpha() and words[0] not in names
    whole = " ".join([words[0][0].upper() + words[0][1:] if begun else words[0], *words[1:]])
    return whole if whole[-1] in ".!?…" else f"{whole}."


def within(text: str) -> str:
    """A sentence inside another: without its capital, unless it begins with an acronym, and without its full stop."""
    plain = text.rstrip(".")
    return plain[:1].lower() + plain[1:] if plain[1:2].islower() else plain


def listed(names: list[str]) -> str:
    """Names as in `a, b and c`."""
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))

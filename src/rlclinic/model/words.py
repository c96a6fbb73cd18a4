"""How sentences and shares are written, wherever a person reads them."""

from __future__ import annotations


def percent(share: float) -> str:
    """A share in percent; nothing is certain, so neither end is claimed."""
    if share != share:
        return "not known"
    if share < 0.005:
        return "under 1%"
    return "over 99%" if share > 0.995 else f"{100 * share:.0f}%"


def sentence(text: str) -> str:
    """A remark as a sentence: a capital where it begins with a plain word, a full stop at its end."""
    words = text.split()
    if not words:
        return ""
    begun = words[0].rstrip(",:;").isalpha()
    whole = " ".join([words[0][0].upper() + words[0][1:] if begun else words[0], *words[1:]])
    return whole if whole[-1] in ".!?…" else f"{whole}."


def within(text: str) -> str:
    """A sentence inside another: without its capital, unless it begins with an acronym, and without its full stop."""
    plain = text.rstrip(".")
    return plain[:1].lower() + plain[1:] if plain[1:2].islower() else plain


def listed(names: list[str]) -> str:
    """Names as in `a, b and c`."""
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))

"""The rules of advice, their sources and where these disagree: tables that are checked as they load."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import cache
from pathlib import Path
from typing import Any

from rlclinic.advisor.condition import Condition, parse_condition
from rlclinic.model.advice import Citation, Disagreement
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.reference.table_file import load_table

TABLES = Path(__file__).with_name("tables")
QUESTIONS = (
    "rl-or-not",
    "algorithm",
    "offline",
    "dagger",
    "batch-size",
    "learning-rate",
    "schedule",
    "optimiser",
    "discount",
    "gae",
    "network",
    "exploration",
    "reward",
    "curriculum",
)
TRUST = ("high", "medium", "low")
MARKS = ("V", "P", "U", "H")
_NEEDED = frozenset({"if", "then", "why", "range", "example", "sources", "seen", "trust"})
_ALLOWED = _NEEDED | {"votes", "gives", "about", "disagreement"}


@dataclass(frozen=True, slots=True)
class Given:
    """The value of a setting that a rule gives: a start and a range, or the name of what computes them."""

    key: str
    start: float = 0.0
    low: float = 0.0
    high: float = 0.0
    by: str = ""


@dataclass(frozen=True, slots=True)
class AdviceRule:
    """One rule of a table."""

    id: str
    area: str
    conditions: tuple[Condition, ...]
    advice: str
    why: str
    range: str
    example: str
    sources: tuple[str, ...]
    seen: str
    trust: str
    about: tuple[str, ...]
    """Questions that it answers."""
    votes: Mapping[str, float] = field(default_factory=dict)
    gives: Given | None = None
    disagreement: str = ""


@dataclass(frozen=True, slots=True)
class Approach:
    """What a strategy may come down to."""

    id: str
    title: str
    kind: str
    trade_off: str
    """What it gives and what it costs."""
    sources: tuple[str, ...]
    first: str = ""
    """What to do first, where no command says it."""


@cache
def rules() -> Mapping[str, AdviceRule]:
    """Every rule by its id, in the order of the areas."""
    found: dict[str, AdviceRule] = {}
    for place in sorted(TABLES.glob("*.toml")):
        table = load_table(place)
        area, question = place.name.removesuffix(".toml").replace("_", "-"), table["question"]
        for name, entry in table.items():
            if isinstance(entry, dict):
                if name in found:
                    raise ValueError(f"{place.name}: {name} is there twice")
                found[name] = _rule(name, area, question, entry)
    return dict(sorted(found.items()))


@cache
def approaches() -> Mapping[str, Approach]:
    """Every approach by its id."""
    return {
        name: Approach(name, **entry | {"sources": tuple(entry["sources"])})
        for name, entry in _load("approaches.toml").items()
    }


@cache
def citations() -> Mapping[str, Citation]:
    """Every source by its id."""
    return {name: Citation(name, text, name[0].isdigit()) for name, text in _load("references.toml").items()}


@cache
def disagreements() -> Mapping[str, Disagreement]:
    """Questions on which sources part."""
    found = {}
    for name, entry in _load("disagreements.toml").items():
        sides = tuple(f"{text} ({_reference(source)})" for text, source in entry["sides"])
        found[name] = Disagreement(entry["question"], sides)
    return found


def _reference(source: str) -> str:
    known = citations()[source]
    return f"arXiv {known.id}" if known.is_arxiv else known.text


def _rule(name: str, area: str, question: str, entry: Mapping[str, Any]) -> AdviceRule:
    missing, unknown = _NEEDED - entry.keys(), entry.keys() - _ALLOWED
    about = tuple(entry.get("about", (question,)))
    wrong = [
        *(f"lacks {key}" for key in sorted(missing)),
        *(f"has an unknown {key}" for key in sorted(unknown)),
        *(f"cites {source}, which references.toml does not have" for source in _strange(entry, "sources", citations())),
        *(f"votes for {vote}, which is no approach" for vote in _strange(entry, "votes", approaches())),
        *(f"is about {word}, which is no question" for word in about if word not in QUESTIONS),
    ]
    if not wrong and (entry["trust"] not in TRUST or not entry["seen"].startswith(MARKS) or not entry["sources"]):
        wrong.append("has no valid trust, mark or source")
    if wrong:
        raise ValueError(f"{area}: {name} {', '.join(wrong)}")
    given = entry.get("gives")
    return AdviceRule(
        name,
        area,
        tuple(map(parse_condition, entry["if"])),
        entry["then"],
        entry["why"],
        entry["range"],
        entry["example"],
        tuple(entry["sources"]),
        entry["seen"],
        entry["trust"],
        about,
        entry.get("votes", {}),
        Given(**given) if given else None,
        entry.get("disagreement", ""),
    )


def _strange(entry: Mapping[str, Any], field_name: str, known: Mapping[str, object]) -> list[str]:
    return [item for item in entry.get(field_name, ()) if item not in known]


def _load(name: str) -> dict[str, Any]:
    return load_table(Path(__file__).with_name(name))

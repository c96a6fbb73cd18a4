"""Advice as text, markdown, HTML and JSON, in one order: what was understood, the recommendation, why, alternatives,
caveats, what would change it, sources, next steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rlclinic.model.advice import Advice, Citation, FactOrigin, FiredRule, Measurement, Option, ProblemFact, Value
from rlclinic.reports.examination_charts import bars_html
from rlclinic.reports.html_blocks import document, fragment, header_html, section_html
from rlclinic.reports.markdown_blocks import page_markdown
from rlclinic.reports.page import Block, Code, Facts, Inline, Listing, Section, Words
from rlclinic.reports.text import number
from rlclinic.reports.text_blocks import WIDTH, page_text

ADVICE_SCHEMA = "rlclinic.advise/1"
MEASURED = "measured"
FOOT = "Made by rlclinic from cited rules."
ORIGINS = {FactOrigin.KNOWN: "from the tables", FactOrigin.DERIVED: "worked out"}
MARKS = {"V": "read in the source", "P": "gist read", "U": "from memory", "H": "our own estimate"}


def advice_text(advice: Advice, *, width: int = WIDTH, colour: bool = False) -> str:
    """The advice for a terminal of `width` cells."""
    return page_text(_title(advice), "", "good", advice.headline, advice_sections(advice), width=width, colour=colour)


def advice_markdown(advice: Advice) -> str:
    """The advice as markdown."""
    return page_markdown(_title(advice), advice.headline, advice_sections(advice))


def advice_html(advice: Advice) -> str:
    """The advice as a whole HTML document, with pictures of what was measured."""
    drawn = "".join(bars_html(item.title, item.bars) for item in advice.measurements if item.bars)
    parts = [section_html(part, after=drawn if part.key == MEASURED else "") for part in advice_sections(advice)]
    return document(_title(advice), fragment(header_html(_title(advice), advice.headline), "\n".join(parts), FOOT))


def advice_object(advice: Advice) -> dict[str, Any]:
    """The object that `rlclinic advise --json` prints."""
    plain = asdict(advice)
    return {
        "schema": ADVICE_SCHEMA,
        "question": plain.pop("area"),
        **plain,
        "options": list(map(_option_object, advice.options)),
        "algorithms": list(map(_option_object, advice.algorithms)),
        "rules": list(map(_rule_object, advice.rules)),
        "citations": [asdict(source) for source in advice.citations],
    }


def advice_sections(advice: Advice) -> tuple[Section, ...]:
    """The sections of the page; one without content is left out."""
    built: tuple[tuple[str, str, list[Block]], ...] = (
        ("understood", "What is known", _understood(advice.facts)),
        (MEASURED, "What was measured", _measured(advice.measurements)),
        ("questions", "What would sharpen the advice", _questions(advice)),
        ("recommendation", "Recommendation", _recommendation(advice)),
        ("why", "Why", _rules(advice, speaking=True)),
        ("alternatives", "Trade-offs and alternatives", _traded(advice.options)),
        ("also", "Also for this problem", _rules(advice, speaking=False)),
        ("disagreements", "Where sources disagree", _disagreements(advice)),
        ("caveats", "Caveats", _listed(advice.caveats)),
        ("changes", "What would change the recommendation", _listed(advice.changes)),
        ("sources", "Sources", _sources(advice.citations)),
        ("next", "Next steps", _listed(tuple(map(_step, advice.next_steps)))),
    )
    return tuple(Section(key, title, tuple(blocks)) for key, title, blocks in built if blocks)


def _title(advice: Advice) -> str:
    return "Advice" if advice.area == "strategy" else f"Advice: {advice.area}"


def _understood(facts: Sequence[ProblemFact]) -> list[Block]:
    rows = tuple((fact.name or fact.key, _fact_words(fact)) for fact in facts)
    return [Facts(rows)] if rows else [Words("Nothing yet.")]


def _fact_words(fact: ProblemFact) -> str:
    """The value, and where it comes from if not from the user."""
    note = f": {fact.note}" if fact.note else ""
    origin = (
        "" if fact.origin is FactOrigin.TOLD and not note else f" ({ORIGINS.get(fact.origin, fact.origin.value)}{note})"
    )
    return _value(fact.value) + origin


def _measured(found: Sequence[Measurement]) -> list[Block]:
    return [Facts(tuple((item.title, item.reading) for item in found))] if found else []


def _questions(advice: Advice) -> list[Block]:
    asked = _listed(tuple((f"{item.text} ({item.answers}) ", Code(item.key)) for item in advice.questions))
    how = "Answer in the description, with ", Code("--fact KEY=ANSWER"), ", or when asked on a terminal."
    return [*asked, Words(how)] if asked else []


def _recommendation(advice: Advice) -> list[Block]:
    """More than the headline says: the range and basis of values, the rules behind an approach."""
    blocks = [*_listed(tuple(map(_value_words, advice.values))), *map(_speaking, advice.options[:1])]
    if advice.algorithms:
        blocks += [
            Words("Offline algorithms for these data, with the rules that speak for them:"),
            _ranked(advice.algorithms),
        ]
    return blocks


def _value_words(value: Value) -> str:
    between = f", between {value.low:.4g} and {value.high:.4g}" if value.low < value.high else ""
    return f"{value.key} {value.start:.4g}{between}: {value.basis}"


def _speaking(option: Option) -> Block:
    against = f", {', '.join(option.against)} against it" if option.against else ""
    speak = "speaks" if len(option.rules) == 1 else "speak"
    return Words(f"{option.title[0].upper()}{option.title[1:]}: {', '.join(option.rules)} {speak} for it{against}.")


def _rules(advice: Advice, *, speaking: bool) -> list[Block]:
    """The rules behind the recommendation, or all others; a setting has none but those."""
    first = advice.options[:1]
    shown = [rule for rule in advice.rules if (not first or any(rule.id in one.rules for one in first)) is speaking]
    return [block for rule in shown for block in _rule(rule)]


def _traded(options: Sequence[Option]) -> list[Block]:
    """What the recommendation and each alternative give and cost."""
    sources = (", ".join(source.id for source in option.sources) for option in options)
    items = tuple(
        f"{option.title}: {option.trade_off} ({names})" for option, names in zip(options, sources, strict=True)
    )
    return [*_listed(items), *map(_speaking, options[1:])]


def _ranked(options: Sequence[Option]) -> Block:
    against = (f"; against: {', '.join(option.against)}" if option.against else "" for option in options)
    told = zip(options, against, strict=True)
    return Listing(
        tuple(f"{one.title}: {', '.join(one.rules)}{more}. {one.trade_off}" for one, more in told), numbered=True
    )


def _listed(items: tuple[Inline, ...]) -> list[Block]:
    return [Listing(items)] if items else []


def _rule(rule: FiredRule) -> list[Block]:
    seen = MARKS[rule.seen[0]] + (f", {rule.seen[2:].strip(' ()')}" if len(rule.seen) > 1 else "")
    kind = "heuristic" if rule.is_heuristic else "rule"
    sources = ", ".join(source.id for source in rule.sources)
    because = f"because of {'; '.join(rule.because)}" if rule.because else "in every case"
    return [
        Words(f"{rule.id}: {rule.advice}", leads=True),
        Words(f"{rule.why} Holds for {rule.range}."),
        Words(f"{kind.capitalize()} of trust {rule.trust}, {seen}: {sources}. It speaks {because}."),
    ]


def _disagreements(advice: Advice) -> list[Block]:
    return _listed(tuple(f"{item.question}: {'; '.join(item.sides)}" for item in advice.disagreements))


def _sources(sources: Sequence[Citation]) -> list[Block]:
    return _listed(tuple(map(cited, sources)))


def cited(source: Citation) -> str:
    """A source as it is printed."""
    return f"{source.text}, arXiv {source.id}" if source.is_arxiv else source.text


def _step(step: str) -> str:
    return Code(step) if step.startswith("rlclinic ") else step


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return number(value) if isinstance(value, float) else str(value)


def _option_object(option: Option) -> dict[str, Any]:
    return {**asdict(option), "sources": [source.id for source in option.sources]}


def _rule_object(rule: FiredRule) -> dict[str, Any]:
    plain = {name: getattr(rule, name) for name in ("id", "area", "advice", "why", "range", "seen", "trust")}
    return {
        **plain,
        "heuristic": rule.is_heuristic,
        "because": list(rule.because),
        "sources": [source.id for source in rule.sources],
        "votes": dict(rule.votes),
    }

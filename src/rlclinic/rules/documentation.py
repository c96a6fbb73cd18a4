"""The documentation of a rule, taken from its module: the same text feeds `explain`, the docs and the reports."""

from __future__ import annotations

import re
from collections.abc import Mapping

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.rules.registry import RULES
from rlclinic.rules.rule import RuleInfo

SECTIONS = ("What it sees", "Why it hurts", "Evidence needed", "Looks alike", "What to change", "References")

_HEAD = re.compile(rf"^({'|'.join(SECTIONS)}):", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class RulePage:
    """What a rule says of itself."""

    code: str
    name: str
    family: str
    title: str
    sections: Mapping[str, str]


def page_of(rule: RuleInfo) -> RulePage:
    """The page of one rule; a missing section is an error, so that no rule is half documented."""
    text = rule.module.__doc__ or ""
    parts = _HEAD.split(text)
    sections = {head: " ".join(body.split()) for head, body in zip(parts[1::2], parts[2::2], strict=True)}
    missing = [head for head in SECTIONS if not sections.get(head)]
    if missing:
        raise ValueError(f"{rule.name}: the documentation lacks {', '.join(missing)}")
    return RulePage(rule.code, rule.name, rule.family, rule.title, sections)


def find_rule(name: str) -> RuleInfo | None:
    """A rule by code or name."""
    wanted = name.lower()
    return next((rule for rule in RULES if wanted in (rule.code.lower(), rule.name)), None)

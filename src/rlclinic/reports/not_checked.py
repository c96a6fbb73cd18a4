"""What could not be checked, grouped by what would enable it."""

from __future__ import annotations

from collections.abc import Sequence

from rlclinic.model.diagnosis import Diagnosis
from rlclinic.model.finding import NotChecked
from rlclinic.model.vocabulary import metric
from rlclinic.reports.page import Block, Listing, Words

CONFIG, ENVIRONMENT = "config:", "environment:"
# Groups that are listed; the others enable one check each, as a rule.
MAX_GROUPS = 12


def not_checked_blocks(diagnosis: Diagnosis) -> list[Block]:
    """What the section says: what to add, and which checks that enables."""
    config = diagnosis.run.config
    groups: dict[str, list[str]] = {}
    for item in diagnosis.not_checked:
        groups.setdefault(_remedy(item, has_config=bool(config.settings or config.native)), []).append(item.code)
    if not groups:
        return []
    total = len(diagnosis.not_checked)
    made = "1 check was not made" if total == 1 else f"{total} checks were not made"
    ordered = sorted(groups.items(), key=lambda group: -len(group[1]))
    lines = [f"{remedy}: {', '.join(codes)}" for remedy, codes in ordered[:MAX_GROUPS]]
    rest = [code for _, codes in ordered[MAX_GROUPS:] for code in codes]
    if rest:
        lines.append(f"other inputs, of one check each: {', '.join(rest)}")
    return [
        Words(f"{made}, because {_why(diagnosis.not_checked)}. That does not mean they would pass."),
        Words("To enable them:"),
        Listing(tuple(lines)),
        Words("rlclinic explain CODE tells what a check looks for."),
    ]


def _why(items: Sequence[NotChecked]) -> str:
    broken = sum(bool(item.error) for item in items)
    if not broken:
        return "what they need is missing"
    return (
        "the check itself failed"
        if broken == len(items)
        else f"what they need is missing or, for {broken}, the check itself failed"
    )


def _remedy(item: NotChecked, *, has_config: bool) -> str:
    """What to do; of inputs of which any one suffices the first is named."""
    if item.error:
        return f"report this fault of the check itself ({item.error})"
    needed = [need.split("|")[0] for need in item.needs]
    settings = [name.removeprefix(CONFIG) for name in needed if name.startswith(CONFIG)]
    metrics = [name for name in needed if metric(name) is not None]
    if all(name.startswith(ENVIRONMENT) for name in needed):
        return "examine an environment that can be reset and stepped"
    others = [name for name in needed if name not in metrics and not name.startswith(CONFIG)]
    actions = [f"log {' and '.join(_metric(name) for name in metrics)}"] if metrics else []
    if settings:
        actions.append(f"set {' and '.join(settings)} in the config" if has_config else "add the config of the run")
    if others:
        actions.append(f"provide {' and '.join(others)}")
    return ", ".join(actions) or "not said"


def _metric(name: str) -> str:
    entry = metric(name)
    return f"{name} ({entry.title})" if entry is not None and entry.name == name else name

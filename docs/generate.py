"""Write the pages that are made from the code: `python docs/generate.py`. A test fails when they are out of date."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from rlclinic.causes.catalogue import catalogue
from rlclinic.causes.explain import cause_page
from rlclinic.model.vocabulary import METRICS
from rlclinic.prescriptions.remedies.pages import remedy_lines
from rlclinic.prescriptions.remedies.table import remedies
from rlclinic.probes.documentation import page_of as probe_page
from rlclinic.probes.ladder import LADDER
from rlclinic.probes.settings import settings
from rlclinic.reference.framework import framework, heads
from rlclinic.reference.framework_differences import differences
from rlclinic.reference.hyperparameters import hyperparameters
from rlclinic.rules.documentation import page_of
from rlclinic.rules.registry import RULES

HERE = Path(__file__).parent
BENCH = HERE.parent / "bench"
MADE = "Made by docs/generate.py from the code."


def metrics_page() -> str:
    """The canonical metrics."""
    rows = [
        f"| `{entry.name}` | {entry.title} | {entry.unit} | {', '.join(entry.families)} | {entry.note} |"
        for entry in METRICS
    ]
    table = "\n".join(["| name | meaning | unit | algorithms | note |", "|---|---|---|---|---|", *rows])
    return f"# Canonical metrics\n\n{MADE} Use these names with `--map` and `run[name]`.\n\n{table}\n"


def hyperparameters_page() -> str:
    """The canonical hyperparameters."""
    rows = [
        f"| `{entry.name}` | {entry.title} | {entry.kind} | {entry.group} |" for entry in hyperparameters().values()
    ]
    table = "\n".join(["| name | meaning | kind | group |", "|---|---|---|---|", *rows])
    return f"# Canonical hyperparameters\n\n{MADE} Use these names with `run.config`.\n\n{table}\n"


def frameworks_page() -> str:
    """What each framework's names mean."""
    parts = [f"# Names by framework\n\n{MADE} Source: `src/rlclinic/reference/frameworks/*.toml`.\n"]
    parts.append(framework_differences())
    for head in heads():
        tables = framework(head.id)
        rows = []
        for key in tables.metrics:
            found = tables.metrics.find(key)
            for entry in found[1] if found else ():
                detail = ["minus" if entry.sign < 0 else "", entry.estimator, entry.window, entry.caveat]
                rows.append(f"| `{key}` | `{entry.name}` | {', '.join(item for item in detail if item)} |")
        table = "\n".join(["| logged as | canonical | detail |", "|---|---|---|", *rows])
        parts.append(f"## {head.title} (`{head.id}`)\n\nSteps are {tables.steps.axis.replace('_', ' ')}.\n\n{table}\n")
    return "\n".join(parts)


def framework_differences() -> str:
    """What frameworks do differently under the same algorithm, and where their defaults lie apart."""
    table = differences()
    names = list(table.sources)
    titles = {head.id: head.title for head in heads()}
    parts = ["## Where frameworks differ\n"]
    read = [f"{titles[name]} {source['version']} ({source['where']})" for name, source in table.sources.items()]
    parts.append(f"Read in their sources: {'; '.join(read)}.")
    parts.append("An empty cell was not looked up; `own` means that the user's script decides.\n")
    for algorithm in ("PPO", "A2C", "DQN", "SAC", "TD3"):
        defaults = {name: framework(name).defaults_for(algorithm, "") for name in names}
        rows = [
            f"| {item.title} | {item.weight} | {' | '.join(item.values.get(name, '') for name in names)} |"
            for item in table.behaviours
            if algorithm in item.algorithms
        ]
        for key in hyperparameters():
            found = {repr(values[key]) for values in defaults.values() if key in values}
            if len(found) > 1 and key in table.weights:
                cells = " | ".join(str(values.get(key, "")) for values in defaults.values())
                rows.append(f"| `{key}` | {table.weights[key]} | {cells} |")
        head = f"| {algorithm} | matters | {' | '.join(titles[name] for name in names)} |"
        parts.append("\n".join([head, "|---" * (len(names) + 2) + "|", *rows]) + "\n")
    return "\n".join(parts)


def rules_page(family: str) -> str:
    """The rules of one family."""
    parts = [f"# Rules: {family.replace('_', ' ')}\n\n{MADE} `rlclinic explain CODE` prints the same.\n"]
    for row in RULES:
        if row.family != family:
            continue
        page = page_of(row)
        body = "\n\n".join(f"**{head}.** {text}" for head, text in page.sections.items())
        values = ", ".join(f"`{name}` = {value:g}" for name, value in row.limits.items())
        needs = ", ".join(f"`{need}`" for need in row.rule.needs) or "nothing special"
        parts.append(
            f"## {page.code} {page.name}\n\n{page.title}.\n\n{body}\n\nNeeds {needs}. Thresholds: {values or 'none'}.\n"
        )
    return "\n".join(parts)


def causes_page() -> str:
    """Every cause with what speaks for it."""
    parts = [f"# Causes\n\n{MADE} Weights: `src/rlclinic/causes/weights.toml`, set by hand.\n"]
    for entry in catalogue().values():
        speaks = cause_page(entry)["speaks"]
        body = "\n".join(f"- {head}: {text}" for head, text in speaks.items())
        parts.append(f"## {entry.id}\n\n{entry.meaning} ({entry.kind}, class {entry.cause_class}).\n\n{body}\n")
    return "\n".join(parts)


def prescriptions_page() -> str:
    """Every cause with what is done about it."""
    parts = [f"{(HERE / 'parts' / 'prescriptions.md').read_text(encoding='utf-8')}\n## Remedies by cause\n\n{MADE}\n"]
    for cause, remedy in sorted(remedies().items(), key=lambda item: (item[1].stage.rank, item[0])):
        body = "\n".join(f"- {line}" for line in remedy_lines(remedy))
        parts.append(f"### {cause}\n\n{body}\n")
    return "\n".join(parts)


def probes_page() -> str:
    """How to probe a trainer, the settings, and every probe."""
    parts = [(HERE / "parts" / "probes.md").read_text(encoding="utf-8")]
    parts.append("## Measured\n\n[benchmarks/probes.md](benchmarks/probes.md): planted bugs, found and localised.\n")
    rows = [f"| `{item.name}` | {item.group} | {item.meaning} |" for item in settings().values()]
    table = "\n".join(["| setting | group | meaning |", "|---|---|---|", *rows])
    parts.append(f"## Settings\n\n{MADE}\n\n{table}\n\n## The ladder\n\n{MADE}\n")
    for probe in LADDER:
        page = probe_page(probe)
        body = "\n\n".join(f"**{head}.** {text}" for head, text in page.sections.items())
        cases = "; ".join(page.cases)
        parts.append(f"### {page.code} {page.name}\n\n{page.title}.\n\n{body}\n\nCases and budgets: {cases}.\n")
    return "\n".join(parts)


LEVELS = {
    "parsers": "parsers and readers",
    "diagnose": "read, diagnose, every format, show, compare, fix",
    "guided": "parsers and readers, guided by coverage",
}


def reliability_page() -> str:
    """What is promised, and what the fuzzer and the attack measured."""
    fuzz, attack = (json.loads((BENCH / name / "record.json").read_text("utf-8")) for name in ("fuzz", "attack"))
    head = "| inputs through | count | processor time | commits | undocumented | refused | slowest | memory |"
    rows = [head, "|---|---|---|---|---|---|---|---|"]
    rows += [_fuzz_row(LEVELS[level], parts) for level, parts in fuzz.items()]
    rows += ["", "| attack | verdict | seen |", "|---|---|---|"]
    rows += [f"| {name} | {verdict} | {detail} |" for name, (verdict, detail) in attack.items()]
    columns = (
        "*Undocumented* counts inputs that raised anything but an error of rlclinic, took more than 5 s of processor\n"
        "time or more memory than allowed, or made a rule fail; *refused* those that ended in one of its errors;\n"
        "*memory* is the most that a process held, which where coverage guides is mostly the fuzzer's own. A level is\n"
        "run in parts, each with a seed of its own; *commits* counts those that the parts ran on. The whole is a\n"
        "million inputs through parsers, 20,000 through a diagnosis and two hours where coverage guides: what is less\n"
        "is not done yet. What a part finds is mended, and the part is run again."
    )
    part = (HERE / "parts" / "reliability.md").read_text(encoding="utf-8")
    if not fuzz and not attack:
        none = "No whole run is recorded yet: `make fuzz` and `make attack` make one."
        return f"{part}\n## What was measured\n\n{none}\n"
    return f"{part}\n## What was measured\n\n{MADE} {columns}\n\n" + "\n".join(rows) + "\n"


def _fuzz_row(through: str, parts: list[dict[str, Any]]) -> str:
    inputs, refused, seconds = (sum(part[key] for part in parts) for key in ("inputs", "refused", "cpu_seconds"))
    slowest, memory = (max(part[key] for part in parts) for key in ("slowest_seconds", "peak_mb"))
    failures = sum(sum(part["failures"].values()) for part in parts)
    # The part that saw most of the code speaks for all: each begins with what the others found.
    tools = max((part["tool"] for part in parts if "tool" in part), default="")
    commits = len({part["commit"] for part in parts})
    cells = (
        f"{through} ({tools})" if tools else through,
        f"{inputs:,}",
        f"{seconds / 60:,.0f} min",
        *(commits, failures),
        f"{refused:,}",
        f"{slowest} s",
        f"{memory} MB",
    )
    return f"| {' | '.join(map(str, cells))} |"


FAMILIES = tuple(dict.fromkeys(row.family for row in RULES))
PAGES: dict[str, Callable[[], str]] = {
    "metrics.md": metrics_page,
    "hyperparameters.md": hyperparameters_page,
    "frameworks.md": frameworks_page,
    "causes.md": causes_page,
    "probes.md": probes_page,
    "prescriptions.md": prescriptions_page,
    "reliability.md": reliability_page,
    **{f"rules/{family}.md": partial(rules_page, family) for family in FAMILIES},
}


def main() -> None:
    for name, page in PAGES.items():
        path = HERE / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()

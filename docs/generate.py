"""Write the pages that are made from the code: `python docs/generate.py`. A test fails when they are out of date."""

from __future__ import annotations

from pathlib import Path

from rlclinic.model.vocabulary import METRICS
from rlclinic.reference.framework import framework, heads
from rlclinic.reference.hyperparameters import hyperparameters

HERE = Path(__file__).parent
MADE = "Made by docs/generate.py from the code."


def metrics_page() -> str:
    """The canonical metrics."""
    rows = [
        f"| `{entry.name}` | {entry.title} | {entry.unit} | {', '.join(entry.families)} | {entry.note} |" for entry in METRICS
    ]
    table = "\n".join(["| name | meaning | unit | algorithms | note |", "|---|---|---|---|---|", *rows])
    return f"# Canonical metrics\n\n{MADE} Use these names with `--map` and `run[name]`.\n\n{table}\n"


def hyperparameters_page() -> str:
    """The canonical hyperparameters."""
    rows = [f"| `{entry.name}` | {entry.title} | {entry.kind} | {entry.group} |" for entry in hyperparameters().values()]
    table = "\n".join(["| name | meaning | kind | group |", "|---|---|---|---|", *rows])
    return f"# Canonical hyperparameters\n\n{MADE} Use these names with `run.config`.\n\n{table}\n"


def frameworks_page() -> str:
    """What each framework's names mean."""
    parts = [f"# Names by framework\n\n{MADE} Source: `src/rlclinic/reference/frameworks/*.toml`.\n"]
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


PAGES = {"metrics.md": metrics_page, "hyperparameters.md": hyperparameters_page, "frameworks.md": frameworks_page}


def main() -> None:
    for name, page in PAGES.items():
        (HERE / name).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()

"""The recommendations: each change with its reason, what to expect of it, what it risks and how to write it."""

from __future__ import annotations

from typing import Any

from rlclinic.model.diagnosis import Diagnosis
from rlclinic.model.prescription import Basis, Change, Impact, Prescription, PrescriptionKind, Safety
from rlclinic.model.words import sentence
from rlclinic.reports.page import Block, Code, Facts, Inline, Snippet, Words
from rlclinic.reports.text import shorten

VALUE_WIDTH = 60
KIND_WORDS = {
    PrescriptionKind.CONFIG: "change of the config",
    PrescriptionKind.CODE: "change of the code",
    PrescriptionKind.ENVIRONMENT: "change of the environment",
    PrescriptionKind.DATA: "change of the data",
    PrescriptionKind.CHECK: "a test; nothing is changed",
}
SAFETY_WORDS = {
    Safety.SAFE: "safe: the learning problem stays the same",
    Safety.UNSAFE: "changes what is learned or how the agent behaves",
    Safety.ADVICE: "done by hand: no file is edited",
}
METRIC_WORDS = {
    "steps-to-threshold": ("fewer steps to the threshold", "more steps to the threshold"),
    "final-return": ("lower final return", "higher final return"),
    "missing-return": ("more of the return lost", "of the missing return regained"),
}
LANGUAGES = {"yaml": "yaml", "python": "python", "json": "json", "toml": "toml", "flags": "sh", "hydra": "sh"}


def recommendation_blocks(diagnosis: Diagnosis) -> list[Block]:
    """What the recommendations section says; nothing where there is none."""
    blocks: list[Block] = []
    for index, item in enumerate(diagnosis.prescriptions, start=1):
        blocks.append(Words(f"{index}. [{item.priority.value}] {sentence(item.instruction)}", leads=True))
        blocks.append(Facts(tuple(_facts(item, diagnosis))))
        if item.native is not None:
            lines = tuple(item.native.text.splitlines())
            blocks.append(
                Snippet(f"As you would write it ({item.native.format}):", lines, _language(item.native.format))
            )
        if item.code:
            blocks.append(Snippet("Code to use:", tuple(item.code.splitlines()), "python"))
    if blocks and diagnosis.guidelines:
        names: list[str] = ["The project has its own guidelines, which come first: "]
        for position, path in enumerate(diagnosis.guidelines):
            names += [", " if position else "", Code(path)]
        blocks.append(Words((*names, ".")))
    return blocks


def prescription_object(item: Prescription) -> dict[str, Any]:
    """A prescription as the JSON contract has it."""
    impact = item.expected_impact
    return {
        "priority": item.priority.value,
        "kind": item.kind.value,
        "instruction": item.instruction,
        "changes": [
            {"key": change.key, "native_key": change.native_key, "from": change.before, "to": change.after}
            for change in item.changes
        ],
        "native": None if item.native is None else {"format": item.native.format, "text": item.native.text},
        "rationale": item.rationale,
        "expected_impact": None
        if impact is None
        else {
            "metric": impact.metric,
            "low": impact.low,
            "high": impact.high,
            "basis": impact.basis.value,
            "source": impact.source,
        },
        "risk": item.risk,
        "safety": item.safety.value,
        "causes": list(item.causes),
        "code": item.code,
        "watch": list(item.watch),
    }


def expected(impact: Impact | None) -> str:
    """An expected impact in words, with what it rests on."""
    if impact is None:
        return "no effect on learning by itself"
    less, more = METRIC_WORDS.get(impact.metric, (f"less {impact.metric}", f"more {impact.metric}"))
    low, high = round(100 * abs(impact.low)), round(100 * abs(impact.high))
    if impact.high <= 0:
        span = f"{high} to {low}% {less}"
    elif impact.low >= 0:
        span = f"{low} to {high}% {more}"
    else:
        unit = f" {less.partition(' ')[2]}"
        same = more.endswith(unit) and len(unit) > 1
        span = f"between {low}% {less.removesuffix(unit) if same else less} and {high}% {more}"
    basis = "a guess" if impact.basis is Basis.GUESS else impact.basis.value
    told = impact.source if impact.source.startswith(basis) else ": ".join(filter(None, (basis, impact.source)))
    return f"{span} ({told})"


def _facts(item: Prescription, diagnosis: Diagnosis) -> list[tuple[str, Inline]]:
    rows: list[tuple[str, Inline]] = [("what", KIND_WORDS[item.kind])]
    rows += [("change", _change(change)) for change in item.changes]
    rows.append(("why", sentence(item.rationale)))
    rows.append(("expected", expected(item.expected_impact)))
    rows.append(("risk", sentence(item.risk)))
    rows.append(("safety", SAFETY_WORDS[item.safety]))
    rows.append(("treats", ", ".join(item.causes)))
    if item.watch:
        rows.append(("watch", _watched(item.watch, diagnosis)))
    return rows


def _change(change: Change) -> Inline:
    name = (
        (Code(change.native_key),) if change.native_key == change.key else (Code(change.native_key), f" ({change.key})")
    )
    before, after = (shorten(value_text(value), VALUE_WIDTH) for value in (change.before, change.after))
    return (*name, ": ", Code(before), " → ", Code(after))


def value_text(value: object) -> str:
    """A setting as a person writes it."""
    if value is None:
        return "not set"
    if isinstance(value, float):
        return f"{value:.10f}".rstrip("0").rstrip(".") if 1e-4 <= abs(value) < 1 else f"{value:g}"
    return str(value)


def _watched(names: tuple[str, ...], diagnosis: Diagnosis) -> Inline:
    parts: list[str] = []
    for index, name in enumerate(names):
        series = diagnosis.run.series.get(name)
        parts += [", " if index else "", Code(series.logged_as) if series is not None else f"{name} (not logged yet)"]
    return tuple(parts)


def _language(dialect: str) -> str:
    return next((language for word, language in LANGUAGES.items() if word in dialect), "")

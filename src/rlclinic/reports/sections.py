"""A diagnosis as a page: which sections there are, in which order, and what each says."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from rlclinic.model.answer import Answer
from rlclinic.model.config import Setting
from rlclinic.model.diagnosis import Diagnosis, Verdict
from rlclinic.model.finding import Finding, Severity
from rlclinic.model.numbers import percent
from rlclinic.model.run import Run, Status
from rlclinic.model.words import sentence
from rlclinic.reports.evidence import evidence_line
from rlclinic.reports.examination import environment_blocks
from rlclinic.reports.key_metrics import key_metric_blocks, watched
from rlclinic.reports.not_checked import not_checked_blocks
from rlclinic.reports.outlook import outlook_blocks
from rlclinic.reports.page import (
    Block,
    Card,
    Code,
    Facts,
    Inline,
    Listing,
    Page,
    Quote,
    Section,
    Table,
    Words,
)
from rlclinic.reports.performance import axis_words, performance_blocks
from rlclinic.reports.recommendations import recommendation_blocks
from rlclinic.reports.root_cause import bug_blocks, root_cause_blocks
from rlclinic.reports.text import number, shorten

MAX_NOTES = 8
MAX_QUOTES = 2
QUOTED_LINES = 6
QUOTED_WIDTH = 160
MAX_SETTINGS = 200
VALUE_WIDTH = 60

# What decides how the metrics of a language model are read.
OF_LANGUAGE = (
    "adv_estimator", "learning_rate", "prompts_per_batch", "mini_batch_size", "group_size", "n_epochs", "use_kl_loss",
    "kl_loss_coef", "use_kl_in_reward", "kl_coef", "loss_aggregation", "normalize_by_std", "clip_range",
    "clip_range_high", "temperature", "top_p", "max_response_length", "mask_observations", "format_reward_weight",
    "eval_freq",
)  # fmt: skip
SEVERITY_WORDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def page_of(diagnosis: Diagnosis) -> Page:
    """The page of a diagnosis. A section without content is left out."""
    run = diagnosis.run
    # A check that failed by itself is a defect, which nobody should have to ask for.
    failed = any(item.error for item in diagnosis.not_checked)
    metrics = ("metrics", "Key metrics", key_metric_blocks(diagnosis))
    # How a language model does is read from several metrics together, so they stand before what is made of them.
    together = run.is_language_model
    built = (
        ("performance", "Performance", performance_blocks(diagnosis), False),
        ("run", "Run", [] if run.is_environment else _run(run), False),
        ("outlook", "Outlook", outlook_blocks(diagnosis.outlook), False),
        ("environment", "Environment", environment_blocks(diagnosis.environment), False),
        *([(*metrics, False)] if together else []),
        ("findings", "Findings", _findings(diagnosis), False),
        ("logs", "What the log says (quoted)", _logs(diagnosis), False),
        ("cause", "Root cause", root_cause_blocks(diagnosis), False),
        ("bug", "Suspected implementation bug", bug_blocks(diagnosis), False),
        ("recommendations", "Recommendations", recommendation_blocks(diagnosis), False),
        ("next", "Next steps", _next_steps(diagnosis), False),
        *([] if together else [(*metrics, True)]),
        ("path", "Decision path", _items(diagnosis.decision_path, numbered=True), True),
        ("unchecked", "Not checked", not_checked_blocks(diagnosis), not failed),
        ("unknowns", "Not known", _items(diagnosis.unknowns, numbered=False), True),
        ("reading", "Notes from reading", _reading(run), True),
        ("config", "Config", _config(run), True),
    )
    sections = (Section(key, title, tuple(blocks), appendix) for key, title, blocks, appendix in built if blocks)
    return Page(run.id, diagnosis.verdict, answer_facts(diagnosis.answer), tuple(sections))


def answer_facts(answer: Answer) -> Facts:
    """The lines of an answer; commands stand on lines of their own, to be copied."""
    rows: list[tuple[str, Inline]] = []
    for line in answer.lines:
        rows.append((line.label, line.text))
        rows += [("", (f"{what}: ", Code(command))) for what, command in line.commands]
    return Facts(tuple(rows))


def _run(run: Run) -> list[Block]:
    unknown = "not known from the files"
    budget = f" of {number(run.budget)}" if run.budget else ""
    used = f" ({100 * run.steps / run.budget:.0f}% of the budget)" if run.budget else ""
    state = run.status.state.value
    rows: list[tuple[str, Inline]] = [
        ("environment", run.environment or unknown),
        ("algorithm", run.algorithm or unknown),
        ("framework", run.framework if run.source == "files" else f"{run.framework} (from {run.source})"),
        ("status", f"{state}: {run.status.reason}" if run.status.reason else state),
        ("steps", f"{number(run.steps)}{budget} {axis_words(run.step_axis)}{used}"),
    ]
    if run.started_at:
        rows.append(("started", datetime.fromtimestamp(run.started_at, UTC).strftime("%Y-%m-%d %H:%M UTC")))
    rows += [("path", Code(run.path)), ("read", _files(run))]
    if run.is_language_model:
        rows += [(setting.native_key, str(setting.value)) for setting in _deciding(run)]
    return [Facts(tuple(rows))]


def _deciding(run: Run) -> list[Setting]:
    """The settings of a language model that decide how its metrics are read, as far as its files tell them."""
    settings = run.config.settings
    return [settings[key] for key in OF_LANGUAGE if key in settings and not settings[key].is_default]


def _files(run: Run) -> str:
    kinds: dict[str, int] = {}
    for file in run.provenance.files:
        kinds[file.kind] = kinds.get(file.kind, 0) + 1
    counted = ", ".join(f"{kind} x{count}" if count > 1 else kind for kind, count in kinds.items())
    total = len(run.provenance.files)
    if not total:
        return "no file"
    return f"{total} {'file' if total == 1 else 'files'}: {counted}"


def _findings(diagnosis: Diagnosis) -> list[Block]:
    ordered = sorted(diagnosis.findings, key=lambda item: (-item.severity.rank, -item.confidence))
    if not ordered:
        return [Words(_no_findings(diagnosis))]
    counts = [
        _counted(sum(item.severity is severity for item in ordered), word) for severity, word in SEVERITY_WORDS.items()
    ]
    blocks: list[Block] = [Words(", ".join(count for count in counts if count) + ".")]
    return blocks + [_card(finding) for finding in ordered]


def _no_findings(diagnosis: Diagnosis) -> str:
    if not diagnosis.run.is_environment and not any(len(series) for series in diagnosis.run.series.values()):
        return "None, because no metric was logged that a check could look at."
    if diagnosis.not_checked:
        return "None. Some checks could not be made: see what was not checked."
    return "None: no check saw anything unusual."


def _counted(count: int, word: str) -> str:
    if not count:
        return ""
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def _card(finding: Finding) -> Card:
    onset = "" if finding.onset_step is None else f"since step {number(finding.onset_step)}, "
    return Card(
        finding.severity,
        finding.code,
        finding.title.rstrip("."),
        sentence(finding.summary, finding.names),
        f"{onset}confidence {percent(finding.confidence)}",
        tuple(evidence_line(item) for item in finding.evidence),
    )


def _logs(diagnosis: Diagnosis) -> list[Block]:
    run = diagnosis.run
    if run.status.state is not Status.CRASHED and diagnosis.verdict is not Verdict.CRASHED:
        return []
    chosen = [item for item in run.logs if item.kind != "warning"][-MAX_QUOTES:]
    return [
        Quote(
            f"{item.file}:{item.line}",
            tuple(shorten(line, QUOTED_WIDTH) for line in item.text.splitlines()[-QUOTED_LINES:]),
        )
        for item in chosen
    ]


def _next_steps(diagnosis: Diagnosis) -> list[Block]:
    blocks: list[Block] = []
    blocks += _items(diagnosis.next_steps, numbered=len(diagnosis.next_steps) > 1)
    lines = watched(diagnosis)
    if lines:
        blocks += [Words("Compare the next run with this one:"), Listing(lines)]
    return blocks


def _items(texts: Sequence[str], *, numbered: bool) -> list[Block]:
    return [Listing(tuple(sentence(text) for text in texts), numbered)] if texts else []


def _reading(run: Run) -> list[Block]:
    notes = run.provenance.notes
    if not notes:
        return []
    items: list[Inline] = list(notes[:MAX_NOTES])
    if len(notes) > MAX_NOTES:
        items.append(f"and {len(notes) - MAX_NOTES} more: rlclinic show has them all")
    return [Listing(tuple(items))]


def _config(run: Run) -> list[Block]:
    settings = list(run.config.settings.values())
    used = {setting.native_key for setting in settings}
    others = [setting for key, setting in run.config.native.items() if key not in used]
    rows = [_setting(setting) for setting in [*settings, *others]]
    if not rows:
        return []
    header = ("setting", "value", "where", "written as")
    blocks: list[Block] = [Table(header, tuple(rows[:MAX_SETTINGS]), cut=(1, 3))]
    if len(rows) > MAX_SETTINGS:
        blocks.append(Words(f"And {len(rows) - MAX_SETTINGS} more: rlclinic show --all has them all."))
    return blocks


def _setting(setting: Setting) -> tuple[Inline, ...]:
    where = "default" if setting.is_default else str(setting.origin or "derived")
    key = Code(setting.native_key) if setting.native_key != setting.key else ""
    return (Code(setting.key), Code(shorten(str(setting.value), VALUE_WIDTH)), where, key)

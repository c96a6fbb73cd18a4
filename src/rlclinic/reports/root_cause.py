"""The root cause in words: what leads, how sure that is, and what speaks for and against each candidate."""

from __future__ import annotations

from collections.abc import Sequence

from rlclinic.model.diagnosis import Cause, Diagnosis, MetricOnset, Suspect, Verdict
from rlclinic.model.numbers import percent
from rlclinic.model.run import RETURN_METRICS
from rlclinic.reports.page import Block, Candidate, Code, Facts, Inline, Listing, Words

NOTHING_WRONG = "nothing-wrong"
UNKNOWN = "unknown"

MEANINGS = {
    NOTHING_WRONG: "No fault that these logs could show",
    UNKNOWN: "Something else, or not enough to tell",
}

# Causes below this are left out of every report.
SMALLEST = 0.05
# From here on a cause may be called most likely.
LIKELY = 0.5
# From here on a class is worth a sentence, if it is so many times as probable as its first member.
CLASS_LIKELY = 0.25
CLEARER = 1.25
# Candidates shown with their evidence.
MAX_SHOWN = 5


def shown_causes(diagnosis: Diagnosis) -> tuple[Cause, ...]:
    """The causes a report lists, the most probable first."""
    kept = [cause for cause in diagnosis.causes if cause.probability >= SMALLEST]
    return tuple(sorted(kept, key=lambda cause: -cause.probability))


def root_cause_blocks(diagnosis: Diagnosis) -> list[Block]:
    """What the root cause section says."""
    causes = shown_causes(diagnosis)
    if not causes:
        return []
    if diagnosis.verdict is Verdict.NOT_RL:
        return [Words("Not looked for: this training has no rewards.", leads=True)]
    lead = causes[0]
    blocks: list[Block] = [Words(sentence, leads=not index) for index, sentence in enumerate(_lead(diagnosis, causes))]
    if lead.component is not None:
        blocks.append(Words(f"The suspected component is {lead.component}; see the section on the suspected bug."))
    if len(diagnosis.onsets) > 1:
        blocks.append(Words(_order(diagnosis.onsets)))
    blocks += [_candidate(cause, diagnosis) for cause in causes[:MAX_SHOWN]]
    rest = 1.0 - sum(cause.probability for cause in causes[:MAX_SHOWN])
    if rest >= 0.01 and len(causes) <= MAX_SHOWN:
        blocks.append(Words(f"No other cause reaches {percent(SMALLEST)}; together they make up {percent(rest)}."))
    elif rest >= 0.01:
        blocks.append(Words(f"All other causes together make up {percent(rest)}."))
    return blocks


def bug_blocks(diagnosis: Diagnosis) -> list[Block]:
    """What the section on a suspected implementation bug says; nothing where no component is suspected."""
    blocks: list[Block] = []
    for cause in shown_causes(diagnosis):
        if not cause.component:
            continue
        suspect = diagnosis.suspect
        facts: list[tuple[str, Inline]] = [("component", cause.component), ("probability", percent(cause.probability))]
        if suspect is not None:
            facts += _details(diagnosis, suspect)
        else:
            facts += [("reproduce", _by_hand(diagnosis)), ("look at", _where(diagnosis, cause.component))]
        blocks.append(Facts(tuple(facts)))
        reasons = suspect.reasons if suspect is not None else cause.supports
        if reasons:
            blocks += [Words("What points there:"), Listing(tuple(_reason(text, diagnosis) for text in reasons))]
    if not blocks and diagnosis.suspect is not None and diagnosis.suspect.diff:
        # The logs name no component, the user's own code does.
        named: list[tuple[str, Inline]] = [("component", diagnosis.suspect.component)]
        blocks.append(Facts((*named, *_details(diagnosis, diagnosis.suspect))))
    if blocks:
        blocks.append(Words("Rule the bug out before you tune: no hyperparameter repairs a wrong update."))
    return blocks


def _order(onsets: Sequence[MetricOnset]) -> str:
    """What moved first when the return fell."""
    told = [f"{onset.metric} {'up' if onset.change > 0 else 'down'} at step {onset.step:,.0f}" for onset in onsets]
    order = f"First to move: {told[0]}, then {', '.join(told[1:])}."
    if onsets[0].metric in RETURN_METRICS:
        return f"{order} Nothing that is logged moved before the return."
    if onsets[-1].metric in RETURN_METRICS:
        return order
    return f"{order} What moved after the return cannot have caused its fall."


def _details(diagnosis: Diagnosis, suspect: Suspect) -> list[tuple[str, Inline]]:
    config = ", ".join(f"{key}={value}" for key, value in suspect.config)
    places = "; ".join(suspect.look_at)
    return [
        ("what it does", suspect.meaning),
        ("reproduce", Code(suspect.command)),
        ("must fail", suspect.probe),
        ("smallest config", Code(config)),
        ("look at", places if places else _where(diagnosis, suspect.component)),
        *((f"your code {number}", Code(place)) for number, place in enumerate(suspect.places, 1)),
        *((("proposed change", Code(suspect.diff)),) if suspect.diff else ()),
    ]


def _lead(diagnosis: Diagnosis, causes: Sequence[Cause]) -> list[str]:
    lead = causes[0]
    sure = percent(lead.probability)
    if lead.id == UNKNOWN and diagnosis.verdict is Verdict.INSUFFICIENT_DATA:
        return ["Too little was logged to name a cause."]
    if lead.id == NOTHING_WRONG:
        sentences = [_healthy(diagnosis, lead, sure)]
        if len(causes) > 1:
            sentences.append("The other candidates are not ruled out; change nothing on their account alone.")
        return sentences
    if lead.id == UNKNOWN:
        sentences = [f"No known cause fits this run well: an unknown cause leads with {sure}."]
        if len(causes) > 1:
            sentences.append("Treat the other candidates as ideas to test one at a time, not as the answer.")
        return sentences + _class_level(diagnosis, lead)
    return [_named(lead, sure), *([] if diagnosis.run.is_environment else _kind(lead)), *_class_level(diagnosis, lead)]


def _class_level(diagnosis: Diagnosis, lead: Cause) -> list[str]:
    """The answer by class, where it is clearer than by cause."""
    classes = {name: share for name, share in diagnosis.classes.items() if name not in MEANINGS}
    if not classes:
        return []
    name = max(classes, key=lambda key: classes[key])
    share, best = classes[name], max((c.probability for c in diagnosis.causes if c.cause_class == name), default=0.0)
    if share < CLASS_LIKELY or share <= lead.probability or share < CLEARER * best or lead.probability >= LIKELY:
        return []
    members = [cause.id for cause in shown_causes(diagnosis) if cause.cause_class == name]
    told = f" ({', '.join(members)})" if len(members) > 1 else ""
    return [
        f"The class {name} is clearer, with {percent(share)}: its members{told} cannot be told apart by these logs."
    ]


def _healthy(diagnosis: Diagnosis, lead: Cause, sure: str) -> str:
    if diagnosis.lacking:
        return (
            f"Nothing wrong was found ({sure}), but the run is not known to be healthy: {'; '.join(diagnosis.lacking)}."
        )
    what = "the environment is sound" if diagnosis.run.is_environment else "the run is healthy"
    if lead.probability >= LIKELY:
        return f"Nothing wrong was found: as far as it can be judged, {what} ({sure})."
    return f"Nothing wrong was found, which is not certain: that {what} leads with {sure}."


def _named(lead: Cause, sure: str) -> str:
    what = _within(_bare(lead.title))
    if lead.probability >= LIKELY:
        return f"Most likely: {what} ({sure})."
    return f"No cause stands out. The first candidate, with {sure}: {what}. Test it before you change anything else."


def _kind(lead: Cause) -> list[str]:
    if lead.kind == "mechanism":
        return ["This is a symptom rather than a root cause: look for the root among the other candidates."]
    if lead.kind == "process":
        return ["This is about how the run was started or ended, not about learning."]
    return []


def _candidate(cause: Cause, diagnosis: Diagnosis) -> Candidate:
    known = bool(diagnosis.run.config.settings or diagnosis.run.config.native)
    config = f"the config alone {percent(cause.config_only)}" if known else "no config was read"
    code = f"; computed in {', '.join(cause.code)}" if cause.code else ""
    where = f"class {cause.cause_class}; " if cause.cause_class not in ("", cause.id) else ""
    return Candidate(
        cause.id,
        _bare(cause.title) if _says_more(cause) else MEANINGS.get(cause.id, ""),
        cause.probability,
        f"{where}the metrics alone say {percent(cause.metrics_only)}, {config}{code}",
        tuple(_reason(text, diagnosis) for text in cause.supports),
        tuple(_reason(text, diagnosis) for text in cause.contradicts),
    )


def _reason(text: str, diagnosis: Diagnosis) -> str:
    """A reason that only names a finding or the verdict is written out."""
    code, _, rest = text.partition(" ")
    if text == f"verdict {diagnosis.verdict.value}":
        return f"the verdict is {diagnosis.verdict.value}"
    if code == "no" and "-" in rest and " " not in rest:
        return f"{rest} was looked for and not seen"
    for finding in diagnosis.findings:
        if finding.code == code and rest in ("", finding.name):
            return f"{code} {_bare(finding.title)}"
    return text


def _by_hand(diagnosis: Diagnosis) -> str:
    algorithm = diagnosis.run.algorithm or "the trainer"
    start = f"train {algorithm} with this code and config, two seeds, on a task whose right answer is known by hand"
    if diagnosis.run.is_language_model:
        return f"{start}: one prompt and one rewarded token, whose probability must rise"
    return (
        f"{start}: one state and reward 1, where the value must become 1; then add one thing at a time: an observation "
        "that matters, a delayed reward, two actions of which one pays"
    )


def _where(diagnosis: Diagnosis, component: str) -> str:
    run = diagnosis.run
    if run.framework == "unknown":
        return f"the code of your trainer that computes {component}"
    return f"your own code around {run.framework} first, then the code of {run.framework} that computes {component}"


def _says_more(cause: Cause) -> bool:
    """Whether the title is more than the id in words."""
    return cause.title.lower().replace(" ", "-") != cause.id


def _within(title: str) -> str:
    """A title inside a sentence: without its capital, unless it begins with an acronym."""
    return title[:1].lower() + title[1:] if title[1:2].islower() else title


def _bare(title: str) -> str:
    return title.rstrip(".")

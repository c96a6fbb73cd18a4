"""From a diagnosis to what to do: at most three prescriptions lead, in the order of a careful expert.

Causes become candidates, each with the first remedy that fits the run. Of one mechanism only the most probable cause is
treated, so that a round changes one thing and no two changes contradict each other. Where the evidence does not tell
causes apart, the test that does leads. A healthy run is left alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rlclinic.causes.catalogue import NOTHING_WRONG, UNKNOWN
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.standing import Standing
from rlclinic.model.diagnosis import Cause, Verdict
from rlclinic.model.finding import Finding, Severity
from rlclinic.model.prescription import Prescription, PrescriptionKind, Priority, Safety
from rlclinic.model.run import Run
from rlclinic.prescriptions.candidate import STUCK, Candidate, candidate_of
from rlclinic.prescriptions.case import Case
from rlclinic.prescriptions.conviction import did_badly, has_telling_sign
from rlclinic.prescriptions.effects import Effects, packaged_effects
from rlclinic.prescriptions.impact import has_goal
from rlclinic.prescriptions.implicated import far_off_first, implicated_first
from rlclinic.prescriptions.levers import BUDGETS
from rlclinic.prescriptions.neighbours import Neighbour, neighbours_of, promising, was_no_help, was_passed
from rlclinic.prescriptions.pace import faster
from rlclinic.prescriptions.remedies import Stage
from rlclinic.prescriptions.separation import separating_test

# Prescriptions that lead a report; more are not read, and not done.
LEADING = 3
# A candidate this much less probable than the first, or this improbable, is not acted on.
COMPARABLE = 2.5
LEAST = 0.08
# From here on `nothing-wrong` leaves a run alone that is flat below its goal, if no cause has half as much.
FINE = 0.3
HALF = 0.5
# An optional remark on a healthy run needs this much.
WORTH_SAYING = 0.15
# Verdicts that say nothing bad about learning.
GOOD = frozenset({Verdict.SOLVED, Verdict.LEARNING, Verdict.INSUFFICIENT_DATA, Verdict.INTERRUPTED})
HARMLESS = frozenset({NOTHING_WRONG, "already-solved", "budget-too-small"})
# Mechanisms without which a run cannot be judged at all.
BLIND = frozenset({"logging", "evaluation"})
NOT_KNOWN = Standing()
LATER = "If that does not suffice: "
CONFIRMED = "If the test confirms it: "


def prescribe(
    facts: RunFacts,
    verdict: Verdict,
    findings: Sequence[Finding],
    causes: Sequence[Cause],
    *,
    standing: Standing = NOT_KNOWN,
    others: Sequence[Run] = (),
    effects: Effects | None = None,
) -> tuple[Prescription, ...]:
    """What to do about a run, the most urgent first.

    `others` are runs of the same task: what they tried without success is not advised again, and what helped is taken
    further where the goal is not reached. `effects` defaults to those that come with the package.
    """
    ranked = sorted(causes, key=lambda cause: -cause.probability)
    by_name, by_id = {finding.name: finding for finding in findings}, {cause.id: cause for cause in ranked}
    case = Case(facts, verdict, by_name, by_id, standing)
    if verdict is Verdict.NOT_RL or not ranked:
        return ()
    table = packaged_effects() if effects is None else effects
    neighbours = neighbours_of(facts.run, others)
    candidates = [item for item in _candidates(case, table) if not was_no_help(item.prescription.changes, neighbours)]
    further = _further(case, neighbours, table)
    if _is_healthy(case, ranked[0], candidates):
        return _optional(case, candidates, further)
    likely = implicated_first(case, _comparable(candidates))
    likely = far_off_first(likely, candidates) if likely else likely
    test = separating_test(case, likely)
    changes = [item.prescription for item in _ordered(case, _one_per_mechanism(likely))]
    chosen = changes if test is None else [test, *changes]
    if further and all(_only_lasts_longer(item) for item in chosen):
        chosen = _with_step(chosen, further[0].prescription)
    return tuple(_worded(chosen[:LEADING], tested=test is not None))


def _candidates(case: Case, effects: Effects) -> list[Candidate]:
    """What would be done about each cause, by probability; causes with the same remedy are treated by one."""
    found: dict[tuple[object, ...], Candidate] = {}
    for cause in case.causes.values():
        if cause.id in (NOTHING_WRONG, UNKNOWN):
            continue
        made = candidate_of(case, cause, effects)
        if made is None:
            continue
        first = found.get(made.signature)
        if first is None:
            found[made.signature] = made
            continue
        both = (*first.prescription.causes, cause.id)
        again = candidate_of(case, first.cause, effects, treats=frozenset(both)) or first
        found[made.signature] = again.with_prescription(replace(again.prescription, causes=both))
    return list(found.values())


def _further(case: Case, neighbours: Sequence[Neighbour], effects: Effects) -> list[Candidate]:
    """Steps for a run that is not where it was meant to be: what its numbers leave room for, and what helped before."""
    pushes = [(push, was_passed) for push in faster(case)]
    if case.standing.open_end and has_goal(case):
        pushes += [(push, was_no_help) for push in promising(case, neighbours)]
    found = []
    for push, was_tried in pushes:
        made = candidate_of(case, push.cause_in(case), effects)
        if made is not None and made.prescription.changes and not was_tried(made.prescription.changes, neighbours):
            found.append(made.with_prescription(replace(made.prescription, rationale=push.why)))
    return found


def _with_step(chosen: Sequence[Prescription], step: Prescription) -> list[Prescription]:
    """What can be tried in the same budget before what needs a longer one, and with a place among the leading ones."""
    checks, longer = ([item for item in chosen if bool(item.changes) is acts] for acts in (False, True))
    return [*checks[: LEADING - 1], step, *longer]


def _only_lasts_longer(item: Prescription) -> bool:
    """Whether it changes nothing, or only how long is trained."""
    return {change.key for change in item.changes} <= BUDGETS


def _is_healthy(case: Case, lead: Cause, candidates: Sequence[Candidate]) -> bool:
    if case.verdict is Verdict.SOLVED:
        return True
    if case.verdict in GOOD:
        return lead.id in HARMLESS
    flat = case.verdict is Verdict.PLATEAUED and lead.id == NOTHING_WRONG and lead.probability >= FINE
    return flat and all(item.probability < HALF * lead.probability for item in candidates)


def _optional(case: Case, candidates: Sequence[Candidate], further: Sequence[Candidate]) -> tuple[Prescription, ...]:
    """At most one remark: what is missing to judge the run, what is known to hold it back, or that it may go on."""
    wanted = [item for item in candidates if _is_worth_saying(case, item)]
    if further and not any(item.stage is Stage.FACTS or _holds_back(case, item) for item in wanted):
        wanted = [*further[:1]]
    if not wanted:
        return ()
    first = min(wanted, key=lambda item: _rank_of_remark(case, item))
    choice = "Optional, if the return is not enough yet" if first.stage is Stage.BUDGET else "Optional"
    text = f"{choice}: {_begun(first.prescription.instruction)}"
    remark = replace(first.prescription, priority=Priority.LOW, instruction=text)
    if first.stage is Stage.BUDGET:
        # Going on is the user's choice: nothing that a tool should write into a healthy run's config.
        remark = replace(
            remark,
            kind=PrescriptionKind.CHECK,
            safety=Safety.ADVICE,
            changes=(),
            native=None,
            expected_impact=None,
        )
    return (remark,)


def _rank_of_remark(case: Case, item: Candidate) -> tuple[object, ...]:
    return (item.stage is not Stage.FACTS, not _holds_back(case, item), -item.probability)


def _is_worth_saying(case: Case, item: Candidate) -> bool:
    if case.verdict is Verdict.SOLVED and item.stage is not Stage.FACTS:
        return False
    likely = item.probability >= WORTH_SAYING and item.stage in (Stage.FACTS, Stage.BUDGET)
    return likely or _holds_back(case, item)


def _holds_back(case: Case, item: Candidate) -> bool:
    """Whether a sure sign, or a value that nobody works with, shows what slows a run that learns all the same."""
    least = Severity.WARNING if case.standing.crept else Severity.ERROR
    far_off = item.is_far_off and case.standing.open_end
    sure = far_off or has_telling_sign(item.cause.id, item.evidence, least=least)
    return bool(item.prescription.changes) and sure


def _comparable(candidates: Sequence[Candidate]) -> list[Candidate]:
    if not candidates:
        return []
    least = max(LEAST, candidates[0].probability / COMPARABLE)
    return [item for item in candidates if item.probability >= least] or list(candidates[:1])


def _one_per_mechanism(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The most probable of each mechanism, unless it would turn a setting that another already turns."""
    kept: list[Candidate] = []
    for item in candidates:
        keys = {change.key for change in item.prescription.changes}
        taken = {change.key for other in kept for change in other.prescription.changes}
        if item.mechanism not in {other.mechanism for other in kept} and not keys & taken:
            kept.append(item)
    return kept


def _ordered(case: Case, candidates: Sequence[Candidate]) -> list[Candidate]:
    """By priority, then by the stages of an expert. Facts come first: nothing can be judged without them.

    So is a setting that no working config comes near, if it is the likelier cause. Then comes a lead that its evidence
    singles out: what follows waits for it.
    """
    if not candidates:
        return []
    top = min((item.priority for item in candidates), key=lambda priority: priority.rank)
    lead = candidates[0].cause if did_badly(case) and candidates[0].is_convicted else None
    far_off = max((item.probability for item in candidates if item.is_far_off), default=0.0)
    first = [_is_first(item, lead, far_off) for item in candidates]
    raised = [_raised(case, item, top) if leads else item for item, leads in zip(candidates, first, strict=True)]
    order = sorted(
        range(len(raised)),
        key=lambda at: (raised[at].priority.rank, not first[at], raised[at].stage.rank, -raised[at].probability),
    )
    return [raised[at] for at in order]


def _is_first(item: Candidate, lead: Cause | None, far_off: float) -> bool:
    return item.cause is lead or (item.stage is Stage.FACTS and item.probability >= far_off)


def _raised(case: Case, item: Candidate, top: Priority) -> Candidate:
    """What comes first, with the priority of what depends on it.

    Without a return or a sound evaluation nothing can be judged; and a run that is stuck saves all its steps by what
    its evidence singles out.
    """
    urgent = item.mechanism in BLIND or (item.stage is not Stage.FACTS and case.verdict in STUCK)
    least = Priority.MEDIUM if urgent else Priority.LOW
    raised = min(top, item.priority, least, key=lambda priority: priority.rank)
    return item.with_prescription(replace(item.prescription, priority=raised))


def _worded(chosen: Sequence[Prescription], *, tested: bool) -> list[Prescription]:
    """One mechanism per round: what follows waits for the outcome of what comes before."""
    finished: list[Prescription] = []
    waits = ""
    for index, item in enumerate(chosen):
        acts = item.kind is not PrescriptionKind.CHECK
        if waits == CONFIRMED and not set(item.causes) & set(chosen[0].causes):
            # The test is about something else.
            waits = LATER
        text = f"{waits}{_begun(item.instruction)}" if waits and acts else item.instruction
        finished.append(replace(item, instruction=text))
        if acts:
            waits = LATER
        elif tested and index == 0:
            waits = CONFIRMED
    return finished


def _begun(sentence: str) -> str:
    return sentence[0].lower() + sentence[1:]

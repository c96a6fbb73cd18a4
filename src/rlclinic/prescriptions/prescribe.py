"""From a diagnosis to what to do: at most three prescriptions lead, in the order of a careful expert.

Causes become proposals, each with the first remedy that fits the run. Of one mechanism only the most probable cause is
treated, so that a round changes one thing and no two changes contradict each other. Where the evidence does not tell
causes apart, the test that does leads. A healthy run is left alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rlclinic.causes.catalogue import NOTHING_WRONG, UNKNOWN
from rlclinic.facts.goal_status import GoalStatus
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.diagnosis import Cause, Verdict
from rlclinic.model.finding import Finding
from rlclinic.model.prescription import Prescription, Priority
from rlclinic.model.run import Run
from rlclinic.prescriptions.assessment import Assessment
from rlclinic.prescriptions.proposals.effects import Effects, packaged_effects
from rlclinic.prescriptions.proposals.far_off import far_off_experiments
from rlclinic.prescriptions.proposals.impact import has_goal, priority_at_stake
from rlclinic.prescriptions.proposals.native_settings import BUDGETS
from rlclinic.prescriptions.proposals.neighbours import Neighbour, neighbours_of, promising, was_no_help, was_passed
from rlclinic.prescriptions.proposals.proposal import Proposal, proposal_of
from rlclinic.prescriptions.proposals.speed_up import speed_ups
from rlclinic.prescriptions.ranking.candidates import LEADING, observation, with_candidates
from rlclinic.prescriptions.ranking.implicated import far_off_first, implicated_first
from rlclinic.prescriptions.ranking.optional_remark import is_healthy, optional_remark
from rlclinic.prescriptions.ranking.order import LEAST, comparable, ordered
from rlclinic.prescriptions.ranking.separating_test import BUG, is_open, separating_test
from rlclinic.prescriptions.wording import begun

NOT_KNOWN = GoalStatus()
CONFIRMED = "If the test confirms it: "
# Below this a cause that nothing speaks for is no reason to do anything about a run that logged nothing.
SLIGHT = 0.1


def prescribe(
    facts: RunFacts,
    verdict: Verdict,
    findings: Sequence[Finding],
    causes: Sequence[Cause],
    *,
    status: GoalStatus = NOT_KNOWN,
    others: Sequence[Run] = (),
    effects: Effects | None = None,
) -> tuple[Prescription, ...]:
    """What to do about a run, the most urgent first.

    `others` are runs of the same task: what they tried without success is not advised again, and what helped is taken
    further where the goal is not reached. `effects` defaults to those that come with the package.
    """
    ranked = sorted(causes, key=lambda cause: -cause.probability)
    sound = verdict is Verdict.NO_FAULT_FOUND and ranked and ranked[0].id == NOTHING_WRONG
    if verdict is Verdict.NOT_RL or sound or not ranked:
        return ()
    by_name, by_id = {finding.name: finding for finding in findings}, {cause.id: cause for cause in ranked}
    assessment = Assessment(facts, verdict, by_name, by_id, status)
    table = packaged_effects() if effects is None else effects
    neighbours = neighbours_of(facts.run, others)
    proposals = [item for item in _proposals(assessment, table) if not was_no_help(item.changes, neighbours)]
    faster = _faster(assessment, neighbours, table)
    if is_healthy(assessment, ranked[0], proposals):
        return optional_remark(assessment, proposals, faster)
    likely = far_off_first(implicated_first(assessment, comparable(proposals)), proposals)
    if is_open(assessment, likely):
        # Nothing else explains it: what the report itself calls far off is the first experiment.
        tried = [item for item in far_off_experiments(assessment, table) if not was_no_help(item.changes, neighbours)]
        likely = [*tried[:1], *likely]
    test = separating_test(assessment, likely)
    chosen = [item.prescription for item in ordered(assessment, likely)]
    if test is not None:
        chosen = _behind(test, chosen)
    # What never moved is not sped up while a cause that may well be at work has a change at hand.
    at_hand = assessment.never_moved and any(item.changes and item.probability >= LEAST for item in proposals)
    if faster and not at_hand and all(_only_lasts_longer(item) for item in chosen):
        chosen = _with_step(chosen, faster[0].prescription)
    chosen = with_candidates(assessment, chosen, proposals, table)
    return tuple(_worded(_urgent(assessment, chosen), tested=test is not None))


def _behind(test: Prescription, chosen: Sequence[Prescription]) -> list[Prescription]:
    """What waits for the test: a look outside the run, which ends with the trainer, is a bug's first step as well."""
    same = [item for item in chosen if test.causes == (UNKNOWN,) and item.causes == (BUG,) and not item.changes]
    first = replace(test, causes=(UNKNOWN, BUG)) if same else test
    return [first, *(item for item in chosen if item not in same)]


def _proposals(assessment: Assessment, effects: Effects) -> list[Proposal]:
    """What would be done about each cause, by probability; causes with the same remedy are treated by one."""
    found: dict[tuple[object, ...], Proposal] = {}
    is_blind = not any(len(series) for series in assessment.facts.run.series.values())
    for cause in assessment.causes.values():
        if is_blind and not cause.supports and cause.probability < SLIGHT:
            continue
        made = proposal_of(assessment, cause, effects)
        if made is None or (assessment.never_moved and _trains_longer(made)):
            # A run that stands where it began gets no more of the same.
            continue
        first = found.get(made.signature)
        if first is not None:
            both = (*first.prescription.causes, cause.id)
            again = proposal_of(assessment, first.cause, effects, treats=frozenset(both)) or first
            made = again.reworded(causes=both)
        found[made.signature] = made
    return list(found.values())


def _faster(assessment: Assessment, neighbours: Sequence[Neighbour], effects: Effects) -> list[Proposal]:
    """Steps for a run that is not where it was meant to be: what its numbers leave room for, and what helped before."""
    steps = [(step, was_passed) for step in speed_ups(assessment)]
    if assessment.status.budget_used and has_goal(assessment):
        steps += [(step, was_no_help) for step in promising(assessment, neighbours)]
    found = []
    for step, was_tried in steps:
        made = proposal_of(assessment, step.cause_in(assessment), effects)
        if made is not None and made.changes and not was_tried(made.changes, neighbours):
            found.append(made.reworded(rationale=step.why))
    return found


def _with_step(chosen: Sequence[Prescription], step: Prescription) -> list[Prescription]:
    """What can be tried in the same budget before what needs a longer one, and with a place among the leading ones."""
    checks, longer = ([item for item in chosen if bool(item.changes) is acts] for acts in (False, True))
    return [*checks[: LEADING - 1], step, *longer]


def _trains_longer(made: Proposal) -> bool:
    """Whether more of the same is all that it comes to, in the config or by hand."""
    return made.cause.id == "budget-too-small" or bool(made.changes and _only_lasts_longer(made.prescription))


def _only_lasts_longer(item: Prescription) -> bool:
    """Whether it changes nothing, or only how long is trained."""
    return {change.key for change in item.changes} <= BUDGETS


def _urgent(assessment: Assessment, chosen: Sequence[Prescription]) -> list[Prescription]:
    """What leads is as urgent as the share of the return at stake; nothing behind it is more urgent.

    What the run cannot converge without stays critical, and what only looks keeps the priority of what waits for it.
    """
    share = assessment.at_stake
    if share is None or not chosen:
        return list(chosen)
    earned = priority_at_stake(share)
    known = (earned,) if chosen[0].expected_impact is not None else (earned, chosen[0].priority)
    top = min(known, key=_rank) if chosen[0].priority is not Priority.CRITICAL else Priority.CRITICAL
    return [
        replace(item, priority=max(item.priority, top, key=_rank) if index else top)
        for index, item in enumerate(chosen)
    ]


def _rank(priority: Priority) -> int:
    return priority.rank


def _worded(chosen: Sequence[Prescription], *, tested: bool) -> list[Prescription]:
    """One mechanism per round: what follows waits for the outcome of what comes before, and says what chooses it."""
    finished: list[Prescription] = []
    for index, item in enumerate(chosen):
        waits = ""
        if index and tested and set(item.causes) & set(chosen[0].causes):
            waits = CONFIRMED
        elif index:
            waits = f"If that does not suffice, and {observation(item.causes)}: "
        finished.append(replace(item, instruction=f"{waits}{begun(item.instruction)}" if waits else item.instruction))
    return finished

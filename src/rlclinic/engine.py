"""From a run to its diagnosis: the only wiring of rules, causes and prescriptions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rlclinic.causes.catalogue import catalogue
from rlclinic.causes.components import suspect_of
from rlclinic.causes.posterior import Posterior, causes_of
from rlclinic.facts.derived_settings import LOGGED
from rlclinic.facts.goal import goal_of
from rlclinic.facts.goal_status import GoalStatus, goal_status_of
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.trailing_mean import unseen_end
from rlclinic.facts.window_noise import WINDOW_EPISODES
from rlclinic.judgement.decision_path import TIERS, decision_path
from rlclinic.judgement.health import lacking
from rlclinic.judgement.onset_order import Order, onset_order
from rlclinic.judgement.symptoms import symptom_of, told_first
from rlclinic.judgement.verdict import verdict
from rlclinic.model.diagnosis import Diagnosis, Suspect, Verdict
from rlclinic.model.errors import UsageError, contained
from rlclinic.model.explanation import Explanation
from rlclinic.model.finding import Finding, NotChecked
from rlclinic.model.goal import Goal
from rlclinic.model.numbers import plain_numbers
from rlclinic.model.run import Run, Status
from rlclinic.outlook import outlook_of
from rlclinic.prescriptions.code_search import located
from rlclinic.prescriptions.commands import commands_of
from rlclinic.prescriptions.framework_code import with_code
from rlclinic.prescriptions.guidelines import guidelines
from rlclinic.prescriptions.next_steps import next_steps
from rlclinic.prescriptions.prescribe import prescribe
from rlclinic.prescriptions.proposals.effects import known_effects
from rlclinic.rules.registry import RULES, Limits, in_order
from rlclinic.rules.registry import applicable as rules_about
from rlclinic.rules.registry import examine as checked_rules
from rlclinic.rules.rule import RuleInfo
from rlclinic.rules.words import steps_text
from rlclinic.store.siblings import siblings_of

# Means over past episodes without a shared one, below which a run is too short for such a mean to keep up.
FEW_WINDOWS = 5.0

if TYPE_CHECKING:
    from rlclinic.model.environment_facts import EnvironmentFacts


# Verdicts that ask for a cause: what one seed shows is held against the others of its config.
FAILURES = frozenset({Verdict.NOT_LEARNING, Verdict.COLLAPSED, Verdict.UNSTABLE, Verdict.MISCONFIGURED})
# Verdicts that tell the course of the return.
BY_THE_CURVE = frozenset({Verdict.LEARNING, Verdict.PLATEAUED, Verdict.NOT_LEARNING, Verdict.UNSTABLE})


def diagnose(
    run: Run | str | Path,
    *,
    goal: float | None = None,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    limits: Limits | None = None,
    others: Sequence[Run | str | Path] = (),
    code: Path | None = None,
) -> Diagnosis:
    """Examine a run, given as such or named as for `read`.

    `select` and `ignore` take rule codes, names or families and say which findings are told, `limits` (see
    `rules.registry.checked_limits`) from where on; verdict, causes and advice follow from all rules as they are.

    `goal` is the return that the user is after; it comes before what the run's files or its task name.
    `others` are runs of the same task, given like the run, such as the one before the last change: advice takes up what
    they tell. `code` is a checkout of the training code: a suspected bug is looked for in it, as text.
    """
    if isinstance(others, str | Path):
        raise UsageError("others is a list of runs, not a single one", hint="diagnose(run, others=[other])")
    run, *rest = [_read(item) for item in (run, *others)]
    with contained(run.path):
        return _diagnosed(run.with_goal(goal), select, ignore, limits or {}, rest, code)


def examine(environment: EnvironmentFacts, run: Run | None = None, *, goal: float | None = None) -> Diagnosis:
    """Judge what was measured about an environment: alone, or together with a run that was trained in it."""
    if run is None:
        name = environment.environment
        run = Run(name, "", environment=name, source="environment", examined=environment)
    if run.observed is not None:
        from rlclinic.facts.environment.measure import with_observed

        environment = with_observed(environment, run.observed)
    return diagnose(replace(run, examined=environment), goal=goal)


def why(run: Run | str | Path, cause: str, *, goal: float | None = None) -> Explanation:
    """The pieces of evidence that make up the probability of one cause; none where it is out of the question."""
    if cause not in catalogue():
        raise UsageError(f"no cause is called {cause!r}", hint="`rlclinic explain` without a name lists them")
    return diagnose(run, goal=goal).explanations.get(cause, Explanation(cause, 0.0))


def _read(run: Run | str | Path) -> Run:
    if isinstance(run, Run):
        return run
    from rlclinic.store.reading import read

    return read(run)


def _diagnosed(
    run: Run,
    select: Sequence[str],
    ignore: Sequence[str],
    limits: Limits,
    others: Sequence[Run],
    code: Path | None,
) -> Diagnosis:
    facts = RunFacts(run, partial(siblings_of, run), others)
    case = _judged(facts)
    applicable, findings, checked, order, word = case.applicable, case.findings, case.checked, case.order, case.word
    skipped = {item.code for item in case.not_checked}
    told = {row.code for row in applicable if (not select or _named(row, select)) and not _named(row, ignore)}
    reason = plain_numbers(_with_lag(case))
    posterior = _causes(case, _seeds_that_ended_alike(case))
    goal, causes, symptom = goal_of(facts), posterior.causes, symptom_of(facts, word)
    prescriptions = prescribe(facts, word, findings, causes, status=case.status, others=others, effects=known_effects())
    unmet = lacking(facts, word, checked=len(checked), applicable=len(applicable))
    missing = tuple(map(plain_numbers, unmet))
    return Diagnosis(
        run=run,
        verdict=word,
        reason=f"so far, {_as_of_now(run, reason)}" if run.status.state is Status.RUNNING else reason,
        findings=tuple(
            replace(item, summary=_as_of_now(run, item.summary))
            for item in _told(facts, findings, limits)
            if item.code in told
        ),
        not_checked=tuple(item for item in case.not_checked if item.code in told),
        checked=len(told - skipped),
        causes=with_code(causes, run.framework, code),
        classes=posterior.classes,
        explanations=posterior.explanations,
        decision_path=(
            *((told_first(symptom, findings, checked),) if symptom is not None else ()),
            *decision_path(
                findings,
                checked,
                order.after_the_fall,
                leading=frozenset(text.partition(" ")[0] for cause in causes[:1] for text in cause.supports),
                asked=TIERS if run.is_environment else None,
            ),
        ),
        prescriptions=prescriptions,
        next_steps=next_steps(run, prescriptions, missing, improves=word is Verdict.LEARNING),
        unknowns=_unknowns(facts, goal),
        curves=facts.curves,
        goal=goal,
        onsets=order.onsets,
        environment=facts.environment,
        suspect=case.suspect if code is None else located(run, case.suspect, code),
        guidelines=guidelines(run.location) if prescriptions and run.path else (),
        outlook=outlook_of(facts, word, causes),
        lacking=missing,
        commands=commands_of(run, prescriptions, causes, goal),
    )


@dataclass(frozen=True, slots=True)
class _Judged:
    """What rules and verdict say of a run."""

    facts: RunFacts
    applicable: tuple[RuleInfo, ...]
    findings: tuple[Finding, ...]
    not_checked: tuple[NotChecked, ...]
    checked: frozenset[str]
    word: Verdict
    reason: str
    status: GoalStatus
    order: Order
    suspect: Suspect | None


def _judged(facts: RunFacts) -> _Judged:
    applicable = rules_about(facts)
    findings, not_checked = checked_rules(facts, applicable)
    skipped = {item.code for item in not_checked}
    word, reason = verdict(facts, findings)
    return _Judged(
        facts,
        applicable,
        findings,
        not_checked,
        frozenset(row.name for row in applicable if row.code not in skipped),
        word,
        reason,
        goal_status_of(facts, word),
        onset_order(facts, findings),
        suspect_of(facts.run, findings),
    )


def _as_of_now(run: Run, text: str) -> str:
    """What a rule says of the end of a log, of one that goes on."""
    return text.replace("ended at", "is now at") if run.status.state is Status.RUNNING else text


def _with_lag(case: _Judged) -> str:
    """The reason, and what the last episodes came to where the mean that was judged shows it late."""
    end = unseen_end(case.facts) if case.word in BY_THE_CURVE else None
    told = f"; {end.told(steps_text(case.facts, end.since))}" if end is not None else ""
    return f"{case.reason}{told}"


def _causes(case: _Judged, seeds: Sequence[Mapping[str, Explanation]] = ()) -> Posterior:
    return causes_of(
        case.facts,
        case.word,
        case.findings,
        case.checked,
        applicable=frozenset(row.name for row in case.applicable),
        after_the_fall=case.order.after_the_fall,
        component=case.suspect.component if case.suspect else None,
        status=case.status,
        seeds=seeds,
    )


def _seeds_that_ended_alike(case: _Judged) -> tuple[Mapping[str, Explanation], ...]:
    """What other seeds of the config show that got the same verdict, where it is one that asks for a cause."""
    if case.word not in FAILURES:
        return ()
    others = [_judged(RunFacts(other)) for other in case.facts.siblings]
    return tuple(_causes(other).explanations for other in others if other.word is case.word)


def _told(facts: RunFacts, findings: tuple[Finding, ...], limits: Limits) -> tuple[Finding, ...]:
    """The findings as the user's own limits have them."""
    if not limits:
        return findings
    moved = tuple(rule for rule in RULES if rule.code in limits)
    return in_order([*(item for item in findings if item.code not in limits), *checked_rules(facts, moved, limits)[0]])


def _named(row: RuleInfo, names: Sequence[str]) -> bool:
    return bool(names) and any(name.lower() in (row.code.lower(), row.name, row.family) for name in names)


def _unknowns(facts: RunFacts, goal: Goal | None) -> tuple[str, ...]:
    """What the files do not tell and a diagnosis would want."""
    run, window = facts.run, facts.window
    if run.is_environment:
        return run.examined.skipped if run.examined is not None else ()
    lines = []
    if not run.config.settings:
        logged = ", ".join(sorted(LOGGED & run.series.keys()))
        but = f"only what is logged could be checked: {logged}" if logged else "no hyperparameter could be checked"
        lines.append(f"No config was found, so {but}.")
    if not run.algorithm:
        lines.append("The algorithm is not known, so rules for single algorithms were applied by metric names alone.")
    if not run.environment and not run.is_language_model:
        lines.append("The environment is not known, so returns could not be compared with published ones.")
    if run.budget is None:
        lines.append("The budget is not known, so progress is measured against the log's own length.")
    if run.status.state is Status.UNKNOWN:
        lines.append("No file says how the run ended.")
    if window is not None and run.returns is not None and run.episodes is None and window.windows < FEW_WINDOWS:
        counted = run.series.get("episodes")
        ended = counted.last if counted is not None and counted.last else window.windows * WINDOW_EPISODES
        lines.append(
            f"{run.returns.logged_as} is a mean over the last {WINDOW_EPISODES} of about {ended:,.0f} episodes, so it "
            "lags behind the agent; single episodes, as SB3's Monitor logs them, show more."
        )
    if {item.source for item in run.series.values()} == {"monitor"}:
        lines.append(
            "Only episodes are recorded: when updates began and what they did stands in the trainer's own log, such as "
            "SB3's progress.csv."
        )
    if run.returns is not None and goal is None:
        lines.append(
            "No goal is known from the run or for its task, so whether it is solved can hardly be judged: set the "
            "return you want with `--goal`."
        )
    return tuple(lines)

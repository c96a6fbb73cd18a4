"""The pieces of evidence for and against each cause in one run.

Findings of one family tell much the same thing, so within a family the strongest counts in full and the others in part.
A rule that was not checked counts nothing. A setting counts only together with a symptom. All numbers are the table's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from rlclinic.causes.weights import VERDICT, CauseWeights, Share, SuspectSetting, Weights
from rlclinic.facts.derived_settings import LOGGED, said, value_of
from rlclinic.facts.episodes import episodes_played
from rlclinic.facts.evaluations import evaluations_surely_rose
from rlclinic.facts.goal import goal_of, reference_steps
from rlclinic.facts.goal_status import GoalStatus, learns
from rlclinic.facts.language_model import gamed_unseen, memorised
from rlclinic.facts.policy_updates import replaces_policy
from rlclinic.facts.return_state import FAR_FROM_GOAL, constant_at_its_worst, few_pay_all, reached_goal
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.task_departure import departure
from rlclinic.facts.unusual_settings import domain_of, unusual
from rlclinic.facts.window_noise import repeats_itself
from rlclinic.model.diagnosis import Verdict
from rlclinic.model.explanation import Piece
from rlclinic.model.finding import Finding, Severity
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.vocabulary import families_of
from rlclinic.reference.tasks import task_of
from rlclinic.reference.usual import Unusual
from rlclinic.rules.registry import rules_meaning
from rlclinic.rules.rule import Sign

Settings: TypeAlias = Sequence[tuple[SuspectSetting, Unusual]]
# Algorithms that act in one kind of space only.
FOR_CONTINUOUS, FOR_DISCRETE = frozenset({"DDPG", "TD3", "TQC"}), frozenset({"DQN", "QRDQN", "RAINBOW"})
HOME_MADE = "unknown"
"""The framework of a log that no library writes."""
COURSE = "convergence"
"""Family of findings about the course of the return, of which every run that does badly has some."""
SMALL_CLIMB = 0.25
"""Share of its level that a climb must be to be learning as such."""
# Axes of which each step is a round of training.
COUNTED = frozenset({"updates", "iterations"})
# Points up to which a repetition may be chance, and from which on one of a mean over past episodes is not.
FEW_REPEATS, MANY_REPEATS = 3, 10
VERDICTS = frozenset(VERDICT + verdict.value for verdict in Verdict)


@dataclass(frozen=True, slots=True)
class Seen:
    """What the table is asked about one run."""

    run_facts: RunFacts
    settings: Mapping[str, Unusual]
    """How unusual the settings behind causes are, where that can be said."""
    findings: Mapping[str, Finding]
    """By name."""
    checked: frozenset[str]
    """Rules by name."""
    facts: frozenset[str]
    """Facts of the run and conditions that hold (see `weights.FACTS`), and its verdict."""
    amounts: Mapping[str, Sequence[tuple[str, float]]]
    """What is counted: texts and numbers."""
    present: frozenset[str]
    """Findings, and those facts."""
    absent: frozenset[str]
    """Rules that were checked and found nothing, and other verdicts."""


def seen_in(
    facts: RunFacts,
    verdict: Verdict,
    findings: Sequence[Finding],
    checked: frozenset[str],
    *,
    unchecked: float,
    after_the_fall: frozenset[str],
    status: GoalStatus,
    table: Weights,
) -> Seen:
    """Gather what the table asks for; `unchecked` is the share of applicable rules that lacked their metrics."""
    part = table.findings.consequence
    found = [replace(f, confidence=part * f.confidence) if f.code in after_the_fall else f for f in findings]
    trouble = [finding for finding in found if finding.family not in table.findings.outcome]
    by_name = {finding.name: finding for finding in found}
    holding = table.with_conditions(_facts(facts, verdict, found, trouble, status, table))
    present = holding.union(by_name)
    return Seen(
        facts,
        {key: away for key in table.suspects if (away := unusual(facts, key)) is not None},
        by_name,
        checked,
        holding,
        {
            "trouble": [] if status.done else _trouble(trouble, table),
            "unexplained": [
                (f"{f.code} {f.name} is not explained", 1.0)
                for f in trouble
                if f.severity.rank > 0 and f.name not in table.most_told
            ],
            "unchecked": [(f"{100 * unchecked:.0f}% of the checks lack their metrics", unchecked)]
            if unchecked > table.findings.unchecked_from
            else [],
        },
        present,
        checked.union(VERDICTS) - present,
    )


def pieces_of(row: CauseWeights, seen: Seen, table: Weights) -> tuple[Piece, ...]:
    """Everything that speaks for or against one cause, in the order of the table."""
    known = [(item, seen.settings[item.key]) for item in row.settings if item.key in seen.settings]
    # There are many causes, and of most a run has nothing but what is missing.
    if not known and not row.per and row.names.isdisjoint(seen.present):
        return _scaled(_absent(row, (), seen, table, seen.facts), table)
    signs = [name for name in seen.findings if name in row.signs]
    facts = _with_own(row, signs, known, seen, table) if signs or known else seen.facts
    found = [*_findings(row, seen, table), *_absent(row, signs, seen, table, facts)]
    far: list[tuple[str, Piece]] = []
    for name, weight in row.per.items():
        if name == "trouble":
            found += [Piece("trouble", text, weight * amount) for text, amount in seen.amounts[name]]
        else:
            far += [("", Piece("distance", text, weight * amount)) for text, amount in seen.amounts[name]]
    for name in [name for name in row.when if name in facts]:
        if name.endswith("-unknown"):
            far.append(("", Piece("distance", table.words[name], row.when[name])))
        else:
            found.append(Piece("standing", table.words[name], row.when[name]))
    # A log of a home-made trainer lacks metrics, an algorithm and a task that are known: one fact, told three times.
    pieces = _scaled([*found, *pooled(far, table.findings.repeated)], table)
    if not known:
        return pieces
    if sum(piece.value for piece in pieces) > 0.0:
        facts = table.with_conditions(facts | {"metrics-speak-for-it"})
    setting = _setting(known, seen.run_facts, table, facts)
    return pieces if setting is None else (*pieces, *_scaled([setting], table))


def _scaled(pieces: Sequence[Piece], table: Weights) -> tuple[Piece, ...]:
    """The pieces that count, as much as their kind does."""
    scale = table.scale
    return tuple([piece.times(scale[piece.kind]) for piece in pieces if piece.value])


def _with_own(row: CauseWeights, signs: Sequence[str], known: Settings, seen: Seen, table: Weights) -> frozenset[str]:
    """The facts of the run and of one cause, with the conditions that hold beside them."""
    own = {"noted"} if signs else set()
    if any(seen.findings[name].severity.rank > 0 for name in signs):
        own.add("warned-of")
    if any(away.beyond(item.direction) for item, away in known):
        own.add("setting-outside")
    return table.with_conditions(seen.facts | own) if own else seen.facts


def _facts(
    facts: RunFacts,
    verdict: Verdict,
    found: Sequence[Finding],
    trouble: Sequence[Finding],
    status: GoalStatus,
    table: Weights,
) -> frozenset[str]:
    worse = rules_meaning(Sign.EVALUATION_FELL_BEHIND)
    run, curve = facts.run, facts.curve
    never_climbed = curve is not None and not (curve.climbed or curve.surely_gained)
    holding = {
        "nothing-logged": all(series.last is None for series in run.series.values()),
        "never-climbed": never_climbed,
        "hardly-climbed": never_climbed or _hardly_climbed(facts),
        "evaluations-alone-rose": never_climbed and evaluations_surely_rose(facts),
        "far-short": status.budget_used and _came_partway(facts, FAR_FROM_GOAL),
        "replaces-policy": replaces_policy(facts) and not status.done and not reached_goal(facts),
        "few-episodes": _few_episodes(facts, table),
        "few-steps": _few_steps(facts, table),
        "still-exploring": _still_exploring(facts, table.mostly_random),
        "huge-returns": curve is not None and min(abs(curve.start), abs(curve.final)) > table.huge_return,
        "constant-at-its-worst": constant_at_its_worst(facts),
        "constant-otherwise": _never_varies(facts) and curve is not None and curve.final != round(curve.final),
        "learned-blind": (status.missed or status.behind)
        and any(finding.name == "critic-explains-nothing" for finding in found)
        and _came_partway(facts, table.partway),
        "stock-trainer": run.framework in table.stock,
        "home-made": run.framework == HOME_MADE,
        "other-actions": _other_actions(facts),
        "replays": facts.is_off_policy,
        "few-pay-all": few_pay_all(facts),
        "done": status.done,
        "behind": status.behind,
        "missed": status.missed,
        "trained-to-goal": status.reached_in_training_only,
        "slow": status.slow,
        "budget-used": status.budget_used,
        "barely-moved": status.barely_moved,
        "config-known": bool(run.config.settings),
        "warned": any(finding.severity.rank > 0 and finding.family != COURSE for finding in trouble),
        "sure-sign": any(finding.severity is Severity.ERROR for finding in trouble),
        "telling-sign": any(
            f.severity.rank > 0 and table.most_told.get(f.name, 0.0) >= table.findings.tells for f in trouble
        ),
        "evaluation-fell-behind": any(finding.name in worse and finding.severity.rank > 0 for finding in found),
        "usual-language-rate": domain_of(facts) == "language-model" and _usual_rate(facts),
        "gamed-unseen": facts.is_language_model and bool(gamed_unseen(facts)),
        "memorised": facts.is_language_model and memorised(facts),
        **_not_looked_at(facts, verdict),
        "algorithm-unknown": not families_of(run.algorithm),
        "task-unknown": not run.environment or task_of(run.environment) is None,
    }
    named = [name for name, holds in holding.items() if holds]
    return frozenset((VERDICT + verdict.value, *named, *_departs_from_task(facts, found)))


def _not_looked_at(facts: RunFacts, verdict: Verdict) -> dict[str, bool]:
    """What a clean examination leaves open: of a training that is known too, its own return tells."""
    env = facts.run.examined
    if env is None or not facts.run.is_environment or verdict is not Verdict.NO_FAULT_FOUND:
        return {}
    return {"examined-alone": True, "good-policy-unseen": env.policy("trained") is None,
            "meant-policy-unseen": env.policy("oracle") is None}  # fmt: skip


def _hardly_climbed(facts: RunFacts) -> bool:
    """Whether the best level differs little from the first, and no goal says that this is enough."""
    curve = facts.curve
    if curve is None or goal_of(facts) is not None:
        return False
    return curve.climb < SMALL_CLIMB * max(abs(curve.start), abs(curve.best))


def _came_partway(facts: RunFacts, partway: float) -> bool:
    """Whether the return climbed and made no more than a part of the way to its goal."""
    curve, goal = facts.curve, goal_of(facts)
    return curve is not None and goal is not None and curve.climbed and goal.share(curve.final) <= partway


def _usual_rate(facts: RunFacts) -> bool:
    away = unusual(facts, "learning_rate")
    return away is not None and away.usual is not None and away.off("either") < 1.0


def _few_episodes(facts: RunFacts, table: Weights) -> bool:
    """Whether so little was played, in episodes or in rounds of training; replay learns from an episode again and
    again, and needs fewer of them. What is paid the same each time needs no more, unless that is nothing."""
    run, played = facts.run, episodes_played(facts)
    if _never_varies(facts) and not constant_at_its_worst(facts):
        return False
    # So few steps of an environment count something larger, whatever their column is called.
    rounds = run.step_axis in COUNTED or (run.env_steps is not None and run.env_steps < table.fewest_env_steps)
    if rounds and not facts.is_language_model and 0.0 < run.steps < table.few_updates:
        return True
    return played is not None and played < (table.few_replayed if facts.is_off_policy else table.few_episodes)


def _never_varies(facts: RunFacts) -> bool:
    """Whether all episodes got the same; a mean over past ones repeats itself while none ends."""
    returns, curve = facts.returns, facts.curve
    if returns is None or curve is None or (repeats_itself(returns) and curve.points < MANY_REPEATS):
        return False
    return curve.points > FEW_REPEATS and not curve.span


def _few_steps(facts: RunFacts, table: Weights) -> bool:
    """The same by env steps, of a task of which nobody knows how many it needs. What never varies needs no more."""
    curve, taken = facts.curve, facts.run.env_steps
    counts_other = facts.is_language_model or facts.is_imitation
    if counts_other or reference_steps(facts) is not None or (curve is not None and not curve.span):
        return False
    return taken is not None and table.fewest_env_steps <= taken < table.few_steps


def _other_actions(facts: RunFacts) -> bool:
    """Whether the algorithm is one for continuous actions and the task a well-known one with discrete actions, or the
    other way round."""
    known, algorithm = task_of(facts.run.environment), facts.run.algorithm.upper()
    # An older version has no published runs of its own.
    task = task_of(known.name) if known is not None else None
    if task is None or not (algorithm in FOR_CONTINUOUS or algorithm in FOR_DISCRETE):
        return False
    discrete = task.group == "atari" or not FOR_DISCRETE.isdisjoint(task.steps_to_target)
    continuous = task.group == "mujoco" or not FOR_CONTINUOUS.isdisjoint(task.steps_to_target)
    return discrete is not continuous and (algorithm in FOR_CONTINUOUS) is discrete


def _still_exploring(facts: RunFacts, mostly: float) -> bool:
    """Whether most actions were random up to the end, of a rate that was on its way down."""
    first, last = facts.early("epsilon"), facts.late("epsilon")
    return first is not None and last is not None and mostly <= last.value < first.value


def _departs_from_task(facts: RunFacts, found: Sequence[Finding]) -> list[str]:
    """The ways in which the run departs from its task and does not learn, as far as findings say so."""
    off, names = departure(facts), {finding.name for finding in found}
    if off is None:
        return []
    paid = "pays-otherwise-than-task" in names and not learns(facts)
    length = next((f for f in found if f.name == "episodes-of-other-length"), None)
    grave = length is not None and length.severity.rank > 0
    factor = off.factor if off.is_sure and off.factor is not None else 0.0
    holding = {
        "pays-more": paid and factor > 1.0,
        "pays-less": paid and 0.0 < factor < 1.0,
        "pays-negated": off.is_negated,
        "pays-the-same": off.same_pay is not None,
        "pays-beyond": off.beyond is not None,
        "costs-beyond-actions": off.costs_beyond_actions,
        "cut-short": grave and off.cut_short,
        "cut-before-goal": length is not None and not grave and off.cut_before_goal,
        "drawn-out": grave and off.drawn_out,
    }
    return [name for name, holds in holding.items() if holds]


def _findings(row: CauseWeights, seen: Seen, table: Weights) -> list[Piece]:
    """Findings and the verdict, the strongest of each family and side in full, the others in part."""
    found: list[tuple[str, Piece]] = []
    for name in [name for name in row.weights if name in seen.present]:
        weight, finding = row.weights[name], seen.findings.get(name)
        if finding is not None:
            text = f"{finding.code} {name}"
            found.append((finding.family, Piece("finding", text, weight * finding.confidence)))
        else:
            found.append(("verdict", Piece("finding", f"verdict {name.removeprefix(VERDICT)}", weight)))
    return pooled(found, table.findings.repeated)


def pooled(found: Sequence[tuple[str, Piece]], repeated: float) -> list[Piece]:
    """Pieces with their family: of each family and side the strongest as it is, the others in part."""
    strongest: dict[tuple[str, bool], Piece] = {}
    for family, piece in found:
        side = (family, piece.value > 0)
        if side not in strongest or abs(piece.value) > abs(strongest[side].value):
            strongest[side] = piece
    leading = {id(piece) for piece in strongest.values()}
    return [piece if id(piece) in leading else piece.times(repeated) for _, piece in found]


def _trouble(trouble: Sequence[Finding], table: Weights) -> list[tuple[str, float]]:
    pieces = [("", Piece("trouble", f"{f.code} {f.name}", table.trouble[f.severity] * f.confidence)) for f in trouble]
    return [(piece.text, piece.value) for piece in pooled(pieces, table.findings.repeated)]


def _absent(row: CauseWeights, signs: Sequence[str], seen: Seen, table: Weights, facts: frozenset[str]) -> list[Piece]:
    strongest = max([row.signs[name] for name in signs]) if signs else 0.0
    # A cause that shows itself by another sign as telling need not show all of them.
    found = [
        piece
        for name, piece in row.absences.items()
        if name in seen.absent and not (signs and 0.0 < row.weights.get(name, 0.0) <= strongest)
    ]
    looked_for = not seen.checked.isdisjoint(row.signs)
    supported = bool(signs) or not facts.isdisjoint(row.signs)
    if looked_for and not supported and "setting-outside" not in facts:
        value = table.findings.no_sign if row.no_sign is None else row.no_sign
        found.append(Piece("absence", "none of its signs was seen", value))
    return found


def _setting(known: Settings, facts: RunFacts, table: Weights, holds: frozenset[str]) -> Piece | None:
    """What the value of the cause's hyperparameter says: by its distance, or by being outside of everything."""
    departs = _departs(known, facts, table, holds)
    if "setting-outside" not in holds:
        return departs
    outside = _outside(known, facts, table, holds)
    return departs if departs is not None and departs.value > outside.value else outside


def _departs(known: Settings, facts: RunFacts, table: Weights, holds: frozenset[str]) -> Piece | None:
    """The distance from working configs, of a value that a config or the log tells. What several settings come to has
    none."""
    config = facts.run.config
    told = [
        pair
        for pair in known
        if pair[1].usual is not None and (config.number(pair[0].key) is not None or pair[0].key in LOGGED)
    ]
    if not told:
        return None
    item, away = max(told, key=lambda pair: pair[1].off(pair[0].direction))
    by, spreads, is_logged = table.departs, away.off(item.direction), config.number(item.key) is None
    value = f"{value_of(facts, item.key):.3g}, as logged," if is_logged else str(config.get(item.key))
    if spreads < 1.0:
        ordinary = by.as_logged if is_logged else 0.0 if "setting-outside" in holds else by.ordinary
        return Piece("setting", f"{item.key} {value} is ordinary", ordinary)
    share = _share(by.counts, table, holds, spreads) * (by.logged_share if is_logged else 1.0)
    where = f"{'far ' if spreads >= 2.0 else ''}{'above' if away.decades > 0.0 else 'below'} {away.usual:.3g}"
    text = f"{item.key} {value} is {where}, {away.basis.value} ({spreads:.1f} times the usual spread)"
    return Piece("setting", text, share * min(by.most, by.per_spread * (spreads - 1.0)))


def _outside(known: Settings, facts: RunFacts, table: Weights, holds: frozenset[str]) -> Piece:
    item, away = max(known, key=lambda pair: pair[1].beyond(pair[0].direction))
    by, decades = table.outside, away.beyond(item.direction)
    text = f"{said(facts, item.key)}, far outside the usual range"
    share = _share(by.counts, table, holds, decades)
    return Piece("setting", text, share * (by.at_once + by.per_decade * min(decades, by.most_decades)))


def _share(counts: Sequence[Share], table: Weights, holds: frozenset[str], distance: float) -> float:
    """Of the first condition that holds."""
    for share in counts:
        if share.when in holds:
            return share.share if distance >= share.least else 0.0
    return 0.0

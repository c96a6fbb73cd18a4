"""Make docs/benchmarks/repair.md from what was recorded: `python -m bench.lab_report` takes seconds, trains nothing."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bench import overhead
from bench.lab_goals import optimize_goal, overhead_goal, repair_goals
from bench.optimize.run import HELD_OUT, searches, starts
from bench.repair import score
from bench.repair.tasks import tasks
from bench.repair.treatment import CONFIRMING, HARM, RESTORED, ROUNDS
from rlclinic.causes.catalogue import NOTHING_WRONG, catalogue

# Classes of causes whose check begins with the environment.
LOOKS_OUTSIDE = frozenset({"no-signal", "reward-design", "environment", "implementation", "unknown"})
PAGE = Path(__file__).parents[1] / "docs" / "benchmarks" / "repair.md"
HARMED = (
    "They are one change, advised in each of three rounds: the learning rate of the entry for MountainCarContinuous, "
    "which was found with forty times as many gradient steps per sample. A rate of an entry counts only for runs of "
    "like pace since, and a first spread only with the same kind of noise; the patients keep what they were advised. "
    "The rate that the run's own updates ask for harms this configuration too. Advised now is what moves the weights "
    "as far per sample as the entry does: the rate of the healthy configuration, found with a look at these runs."
)

LEVELS = (
    "Levels of faults of the environment are in the units of rewards that the fault changed, and compare with nothing. "
    "The run with a constant reward was told to train longer; such a run is sent to its environment since. "
    "The run with few updates was told three times to halve their interval; a pace that far off is set right at once "
    "since, which repairs it (0.91, trained with a look at it)."
)


def main() -> None:
    """Write the page and print it."""
    text = page()
    PAGE.write_text(text, encoding="utf-8")
    print(text)


def page() -> str:
    """The whole page."""
    head = (
        "# Benchmarks of the lab\n\nMade by `python -m bench.lab_report` from the records under `bench/`, which "
        "`python -m bench.repair`, `python -m bench.optimize` and `python -m bench.overhead` write; each goes on where "
        "it was stopped.\n"
    )
    return "\n".join([head, repair_section(), strangers_section(), optimize_section(), overhead_section()])


def strangers_section() -> str:
    """The first look of the rules at configurations that were fixed before it."""
    lines = score.strangers()
    planned = {name: task for name, task in tasks().items() if task.is_stranger}
    faulty = [line for line in lines if line["fault"]]
    outside = [line for line in faulty if planned[line["task"]].is_of_the_environment(line["fault"])]
    settings = [line for line in faulty if line not in outside]
    hurt = [line for line in settings if line["level"] < RESTORED]
    first = sum(score.first_level(line) >= RESTORED for line in hurt)
    last = sum(score.last_level(line) >= RESTORED for line in hurt)
    sent, wrongly = (sum(_is_sent(line) for line in some) for some in (outside, settings))
    done, pooled = score.harm(lines), score.harm([*lines, *score.patients()])
    clean = [line for line in lines if not line["fault"]]
    changed = sum(line["rounds"][0]["applied"] is not None for line in clean)
    rows = [
        (line["task"], line["fault"], f"{line['level']:.2f}", f"{score.first_level(line):.2f}",
         f"{score.last_level(line):.2f}", _advice(line["rounds"][0]))
        for line in faulty
    ]  # fmt: skip
    return "\n".join(
        [
            "## Repair on strangers' terms\n",
            f"{sum(len(task.faults) for task in planned.values())} configurations of {len(planned)} tasks on "
            "environments that the record above does not hold, three of them trained by scripts that are run by "
            "command, were fixed before any run of them was diagnosed (`bench/repair/strangers.yaml`); one seed each. "
            f"{len(faulty)} have been treated so far; what follows is the first look, and stays so. Of {len(settings)} "
            f"faults of settings {len(hurt)} do damage: the first prescription repairs {_share(first, len(hurt))} "
            f"(goal: 70%), three rounds {_share(last, len(hurt))} (goal: 90%). Faults of the environment or its reward "
            f"that are sent to look there: {_share(sent, len(outside))} (goal: 90%); faults of settings that are: "
            f"{_share(wrongly, len(settings))} (goal: at most 5%). {done.confirmed} of {done.treatments} changes did "
            f"harm that further seeds confirm; with those above {_share(pooled.confirmed, pooled.treatments)}. "
            f"{HARMED} Of "
            f"{len(clean)} clean runs {changed} were advised a change. {LEVELS}\n",
            _table(("task", "fault", "faulty", "first", "3 rounds", "first advice"), rows),
            "",
        ]
    )


def _is_sent(line: dict[str, Any]) -> bool:
    """Whether the leading prescription is to look at the environment."""
    advice, causes = line["rounds"][0]["advice"], line["rounds"][0]["causes"]
    if not advice or advice[0]["changes"] or (causes and causes[0][0] == NOTHING_WRONG):
        return False
    classes = {catalogue()[cause].cause_class for cause in advice[0]["causes"] if cause in catalogue()}
    return bool(classes & LOOKS_OUTSIDE)


def repair_section() -> str:
    """Repair rate and harm."""
    lines = score.patients()
    every = score.cases(lines, score.baselines())
    valid = [case for case in every if case.valid]
    clean = [line for line in lines if not line["fault"]]
    done = score.harm(lines)
    parts = [
        "## Repair rate\n",
        f"{len(every)} faulty configurations of {len({case.task for case in every})} tasks were trained on "
        f"{_seeds(lines)}; {len(valid)} of "
        f"them stay below {RESTORED:.0%} of the healthy return and count, {sum(not case.known for case in valid)} of "
        "these on environments that rlclinic has no entry for. Every seed is a patient: its run is diagnosed, the "
        "first change of the config among the prescriptions is applied and trained again on the same seed and budget, "
        f"up to {ROUNDS} times. The first round is told no goal. From the second round on the diagnosis is told one "
        f"(`--goal`): the return at the bar of {RESTORED:.0%}, in the units of the run, because who comes back does so "
        "for a higher return. Where the first round advises no change, the second is the same run with the goal told. "
        f"A change after which the level is lower by more than {HARM:.0%} of the healthy return is taken back. A level "
        "is the mean return of the last evaluations, 0 a random policy and 1 the mean "
        "of three clean seeds; a configuration is repaired where the mean level of its seeds is at least "
        f"{RESTORED:.0%}. "
        "The clean configs of cartpole-ppo (the third of three that were tried) and cartpole-a2c (one of two) were "
        "chosen because all three of these seeds reach the bar: other seeds may do worse. "
        "Faults of these and of point-ppo that did no damage on seed 0 were made grosser or replaced by ones that do; "
        "point-ppo's entropy-bonus did none at three sizes and stays uncounted. No diagnosis was looked at for that. "
        "A prescription that is no change of the config counts as no repair. Clean runs reach the bar themselves in "
        f"{sum(line['level'] >= RESTORED for line in clean)} of {len(clean)}.{_untreated(every)}\n",
        "Rules, tables and targets of steps were made with a look at runs of most of these tasks, so their rates "
        "flatter. `fresh` counts the tasks of which no run had been looked at when they were set down: "
        f"{', '.join(name for name, task in tasks().items() if task.fresh)}. What is advised against a missed goal, "
        "what a learning rate far off goes to and when returns are tiny for a critic was changed with a look at the "
        "ten configurations that three rounds without a goal had left, and at trial runs of some of the changes: of "
        "cartpole-a2c, point-ppo, pendulum-sac, room-qrdqn and acrobot-ppo. So the gain over 84% and 85%, which the "
        "first prescription and three rounds had come to before, is a fit, not a forecast. "
        f"{_held_out(score.held_out())}"
        "Each patient was advised by the rules of the day of its record; a later rule does not change it until it is "
        "treated again.\n",
        _table(
            ("configurations repaired by", "all", "with an entry", "without", "fresh", "goal"),
            [
                _row("the first prescription", valid, lambda case: case.first, "80%"),
                _row("the first change that is advised", valid, lambda case: case.change, ""),
                _row(f"at most {ROUNDS} rounds, the best run kept", valid, lambda case: case.rounds, "95%"),
                _row("baseline: reset to the reference, else the defaults", valid, lambda case: case.reset, ""),
                _row("baseline: a third of the learning rate", valid, lambda case: case.slower, ""),
            ],
        ),
        f"Advice made it worse in {_share(done.confirmed, done.treatments)} of the treatments (goal: under 2% of at "
        f"least 150): {done.treatments} changes were trained, {done.on_healthy} of them on runs at a healthy level; "
        f"{done.seen} fell by more than {HARM:.0%} of the healthy return on their seed, {done.confirmed} still did on "
        f"the mean with {len(CONFIRMING)} further seeds. Three harms that were confirmed are no longer in this count: "
        "cartpole-a2c's former entropy-bonus is not in the table, and two seeds of acrobot-ppo's rate-hundredth were "
        "treated again since a learning rate goes to the entry of the tables and not beyond it. "
        f"{_advised_clean(clean)}\n",
        repair_goals(valid, done, untreated=sum(_left(every).values())) + "\n",
        "What the leading prescription was: " + _kinds(lines) + f". {_second_rounds(lines)}\n",
        _table(
            ("task", "fault", "faulty", "first", f"{ROUNDS} rounds", "reset", "rate / 3", "first advice"),
            [_case_row(case, lines) for case in every],
        ),
    ]
    return "\n".join(parts)


def _held_out(lines: score.Lines) -> str:
    """How patients fared that nobody had looked at, where some were treated."""
    if not lines:
        return ""
    seeds, configs = sorted({line["seed"] for line in lines}), {(line["task"], line["fault"]) for line in lines}
    ill = [line for line in lines if line["level"] < RESTORED]
    first, last = (score.share(map(level, ill)) for level in (score.change_level, score.last_level))
    harm = score.harm(lines)
    return (
        f"On further seeds ({', '.join(map(str, seeds))}), of which no run had been looked at, {len(configs)} of these "
        f"configurations were treated: of {len(ill)} patients below the bar the first change repairs {first[0]} and "
        f"three rounds {last[0]}, and {harm.confirmed} of {harm.treatments} changes did harm. "
        "They are in no other share. "
    )


def _second_rounds(lines: score.Lines) -> str:
    """What the rounds came to that were told a goal."""
    further = [item for line in lines if line["fault"] for item in line["rounds"][1:]]
    idle = sum(item["applied"] is None for item in further)
    higher = sum(item["applied"] is not None and item["after"] > item["before"] for item in further)
    return (
        f"Of {len(further)} further rounds on faulty configs {len(further) - idle} advised a change that can be "
        f"trained, and {higher} of these raised the level. The baselines were trained "
        f"on seed {', '.join(str(seed) for seed in sorted({line['seed'] for line in score.baselines()}))}."
    )


def optimize_section() -> str:
    """Steps to the threshold against TPE."""
    lines = searches()
    rows: list[tuple[str, ...]] = []
    ratios: dict[str, list[float]] = {}
    searched: list[float] = []
    for name, entry in starts().items():
        for seed in sorted({line["seed"] for line in lines if line["start"] == name}):
            both = {line["method"]: line for line in lines if line["start"] == name and line["seed"] == seed}
            if len(both) < 2:
                continue
            ours, theirs = both["rlclinic"], both["tpe"]
            ratio = _steps(ours) / _steps(theirs)
            ratios.setdefault(name, []).append(ratio)
            searched.append((_first(ours) or ours["used"]) / (_first(theirs) or theirs["used"]))
            rows.append(
                (name, entry["fault"], str(seed), f"{ours['runs']} x {ours['budget']:,}", _reached(ours),
                 _reached(theirs), f"{ratio:.2f}", _count(_first(ours)), _count(_first(theirs)))
            )  # fmt: skip
    return "\n".join(
        [
            "## Steps to the threshold\n",
            "`optimize` and Optuna's TPE with the same search space begin with the same faulty configuration and spend "
            "the same env steps; the configuration that each ends with is then trained on "
            f"{len(HELD_OUT)} seeds that neither saw. Steps are the mean over these seeds until the evaluation return "
            "reaches the threshold; a seed that never does counts as the whole budget of a run, and the number of "
            "seeds that reached it stands in brackets. The last columns are the env steps that the search itself spent "
            "until its first run reached the threshold. TPE has its default settings and no pruner, and ends with the "
            "best of its runs. The search was changed after a look at runs of cartpole-ppo and rail-ppo on seed 0.\n",
            optimize_goal(ratios, searched) + "\n",
            _table(
                ("start", "fault", "seed", "budget", "optimize", "TPE", "ratio", "search: optimize", "search: TPE"),
                rows,
            ),
        ]
    )


def overhead_section() -> str:
    """The cost of instruments."""
    rows = []
    for algorithm, (environment, steps) in overhead.TRAININGS.items():
        found = overhead.summary(algorithm)
        ratio = (
            f"{found['ratio']:.3f} ({found['low']:.3f} to {found['high']:.3f})" if found["pairs"] else "not measured"
        )
        share = f"{found['share']:.2%}" if found["share"] is not None else "not measured"
        rows.append((algorithm, f"{environment}, {steps:,} steps", share, ratio, str(found["pairs"])))
    return "\n".join(
        [
            "## Overhead\n",
            "Self-time is what a profile of a training finds in rlclinic's own code (goal: under 2%). The ratio is "
            "CPU time with the lab over plain Stable-Baselines3 with its Monitor, median and range of alternating "
            "pairs in fresh processes on shared cores.\n",
            overhead_goal({algorithm: overhead.summary(algorithm) for algorithm in overhead.TRAININGS}) + "\n",
            _table(("algorithm", "training", "self-time", "ratio", "pairs"), rows),
        ]
    )


def _row(name: str, cases: Sequence[score.Case], level: Callable[[score.Case], float], goal: str) -> tuple[str, ...]:
    groups = (
        cases,
        [case for case in cases if case.known],
        [case for case in cases if not case.known],
        [case for case in cases if case.fresh],
    )
    return (name, *(_share(*score.share([level(case) for case in group])) for group in groups), goal)


def _share(hits: int, total: int) -> str:
    if not total:
        return "not measured"
    low, high = score.interval(hits, total)
    return f"{hits} of {total} ({hits / total:.0%}, {low:.0%} to {high:.0%})"


def _seeds(lines: Sequence[dict[str, Any]]) -> str:
    counts = Counter((line["task"], line["fault"]) for line in lines if line["fault"])
    spread = sorted(set(counts.values()))
    return f"{' or '.join(map(str, spread))} seed{'s' if spread != [1] else ''}"


def _untreated(cases: Sequence[score.Case]) -> str:
    """Configurations that no share on the page counts, because no run of them has been treated since they changed."""
    left = _left(cases)
    if not left:
        return ""
    told = ", ".join(f"{count} of {name}" for name, count in left.items())
    return f" Not treated yet and in no share below, good or bad: {told}."


def _left(cases: Sequence[score.Case]) -> Counter[str]:
    there = {(case.task, case.fault) for case in cases}
    own = {name: task for name, task in tasks().items() if not task.is_stranger}
    return Counter(name for name, task in own.items() for fault in task.faults if (name, fault) not in there)


def _advised_clean(clean: Sequence[dict[str, Any]]) -> str:
    given = sum(line["rounds"][0]["applied"] is not None for line in clean)
    told = [line["rounds"][1] for line in clean if len(line["rounds"]) > 1]
    again = sum(item["applied"] is not None for item in told)
    return (
        f"Of {len(clean)} clean runs {given} were advised a change of the config; of {len(told)} that were told the "
        f"goal which they had reached, {again}."
    )


def _kinds(lines: Sequence[dict[str, Any]]) -> str:
    leads = Counter(
        line["rounds"][0]["advice"][0]["kind"] if line["rounds"][0]["advice"] else "none"
        for line in lines
        if line["fault"]
    )
    return ", ".join(f"{kind} {count}" for kind, count in leads.most_common()) or "nothing yet"


def _case_row(case: score.Case, lines: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    first = next(line for line in lines if (line["task"], line["fault"]) == (case.task, case.fault))["rounds"][0]
    levels = (case.faulty, case.first, case.rounds, case.reset, case.slower)
    return (case.task, case.fault, *("" if math.isnan(x) else f"{x:.2f}" for x in levels), _advice(first))


def _advice(item: dict[str, Any]) -> str:
    if not item["advice"]:
        return f"none ({item['verdict']})"
    lead = item["advice"][0]
    changes = ", ".join(f"{key} = {value}" for key, value in lead["changes"].items())
    return f"{changes or lead['kind']} ({', '.join(lead['causes'])})"


def _steps(line: dict[str, Any]) -> float:
    return statistics.fmean(line["budget"] if steps is None else steps for steps in line["steps"])


def _reached(line: dict[str, Any]) -> str:
    return f"{_steps(line):,.0f} ({sum(steps is not None for steps in line['steps'])})"


def _first(line: dict[str, Any]) -> float | None:
    """Env steps of the search until a run reached the threshold: only then a score lies within the budget of a run."""
    return next((used for used, best, _ in line["curve"] if best <= line["budget"]), None)


def _count(steps: float | None) -> str:
    return "never" if steps is None else f"{steps:,.0f}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


if __name__ == "__main__":
    main()

"""Write what was measured: `python -m bench.probes.page`. `docs/generate.py` then puts it into docs/probes.md."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path

from bench.mutants.catalogue import mutants
from bench.probes.frozen import ADDED
from bench.probes.score import TOP, Outcome, left_out, outcomes
from bench.probes.stock import stock_costs, stock_verdicts
from bench.probes.subjects import all_subjects
from bench.probes.variants import at_most, verdicts
from rlclinic.probes.ladder import LADDER
from rlclinic.probes.localise import SURE

PAGE = Path(__file__).parents[2] / "docs" / "benchmarks" / "probes.md"
MISSES = Path(__file__).parent / "misses.toml"
GOALS = {"killed": 0.95, "first": 0.85, "alarms": 0.01, "preflight": 60.0, "ladder": 900.0}
TIMED = "sb3:PPO"
CORES = 2
METHOD = (
    "Made by `make bench-probes` from `bench/probes/record.jsonl`, which `python -m bench.probes.record` makes and "
    "can go on with at any time. A mutant is one wrong line in a compact reference trainer (`bench/mutants`). It is "
    "killed when at least one probe fails, and localised when the component named first is the planted one. It is "
    "probed as one would with `--locate`: until a first probe fails, then the static contracts, then what the "
    "localiser asks for until it asks no more; only then its localisation counts. A pass takes two right seeds on "
    "mutants, equivalent ones included, and the full rule on stock algorithms (`bench/probes/stock_seeds.jsonl`). "
    "Costs are the mean CPU time of a recorded seed times the seeds that a pass takes. Correct variants are the "
    "reference trainers with other initial weights, activations, sizes, optimisers, losses and clipping "
    "(`bench/mutants/variants`), recorded by `python -m bench.probes.variants`, the cheapest cases first; two right "
    "seeds pass. Every row of a mutant is of the version that this page comes with: a verdict counts only while the "
    "digests of its trainer and its case are those of the present code. What changed since is left out until it is "
    "recorded again, and the row says `stopped` where the localiser waits for it, `not finished` where nothing has "
    "failed yet. Stock algorithms and variants count in the newest form that was recorded."
)
ORIGINS = {"textbook": "textbook bugs", "from_fixes": "bugs from real fixes"}


def main() -> None:
    """Score, print the summary, write the page."""
    found = outcomes()
    print("\n".join(summary(found)))
    beside = PAGE.with_suffix(".tmp")
    beside.write_text(measured(found), encoding="utf-8")
    beside.replace(PAGE)


def measured(found: list[Outcome]) -> str:
    """The whole section."""
    parts = [
        "# Probes: planted bugs found and localised",
        METHOD,
        f"The mutants from real fixes are older than {len(ADDED)} cases of the ladder ({_younger()}) and than "
        "two narrower tolerances of P15. Their kills are given with and without these. The table of faults knows all "
        "mutants, so localisation says how well readings tell known bugs apart. How unknown ones fare is measured with "
        "the fault that fits a mutant best left out of the table: then its component can be named only where another "
        "fault lies in it too, and otherwise nothing should be named surely.",
        "\n".join(summary(found)),
        "### Right trainers\n\n" + _right_table(found),
        *(f"### Mutants: {title}\n\n" + _mutant_table(found, origin) for origin, title in ORIGINS.items()),
        "### Survivors\n\n" + _survivors(found),
        "### Named wrongly\n\n" + _mislocalised(found),
        "### Correct variants that fail\n\n" + _failing_variants(),
    ]
    return "\n\n".join(parts) + "\n"


def _younger() -> str:
    return ", ".join(f"{probe.code} {case.name}" for probe in LADDER for case in probe.cases
                     if (probe.code, case.name) in ADDED)  # fmt: skip


def summary(found: list[Outcome]) -> list[str]:
    """The numbers beside their goals, as a table."""
    planted = [outcome for outcome in found if not outcome.subject.right]
    killed = [outcome for outcome in planted if outcome.killed]
    settled = {
        origin: [o for o in killed if o.settled and o.subject.mutant and o.subject.mutant.origin == origin]
        for origin in ORIGINS
    }
    everywhere = [outcome for group in settled.values() for outcome in group]
    right = [outcome for outcome in found if outcome.subject.right]
    stock = stock_verdicts()
    libraries = sorted({trainer.partition(":")[0] for trainer in stock})
    equivalent = sum(mutant.equivalent for mutant in mutants().values())
    rows = [
        ("mutants written", f"{len(mutants())}, {equivalent} of them equivalent", ""),
        _kill_row(found, ORIGINS),
        *(_kill_row(found, (origin,), f", {title}") for origin, title in ORIGINS.items()),
        ("killed by the frozen ladder, bugs from real fixes", _frozen(planted), ""),
        ("killed, and waiting for cases that changed", f"{len(killed) - len(everywhere)} of {len(killed)}", "none"),
        ("localised first", _share(everywhere, _first), f"{GOALS['first']:.0%}"),
        *((f"localised first, {ORIGINS[origin]}", _share(group, _first), f"{GOALS['first']:.0%}")
          for origin, group in settled.items()),
        (f"localised among the first {TOP}", _share(everywhere, _among_first), ""),
        *_unknown_rows(everywhere),
        _alarm_row("", list(stock.values()), right),
        *(_alarm_row(f", {library}", [cases for name, cases in stock.items() if name.startswith(f"{library}:")], [])
          for library in libraries),
        _alarm_row(", right reference trainers (two right seeds pass)", [], right),
        *_variant_rows(),
        *_times(),
    ]  # fmt: skip
    return ["| | measured | goal |", "|---|---|---|", *(f"| {name} | {value} | {goal} |" for name, value, goal in rows)]


def _alarm_row(which: str, stock: list[dict[str, str]], right: list[Outcome]) -> tuple[str, str, str]:
    """Failed verdicts of all verdicts, of stock algorithms by case and of reference trainers."""
    verdicts = [verdict for cases in stock for verdict in cases.values()]
    alarms = verdicts.count("fail") + sum(len(outcome.failed) for outcome in right)
    judged = len(verdicts) + sum(outcome.judged for outcome in right)
    share = f" ({alarms / judged:.1%})" if judged else ""
    return (f"false alarms per verdict{which}", f"{alarms} of {judged}{share}", f"{GOALS['alarms']:.0%}")


def _unknown_rows(settled: list[Outcome]) -> list[tuple[str, str, str]]:
    """How mutants fare whose own fault the table does not know."""
    named = [(o, left_out(o)[0], o.subject.mutant.components) for o in settled if o.suspicions and o.subject.mutant]
    right = sum(lead.component in planted for _, lead, planted in named)
    none = sum(lead.component == "unknown" for _, lead, _ in named)
    wrong = sum(lead.weight >= SURE and lead.component not in ("unknown", *planted) for _, lead, planted in named)
    known = sum(outcome.suspicions[0].weight >= SURE and not _first(outcome) for outcome, _, _ in named)
    count = len(named)
    return [
        (f"named wrongly with {SURE:.0%} or more", f"{known} of {count}", ""),
        ("own fault left out: component named first", f"{right} of {count}", ""),
        ("own fault left out: said to be unknown", f"{none} of {count}", ""),
        (f"own fault left out: named wrongly with {SURE:.0%} or more", f"{wrong} of {count}", ""),
    ]


def _variant_rows() -> list[tuple[str, str, str]]:
    """False alarms on correct variants, alone and with all other right trainers."""
    found = [verdict for cases in verdicts().values() for verdict in cases.values() if verdict in ("pass", "fail")]
    alarms, bound = found.count("fail"), at_most(found.count("fail"), len(found)) if found else 1.0
    text = f"{alarms} of {len(found)} (with 95% confidence at most {bound:.2%})"
    return [(f"false alarms per verdict, {len(verdicts())} correct variants", text, "none in 3,000")]


def _first(outcome: Outcome) -> bool:
    return outcome.rank == 1


def _among_first(outcome: Outcome) -> bool:
    return outcome.rank is not None and outcome.rank <= TOP


def _frozen(planted: list[Outcome]) -> str:
    fixes = [o for o in planted if o.subject.mutant and o.subject.mutant.origin == "from_fixes"]
    return _share(fixes, lambda outcome: outcome.killed_when_frozen)


def _kill_row(found: list[Outcome], origins: Iterable[str], which: str = "") -> tuple[str, str, str]:
    """A mutant that was not killed has survived only when its whole ladder is recorded."""
    chosen = {subject.name for subject in all_subjects() if subject.mutant and not subject.right
              and subject.mutant.origin in origins}  # fmt: skip
    killed = sum(outcome.killed for outcome in found if outcome.subject.name in chosen)
    survived = sum(outcome.whole and not outcome.killed for outcome in found if outcome.subject.name in chosen)
    left = len(chosen) - killed - survived
    text = f"{killed} of {len(chosen)} ({killed / len(chosen):.0%}); {survived} survived, {left} not finished"
    return (f"killed{which}", text, f"{GOALS['killed']:.0%}")


def _times() -> list[tuple[str, str, str]]:
    rows = []
    for name, (cost, cases) in stock_costs(TIMED).items():
        goal = GOALS[name]
        value = f"{cost:.0f} ({cases} cases)" if cases else "not recorded"
        rows.append(
            (f"CPU seconds of the {name}, {TIMED}", value, f"{CORES * goal:.0f} ({goal:.0f} s on {CORES} cores)")
        )
    return rows


def _right_table(found: list[Outcome]) -> str:
    lines = ["| trainer | verdicts | failed |", "|---|---|---|"]
    for outcome in found:
        if outcome.subject.right:
            failed = ", ".join(f"{result.code} {result.case}" for result in outcome.failed) or "none"
            lines.append(f"| {outcome.subject.name} | {outcome.judged} | {failed} |")
    for trainer, cases in stock_verdicts().items():
        failed = ", ".join(name for name, verdict in cases.items() if verdict == "fail") or "none"
        lines.append(f"| {trainer} | {len(cases)} | {failed} |")
    return "\n".join(lines)


def _mutant_table(found: list[Outcome], origin: str) -> str:
    lines = ["| mutant | bug | component | failed | named first |", "|---|---|---|---|---|"]
    for outcome in found:
        mutant = outcome.subject.mutant
        if mutant is None or mutant.equivalent or mutant.origin != origin:
            continue
        failed = ", ".join(dict.fromkeys(result.code for result in outcome.failed)) or "none"
        first = outcome.suspicions[0].component if outcome.suspicions and outcome.settled else ""
        seen = f" ({mutant.seen_in})" if mutant.seen_in else ""
        components = " or ".join(mutant.components)
        failed += "" if outcome.whole or outcome.settled else " (stopped)" if outcome.killed else " (not finished)"
        lines.append(f"| {outcome.subject.name} | {mutant.title}{seen} | {components} | {failed} | {first} |")
    return "\n".join(lines)


def _survivors(found: list[Outcome]) -> str:
    alive = [o for o in found if not o.subject.right and o.whole and not o.killed]
    lines = [f"- {o.subject.name}: {o.subject.mutant.title}{_why(o.subject.name)}" for o in alive if o.subject.mutant]
    return "\n".join(lines) or "None among the mutants whose whole ladder is recorded."


def _mislocalised(found: list[Outcome]) -> str:
    missed = [o for o in found if not o.subject.right and o.killed and o.settled and not _first(o)]
    lines = []
    for outcome in missed:
        planted = " or ".join(outcome.subject.mutant.components) if outcome.subject.mutant else ""
        named = f"{outcome.suspicions[0].component} is named first" if outcome.suspicions else "nothing is named"
        place = f", the planted one as number {outcome.rank}" if outcome.rank else ""
        lines.append(f"- {outcome.subject.name} ({planted}): {named}{place}{_why(outcome.subject.name)}")
    return "\n".join(lines) or "None."


def _failing_variants() -> str:
    failed = [(name, case) for name, cases in verdicts().items() for case, found in cases.items() if found == "fail"]
    return "\n".join(f"- {name}: {case}{_why(name)}" for name, case in failed) or "None."


def _why(name: str) -> str:
    text = _misses().get(name, "")
    return f". {text}" if text else ""


@cache
def _misses() -> Mapping[str, str]:
    """Why a mutant is missed, or a correct variant fails, by the name of the subject."""
    return tomllib.loads(MISSES.read_text(encoding="utf-8"))


def _share(items: Iterable[Outcome], holds: Callable[[Outcome], bool]) -> str:
    chosen = list(items)
    good = sum(holds(item) for item in chosen)
    return f"{good} of {len(chosen)} ({good / len(chosen):.0%})" if chosen else "none recorded"


if __name__ == "__main__":
    main()

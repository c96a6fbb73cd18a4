"""From a problem to advice: which rules fire and why, what they recommend, what is still to be asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from rlclinic.advisor.condition import ABSENT, Condition
from rlclinic.advisor.environment import with_environment
from rlclinic.advisor.fact_keys import fact_keys
from rlclinic.advisor.next_steps import next_steps
from rlclinic.advisor.problem import Problem, derived, problem_of, read_problem
from rlclinic.advisor.rules import QUESTIONS, TRUST, AdviceRule, approaches, citations, disagreements, rules
from rlclinic.advisor.run import facts_of_run
from rlclinic.advisor.values import advised_values
from rlclinic.model.advice import Advice, FactOrigin, FiredRule, Option, ProblemFact, Question, Value
from rlclinic.model.diagnosis import Diagnosis
from rlclinic.model.errors import UsageError
from rlclinic.readers.redaction.redact import redact
from rlclinic.reference.environment_names import is_plain_id

STRATEGY = "strategy"
# Approaches below this share of the leading score are no alternatives.
ALTERNATIVE = 0.4
MOST_ALTERNATIVES = 3
MOST_QUESTIONS = 8
# Questions that an approach hangs on, asked before any other.
FIRST_ASKED = (
    "env.available",
    "task.one_step",
    "reward.known",
    "task.model_known",
    "data.source",
    "expert.available",
    "task.action",
    "task.obs",
    "env.parallel",
    "env.steps_per_s",
    "budget.env_steps",
)
# What each strategy question decides between.
STRATEGIC = frozenset({"rl-or-not", "algorithm", "offline", "dagger"})
# Of a strategy as a whole, the areas that have nothing to say once such an approach leads; what votes on one that is
# shown is always said.
SETTINGS = frozenset({"batch-size", "curriculum", "discount", "exploration", "learning-rate", "network"})
SILENT = {
    "not-rl": SETTINGS | {"algorithm", "foundation", "hybrid", "imitation", "offline"},
    "not-yet": SETTINGS | {"algorithm"},
    "imitation": frozenset({"algorithm", "discount", "exploration"}),
    "offline": frozenset({"algorithm", "exploration"}),
    "rl": frozenset({"imitation", "offline"}),
}
# Facts of these groups are asked for once this is known to be neither.
GATES = {"data": "data.source", "expert": "expert.available"}
NOTHING = (None, "none", "no")
# Approaches of this kind are offline algorithms, ranked among themselves; the names that runs have for them.
ALGORITHM = "algorithm"
NAMES = {"td3-bc": "TD3PLUSBC", "rebrac": "REBRAC", "iql": "IQL", "cql": "CQL", "decision-transformer": "DT"}


def advise(
    question: str = STRATEGY,
    problem: Mapping[str, object] | str | Path = MappingProxyType({}),
    *,
    environment: str = "",
    algorithm: str = "",
    run: str | Path | Diagnosis | None = None,
    dataset: str | Path | None = None,
    trusted: bool = True,
) -> Advice:
    """Advice on the strategy as a whole, or on one question.

    `problem` is a description in facts or the YAML file that holds one; what `environment`, `run` and the transitions
    of `dataset` tell joins it. With `trusted` an environment `module:Class` is imported, as the caller named it.
    """
    known = known_problem(problem, environment, algorithm, run, trusted=trusted)
    if dataset:
        # A first answer without data does not wait for the libraries that measure them.
        from rlclinic.advisor.dataset import with_dataset
        from rlclinic.readers.transitions.trace import read_trace

        known = derived(with_dataset(known, read_trace(Path(dataset), needs_rewards=False), str(dataset)))
    return advice_on(known, question)


def known_problem(
    problem: Mapping[str, object] | str | Path,
    environment: str,
    algorithm: str,
    run: str | Path | Diagnosis | None,
    *,
    trusted: bool,
) -> Problem:
    """All that is known about a problem without measuring."""
    told = problem if isinstance(problem, Mapping) else read_problem(Path(problem))
    found = problem_of(told, environment=environment, algorithm=algorithm)
    if run:
        from rlclinic.engine import diagnose

        diagnosis = run if isinstance(run, Diagnosis) else diagnose(run)
        of_run = diagnosis.run.environment if is_plain_id(diagnosis.run.environment) else ""
        named = found.environment or of_run
        asked = "" if isinstance(run, Diagnosis) else redact(str(run))
        found = replace(found, environment=named, run=asked).with_facts(*facts_of_run(diagnosis))
    if found.environment and environment:
        found = with_environment(found, trusted=trusted)
    return derived(found)


def advice_on(problem: Problem, question: str = STRATEGY) -> Advice:
    """What the rules say about a problem."""
    if question != STRATEGY and question not in QUESTIONS:
        raise UsageError(f"no question is called {question!r}", hint=f"one of {', '.join(QUESTIONS)}")
    # What holds in every case answers a direct question; a strategy rests on facts.
    relevant = [
        rule for rule in rules().values() if question in rule.about or (question == STRATEGY and rule.conditions)
    ]
    fired = _all_fired(relevant, problem)
    rewarded = problem["data.has_rewards"] is not False
    algorithms = _options(fired, algorithms=True) if question == "offline" and rewarded else ()
    leading = next((option.id for option in _options(fired)), "")
    if algorithms and leading == "offline-rl" and problem["run.algo"] is None:
        # What the sources say about the settings of the algorithm that fits best belongs to the answer.
        fits = ProblemFact("run.algo", NAMES[algorithms[0].id], FactOrigin.DERIVED, "fits the data best")
        problem = derived(problem.with_facts(fits))
        fired = _all_fired(relevant, problem)
    facts = problem.values
    options = _options(fired) if question == STRATEGY or question in STRATEGIC else ()
    fired, everything = tuple(sorted(fired, key=lambda rule: not _speaks_for(rule, options[:1]))), relevant
    if question == STRATEGY:
        fired = tuple(rule for rule in fired if _matters(rule, options))
        relevant = [rule for rule in relevant if not options or rule.area not in SILENT.get(options[0].kind, ())]
    values = advised_values(problem, question, fired)
    named = {rules()[rule.id].disagreement for rule in fired} - {""}
    return Advice(
        area=question,
        headline=_headline(question, options, values, fired, algorithms),
        facts=tuple(replace(fact, name=fact_keys()[fact.key].name) for fact in problem.facts.values()),
        rules=fired,
        options=options,
        values=values,
        questions=_questions(relevant, facts, question),
        disagreements=tuple(disagreements()[name] for name in sorted(named)),
        caveats=(*problem.caveats, *_caveats(fired, options)),
        changes=_changes(problem, everything, options) if options else (),
        next_steps=(*problem.steps, *next_steps(problem, question, options, values, algorithms)),
        algorithms=algorithms,
        measurements=problem.measurements,
    )


def _holds(conditions: Sequence[Condition], facts: Mapping[str, object]) -> bool:
    return all(condition.holds(facts) is True for condition in conditions)


def _all_fired(relevant: Sequence[AdviceRule], problem: Problem) -> tuple[FiredRule, ...]:
    facts = problem.values
    return tuple(sorted((_fired(rule, problem) for rule in relevant if _holds(rule.conditions, facts)), key=_weight))


def _fired(rule: AdviceRule, problem: Problem) -> FiredRule:
    known = citations()
    told = (condition.key for condition in rule.conditions if condition.key in problem.facts)
    because = tuple(f"{fact_keys()[key].name}: {_value(problem.facts[key].value)}" for key in dict.fromkeys(told))
    return FiredRule(
        rule.id,
        rule.area,
        rule.advice,
        rule.why,
        rule.range,
        because,
        tuple(known[source] for source in rule.sources),
        rule.seen,
        rule.trust,
        rule.votes,
    )


def _speaks_for(rule: FiredRule, options: Sequence[Option]) -> bool:
    return any(rule.votes.get(option.id, 0.0) > 0 for option in options)


def _matters(rule: FiredRule, options: Sequence[Option]) -> bool:
    """Whether a rule says something to whoever takes one of these approaches."""
    if not options or any(option.id in rule.votes for option in options):
        return True
    return rule.area not in SILENT.get(options[0].kind, ())


def _weight(rule: FiredRule) -> tuple[float, int, int, str]:
    """What decides most first: its largest vote, then what rests on more facts, then trust."""
    strongest = max((abs(vote) for vote in rule.votes.values()), default=0.0)
    return -strongest, -len(rule.because), TRUST.index(rule.trust), rule.id


def _options(fired: Sequence[FiredRule], *, algorithms: bool = False) -> tuple[Option, ...]:
    """Approaches, or offline algorithms, by the sum of the votes on them; the first is the recommendation."""
    score: Counter[str] = Counter()
    for rule in fired:
        for approach, vote in rule.votes.items():
            if (approaches()[approach].kind == ALGORITHM) is algorithms:
                score[approach] += vote  # type: ignore[assignment]  # typeshed counts whole numbers only
    ranked = sorted((name for name in score if score[name] > 0), key=lambda name: (-score[name], name))
    leading = score[ranked[0]] if ranked else 0.0
    found = []
    for name in ranked[: 1 + MOST_ALTERNATIVES]:
        if score[name] < ALTERNATIVE * leading:
            continue
        entry = approaches()[name]
        speaking = tuple(rule.id for rule in fired if rule.votes.get(name, 0.0) > 0)
        against = tuple(rule.id for rule in fired if rule.votes.get(name, 0.0) < 0)
        sources = tuple(citations()[source] for source in entry.sources)
        found.append(Option(name, entry.title, entry.kind, score[name], speaking, against, entry.trade_off, sources))
    return tuple(found)


def _headline(
    question: str,
    options: Sequence[Option],
    values: Sequence[Value],
    fired: Sequence[FiredRule],
    algorithms: Sequence[Option],
) -> str:
    if values:
        return ", ".join(map(_value_words, values)) + "."
    if options:
        first = algorithms[0].title if algorithms and options[0].id == "offline-rl" else ""
        return _recommendation(options[0]) + f" Of these {first} first." * bool(first)
    if fired:
        return fired[0].advice
    return "Not enough is known for advice; the questions below would tell."


def _value_words(value: Value) -> str:
    default = f" (the library's default is {value.default:g})" if value.default not in (None, value.start) else ""
    return f"{value.key} {value.start:.4g}{default}"


def _recommendation(option: Option) -> str:
    title = option.title[0].upper() + option.title[1:]
    words = {
        "not-rl": f"{title}; deep RL is not the tool for this, or not the first.",
        "not-yet": f"Not yet: {option.title}.",
    }
    return words.get(option.kind, f"{title}.")


def _questions(relevant: Sequence[AdviceRule], facts: Mapping[str, object], question: str) -> tuple[Question, ...]:
    """What is not known and would decide rules that nothing known rules out; what decides most first."""
    waiting = Counter(key for rule in _open(relevant, facts) for key in {c.key for c in _unknown(rule, facts)})
    first = {key: place for place, key in enumerate(FIRST_ASKED)}
    asked = [key for key in waiting if fact_keys()[key].ask and _can_be_asked(key, facts, question)]
    asked.sort(key=lambda key: (first.get(key, len(first)), -waiting[key], key))
    keys = (fact_keys()[key] for key in asked[:MOST_QUESTIONS])
    return tuple(Question(entry.key, entry.ask, entry.answers, waiting[entry.key]) for entry in keys)


def _can_be_asked(key: str, facts: Mapping[str, object], question: str) -> bool:
    """Nobody is asked about data or an expert that may not exist, nor for an algorithm where one is to be advised."""
    gate = GATES.get(key.partition(".")[0], key)
    return (gate == key or facts.get(gate) not in NOTHING) and not (question == STRATEGY and key == "run.algo")


def _open(relevant: Sequence[AdviceRule], facts: Mapping[str, object]) -> list[AdviceRule]:
    """The rules that nothing known rules out."""
    return [rule for rule in relevant if not any(condition.holds(facts) is False for condition in rule.conditions)]


def _unknown(rule: AdviceRule, facts: Mapping[str, object]) -> list[Condition]:
    return [c for c in rule.conditions if c.key not in facts and c.operator not in ABSENT]


def _changes(problem: Problem, relevant: Sequence[AdviceRule], options: Sequence[Option]) -> tuple[str, ...]:
    """Single answers that would lead to another recommendation, by what that would be."""
    facts, found = problem.values, dict[str, list[str]]()
    conditions = (c for rule in _open(relevant, facts) if rule.votes for c in _unknown(rule, facts))
    answers = {
        (c.key, words): value
        for c in conditions
        if c.key != "run.algo" and fact_keys()[c.key].ask
        for words, value in c.examples.items()
    }
    for (key, words), value in sorted(answers.items(), key=str):
        leading = _options(_all_fired(relevant, derived(problem.with_facts(ProblemFact(key, value)))))[:1]
        if leading and leading[0].id != options[0].id:
            found.setdefault(leading[0].title, []).append(f'{words} to "{fact_keys()[key].ask}"')
    return tuple(
        f"{title[0].upper()}{title[1:]}, if the answer is {' or '.join(cases)}" for title, cases in found.items()
    )


def _caveats(fired: Sequence[FiredRule], options: Sequence[Option]) -> tuple[str, ...]:
    found = []
    if options:
        own = [rule for rule in fired if rule.id in options[0].rules]
        if own and all(rule.is_heuristic for rule in own):
            found.append(
                "The recommendation rests on heuristics alone: no source that was read says it in these words."
            )
        if options[0].against:
            found.append(f"{', '.join(options[0].against)} speak against it.")
        if len(options) > 1 and options[1].score > 0.8 * options[0].score:
            found.append(f"It is a close call: {options[1].title} is nearly as good.")
    return tuple(found)


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, float):
        return str(value)
    return f"{value:,.6g}" if abs(value) >= 1e3 else f"{value:.3g}"

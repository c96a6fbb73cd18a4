"""A problem as advice sees it: facts with their origin, from a YAML file, from options, measured or derived."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import Any

from rlclinic.advisor.fact_keys import fact_keys
from rlclinic.model.advice import FactOrigin, Measurement, ProblemFact
from rlclinic.model.errors import UsageError
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.vocabulary import FAMILIES as TRAINED
from rlclinic.readers.formats.errors import FormatError
from rlclinic.readers.formats.logs.log_text import decode
from rlclinic.readers.formats.yaml.safe_yaml import load_yaml
from rlclinic.readers.no_links import read_file
from rlclinic.reference.algorithms import algorithm_name
from rlclinic.reference.reference_configs import SAME_AS
from rlclinic.reference.tasks import task_of

# A description is a page, not a data set.
MOST_BYTES = 100_000
FAMILIES = {
    "on-policy": frozenset({"PPO", "A2C", "A3C", "TRPO", "REINFORCE", "MM-RKHS", "IMPALA", "RECURRENTPPO"}),
    "off-policy": frozenset({"SAC", "TD3", "DDPG", "TQC", "REDQ", "DROQ", "CROSSQ"}),
    "value-based": frozenset({"DQN", "QRDQN", "C51", "RAINBOW", "IQN"}),
    "offline": frozenset({"CQL", "IQL", "TD3PLUSBC", "BCQ", "CRR", "AWAC", "EDAC", "SACN", "REBRAC", "DT", "RVS"}),
    "imitation": TRAINED["imitation"] | {"GAIL", "AIRL"},
}
# Steps that even the easier tasks of a kind take, where no published run of the task is known: classic control with
# discrete and with continuous actions, games from pixels. Orders of magnitude, from published runs.
EASY_DISCRETE, EASY_BOX, EASY_IMAGES = 5e4, 1e5, 1e6
# Approaches by algorithms that published runs have; the factor between their steps that is a difference.
PUBLISHED = {"sac": ("SAC", "TD3", "TQC"), "dqn": ("DQN", "QRDQN"), "ppo": ("PPO",)}
CLEARLY = 1.5
OBSERVED = {"mujoco": "vector", "atari": "image"}


@dataclass(frozen=True, slots=True)
class Problem:
    """What is known about a problem."""

    facts: Mapping[str, ProblemFact] = field(default_factory=dict)
    environment: str = ""
    title: str = ""
    measurements: tuple[Measurement, ...] = ()
    steps: tuple[str, ...] = ()
    """What the measurements say to do next."""
    dataset: str = ""
    """Where the data lie that were measured."""
    run: str = ""
    """The run that was named."""
    caveats: tuple[str, ...] = ()
    """What was to be read of it and could not be."""

    def __getitem__(self, key: str) -> object:
        found = self.facts.get(key)
        return None if found is None else found.value

    def number(self, key: str) -> float | None:
        """The value of a numeric fact."""
        value = self[key]
        return value if isinstance(value, float) else None

    @property
    def values(self) -> dict[str, object]:
        return {key: found.value for key, found in self.facts.items()}

    def with_facts(self, *more: ProblemFact) -> Problem:
        """The problem with further facts; what was told before stays."""
        new = {item.key: item for item in more if item.key not in self.facts}
        return replace(self, facts={**self.facts, **new})

    def with_measurements(self, *more: Measurement) -> Problem:
        """The problem with what was measured on it."""
        return replace(self, measurements=(*self.measurements, *more))


def problem_of(
    described: Mapping[str, object], *, environment: str = "", algorithm: str = "", where: str = ""
) -> Problem:
    """A problem from what was told: nested or dotted keys, as in the YAML of a description."""
    flat = _flat(described)
    title = str(flat.pop("title", ""))
    environment = environment or str(flat.pop("env.id", ""))
    flat.pop("env.id", None)
    facts: dict[str, ProblemFact] = {}
    for key, value in flat.items():
        entry = fact_keys().get(key)
        if entry is None:
            close = difflib.get_close_matches(key, fact_keys(), n=1)
            hint = f"did you mean {close[0]}?" if close else "`rlclinic advise --questions` lists the keys"
            raise UsageError(f"no fact is called {key!r}", path=where, hint=hint)
        try:
            facts[key] = ProblemFact(key, entry.parse(value))
        except ValueError as error:
            raise UsageError(str(error), path=where) from error
    if algorithm:
        facts["run.algo"] = ProblemFact("run.algo", _algorithm(algorithm))
    return derived(Problem(facts, environment, title))


def read_problem(path: Path) -> dict[str, object]:
    """The content of a description; UsageError where it is none."""
    try:
        document = load_yaml(decode(read_file(path, MOST_BYTES)))
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", path=str(path)) from error
    except FormatError as error:
        raise UsageError("not valid YAML", path=str(path), hint=str(error)) from error
    if document.problems:
        raise UsageError("not valid YAML", path=str(path), hint=document.problems[0])
    if not isinstance(document.data, dict):
        raise UsageError("not a YAML mapping of facts", path=str(path), hint="for example `task: {action: box}`")
    return document.data


def with_answer(problem: Problem, key: str, answer: object) -> Problem:
    """The problem with one more answer; ValueError where it is none."""
    return derived(problem.with_facts(ProblemFact(key, fact_keys()[key].parse(answer))))


def derived(problem: Problem) -> Problem:
    """The problem with what follows from its facts."""
    problem = problem.with_facts(*_family(problem), *_known_task(problem))
    return problem.with_facts(*_affordable(problem), *_online_share(problem))


def _algorithm(told: str) -> str:
    """The name of an algorithm as tables have it; one that none knows is a slip."""
    known = algorithm_name(told) or told.upper()
    members = frozenset().union(*FAMILIES.values())
    if known != algorithm_name(told) and known not in members:
        close = difflib.get_close_matches(known, members, n=1)
        hint = f"did you mean {close[0]}?" if close else f"for example {', '.join(sorted(FAMILIES['off-policy']))}"
        raise UsageError(f"no algorithm is called {told!r}", hint=hint)
    return known


def _family(problem: Problem) -> list[ProblemFact]:
    told = problem["run.algo"]
    if not isinstance(told, str):
        return []
    name = algorithm_name(told) or told
    name = SAME_AS.get(name, name) if name.endswith("PPO") else name
    family = next((family for family, members in FAMILIES.items() if name in members), None)
    return [ProblemFact("run.family", family, FactOrigin.DERIVED, f"{name} is {family}")] if family else []


def _known_task(problem: Problem) -> list[ProblemFact]:
    task = task_of(problem.environment) if problem.environment else None
    if task is None:
        return []
    told: dict[str, object] = {"env.available": True, "task.one_step": False, "reward.known": True}
    told["task.horizon"] = float(task.max_episode_steps) if task.max_episode_steps else None
    told["task.obs"] = OBSERVED.get(task.group)
    steps = dict(sorted(task.steps_to_target.items(), key=lambda item: item[1]))
    told["task.action"] = "box" if "SAC" in steps else "discrete" if task.group == "atari" or "DQN" in steps else None
    fewest = sorted((min(steps[name] for name in names if name in steps), approach)
                    for approach, names in PUBLISHED.items() if steps.keys() & set(names))  # fmt: skip
    clear = fewest and (len(fewest) == 1 or fewest[1][0] > CLEARLY * fewest[0][0])
    told["task.fastest"] = fewest[0][1] if clear and fewest[0][1] != "ppo" else None
    level = "its goal" if task.target is None else f"{task.target:g}"
    reached = f"to {level} on {task.name}: " + ", ".join(f"{name} {count:,.0f}" for name, count in steps.items())
    notes = {"task.fastest": reached}
    return [ProblemFact(key, value, FactOrigin.KNOWN, notes.get(key, task.name)) for key, value in told.items()
            if value is not None]  # fmt: skip


def _affordable(problem: Problem) -> list[ProblemFact]:
    """Steps that the budget buys over steps that such a task needs."""
    speed, hours = problem.number("env.steps_per_s"), problem.number("budget.hours")
    told = problem.number("budget.env_steps")
    bought = speed * (problem.number("env.parallel") or 1.0) * hours * 3600.0 if speed and hours else None
    known = [item for item in (told, bought) if item is not None]
    if not known or problem["env.available"] is False:
        return []
    task = task_of(problem.environment) if problem.environment else None
    if task is not None and task.steps_to_target:
        steps, basis = min(task.steps_to_target.values()), f"the fastest published run of {task.name}"
    else:
        seen, acts = problem["task.obs"], problem["task.action"]
        if seen is None and acts is None:
            return []
        steps = EASY_IMAGES if seen == "image" else EASY_BOX if acts == "box" else EASY_DISCRETE
        basis = "what even easier tasks of this kind take"
    share = min(known) / steps
    note = f"{min(known):,.0f} steps against {steps:,.0f}, {basis}"
    return [ProblemFact("budget.affordable_share", share, FactOrigin.DERIVED, note)]


def _online_share(problem: Problem) -> list[ProblemFact]:
    steps, recorded = problem.number("budget.env_steps"), problem.number("data.n_transitions")
    if steps is None or not recorded:
        return []
    note = f"{steps:,.0f} online steps over {recorded:,.0f} recorded ones"
    return [ProblemFact("budget.online_share", steps / recorded, FactOrigin.DERIVED, note)]


def _flat(described: Mapping[str, Any], prefix: str = "") -> dict[str, object]:
    flat: dict[str, object] = {}
    for key, value in described.items():
        name = f"{prefix}{key}"
        flat.update(_flat(value, f"{name}.") if isinstance(value, Mapping) else {name: value})
    return flat

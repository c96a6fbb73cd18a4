"""Whether RL fits a problem, which approach, which settings: the advisor's answers with their sources."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rlclinic.apps.mcp.reply import Reply, plain_value
from rlclinic.apps.mcp.workspace import Workspace
from rlclinic.model.advice import Advice

# Rules of the answer; the rest rarely changes what to do.
MOST_RULES = 8
KNOWN = ("key", "value", "origin", "note")
SAID = ("id", "title", "value", "low", "high", "reading")


class AdviceReply(Reply):
    question: str
    headline: str
    facts: list[dict[str, Any]]
    """What was understood, and where it comes from."""
    options: list[dict[str, Any]]
    """Approaches, the recommended one first, with the rules that speak for and against each."""
    algorithms: list[dict[str, Any]]
    """Offline algorithms for recorded data, the best fit first."""
    values: list[dict[str, Any]]
    measurements: list[dict[str, Any]]
    rules: list[dict[str, Any]]
    rules_total: int
    questions: list[dict[str, Any]]
    """What would sharpen the answer; give the answers as `facts`."""
    disagreements: list[dict[str, Any]]
    caveats: list[str]
    changes: list[str]
    """Single answers that would lead to another recommendation."""
    next_steps: list[str]
    citations: list[str]


def advise(
    workspace: Workspace,
    question: str = "strategy",
    facts: dict[str, Any] | None = None,
    environment: str = "",
    algorithm: str = "",
    run_id: str = "",
) -> AdviceReply:
    """Advise on a problem from cited rules: whether RL fits and which approach (`strategy`), or one of rl-or-not,
    algorithm, offline, dagger, batch-size, learning-rate, schedule, optimiser, discount, gae, network, exploration,
    reward, curriculum. `facts` are such as {"task.action": "box", "env.parallel": 1}; what is missing comes back as
    `questions`. `environment` is a registered Gymnasium id; a run tells its algorithm and what its diagnosis found."""
    from rlclinic.advisor.advise import advise as advise_on

    run = workspace.open(run_id).diagnosis if run_id else None
    found = advise_on(question, facts or {}, environment=environment, algorithm=algorithm, run=run, trusted=False)
    return _reply(found)


def inspect_dataset(
    workspace: Workspace, path: str, environment: str = "", facts: dict[str, Any] | None = None
) -> AdviceReply:
    """Judge recorded transitions (Minari, d4rl-style HDF5, npz, parquet or csv below the root) for offline RL or
    imitation: returns, whose behaviour it is, coverage, randomness, stitching, ends and time limits, repeats, actions;
    then which algorithm fits (CQL, IQL, TD3+BC, ReBRAC, Decision Transformer, filtered cloning), why, and how to choose
    its settings offline. `environment` names the task whose random and best returns are known; else give
    `data.random_return` and `data.best_return` as facts. Nothing is unpickled."""
    from rlclinic.advisor.advise import advise as advise_on

    place = Path(workspace.placed(path))
    return _reply(advise_on("offline", facts or {}, environment=environment, dataset=place, trusted=False))


def _reply(found: Advice) -> AdviceReply:
    from rlclinic.reports.advice_formats import advice_object, cited

    data = advice_object(found)
    shorter = {
        "facts": [{key: fact[key] for key in KNOWN} for fact in data["facts"]],
        "measurements": [{key: item[key] for key in SAID} for item in data["measurements"]],
        "rules": data["rules"][:MOST_RULES],
        "rules_total": len(data["rules"]),
        "citations": list(map(cited, found.citations)),
    }
    kept = {name: value for name, value in data.items() if name in AdviceReply.model_fields}
    return AdviceReply(**plain_value({**kept, **shorter})).said(data["headline"])

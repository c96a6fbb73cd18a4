"""Whether RL fits a problem, which approach, which settings: the advisor's answers with their sources."""

from __future__ import annotations

from typing import Any

from rlclinic.apps.mcp.reply import Reply, plain_value
from rlclinic.apps.mcp.workspace import Workspace

# Rules of the answer; the rest rarely changes what to do.
MOST_RULES = 8


class AdviceReply(Reply):
    question: str
    headline: str
    options: list[dict[str, Any]]
    """Approaches, the recommended one first, with the rules that speak for and against each."""
    values: list[dict[str, Any]]
    rules: list[dict[str, Any]]
    rules_total: int
    questions: list[dict[str, Any]]
    """What would sharpen the answer; give the answers as `facts`."""
    disagreements: list[dict[str, Any]]
    caveats: list[str]
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
    from rlclinic.reports.advice_formats import advice_object

    run = workspace.open(run_id).diagnosis if run_id else None
    found = advise_on(question, facts or {}, environment=environment, algorithm=algorithm, run=run, trusted=False)
    data = advice_object(found)
    reply = AdviceReply(
        question=data["question"],
        headline=data["headline"],
        options=plain_value(data["options"]),
        values=plain_value(data["values"]),
        rules=plain_value(data["rules"][:MOST_RULES]),
        rules_total=len(data["rules"]),
        questions=plain_value(data["questions"]),
        disagreements=plain_value(data["disagreements"]),
        caveats=data["caveats"],
        next_steps=data["next_steps"],
        citations=[
            f"{source.text}, arXiv {source.id}" if source.is_arxiv else source.text for source in found.citations
        ],
    )
    return reply.said(data["headline"])

"""Facts about a problem that a run of it tells: its algorithm, its settings and what its diagnosis found."""

from __future__ import annotations

from collections.abc import Mapping

from rlclinic.model.advice import FactOrigin, ProblemFact
from rlclinic.model.diagnosis import Diagnosis, Verdict
from rlclinic.model.vocabulary import families_of

# Findings that answer a question of the advisor, by the name of their rule.
FOUND: Mapping[str, str] = {
    "large-swings": "run.late_swings",
    "return-collapse": "run.late_collapse",
    "kl-too-large": "run.kl_spikes",
    "q-values-diverge": "run.critic_diverges",
    "q-above-achievable": "measured.q_above_possible",
    "plateau-below-goal": "run.plateau_below_known",
}
GAMMA_FAR = 3.0
"""Horizons of the discount that fit into an episode before the two objectives part."""


def facts_of_run(diagnosis: Diagnosis) -> tuple[ProblemFact, ...]:
    """What a diagnosed run tells about its problem."""
    run = diagnosis.run
    told: dict[str, object] = {}
    if run.algorithm:
        told["run.algo"] = run.algorithm
    names = {finding.name for finding in diagnosis.findings}
    told |= {fact: True for rule, fact in FOUND.items() if rule in names}
    if diagnosis.verdict in (Verdict.SOLVED, Verdict.LEARNING):
        told.setdefault("run.plateau_below_known", False)
    config = run.config
    for setting, fact in (("adam_eps", "run.adam_eps"), ("update_to_data", "run.updates_per_step")):
        if (value := config.number(setting)) is not None:
            told[fact] = value
    batch, rollout = config.number("batch_size"), _rollout(diagnosis)
    if "imitation" in families_of(run.algorithm):
        # Its expert answered; cloning may have had no more than a file.
        told |= {} if run.algorithm.endswith("BC") else {"expert.available": "queryable"}
    elif batch and rollout:
        told["run.batch_divides"] = rollout % batch == 0
    explained = run.series.get("explained_variance")
    if explained is not None and explained.last is not None:
        told["run.explained_variance"] = float(explained.last)
    told |= _horizon(diagnosis)
    return tuple(ProblemFact(key, value, FactOrigin.READ, f"of {run.id}") for key, value in told.items())


def _rollout(diagnosis: Diagnosis) -> float | None:
    config = diagnosis.run.config
    steps, environments = config.number("n_steps"), config.number("n_envs")
    return steps * (environments or 1.0) if steps else None


def _horizon(diagnosis: Diagnosis) -> dict[str, object]:
    length, gamma = diagnosis.run.series.get("episode_length"), diagnosis.run.config.number("gamma")
    last = length.last if length is not None else None
    if not last or gamma is None or gamma >= 1.0:
        return {}
    return {"task.horizon": float(last), "run.gamma_below_horizon": last * (1.0 - gamma) > GAMMA_FAR}

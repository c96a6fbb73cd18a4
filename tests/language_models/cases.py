"""What logs of language-model runs may be called: a signature, its near misses and its healthy twins.

A fault is right where its first cause is one of those named; a calm run must not be accused of anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.language_models.curves import UPDATES, Curve, Drawn, geometric, healthy, path

ALL = ("verl", "verl-0.4", "search-r1", "trl", "trl-console", "openrlhf", "nemo-rl")
RICH = ("verl", "verl-0.4", "trl", "trl-console", "openrlhf")
VERL, SEARCH, TRL = ("verl", "verl-0.4"), ("search-r1",), ("trl", "trl-console")
FAILED = frozenset({"collapsed", "unstable", "not-learning", "misconfigured", "reward-hacking"})
WELL = frozenset({"learning", "plateaued", "solved"})

GRPO = {
    "algorithm.adv_estimator": "grpo",
    "algorithm.use_kl_in_reward": False,
    "actor_rollout_ref.rollout.n": 8,
    "actor_rollout_ref.rollout.temperature": 1.0,
    "actor_rollout_ref.actor.use_kl_loss": True,
    "actor_rollout_ref.actor.kl_loss_coef": 0.001,
    "actor_rollout_ref.actor.optim.lr": 1e-6,
    "actor_rollout_ref.actor.ppo_mini_batch_size": 32,
    "actor_rollout_ref.actor.clip_ratio": 0.2,
    "data.train_batch_size": 64,
    "data.max_response_length": 1024,
    "trainer.test_freq": 10,
    "trainer.total_training_steps": UPDATES,
}

Build = Callable[[Drawn], dict[str, Curve]]


@dataclass(frozen=True)
class Case:
    """One log: how its curves go, who writes it, and what may be said."""

    name: str
    build: Build
    frameworks: tuple[str, ...]
    causes: frozenset[str] = frozenset()
    """Accepted as first cause; none for a run that is well."""
    verdicts: frozenset[str] = FAILED
    config: Mapping[str, Any] = field(default_factory=dict)

    @property
    def calm(self) -> bool:
        return not self.causes


def _with(score: Curve | None = None, updates: int = UPDATES, **curves: Callable[[Drawn], Curve]) -> Build:
    """The healthy run with other curves."""

    def build(draw: Drawn) -> dict[str, Curve]:
        run = healthy(draw, score, updates)
        return run | {name: make(draw) for name, make in curves.items()}

    return build


def _only(names: str, build: Build) -> Build:
    """Without all curves but these."""
    return lambda draw: {name: curve for name, curve in build(draw).items() if name in names.split()}


def _without(names: str, build: Build) -> Build:
    return lambda draw: {name: curve for name, curve in build(draw).items() if name not in names.split()}


def _by(*levels: float, at: tuple[float, ...] | None = None, spread: float = 0.1) -> Callable[[Drawn], Curve]:
    return lambda draw: draw.by_factor(geometric(*levels, at=at), spread)


def _at(*levels: float, at: tuple[float, ...] | None = None, spread: float = 0.0) -> Callable[[Drawn], Curve]:
    return lambda draw: draw.about(path(*levels, at=at), spread)


def _share(*levels: float, at: tuple[float, ...] | None = None, of: int = 512) -> Callable[[Drawn], Curve]:
    return lambda draw: draw.share(path(*levels, at=at), of)


LOST = (0, 0.3, 0.5, 1)
RISE_AND_STALL = path(0.2, 0.33, 0.33, at=(0, 0.2, 1))
RISE_AND_FALL = path(0.25, 0.5, 0.45, 0.05, 0.02, at=(0, 0.4, 0.55, 0.75, 1))
FLAT = path(0.3, 0.3)
HARD = path(0.01, 0.01)
FALL = path(0.5, 0.1)


def _spikes(draw: Drawn) -> Curve:
    norms = draw.by_factor(geometric(0.25, 0.25), 0.25)
    norms[[55, 63, 70, 74]] *= 60
    return norms


def _steady(draw: Drawn) -> dict[str, Curve]:
    return healthy(draw)


HEALTHY = (
    Case("healthy", _steady, ALL, verdicts=WELL),
    Case("healthy-and-short", _with(path(0.25, 0.5, updates=60), 60), ALL, verdicts=WELL,
         config={"trainer.total_training_steps": 60}),
    Case(
        "entropy-falls-while-the-score-rises",
        _with(entropy=_by(0.5, 0.05)),
        RICH,
        verdicts=WELL,
    ),
    Case("length-shrinks-while-the-score-rises", _with(length=_by(420.0, 250.0, spread=0.03)), ALL, verdicts=WELL),
    Case("length-grows-while-the-score-rises", _with(length=_by(300.0, 700.0, spread=0.03)), VERL + SEARCH + TRL,
         verdicts=WELL),
    Case("kl-grows-while-the-score-rises", _with(kl=_by(4e-4, 0.05, 0.4, spread=0.3)), RICH, verdicts=WELL),
    Case("one-update-per-batch", _with(clipped=_at(0, 0), update_kl=_at(0, 0)), RICH, verdicts=WELL,
         config={"actor_rollout_ref.actor.ppo_mini_batch_size": 64}),
    Case("weights-came-late-once", _with(mismatch_kl=lambda draw: _late_weights(draw, 1)), ("verl", "openrlhf"),
         verdicts=WELL),
    Case("one-gradient-spike", _with(gradient=lambda draw: _one_spike(draw)), RICH, verdicts=WELL),
    Case("last-batch-is-short", lambda draw: _short_end(draw), ALL, verdicts=WELL),
    Case("cut-and-learning-to-stop", _with(cut=_share(0.6, 0.1)), RICH, verdicts=WELL),
    Case("cut-end-tokens-only", _with(cut=_share(1.0, 1.0), length=_at(1024, 1024)), RICH, verdicts=WELL),
    Case("half-of-the-groups-tied", _with(tied=_share(0.5, 0.5, of=64)), TRL, verdicts=WELL),
    Case("nearly-solved", _with(path(0.7, 0.95, 0.985, 0.99, 0.99), tied=_share(0.2, 0.9, at=(0, 1), of=64)), ALL,
         verdicts=WELL),
    Case("without-validation", _without("validation", _with()), ALL, verdicts=WELL),
    Case("without-kl", _without("kl", _with()), RICH, verdicts=WELL,
         config={"actor_rollout_ref.actor.use_kl_loss": False}),
    Case("higher-clip", _with(), VERL, verdicts=WELL,
         config={"actor_rollout_ref.actor.clip_ratio_low": 0.2, "actor_rollout_ref.actor.clip_ratio_high": 0.28}),
    Case("mismatch-as-usual", _with(mismatch_kl=_by(8e-4, 8e-4), mismatch_weight=_at(1.0, 1.0, spread=0.002),
         mismatch_sample=_at(0.97, 0.97, spread=0.005), probability_gap=_by(0.006, 0.006), pearson=_at(0.998, 0.997)),
         ("verl", "trl", "openrlhf", "nemo-rl"), verdicts=WELL),
    Case("entropy-rises-with-the-score", _with(entropy=_by(0.3, 0.6)), RICH, verdicts=WELL),
    Case("reference-differs-by-precision", _with(kl=_by(0.003, 0.003, 0.02)), RICH, verdicts=WELL),
    Case("kl-in-reward-and-learning", _with(shaped=_at(0.25, 0.46, spread=0.02), kl_in_reward=_by(1e-3, 0.02)),
         ("verl", "verl-0.4", "openrlhf"), verdicts=WELL, config={"algorithm.use_kl_in_reward": True,
         "actor_rollout_ref.actor.use_kl_loss": False, "algorithm.kl_ctrl.kl_coef": 0.001}),
    Case("validation-of-few-problems", _with(path(0.40, 0.46), validation=_share(0.42, 0.42, of=60)),
         ("verl", "search-r1", "trl", "trl-console"), verdicts=WELL),
    Case("search-with-masked-observations", _with(searches=_at(1.2, 1.5, spread=0.05), turns=_at(2.2, 2.5, spread=0.05),
         masked=_at(0.7, 0.65, spread=0.02), finished=_share(0.8, 0.97), valid=_share(0.85, 0.98)), SEARCH,
         verdicts=WELL, config={"do_search": True, "max_turns": 4, "actor_rollout_ref.actor.state_masking": True,
                                "actor_rollout_ref.rollout.n_agent": 5, "actor_rollout_ref.rollout.n": 1}),
    Case("solved-on-the-way", _with(path(0.9, 1.0, 1.0), tied=_share(0.5, 1.0, 1.0, of=64)), ALL, verdicts=WELL),
    Case("format-is-being-learned", _with(path(0.02, 0.3, 0.5), valid=_share(0.03, 0.6, 0.95),
         finished=_share(0.03, 0.6, 0.95)), SEARCH, verdicts=WELL),
    Case("much-is-clipped-all-along", _with(clipped=_by(0.25, 0.3), update_kl=_by(0.02, 0.03)), ("verl", "openrlhf"),
         verdicts=WELL),
    Case("one-row-without-numbers", _with(gradient=lambda draw: _one_nan(draw)), RICH, verdicts=WELL),
    Case("many-passes-and-validation-rises", _with(epoch=_at(0, 12)), VERL + TRL, verdicts=WELL),
    Case("kl-costs-more-than-the-score-gains", _with(path(0.3, 0.6), shaped=_at(0.25, -0.4, spread=0.03),
         kl_in_reward=_by(0.02, 0.6)), ("verl", "verl-0.4", "openrlhf"), verdicts=WELL,
         config={"algorithm.use_kl_in_reward": True, "actor_rollout_ref.actor.use_kl_loss": False,
                 "algorithm.kl_ctrl.kl_coef": 0.05}),
    Case("drafts-in-form", _with(draft_1=_share(0.2, 0.05), draft_2=_share(0.1, 0.03), form_failures=_share(0.2, 0.03),
         not_started=_at(2, 3), lost=_share(0.03, 0.03)), SEARCH, verdicts=WELL),
    Case("first-drafts-are-the-hardest", _with(draft_1=_share(0.4, 0.4), draft_2=_share(0.3, 0.1)), SEARCH,
         verdicts=WELL),
    Case("format-falls-a-little", _with(format=_share(0.95, 0.85)), TRL, verdicts=WELL),
    Case("small-differences-near-the-end", _with(path(0.5, 0.97, 0.985, 0.99, at=(0, 0.5, 0.7, 1)),
         spread=_by(0.3, 0.01), tied=_share(0.1, 0.2, of=64)), TRL, verdicts=WELL),
    Case("slow-but-steady-rise", _with(path(0.40, 0.46), kl=_by(1e-4, 2e-3)), ALL, verdicts=WELL),
)  # fmt: skip


def _one_nan(draw: Drawn) -> Curve:
    norms = draw.by_factor(geometric(0.25, 0.25), 0.25)
    norms[50] = np.nan
    return norms


def _late_weights(draw: Drawn, times: int) -> Curve:
    gap = draw.by_factor(geometric(1e-3, 1e-3), 0.2)
    gap[np.linspace(20, 100, times).astype(int)] = 0.4
    return gap


def _one_spike(draw: Drawn) -> Curve:
    norms = draw.by_factor(geometric(0.25, 0.25), 0.25)
    norms[40] *= 40
    return norms


def _short_end(draw: Drawn) -> dict[str, Curve]:
    run = healthy(draw)
    for name, value in (("score", 0.35), ("shaped", 0.35), ("length", 190.0)):
        run[name] = run[name].copy()
        run[name][-1] = value
    return run


def _shared(build: Build, *pairs: tuple[str, str]) -> Build:
    def made(draw: Drawn) -> dict[str, Curve]:
        run = build(draw)
        return run | {to: run[of] for to, of in pairs}

    return made


FAULTS = (
    Case("entropy-collapse", _with(RISE_AND_STALL, entropy=_by(0.5, 0.02, 0.003, at=(0, 0.25, 1)),
         tied=_share(0.3, 0.75, of=64), gradient=_by(0.3, 0.05)), RICH, frozenset({"entropy-collapse-llm"}),
         FAILED | {"plateaued"}),
    Case("entropy-explosion", _with(FALL, entropy=_by(0.3, 0.5, 2.0), length=_by(300.0, 900.0, spread=0.03),
         cut=_share(0.02, 0.5)), RICH, frozenset({"entropy-explosion-llm"})),
    Case("kl-explosion", _with(RISE_AND_FALL, kl=_by(0.002, 0.02, 0.8, 5.7, at=(0, 0.4, 0.6, 1), spread=0.3),
         gradient=_by(0.3, 0.4, 20.0, 900.0, at=(0, 0.4, 0.6, 1), spread=0.5)), RICH,
         frozenset({"kl-penalty-too-weak", "learning-rate-too-high", "gradient-explosion"})),
    Case("wrong-reference", _with(FLAT, kl=_by(0.8, 0.85)), RICH, frozenset({"wrong-reference-model"}),
         FAILED | {"plateaued"}),
    Case("kl-in-reward-hack", _with(path(0.45, 0.1), shaped=_at(-20.0, -2.0, spread=0.5),
         length=_by(300.0, 20.0, 3.0, spread=0.05), kl_in_reward=_by(0.5, 0.02)), ("verl", "verl-0.4", "openrlhf"),
         frozenset({"kl-reward-hacking"}), config={"algorithm.use_kl_in_reward": True,
         "actor_rollout_ref.actor.use_kl_loss": False, "algorithm.kl_ctrl.kl_coef": 0.05}),
    Case("format-lost-at-the-cap", _with(path(0.5, 0.6, 0.05, 0.02, at=(0, 0.3, 0.5, 1)),
         format=_share(0.9, 0.95, 0.05, 0.0, at=(0, 0.3, 0.5, 1)), answer=_share(0.4, 0.5, 0.05, 0.02,
         at=(0, 0.3, 0.5, 1)), length=_by(500.0, 600.0, 1010.0, 1020.0, at=(0, 0.3, 0.5, 1), spread=0.02),
         cut=_share(0.02, 0.05, 0.9, 0.97, at=(0, 0.3, 0.5, 1))), TRL, frozenset({"responses-truncated"})),
    Case("format-lost", _with(path(0.5, 0.6, 0.05, 0.02, at=LOST), format=_share(0.9, 0.95, 0.05, 0.0, at=LOST),
         answer=_share(0.4, 0.5, 0.05, 0.02, at=LOST)), TRL, frozenset({"form-not-met"})),
    Case("actions-no-longer-parsed", _with(path(0.4, 0.5, 0.05, 0.02, at=LOST), valid=_share(0.9, 0.95, 0.05, 0.0,
         at=LOST), finished=_share(0.9, 0.95, 0.05, 0.02, at=LOST)), SEARCH, frozenset({"form-not-met"})),
    Case("drafts-lose-their-form", _with(path(0.4, 0.5, 0.2, 0.15, at=LOST), form_failures=_share(0.1, 0.05, 0.6, 0.7,
         at=LOST)), SEARCH, frozenset({"form-not-met"})),
    Case("correction-is-exploited", _with(path(0.4, 0.6), draft_1=_share(0.15, 0.6), draft_2=_share(0.12, 0.05),
         draft_3=_share(0.1, 0.02)), SEARCH, frozenset({"reward-hacking"})),
    Case("environments-do-not-start", _with(path(0.3, 0.15), not_started=_at(5, 300), lost=_share(0.02, 0.6)), VERL,
         frozenset({"rollouts-fail"})),
    Case("small-differences-scaled-up", _with(path(0.5, 0.45), spread=_by(0.3, 0.004), tied=_share(0.1, 0.15, of=64),
         score_max=_at(1.0, 0.46, 0.46), score_min=_at(0.0, 0.44, 0.44)), TRL + VERL,
         frozenset({"loss-aggregation-biased"})),
    Case("drafts-never-in-form", _with(path(0.02, 0.02), form_failures=_share(0.95, 0.95)), SEARCH,
         frozenset({"form-not-met"})),
    Case("length-grows-and-nothing-is-held-out", _without("validation", _with(length=_by(250.0, 950.0, spread=0.03),
         cut=_share(0.01, 0.3))), RICH, frozenset({"validation-missing"}), WELL),
    Case("entropy-collapses-and-nothing-is-held-out", _without("validation", _with(path(0.25, 0.75),
         entropy=_by(0.5, 0.002))), RICH, frozenset({"validation-missing"}), WELL),
    Case("answers-stand-and-nothing-is-held-out", _without("validation", _with(path(0.5, 0.8),
         format=_share(0.3, 0.9), answer=_share(0.5, 0.5))), TRL, frozenset({"validation-missing"}), WELL),
    Case("truncation-grows", _with(RISE_AND_FALL, length=_by(400.0, 950.0, spread=0.03), cut=_share(0.05, 0.8)), RICH,
         frozenset({"responses-truncated", "length-hacking"})),
    Case("all-truncated", _with(0 * HARD, cut=_at(1, 1), length=_at(256, 256), length_max=_at(256, 256),
         length_ended=_at(0, 0), spread=_at(0, 0), tied=_at(1, 1), gradient=_at(0, 0), score_max=_at(0, 0),
         advantage_max=_at(0, 0), advantage_min=_at(0, 0), loss=_at(0, 0), kl=_at(0, 0)), RICH,
         frozenset({"responses-truncated"}), config={"data.max_response_length": 256}),
    Case("groups-tied-too-hard", _with(HARD, tied=_share(0.93, 0.95, of=64), spread=_by(0.01, 0.01),
         gradient=_by(0.02, 0.02, spread=0.5)), TRL, frozenset({"zero-variance-groups", "sparse-reward"})),
    Case("verifier-pays-nothing", _with(0 * HARD, spread=_at(0, 0), tied=_at(1, 1), gradient=_at(0, 0),
         score_max=_at(0, 0), advantage_max=_at(0, 0), advantage_min=_at(0, 0), loss=_at(0, 0)), RICH,
         frozenset({"zero-variance-groups", "sparse-reward", "uninformative-reward"})),
    Case("verifier-always-says-yes", _with(0 * HARD + 1.0, spread=_at(0, 0), tied=_at(1, 1), gradient=_at(0, 0),
         score_min=_at(1, 1), advantage_max=_at(0, 0), advantage_min=_at(0, 0), loss=_at(0, 0)), RICH + SEARCH,
         frozenset({"zero-variance-groups"})),
    Case("prompts-memorised", _with(path(0.3, 0.85), validation=_share(0.45, 0.48, 0.3, of=1319), epoch=_at(0, 12)),
         ("verl", "verl-0.4", "search-r1", "trl", "trl-console"), frozenset({"prompts-memorised"})),
    Case("kl-too-strong", _with(FLAT, kl=_by(1e-5, 2e-5), loss=_at(0, 0, spread=0.001)), VERL,
         frozenset({"kl-penalty-too-strong"}), config={"actor_rollout_ref.actor.kl_loss_coef": 1.0}),
    Case("group-of-one", _with(FLAT), VERL, frozenset({"zero-variance-groups", "group-too-small"}),
         config={"actor_rollout_ref.rollout.n": 1}),
    Case("train-up-validation-down", _with(path(0.3, 0.85), validation=_share(0.45, 0.48, 0.3, of=1319)),
         ("verl", "verl-0.4", "search-r1", "trl", "trl-console"), frozenset({"reward-hacking"})),
    Case("format-learned-not-answer", _shared(_with(path(0.25, 0.55, 0.56), answer=_share(0.1, 0.1),
         format=_share(0.2, 0.95, 0.99, at=(0, 0.4, 1)), validation=_share(0.1, 0.1, of=1319))), TRL,
         frozenset({"format-reward-dominates", "reward-hacking"}), FAILED | {"plateaued", "learning"}),
    Case("component-dead", _shared(_with(path(0.3, 0.3), format=_at(0, 0))), TRL,
         frozenset({"reward-component-dead", "zero-variance-groups"}), FAILED | {"plateaued", "learning"}),
    Case("valid-actions-rare", _with(path(0.02, 0.02), valid=_share(0.029, 0.03), finished=_share(0.03, 0.03)),
         SEARCH, frozenset({"form-not-met"})),
    Case("clipping-runs-away", _with(RISE_AND_FALL, clipped=_by(0.01, 0.05, 0.35), update_kl=_by(1e-3, 0.02, 0.3),
         gradient=_by(0.3, 0.5, 3.0)), ("verl", "verl-0.4", "openrlhf"),
         frozenset({"learning-rate-too-high", "too-many-epochs", "stale-data", "too-many-updates"})),
    Case("clipping-runs-away-downwards", _with(RISE_AND_FALL, clipped=_by(0.01, 0.3), clipped_low=_by(0.008, 0.28),
         clipped_high=_by(0.002, 0.01), gradient=_by(0.3, 0.5, 3.0)), TRL,
         frozenset({"learning-rate-too-high", "too-many-epochs", "stale-data", "too-many-updates"})),
    Case("search-collapses", _with(RISE_AND_FALL, gradient=_by(0.3, 0.4, 20.0, at=(0, 0.4, 1)),
         masked=_at(0.7, 0.65, spread=0.02)), SEARCH, frozenset({"gradient-explosion", "learning-rate-too-high"}),
         config={"do_search": True, "max_turns": 4, "actor_rollout_ref.actor.state_masking": True,
                 "actor_rollout_ref.rollout.n_agent": 5, "actor_rollout_ref.rollout.n": 1}),
    Case("mismatch", _with(RISE_AND_FALL, mismatch_kl=_by(0.002, 0.02, 0.4), mismatch_weight=_at(1.0, 0.4, spread=0.02),
         mismatch_sample=_at(0.95, 0.15, spread=0.02), probability_gap=_by(0.008, 0.03, 0.15)),
         ("verl", "trl", "openrlhf", "nemo-rl"), frozenset({"sampler-trainer-mismatch"})),
    Case("weights-not-synced", _with(FLAT, mismatch_weight=_at(1.0, 0.95, spread=0.01),
         probability_gap=_by(0.01, 0.4, 0.5)), TRL, frozenset({"sampler-trainer-mismatch"}), FAILED | {"plateaued"}),
    Case("gradient-spikes-then-floor", _with(path(0.3, 0.5, 0.02, 0.01, at=(0, 0.45, 0.5, 1)), gradient=_spikes),
         RICH, frozenset({"learning-rate-too-high", "gradient-explosion"})),
    Case("not-a-number", _with(path(0.3, 0.5, 0.0, 0.0, at=(0, 0.5, 0.51, 1)), gradient=lambda draw: _nan(draw),
         kl=lambda draw: _nan(draw)), RICH, frozenset({"numerical-failure"})),
    Case("retrieved-tokens-trained", _without("masked", _with(RISE_AND_FALL, searches=_at(1.5, 1.5, spread=0.05),
         gradient=_by(0.3, 2.0), kl=_by(0.001, 0.3))), SEARCH, frozenset({"observation-tokens-trained"}),
         config={"do_search": True, "max_turns": 4, "actor_rollout_ref.actor.state_masking": False,
                 "actor_rollout_ref.rollout.n_agent": 5, "actor_rollout_ref.rollout.n": 1}),
    Case("learning-rate-too-high", _with(path(0.57, 0.3, 0.03, 0.02, 0.02, at=(0, 0.15, 0.3, 0.6, 1)),
         rate=_at(5e-5, 5e-5), kl=_by(0.01, 1.5, 4.0), gradient=_by(1.0, 8.0), entropy=_by(0.4, 1.5)), RICH,
         frozenset({"learning-rate-too-high"}), config={"actor_rollout_ref.actor.optim.lr": 5e-5}),
    Case("tool-calls-vanish", _with(RISE_AND_FALL, searches=_at(1.5, 1.4, 0.0, 0.0, at=(0, 0.4, 0.6, 1)),
         turns=_at(2.5, 2.4, 1.0, 1.0, at=(0, 0.4, 0.6, 1)), masked=_at(0.7, 0.99)), SEARCH,
         frozenset({"reward-hacking", "kl-penalty-too-weak", "unknown"})),
    Case("length-hack", _with(path(0.35, 0.75), length=_by(250.0, 950.0, spread=0.03), cut=_share(0.01, 0.3),
         validation=_share(0.43, 0.43, 0.33, of=1319)), ("verl", "verl-0.4", "trl", "trl-console"),
         frozenset({"length-hacking", "reward-hacking"}), FAILED | {"learning"}),
    Case("weights-come-late", _with(mismatch_kl=lambda draw: _late_weights(draw, 6)), ("verl", "openrlhf"),
         frozenset({"sampler-trainer-mismatch"}), FAILED | WELL),
    Case("collapse-in-six-rows", lambda draw: healthy(draw, np.array([0.5, 0.52, 0.51, 0.1, 0.02, 0.01])), RICH,
         frozenset({"unknown"}), frozenset({"collapsed"}), {"trainer.total_training_steps": 6}),
    Case("policy-frozen", _with(FLAT, kl=_at(0, 0), gradient=_at(0, 0), clipped=_at(0, 0), update_kl=_at(0, 0),
         rate=_at(0, 0), loss=_at(0, 0)), ("verl", "trl", "openrlhf"),
         frozenset({"learning-rate-too-low", "learning-rate-schedule-wrong", "parameters-not-trained"})),
    Case("responses-shrink-to-nothing", _with(path(0.4, 0.08), length=_by(300.0, 4.0)), RICH,
         frozenset({"length-hacking", "reward-favours-ending", "kl-reward-hacking"})),
)  # fmt: skip


def _nan(draw: Drawn) -> Curve:
    norms = draw.by_factor(geometric(0.25, 0.25), 0.25)
    norms[UPDATES // 2 :] = np.nan
    return norms


CASES = HEALTHY + FAULTS

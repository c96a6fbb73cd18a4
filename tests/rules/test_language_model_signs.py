"""Signs of language-model training: each with a run that shows it, a near miss and a healthy run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.language_model import (
    aggregation_favours_length,
    both_kl_paths,
    format_learned_not_answer,
    groups_are_small,
    kl_pins_policy,
    nothing_held_out,
    observations_not_masked,
    responses_shrink,
    reward_component_constant,
    reward_falls_while_score_rises,
    rollouts_are_old,
    single_winners,
    tool_calls_vanish,
    trajectories_unfinished,
)
from rlclinic.rules.result import RuleResult
from tests.rules.scene import Values, line, recorded, scene

RISES = line(0.1, 0.7, noise=0.05)
STALLS = line(0.3, 0.3, noise=0.1, seed=1)
FALLS = line(0.5, 0.2, noise=0.05, seed=2)
Check = Callable[[RunFacts], RuleResult | None]


def _model(series: Mapping[str, Values], score: Values = STALLS, **more: Any) -> RunFacts:
    """constructed: curves of models larger than those that can be trained here."""
    curves = {"response_length": line(200.0, 200.0), "return/train": score, **series}
    return scene(algorithm="GRPO", framework="verl", axis="updates", steps=60, series=curves, **more)


GROUP = {"group_size": 8}
CEILING = np.full(60, 7 / np.sqrt(8))
SHOWN: dict[str, tuple[Check, RunFacts]] = {
    "reward falls": (reward_falls_while_score_rises.check, _model({"reward/shaped": line(-1.0, -9.0)}, RISES)),
    "pinned": (kl_pins_policy.check, _model({"kl_ref": line(1e-4, 2e-3)}, config={"kl_loss_coef": 0.5})),
    "dead part": (
        reward_component_constant.check,
        _model({"reward/format": line(0.1, 0.4, noise=0.1), "reward/correct": np.zeros(60)}),
    ),
    "format only": (
        format_learned_not_answer.check,
        _model({"reward/format": line(0.1, 0.95, noise=0.02), "reward/correct": line(0.03, 0.03, noise=0.3)}),
    ),
    "not masked": (
        observations_not_masked.check,
        _model({}, config={"do_search": True, "mask_observations": False}),
    ),
    "nothing held out": (nothing_held_out.check, _model({}, RISES)),
    "both paths": (both_kl_paths.check, _model({}, config={"use_kl_loss": True, "use_kl_in_reward": True})),
    "short": (responses_shrink.check, _model({"response_length": line(400.0, 20.0)}, FALLS)),
    "old": (rollouts_are_old.check, _model({"policy_lag": line(3.0, 8.0)})),
    "single winners": (
        single_winners.check,
        _model(
            {"advantage/abs_max": CEILING, "return/train_max": np.ones(60)},
            line(0.03, 0.03, noise=0.2),
            config=GROUP,
        ),
    ),
    "no calls": (tool_calls_vanish.check, _model({"turns": line(3.2, 1.05)})),
    "unfinished": (trajectories_unfinished.check, _model({"finish_rate": line(0.1, 0.1)})),
    "aggregation": (
        aggregation_favours_length.check,
        _model({"response_length": line(200.0, 500.0)}, config={"loss_aggregation": "seq-mean-token-mean"}),
    ),
    "small groups": (groups_are_small.check, _model({}, config={"group_size": 2})),
}
NEAR_MISSES: dict[str, tuple[Check, RunFacts]] = {
    "reward falls with the score": (
        reward_falls_while_score_rises.check,
        _model({"reward/shaped": line(-1.0, -9.0)}, STALLS),
    ),
    "an ordinary coefficient": (kl_pins_policy.check, _model({"kl_ref": line(1e-4, 2e-3)}, config={"kl_coef": 0.01})),
    "a policy that moved": (kl_pins_policy.check, _model({"kl_ref": line(0.01, 0.5)}, config={"kl_loss_coef": 0.5})),
    "a part at its ceiling": (
        reward_component_constant.check,
        _model({"reward/format": np.ones(60), "reward/correct": line(0.1, 0.4)}),
    ),
    "answers follow the format": (
        format_learned_not_answer.check,
        _model({"reward/format": line(0.1, 0.95), "reward/correct": line(0.03, 0.3, noise=0.02)}),
    ),
    "the first updates": (
        format_learned_not_answer.check,
        _model({"reward/format": line(0.1, 0.95, points=20), "reward/correct": line(0.03, 0.03, points=20)}),
    ),
    "masked": (observations_not_masked.check, _model({}, config={"do_search": True, "mask_observations": True})),
    "no search": (observations_not_masked.check, _model({}, config={"do_search": False, "mask_observations": False})),
    "validated": (nothing_held_out.check, _model({"return/eval": line(0.2, 0.4, points=6)}, RISES)),
    "one path": (both_kl_paths.check, _model({}, config={"use_kl_loss": True, "kl_loss_coef": 0.001})),
    "brief and better": (responses_shrink.check, _model({"response_length": line(400.0, 20.0)}, RISES)),
    "a little lag": (rollouts_are_old.check, _model({"policy_lag": line(1.0, 2.0)})),
    "single losers": (
        single_winners.check,
        _model({"advantage/abs_max": CEILING, "return/train_max": np.ones(60)}, line(0.8, 0.8), config=GROUP),
    ),
    "fewer calls, better answers": (tool_calls_vanish.check, _model({"turns": line(3.2, 1.05)}, RISES)),
    "learns to finish": (trajectories_unfinished.check, _model({"finish_rate": line(0.05, 0.25)})),
    "longer and better": (
        aggregation_favours_length.check,
        _model({"response_length": line(200.0, 500.0)}, RISES, config={"loss_aggregation": "grpo"}),
    ),
    "small groups that learn": (groups_are_small.check, _model({}, RISES, config={"group_size": 2})),
}


@pytest.mark.parametrize("case", SHOWN)
def test_what_is_there_is_seen_with_its_numbers(case: str) -> None:
    check, facts = SHOWN[case]
    found = check(facts)
    assert found is not None
    assert found.evidence
    assert any(letter.isdigit() for letter in found.summary) or "twice" in found.summary


@pytest.mark.parametrize("case", NEAR_MISSES)
def test_a_near_miss_is_not(case: str) -> None:
    check, facts = NEAR_MISSES[case]
    assert check(facts) is None


@pytest.mark.parametrize("check", [check for check, _ in SHOWN.values()], ids=list(SHOWN))
@pytest.mark.parametrize("name", ["verl/grpo_v0.5", "trl/grpo_tiny", "search_r1/*"])
def test_recorded_runs_get_no_alarm(check: Check, name: str) -> None:
    found = check(recorded(name))
    assert found is None or found.severity is Severity.INFO

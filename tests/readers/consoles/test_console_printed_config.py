"""Settings printed into a console."""

from __future__ import annotations

from rlclinic.readers.consoles.printed_config import find_config

RESOLVED = [
    "{'actor_rollout_ref': {'actor': {'clip_ratio': 0.2,",
    "                                 'optim': {'lr': 1e-06}},",
    "                       'rollout': {'n': 5, 'name': 'vllm'}},",
    " 'trainer': {'logger': ['console', 'wandb'], 'total_epochs': 15}}",
]


def test_the_resolved_config_counts_more_than_what_was_typed() -> None:
    found = find_config(
        [
            "python3 -m verl.trainer.main_ppo actor_rollout_ref.actor.optim.lr=1e-5 data.train_batch_size=512",
            *RESOLVED,
        ]
    )
    assert found.values["actor_rollout_ref.actor.optim.lr"] == 1e-6
    assert found.lines["actor_rollout_ref.actor.optim.lr"] == 3
    assert found.values["data.train_batch_size"] == 512
    assert found.lines["data.train_batch_size"] == 1


def test_a_setting_printed_again_with_another_value_is_named() -> None:
    again = [line.replace("'n': 5", "'n': 8") for line in RESOLVED]
    found = find_config([*RESOLVED, "resumed", *again])
    assert found.values["actor_rollout_ref.rollout.n"] == 5
    assert found.problems == ("line 8: actor_rollout_ref.rollout.n printed again as 8, first as 5 on line 3",)


def test_the_same_config_printed_by_every_rank_is_no_problem() -> None:
    assert find_config([*RESOLVED, *RESOLVED, *RESOLVED]).problems == ()


def test_a_text_without_settings_has_none() -> None:
    found = find_config(["step:1 - actor/lr:0.1 - actor/entropy:0.5", "Loading: done", "note: nothing", "a = b"])
    assert (found.values, found.lines, found.problems) == ({}, {}, ())

"""Every change in every syntax: read back exactly, or refused with a reason."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rlclinic.model.run import Run
from rlclinic.prescriptions.proposals.written import native_of
from rlclinic.prescriptions.syntax import CannotWrite, assignments, dialects, dialects_of, render
from tests.prescriptions.made_runs import change, changes, made_run
from tests.prescriptions.syntax.cases import AFTER, BY_NAME, CASES, ZOO_PPO, Case
from tests.prescriptions.syntax.parsers import PARSERS, python_value

# Settings that a run must be able to change in every syntax of its framework.
ALWAYS = ("learning_rate", "gamma", "batch_size")
REFUSING = {
    ("zoo_sac", "n_steps"),
    ("spinup_ppo", "batch_size"),
    ("sb3_a2c", "batch_size"),
    ("verl", "gamma"),
    ("trl", "gamma"),
    ("trl", "batch_size"),
    ("rsl_rl", "learning_rate"),
}


def _read(run: Run, wanted: dict[str, object]) -> tuple[str, dict[str, object]]:
    native = render(run, changes(run, **wanted))
    return native.format, PARSERS[native.format](native.text)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_change_is_read_back_exactly_or_refused_with_a_reason(case: Case) -> None:
    run = case.run()
    written = [key for key in AFTER if _is_written(run, key)]
    assert len(written) >= 4, written


def _is_written(run: Run, key: str) -> bool:
    wanted = changes(run, **{key: AFTER[key]})
    try:
        native = render(run, wanted)
    except CannotWrite as refusal:
        reason = refusal.message
        native = None
    if native is None:
        assert len(reason) > 10
        assert native_of(run, wanted) is None
        return False
    dialect = next(item for item in dialects() if item.id == native.format)
    expected = {item.key: item.after for item in assignments(run, wanted, dialect)}
    found = PARSERS[native.format](native.text)
    for name, value in expected.items():
        wanted_value = python_value(value) if name == "normalize" and isinstance(value, str) else value
        assert _value_of(found, name) == wanted_value, native.text
    return True


def _value_of(found: dict[str, object], name: str) -> object:
    """Under its full key, or under its last part where a call takes it."""
    if name in found:
        return found[name]
    aliases = {"lambda": "lambda_", "n_timesteps": "total_timesteps", "frame_stack": "n_stack"}
    for candidate in (name.rpartition(".")[2], aliases.get(name, ""), name.removeprefix("env.")):
        if candidate in found:
            return found[candidate]
    if name == "vec_normalize":
        return {key: found[key] for key in ("norm_obs", "norm_reward", "gamma") if key in found}
    raise AssertionError(f"{name} is not among {sorted(found)}")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_usual_changes_can_be_written(case: Case) -> None:
    run = case.run()
    for key in ALWAYS:
        if (case.name, key) in REFUSING or case.name in ("openrlhf", "verl", "trl"):
            continue
        assert native_of(run, [change(run, key, AFTER[key])]) is not None, key


def test_every_dialect_is_reached_by_some_run() -> None:
    reached = {dialect.id for case in CASES for dialect in dialects_of(case.run())}
    generic = {"yaml", "json", "toml", "flags-joined", "d3rlpy-python", "mlagents-yaml", "sb3-config"}
    assert {dialect.id for dialect in dialects()} - reached == generic
    assert {dialect.id for dialect in dialects()} == set(PARSERS)


NUMBERS = st.floats(1e-7, 0.9, allow_subnormal=False)


def _examples(case: Case) -> st.SearchStrategy[tuple[dict[str, object], str, object]]:
    """A config with other numbers, one of its hyperparameters, and a new value."""
    floats = [key for key, value in case.native.items() if isinstance(value, float)]
    configs = st.fixed_dictionaries(dict.fromkeys(floats, NUMBERS)).map(lambda values: {**case.native, **values})
    run = case.run()
    names = [name for name, item in run.config.settings.items() if item.native_key in floats and not item.is_default]
    keys = st.sampled_from(sorted(set(names) - {"clip_range_vf", "total_steps", "exploration_fraction", "threshold"}))
    return st.tuples(configs, keys, NUMBERS)


def _round_trip(case: Case, native: dict[str, object], key: str, after: object) -> None:
    run = case.run(native)
    before = run.config.settings[key]
    if before.value == after:
        return
    form, found = _read(run, {key: after})
    assert len(found) == 1, (form, found)
    ((name, value),) = found.items()
    shown = {"lambda_": "lambda"}.get(name, name)
    assert shown == before.native_key or before.native_key.endswith(f".{shown}")
    assert isinstance(value, float | str)
    number = float(value.removeprefix("lin_")) if isinstance(value, str) else value
    converted = 1 - number if name.endswith("polyak") else number
    assert math.isclose(converted, float(after), rel_tol=1e-12 if converted is number else 1e-9, abs_tol=1e-12)  # type: ignore[arg-type]
    if not name.endswith("polyak"):
        assert number == after


# One config per syntax.
SYNTAXES = [
    BY_NAME[name]
    for name in (
        "solver", "rlclinic", "zoo_ppo", "zoo_ppo_flags", "sb3_ppo", "cleanrl_ppo", "rllib_ppo", "rllib_old",
        "torchrl_ppo", "hydra", "rsl_rl", "skrl", "spinup_ppo", "verl",
    )
]  # fmt: skip


@pytest.mark.parametrize("case", SYNTAXES, ids=lambda case: case.name)
def test_of_a_generated_config_only_the_intended_value_changes(case: Case) -> None:
    _property(case, examples=40)


@pytest.mark.slow
@pytest.mark.parametrize("case", SYNTAXES, ids=lambda case: case.name)
def test_of_500_generated_configs_only_the_intended_value_changes(case: Case) -> None:
    _property(case, examples=500)


def _property(case: Case, *, examples: int) -> None:
    @settings(max_examples=examples, suppress_health_check=list(HealthCheck), database=None)
    @given(_examples(case))
    def check(example: tuple[dict[str, object], str, object]) -> None:
        _round_trip(case, *example)

    check()


def _text(name: str, **wanted: object) -> str:
    run = BY_NAME[name].run()
    return render(run, changes(run, **wanted)).text


def _refusal(name: str, **wanted: object) -> str:
    return _refused(BY_NAME[name].run(), **wanted)


def _refused(run: Run, **wanted: object) -> str:
    with pytest.raises(CannotWrite) as refusal:
        render(run, changes(run, **wanted))
    return refusal.value.message


def test_gymnasium_solver_flags_are_plain_decimals() -> None:
    assert _text("solver", learning_rate=3e-5) == "--override policy_lr=0.00003"


def test_gymnasium_solver_needs_its_yaml_for_schedules_and_null() -> None:
    run = BY_NAME["solver"].run()
    native = render(run, changes(run, learning_rate_schedule="linear"))
    assert native.format == "gymnasium-solver-yaml"
    assert PARSERS[native.format](native.text) == {"policy_lr": {"start": 0.001, "end": 0.0}}
    assert "target_kl: null" in _text("solver", target_kl=None)


def test_a_schedule_of_gymnasium_solver_keeps_its_other_parts() -> None:
    native = {
        **BY_NAME["solver"].native,
        "policy_lr_schedule": "cosine",
        "policy_lr_schedule_end_value": 0.0001,
        "policy_lr_schedule_start": 0.0,
        "policy_lr_schedule_end": 0.5,
        "policy_lr_schedule_warmup": 0.1,
    }
    run = BY_NAME["solver"].run(native)
    native_text = render(run, changes(run, learning_rate=0.0003)).text
    assert PARSERS["gymnasium-solver-yaml"](native_text) == {
        "policy_lr": {"start": 0.0003, "end": 0.0001, "to": 0.5, "warmup": 0.1, "schedule": "cosine"}
    }


def test_gymnasium_solver_has_only_preset_networks() -> None:
    assert _text("solver", net_arch=[256, 256]) == "--override model_id=mlp_medium"
    assert "mlp_medium" in _refusal("solver", net_arch=[300])


def test_linear_schedules_of_the_zoo_stay_linear() -> None:
    assert _text("zoo_ppo", learning_rate=0.0003) == "CartPole-v1:\n  learning_rate: lin_0.0003"
    assert _text("zoo_ppo", clip_range=0.1) == "CartPole-v1:\n  clip_range: lin_0.1"
    assert _text("zoo_ppo", learning_rate_schedule="constant") == "CartPole-v1:\n  learning_rate: 0.001"
    assert _text("zoo_ppo_flags", learning_rate=0.0003) == "-params 'learning_rate:\"lin_0.0003\"'"


def test_the_zoo_cannot_end_a_schedule_above_zero() -> None:
    assert "ends at 0" in _refusal("zoo_ppo", learning_rate_final=1e-5)


def test_the_other_arguments_of_the_policy_stay_in_the_expression() -> None:
    expected = "dict(net_arch=[256, 256], log_std_init=-2)"
    assert _text("zoo_ppo", net_arch=[256, 256]) == f'CartPole-v1:\n  policy_kwargs: "{expected}"'
    assert _text("zoo_ppo_flags", net_arch=[256, 256]) == f"-params 'policy_kwargs:{expected}'"


def test_one_atari_game_is_changed_by_flags() -> None:
    run = made_run("sb3-zoo", "PPO", ZOO_PPO, environment="PongNoFrameskip-v4")
    assert render(run, changes(run, gamma=0.9)).text == "-params gamma:0.9"


def test_an_expression_that_needs_both_quotes_is_refused() -> None:
    run = made_run("sb3-zoo", "PPO", {**ZOO_PPO, "policy_kwargs": 'dict(a="it\'s")'})
    assert native_of(run, changes(run, net_arch=[64])) is None


def test_the_zoo_normalises_one_of_two_by_an_expression() -> None:
    assert _text("zoo_ppo", normalize_obs=True).endswith('normalize: "dict(norm_obs=True, norm_reward=False)"')
    assert _text("zoo_ppo", normalize_obs=True, normalize_reward=True).endswith("normalize: true")


def test_a_linear_rate_in_sb3_is_a_function_of_what_remains() -> None:
    assert _text("sb3_ppo", learning_rate=0.0003, learning_rate_schedule="linear") == (
        "PPO(..., learning_rate=lambda remaining: 0.0003 * remaining)"
    )


def test_a_schedule_of_the_users_own_keeps_its_shape_in_the_users_own_config() -> None:
    native = {"learning_rate": 0.001, "learning_rate_schedule": "exponential", "gamma": 0.9}
    run = made_run("sb3", "PPO", native, file="config.yaml")
    with_word = replace(run, config=made_run("common", "PPO", native, file="config.yaml").config)
    found = render(with_word, changes(with_word, learning_rate=0.0003))
    assert (found.format, found.text) == ("sb3-config", "learning_rate: 0.0003")
    in_code = replace(with_word, config=made_run("common", "PPO", native).config)
    assert native_of(in_code, changes(in_code, learning_rate=0.0003)) is None


def test_sb3_normalises_with_a_wrapper() -> None:
    assert _text("sb3_ppo", normalize_obs=True) == "env = VecNormalize(env, norm_obs=True, norm_reward=False)"
    rewards = "env = VecNormalize(env, norm_obs=False, norm_reward=True, gamma=0.99)"
    assert _text("sb3_ppo", normalize_reward=True) == rewards


def test_sac_learns_its_temperature_with_auto() -> None:
    assert _text("sb3_sac", autotune_alpha=False, ent_coef=0.1) == "SAC(..., ent_coef=0.1)"
    assert "needs its value" in _refusal("sb3_sac", autotune_alpha=False)


def test_an_algorithm_is_not_told_of_what_it_has_not() -> None:
    assert _refusal("sb3_sac", clip_range=0.1) == "SAC has no clip_range"
    assert _refusal("sb3_ppo", tau=0.01) == "PPO has no tau"
    assert "no --reward-scaler" in _refusal("cleanrl_ppo", reward_scale=0.1)


def test_cleanrl_counts_minibatches() -> None:
    assert _text("cleanrl_ppo", batch_size=64) == "--num-minibatches 8"
    assert _text("cleanrl_ppo", batch_size=64, n_steps=256) == "--num-minibatches 16 --num-steps 256"
    assert _text("cleanrl_dqn", batch_size=64) == "--batch-size 64"
    assert "10.24" in _refusal("cleanrl_ppo", batch_size=50)


def test_cleanrl_negates_flags_as_its_script_can() -> None:
    assert _text("cleanrl_ppo", learning_rate_schedule="constant") == "--no-anneal-lr"
    older = {key: value for key, value in BY_NAME["cleanrl_ppo"].native.items() if key != "num_iterations"}
    run = BY_NAME["cleanrl_ppo"].run(older)
    assert render(run, changes(run, learning_rate_schedule="constant")).text == "--anneal-lr False"


def test_rllib_groups_settings_by_method() -> None:
    assert _text("rllib_ppo", learning_rate=3e-4, n_envs=8, gae_lambda=0.9) == (
        "config.training(lr=0.0003, lambda_=0.9)\nconfig.env_runners(num_envs_per_env_runner=8)"
    )
    assert _text("rllib_old", batch_size=64) == '{"sgd_minibatch_size": 64}'
    assert _text("rllib_sac", learning_rate=1e-4) == "config.training(actor_lr=0.0001)"


def test_rllib_writes_epsilon_as_points_of_the_new_stack_and_as_a_dict_of_the_old() -> None:
    new = made_run("rllib", "DQN", {"lr": 0.001, "enable_rl_module_and_learner": True}, budget=100_000.0)
    assert render(new, changes(new, exploration_final=0.02, exploration_fraction=0.2)).text == (
        "config.training(epsilon=[[0, 1.0], [20000, 0.02]])"
    )
    old = made_run("rllib", "DQN", {"lr": 0.001, "sgd_minibatch_size": 128}, budget=100_000.0)
    assert render(old, changes(old, exploration_final=0.02)).text == '{"exploration_config": {"final_epsilon": 0.02}}'
    assert "budget" in _refused(made_run("rllib", "DQN", {"lr": 0.001}), exploration_fraction=0.2)


def test_rllib_writes_a_falling_rate_as_points() -> None:
    assert _text("rllib_ppo", learning_rate_schedule="linear") == "config.training(lr=[[0, 0.001], [1000000, 0.0]])"


def test_torchrl_has_one_minus_tau() -> None:
    assert _text("torchrl_sac", tau=0.01) == "optim.target_update_polyak=0.99"
    assert _text("torchrl_ppo", learning_rate_schedule="constant") == "optim.anneal_lr=false"


def test_hydra_refuses_a_key_that_the_script_does_not_read() -> None:
    assert "target_kl" in _refusal("hydra", target_kl=0.01)


def test_rsl_rl_counts_minibatches_and_names_its_schedule() -> None:
    assert _text("rsl_rl", batch_size=64) == "algorithm:\n  num_mini_batches: 6"
    assert _text("rsl_rl", learning_rate_schedule="constant") == "algorithm:\n  schedule: fixed"
    assert "fixed and adaptive" in _refusal("rsl_rl", learning_rate_schedule="linear")


def test_budgets_in_updates_are_rounded_up() -> None:
    assert _text("rsl_rl", total_steps=1_000_000) == "max_iterations: 2605"
    assert _text("skrl", total_steps=640_000) == "trainer:\n  timesteps: 10000"


def test_spinning_up_has_a_rate_for_each_network() -> None:
    assert _text("spinup_ppo", learning_rate=1e-4, learning_rate_critic=5e-4) == "--pi_lr 0.0001 --vf_lr 0.0005"
    assert _text("spinup_td3", learning_rate_critic=5e-4, tau=0.01) == "--q_lr 0.0005 --polyak 0.99"
    assert "entropy" in _refusal("spinup_ppo", ent_coef=0.01)
    assert _text("spinup_ppo", net_arch=[32, 32]) == "--ac_kwargs:hidden_sizes '[32, 32]'"


def test_a_batch_of_responses_is_counted_in_prompts() -> None:
    assert _text("verl", batch_size=256) == "actor_rollout_ref.actor.ppo_mini_batch_size=32"


def test_two_changes_of_one_setting_must_agree() -> None:
    assert "two changes" in _refusal("cleanrl_ppo", batch_size=64, n_minibatches=2)
    assert _text("cleanrl_ppo", batch_size=64, n_minibatches=8) == "--num-minibatches 8"


def test_what_the_config_already_has_is_no_change() -> None:
    assert "already" in _refusal("sb3_ppo", gamma=0.99)


def test_a_whole_number_is_written_without_a_point() -> None:
    assert _text("sb3_ppo", batch_size=32.0) == "PPO(..., batch_size=32)"
    assert "whole number" in _refusal("sb3_ppo", batch_size=32.5)


def test_a_framework_without_a_syntax_gets_the_format_of_its_config() -> None:
    for file, text in (("c.json", '{"lr": 0.0003}'), ("c.yaml", "lr: 0.0003"), ("c.toml", "lr = 0.0003")):
        run = made_run("common", "PPO", {"lr": 0.001}, file=file)
        assert render(run, changes(run, learning_rate=0.0003)).text == text

"""Settings that a framework writes in a form of its own: networks, epsilon, shares of a target, budgets."""

from __future__ import annotations

import pytest
import yaml

from rlclinic.model.run import Run
from rlclinic.prescriptions.syntax import CannotWrite, render
from tests.prescriptions.made_runs import changes, made_run
from tests.prescriptions.matrix.configs import SKRL_DQN, SKRL_PPO, SKRL_SAC
from tests.prescriptions.syntax.cases import BY_NAME, SPINUP_TD3, TORCHRL_SAC


def _text(run: Run, **wanted: object) -> str:
    return render(run, changes(run, **wanted)).text


def test_of_a_network_of_skrl_only_the_layers_change() -> None:
    written = yaml.safe_load(_text(made_run("skrl", "PPO", SKRL_PPO), net_arch=[64, 64]))
    assert set(written["models"]) == {"policy"}
    (part,) = written["models"]["policy"]["network"]
    assert part == {"name": "net", "input": "OBSERVATIONS", "layers": [64, 64], "activations": "elu"}


def test_all_critics_of_skrl_keep_the_same_layers() -> None:
    written = yaml.safe_load(_text(made_run("skrl", "SAC", SKRL_SAC), net_arch_critic=[64]))
    assert set(written["models"]) == {"critic_1", "critic_2", "target_critic_1", "target_critic_2"}


def test_a_target_of_skrl_has_the_layers_of_what_it_follows() -> None:
    written = yaml.safe_load(_text(made_run("skrl", "DQN", SKRL_DQN), net_arch=[64, 64]))
    assert set(written["models"]) == {"q_network", "target_q_network"}


def test_a_network_of_several_parts_is_not_guessed_at() -> None:
    parts = [{"name": "a", "layers": [8]}, {"name": "b", "layers": [8]}]
    run = made_run("skrl", "PPO", {**SKRL_PPO, "models.policy.network": parts})
    with pytest.raises(CannotWrite, match="several parts"):
        _text(run, net_arch=[64])
    with pytest.raises(CannotWrite, match="describes no network"):
        _text(made_run("skrl", "PPO", {"agent.class": "PPO", "agent.rollouts": 16}), net_arch=[64])


@pytest.mark.parametrize(("step", "epsilon"), [(0, 1.0), (1000, 0.5), (2000, 0.0), (9000, 0.0)])
def test_epsilon_of_skrl_falls_as_its_expression_says(step: int, epsilon: float) -> None:
    run = made_run("skrl", "DQN", SKRL_DQN)
    text = _text(run, exploration_fraction=0.2, exploration_final=0.0, exploration_initial=1.0)
    falls = yaml.safe_load(text)["agent"]["exploration_scheduler"]
    assert eval(falls, {"max": max, "timestep": step, "timesteps": 10_000}) == pytest.approx(epsilon)  # noqa: S307


def test_epsilon_of_skrl_counts_steps_per_environment() -> None:
    text = _text(made_run("skrl", "DQN", SKRL_DQN), exploration_steps=4000)
    assert "timestep / (2000.0)" in text


def test_epsilon_of_skrl_was_three_numbers_before_2_0() -> None:
    native = {"agent.class": "DQN", "agent.exploration.final_epsilon": 0.5, "agent.exploration.initial_epsilon": 1.0}
    run = made_run("skrl", "DQN", native)
    assert yaml.safe_load(_text(run, exploration_final=0.05)) == {"agent": {"exploration": {"final_epsilon": 0.05}}}


def test_no_value_clip_is_zero_in_skrl() -> None:
    assert yaml.safe_load(_text(made_run("skrl", "PPO", SKRL_PPO), clip_range_vf=None)) == {"agent": {"value_clip": 0}}


def test_tau_is_written_as_the_share_that_stays() -> None:
    assert _text(made_run("spinningup", "TD3", SPINUP_TD3), tau=0.01) == "--polyak 0.99"
    assert _text(made_run("torchrl", "SAC", TORCHRL_SAC), tau=0.01) == "optim.target_update_polyak=0.99"


def test_the_budget_of_rllib_is_the_tuner_s() -> None:
    new, old = BY_NAME["rllib_ppo"].run(), BY_NAME["rllib_old"].run()
    assert _text(new, total_steps=2e5) == 'tune.RunConfig(stop={"num_env_steps_sampled_lifetime": 200000})'
    assert _text(old, total_steps=2e5) == '{"stop": {"timesteps_total": 200000}}'


def test_the_network_of_rllib_stands_where_its_stack_has_it() -> None:
    native = {**BY_NAME["rllib_ppo"].native, "model.fcnet_hiddens": [32]}
    assert _text(made_run("rllib", "PPO", native), net_arch=[64]) == (
        "config.rl_module(model_config=dict(fcnet_hiddens=[64]))"
    )
    assert _text(BY_NAME["rllib_old"].run(), net_arch=[64]) == '{"model": {"fcnet_hiddens": [64]}}'


def test_the_network_of_rl_zoo_is_changed_inside_its_expression() -> None:
    native = {"policy_kwargs": "dict(net_arch=dict(pi=[8], vf=[8]), activation_fn=nn.ReLU)", "gamma": 0.99}
    text = _text(made_run("sb3-zoo", "PPO", native), net_arch=[64], net_arch_critic=[32])
    assert '"dict(net_arch=dict(pi=[64], vf=[32]), activation_fn=nn.ReLU)"' in text

"""Values that frameworks write in other forms, under their canonical names."""

from __future__ import annotations

import pytest

from rlclinic.model.config import Config
from tests.prescriptions.made_runs import made_run

SKRL_NETWORK = [{"name": "net", "input": "OBSERVATIONS", "layers": [32, 16], "activations": "elu"}]
MODEL_CONFIG = "DefaultModelConfig(fcnet_hiddens=[32, 32], fcnet_activation='tanh', use_lstm=False)"


def _config(framework: str, algorithm: str, **native: object) -> Config:
    return made_run(framework, algorithm, {key.replace("__", "."): value for key, value in native.items()}).config


@pytest.mark.parametrize(
    ("framework", "key"), [("spinningup", "polyak"), ("torchrl", "optim.target_update_polyak")]
)  # fmt: skip
def test_polyak_is_one_minus_tau(framework: str, key: str) -> None:
    config = made_run(framework, "SAC", {key: 0.995}).config
    assert config.get("tau") == 0.005
    assert config.settings["tau"].native_key == key
    assert config.native[key].value == 0.995


def test_a_polyak_that_is_no_number_stays_what_it_is() -> None:
    assert _config("spinningup", "SAC", polyak="often").get("tau") == "often"


def test_the_polyak_of_skrl_is_tau_itself() -> None:
    assert _config("skrl", "SAC", agent__polyak=0.005).get("tau") == 0.005


def test_the_network_of_rllib_s_new_stack_is_read_from_the_record_of_its_config() -> None:
    native = {"_model_config": MODEL_CONFIG, "model.fcnet_hiddens": [256, 256], "enable_rl_module_and_learner": True}
    config = made_run("rllib", "PPO", native).config
    assert config.get("net_arch") == [32, 32]
    assert config.get("activation") == "tanh"
    assert _config("rllib", "PPO", model_config__fcnet_hiddens=[8]).get("net_arch") == [8]
    assert _config("rllib", "PPO", model__fcnet_hiddens=[16]).get("net_arch") == [16]


def test_the_policy_s_arguments_of_rl_zoo_are_read_from_their_expression() -> None:
    config = _config("sb3-zoo", "PPO", policy_kwargs="dict(net_arch=dict(pi=[64, 64], vf=[32]), log_std_init=-2)")
    assert (config.get("net_arch"), config.get("net_arch_critic"), config.get("log_std_init")) == ([64, 64], [32], -2)
    assert config.settings["net_arch"].native_key == "policy_kwargs.net_arch.pi"
    assert config.native["policy_kwargs"].value == "dict(net_arch=dict(pi=[64, 64], vf=[32]), log_std_init=-2)"


def test_the_parts_of_rl_zoo_s_normalisation_are_told_apart() -> None:
    config = _config("sb3-zoo", "PPO", normalize="{'norm_obs': True, 'norm_reward': False}")
    assert (config.get("normalize_obs"), config.get("normalize_reward")) == (True, False)
    both = _config("sb3-zoo", "PPO", normalize=True)
    assert (both.get("normalize_obs"), both.get("normalize_reward")) == (True, True)
    own = _config("sb3-zoo", "PPO", normalize=True, normalize_kwargs__norm_reward=False)
    assert (own.get("normalize_obs"), own.get("normalize_reward")) == (True, False)


def test_an_expression_under_a_key_without_known_parts_stays_text() -> None:
    config = _config("sb3-zoo", "PPO", env_kwargs="dict(gamma=0.5)", gamma=0.99)
    assert config.get("gamma") == 0.99


def test_the_networks_of_skrl_are_lists_of_parts() -> None:
    config = _config("skrl", "PPO", models__policy__network=SKRL_NETWORK, models__value__network=SKRL_NETWORK * 2)
    assert config.get("net_arch") == [32, 16]
    assert config.get("net_arch_critic") == SKRL_NETWORK * 2

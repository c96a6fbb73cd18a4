"""Networks in the user's own files: inside an expression, inside a list."""

from __future__ import annotations

from pathlib import Path

from rlclinic.prescriptions.edit.plan import plan
from tests.prescriptions.made_runs import changes, made_run

ZOO = """\
CartPole-v1:
  gamma: 0.98  # short
  policy_kwargs: "dict(net_arch=[64, 64], log_std_init=-2)"  # small
"""
SKRL = """\
models:
  separate: true
  policy:
    class: GaussianMixin
    network:
      - name: net
        input: OBSERVATIONS
        layers: [32, 32]  # small
        activations: elu
agent:
  class: PPO
  rollouts: 16
"""


def test_an_argument_of_rl_zoo_s_policy_is_changed_in_place(tmp_path: Path) -> None:
    (tmp_path / "hyperparams").mkdir()
    (tmp_path / "hyperparams" / "ppo.yml").write_text(ZOO)
    folder = tmp_path / "logs" / "ppo"
    folder.mkdir(parents=True)
    native = {"gamma": 0.98, "policy_kwargs": "dict(net_arch=[64, 64], log_std_init=-2)"}
    run = made_run("sb3-zoo", "PPO", native, path=str(folder), file="config.yml")
    assert plan(run, changes(run, net_arch=[256, 256])).after == ZOO.replace("[64, 64]", "[256, 256]")


def test_the_layers_of_skrl_are_changed_in_place(tmp_path: Path) -> None:
    file = tmp_path / "ppo.yaml"
    file.write_text(SKRL)
    network = [{"name": "net", "input": "OBSERVATIONS", "layers": [32, 32], "activations": "elu"}]
    native = {"models.policy.network": network, "agent.class": "PPO", "agent.rollouts": 16}
    run = made_run("skrl", "PPO", native, path=str(tmp_path), file="agent.yaml")
    made = plan(run, changes(run, net_arch=[64, 64]), str(file))
    assert made.after == SKRL.replace("[32, 32]", "[64, 64]")

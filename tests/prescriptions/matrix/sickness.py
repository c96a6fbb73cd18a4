"""What a config looks like that has the fault of a cause: the settings behind it, far on the wrong side."""

from __future__ import annotations

from collections.abc import Mapping

from rlclinic.model.run import Run
from rlclinic.prescriptions.syntax.applicable import applies
from rlclinic.prescriptions.syntax.expression import edit_expression
from rlclinic.prescriptions.syntax.translate import native_key
from tests.prescriptions.matrix.configs import Config

# Set only where the config has them: few scripts read them.
OWN_ONLY = ("net_arch_critic", "reward_scale")
# In the zoo the arguments of the policy are one expression.
POLICY = "policy_kwargs"
# Values by canonical name; where a config has no such setting it stays as it is.
SICK: Mapping[str, Mapping[str, object]] = {
    "discount-too-low": {"gamma": 0.5},
    "discount-too-high": {"gamma": 0.99999},
    "gae-lambda-wrong": {"gae_lambda": 0.1},
    "rollout-too-short": {"n_steps": 8, "batch_size": 8, "rollout_size": 64},
    "rollout-too-long": {"n_steps": 65536, "rollout_size": 65536},
    "value-loss-weight-wrong": {"vf_coef": 0.0001},
    "value-clipping-too-tight": {"clip_range_vf": 0.01, "clip_value_loss": True},
    "network-too-small": {"net_arch": [4, 4], "net_arch_critic": [4, 4]},
    "entropy-bonus-too-low": {"ent_coef": 0.0, "autotune_alpha": False},
    "entropy-bonus-too-high": {"ent_coef": 5.0, "autotune_alpha": False},
    "action-std-explosion": {"ent_coef": 5.0},
    "temperature-wrong": {"ent_coef": 50.0, "autotune_alpha": False, "target_entropy": 5.0},
    "exploration-missing": {"ent_coef": 0.0, "exploration_initial": 0.0, "exploration_fraction": 0.001},
    "exploration-too-short": {"exploration_fraction": 0.001, "exploration_steps": 10},
    "exploration-never-ends": {"exploration_final": 1.0, "exploration_steps": 1_000_000},
    "initial-action-std-wrong": {"log_std_init": -4.0, "init_std": 0.01},
    "learning-rate-schedule-wrong": {"learning_rate_schedule": "linear"},
    "learning-rate-too-high": {"learning_rate": 0.5},
    "learning-rate-too-low": {"learning_rate": 1e-7},
    "gradient-clipping-too-tight": {"max_grad_norm": 1e-5},
    "gradient-explosion": {"max_grad_norm": 1e5},
    "trust-region-too-strong": {"target_kl": 1e-6},
    "updates-stopped": {"target_kl": 0.001},
    "batch-too-large": {"batch_size": 1024, "n_minibatches": 1},
    "batch-too-small": {"batch_size": 2, "n_minibatches": 256},
    "clip-range-too-tight": {"clip_range": 0.001},
    "clip-range-too-loose": {"clip_range": 0.9},
    "too-many-epochs": {"n_epochs": 200},
    "stale-data": {"n_epochs": 200},
    "too-few-updates": {"n_epochs": 1, "gradient_steps": 1, "train_freq": 64},
    "too-many-updates": {"gradient_steps": 64, "train_freq": 1, "n_epochs": 200},
    "learning-starts-too-late": {"learning_starts": 90_000},
    "learning-starts-too-early": {"learning_starts": 1},
    "target-network-too-fast": {"tau": 1.0, "target_update_interval": 1},
    "target-network-too-slow": {"tau": 1e-6, "target_update_interval": 1_000_000},
    "replay-buffer-too-small": {"buffer_size": 50},
    "advantages-unnormalised": {"normalize_advantage": False},
    "invalid-config": {"gamma": 1.5},
    "exception": {"gamma": 1.5},
    "out-of-memory": {"batch_size": 512, "buffer_size": 1_000_000},
    "noisy-reward": {"n_envs": 2},
    "optimiser-settings-wrong": {"adam_epsilon": 0.1, "optimizer": "sgd"},
    "observation-tokens-trained": {"mask_observations": False},
    "format-reward-dominates": {"format_reward_weight": 5.0},
    "conservatism-too-strong": {"conservative_weight": 500.0},
    "conservatism-too-weak": {"conservative_weight": 0.001},
    "reward-scale-too-large": {"reward_scale": 1000.0},
    "zero-variance-groups": {"group_size": 2},
    "kl-penalty-too-strong": {"kl_loss_coef": 10.0, "use_kl_loss": True},
    "kl-penalty-too-weak": {"kl_loss_coef": 1e-6, "use_kl_loss": True},
    "kl-reward-hacking": {"use_kl_in_reward": True, "use_kl_loss": False},
    "loss-aggregation-biased": {"loss_aggregation": "seq-mean-token-mean"},
    "sampler-trainer-mismatch": {"temperature": 0.3},
}


def sick(config: Config, cause: str) -> Run:
    """The run with the fault in its config, under the user's own keys."""
    native = dict(config.native)
    run = config.own_run()
    for name, value in SICK.get(cause, {}).items():
        setting = run.config.settings.get(name)
        key = setting.native_key if setting is not None and setting.native_key in native else None
        if key is None and _can_be_set(config, name):
            key = native_key(run, name, config.dialect.names)
        if name == "learning_rate_schedule" and config.framework == "sb3-zoo":
            native["learning_rate"] = f"lin_{run.config.get('learning_rate')}"
        elif key is not None and key.startswith(f"{POLICY}.") and config.framework == "sb3-zoo":
            path = tuple(key.split(".")[1:])
            native[POLICY] = edit_expression(str(native.get(POLICY, "dict()")), path, value)
        elif key is not None:
            native[key] = _in_its_form(native.get(key), name, value)
    return config.run(native)


def _can_be_set(config: Config, name: str) -> bool:
    impossible = config.dialect.names.impossible
    is_barred = name in impossible or f"{name}@{config.algorithm}" in impossible
    # Since 2.0 epsilon of skrl is an expression.
    is_barred = is_barred or (config.framework == "skrl" and name.startswith("exploration_"))
    return applies(name, config.algorithm) and name not in OWN_ONLY and not is_barred


def _in_its_form(was: object, name: str, value: object) -> object:
    """A switch stays a switch, a schedule of the zoo a schedule, one minus tau what it is."""
    if isinstance(was, bool) and not isinstance(value, bool):
        return True
    if name in ("net_arch", "net_arch_critic") and isinstance(was, str):
        return was
    if isinstance(was, list) and was and isinstance(was[0], dict):
        return [{**was[0], "layers": value}]
    if isinstance(was, str) and was.startswith("lin_"):
        return f"lin_{value}" if not isinstance(value, str) else was
    if name == "normalize_advantage" and isinstance(was, str):
        return "off"
    if name == "tau" and isinstance(was, float) and was > 0.9:
        return 1.0 - float(str(value))
    return value

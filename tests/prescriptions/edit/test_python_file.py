"""Edits of training scripts."""

from __future__ import annotations

import pytest

from rlclinic.prescriptions.edit.edits import MISSING, Edit, Refused
from rlclinic.prescriptions.edit.python_file import edit_python
from rlclinic.prescriptions.syntax.assignment import Code

SCRIPT = '''# ppo
@dataclass
class Args:
    exp_name: str = "x"
    learning_rate: float = 2.5e-4
    """the learning_rate = 7"""
    anneal_lr: bool = True
    target_kl: float = None  # é
    num_envs: int = field(default=4)


class Runner:
    class algorithm:
        entropy_coef = 0.01


def main(gamma=0.99, *, lam=.97):
    parser.add_argument("--ent-coef", type=float, default=0.02, help="x")
    é = "ü"; model = PPO("MlpPolicy", env, n_steps=2048, policy_kwargs=dict(net_arch=[64, 64], log_std_init=-2))
    config = PPOConfig().environment("x").training(lr=1e-3, gamma=0.9).env_runners(num_env_runners=0)
    cfg["tau"] = 0.005
    d = {"max_grad_norm": 0.5, "x": {"y": 1}}
    x = VecNormalize(env, clip_range=compute())
'''


def _edited(path: str, after: object, before: object = MISSING, call: str = "", text: str = SCRIPT) -> str:
    return edit_python(text, [Edit(tuple(path.split(".")), before, after)], [call])


@pytest.mark.parametrize(
    ("path", "after", "call", "old", "new"),
    [
        ("learning_rate", 1e-5, "", "= 2.5e-4", "= 1.0e-05"),
        ("anneal_lr", False, "", "bool = True", "bool = False"),
        ("target_kl", 0.02, "", "= None  # é", "= 0.02  # é"),
        ("num_envs", 8, "", "default=4", "default=8"),
        ("algorithm.entropy_coef", 0.0, "", "= 0.01", "= 0.0"),
        ("gamma", 0.995, "training", "gamma=0.9)", "gamma=0.995)"),
        ("lam", 0.95, "", "lam=.97", "lam=0.95"),
        ("ent_coef", 0.0, "", "default=0.02", "default=0.0"),
        ("n_steps", 512, "PPO", "n_steps=2048", "n_steps=512"),
        ("policy_kwargs.net_arch", [256, 256], "PPO", "[64, 64]", "[256, 256]"),
        ("policy_kwargs.log_std_init", -1, "PPO", "init=-2", "init=-1"),
        ("batch_size", 32, "PPO", "log_std_init=-2)", "log_std_init=-2), batch_size=32"),
        ("lr", 1e-5, "training", "lr=1e-3", "lr=1.0e-05"),
        ("tau", 0.01, "", "= 0.005", "= 0.01"),
        ("max_grad_norm", 1, "", ": 0.5,", ": 1.0,"),
        ("x.y", 2, "", '"y": 1', '"y": 2'),
    ],
)
def test_only_these_characters_change(path: str, after: object, call: str, old: str, new: str) -> None:
    assert SCRIPT.count(old) == 1
    assert _edited(path, after, call=call) == SCRIPT.replace(old, new)


@pytest.mark.parametrize(
    ("path", "before", "call", "text", "reason"),
    [
        ("gamma", MISSING, "", SCRIPT, "2 places (lines 17, 20)"),
        ("learning_rate", 1e-3, "", SCRIPT, "the run had 0.001"),
        ("clip_range", MISSING, "", SCRIPT, "computed"),
        ("nothing", MISSING, "", SCRIPT, "not set in this file"),
        ("lr", MISSING, "PPO", "PPO(a, **options)\n", "unpacks"),
        ("lr", MISSING, "PPO", "PPO(a)\nPPO(b)\n", "no one place"),
        ("lr", MISSING, "PPO", "PPO(a for a in b)\n", "not Python"),
        ("lr", MISSING, "", "lr = (\n", "not Python"),
    ],
)
def test_what_is_not_sure_is_refused(path: str, before: object, call: str, text: str, reason: str) -> None:
    with pytest.raises(Refused) as refusal:
        _edited(path, 0.5, before, call, text)
    assert reason in refusal.value.message


def test_code_is_left_to_the_user() -> None:
    with pytest.raises(Refused, match="needs code"):
        _edited("learning_rate", Code("lambda remaining: remaining"))


def test_an_argument_is_added_where_a_call_spans_lines() -> None:
    text = 'm = PPO(\n    "MlpPolicy",\n    env,  # c\n)\n'
    assert _edited("lr", 0.5, call="PPO", text=text) == text.replace("env,", "env, lr=0.5,")
    assert _edited("lr", 0.5, call="PPO", text="PPO()\n") == "PPO(lr=0.5)\n"


def _set_elsewhere(text: str, before: object = 0.05, *, was_set: bool = True) -> str:
    edit = Edit(("learning_rate",), before, 0.001, frozenset({"lr", "rate"}), was_set)
    return edit_python(text, [edit], ["PPO"])


@pytest.mark.parametrize(
    ("setting", "use"),
    [
        ("LR = 0.05", "LR"),
        ('parser.add_argument("--lr", type=float, default=0.05)', "args.lr"),
        ('config = {"lr": 0.05, "gamma": 0.9}', 'config["lr"]'),
        ("class Args:\n    rate: float = 0.05", "args.rate"),
    ],
)
def test_a_name_is_followed_to_the_one_place_that_gives_it_a_value(setting: str, use: str) -> None:
    text = f"{setting}\nmodel = PPO('MlpPolicy', env, learning_rate={use})\n"
    assert _set_elsewhere(text) == text.replace("0.05", "0.001")


def test_a_setting_by_another_name_is_found_by_the_value_that_the_run_had() -> None:
    text = "LR = 0.05\nlr = 7\nmodel = make(PPO)\n"
    assert _set_elsewhere(text) == text.replace("0.05", "0.001")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("LR = 0.05\nPPO(learning_rate=LR)\nprint(LR)\n", r"set in line 1 and used in lines 2, 3"),
        ("LR = 0.05\nLR = 0.01\nPPO(learning_rate=LR)\n", r"line 3: learning_rate is `LR`, which is set in 2 places"),
        ("PPO(learning_rate=LR)\n", r"line 1: learning_rate is `LR`, which is not set to a value"),
        ("PPO(learning_rate=2 * base)\n", r"line 1: learning_rate is `2 \* base`, computed"),
        ("LR = 0.3\nPPO(learning_rate=LR)\n", r"learning_rate is 0\.3 in this file, but the run had 0\.05"),
        ("PPO('MlpPolicy', env)\n", r"line 1: PPO does not set learning_rate, but the run had 0\.05, no default"),
    ],
)
def test_what_is_not_sure_is_refused_with_its_line(text: str, reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        _set_elsewhere(text)


def test_a_default_may_be_overridden_by_a_new_argument() -> None:
    assert _set_elsewhere("PPO(env)\n", before=3e-4, was_set=False) == "PPO(env, learning_rate=0.001)\n"


@pytest.mark.parametrize("value", ["0x" + "f" * 10_000, "{0x" + "f" * 10_000 + "}"])
def test_a_number_too_long_to_be_told_is_refused(value: str) -> None:
    with pytest.raises(Refused):
        _edited("learning_rate", 1e-3, 1e-2, text=f"class Args:\n    learning_rate: float = {value}\n")

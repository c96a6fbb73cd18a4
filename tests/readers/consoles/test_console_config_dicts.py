"""Configs printed as a dict."""

from __future__ import annotations

import pprint

import pytest

from rlclinic.readers.consoles.config_dicts import dict_settings

PRINTED = [
    "{'algorithm': {'adv_estimator': 'grpo',",
    "               'kl_ctrl': {'kl_coef': 0.001, 'type': 'fixed'},",
    "               'lam': 1.0},",
    " 'data': {'max_length': None,",
    "          'train_files': ['a.parquet',",
    "                          'b.parquet'],",
    "          'shuffle': True},",
    " 'override': {}}",
]


def values(lines: list[str]) -> dict[str, object]:
    return {setting.name: setting.value for setting in dict_settings(lines)[0]}


def test_a_dict_wrapped_over_lines_becomes_dotted_names_with_their_lines() -> None:
    settings, problems = dict_settings(["start", *PRINTED, "original dataset len: 7473"])
    assert {setting.name: (setting.value, setting.line) for setting in settings} == {
        "algorithm.adv_estimator": ("grpo", 2),
        "algorithm.kl_ctrl.kl_coef": (0.001, 3),
        "algorithm.kl_ctrl.type": ("fixed", 3),
        "algorithm.lam": (1.0, 4),
        "data.max_length": (None, 5),
        "data.train_files": (["a.parquet", "b.parquet"], 6),
        "data.shuffle": (True, 8),
        "override": ({}, 9),
    }
    assert problems == []


def test_a_dict_with_an_indent_behind_its_first_brace_is_read() -> None:
    config = {"lr": 0.0005, "gamma": 0.99, "name": "qmix", "env_args": {"map_name": "3m"}, "seed": 1, "batch_size": 32}
    found = values(pprint.pformat(config, indent=4, width=20).splitlines())
    assert (found["lr"], found["env_args.map_name"], found["batch_size"]) == (0.0005, "3m", 32)


def test_output_of_other_processes_inside_it_is_passed_over() -> None:
    foreign = [
        "libgomp: Invalid value",
        "  warnings.warn(",
        "[I1210 debug.cpp:49] on",
        '  "vocab_size": 151936,',
        "",
        "}",
    ]
    torn = [*PRINTED[:3], *foreign, *PRINTED[3:]]
    assert values(torn) == values(PRINTED)


def test_a_prefix_glued_to_a_line_is_cut_off() -> None:
    glued = [*PRINTED[:2], PRINTED[2] + "(WorkerDict pid=934604) ", *PRINTED[3:]]
    assert values(glued) == values(PRINTED)


def test_a_dict_that_breaks_off_keeps_what_was_printed_and_says_so() -> None:
    settings, problems = dict_settings(PRINTED[:4])
    assert [setting.name for setting in settings][-1] == "data.max_length"
    assert problems == ["line 1: printed config breaks off at line 4"]


def test_an_ordered_dict_of_the_zoo_is_read() -> None:
    lines = [
        "OrderedDict([('batch_size', 64),",
        "             ('gamma', 0.98),",
        "             ('policy', 'MlpPolicy')])",
    ]
    assert values(lines) == {"batch_size": 64, "gamma": 0.98, "policy": "MlpPolicy"}


def test_indented_json_is_read() -> None:
    lines = ["{", '  "gamma": 0.99,', '  "seed": 3,', '  "net": {', '    "lr": 0.0003', "  }", "}"]
    settings, _ = dict_settings(["Saving config:", "", *lines])
    assert {setting.name: (setting.value, setting.line) for setting in settings} == {
        "gamma": (0.99, 4),
        "seed": (3, 5),
        "net.lr": (0.0003, 7),
    }


def test_a_dict_on_one_line_counts_if_it_is_announced() -> None:
    assert values(["Config: {'lr': 0.0003, 'gamma': 0.99}"]) == {"lr": 0.0003, "gamma": 0.99}
    assert values(["kwargs for the sampler {'lr': 0.0003, 'gamma': 0.99}"]) == {}


@pytest.mark.parametrize(
    "lines",
    [
        ["Critic overriding config {'bos_token_id': None, 'eos_token_id': 1, 'pad_token_id': 2}"],
        ["{'loss': 0.5, 'lr': 0.1, 'seed': 3, 'epoch': 0.1, 'kl': 0.2}"],
        ["{'actor/pg_loss': 0.1,", " 'actor/lr': 0.2,", " 'critic/loss': 0.3,", " 'critic/lr': 1,", " 'perf/mfu': 2}"],
        ["Qwen2Config {", '  "hidden_size": 2048,', '  "temperature": 1.0', "}"],
        ["{", '  "status": "ok",', '  "code": 200', "}"],
        ["{'a': {'b': [", "text"],
        ["{'a': " * 50],
    ],
)
def test_other_dicts_are_no_config(lines: list[str]) -> None:
    assert values(lines) == {}

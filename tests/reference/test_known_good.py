"""The kept bands, the published returns and the table of differences between frameworks."""

from __future__ import annotations

import json

import numpy as np
import pytest

from rlclinic.reference.framework_differences import behaviours_apart, differences, load_differences, weight_of
from rlclinic.reference.known_good import SHARES, known_good, pairs, parse_known_good
from rlclinic.reference.tasks import published_scores


@pytest.mark.parametrize("pair", pairs(), ids=lambda pair: ".".join(pair))
def test_every_kept_pair_loads_and_ends_better_than_it_began(pair: tuple[str, str]) -> None:
    found = known_good(f"{pair[0]}-v1", pair[1])
    assert found is not None
    assert len(found.seeds) >= 3
    rows = found.metrics["return/train"]
    assert rows.shape == (len(found.seeds), SHARES)
    ends = np.nanmean(rows[:, -2:], axis=1)
    starts = np.array([row[np.isfinite(row)][0] for row in rows])
    assert (ends > starts).mean() >= 0.5


def test_a_task_or_algorithm_without_kept_runs_has_none() -> None:
    assert known_good("Nowhere-v0", "PPO") is None
    assert known_good("CartPole-v1", "CQL") is None
    assert known_good("", "PPO") is None


@pytest.mark.parametrize("wrong", [{"metrics": {"return/train": [[1.0]]}}, {"settings": {"no_such": 1}}])
def test_a_file_that_names_what_does_not_exist_is_refused(wrong: dict[str, object]) -> None:
    rows = {"return/train": [[1.0] * SHARES]}
    whole = {"environment": "X-v0", "algorithm": "PPO", "framework": "sb3", "budget": 1.0, "seeds": [0], "made_by": ""}
    with pytest.raises(ValueError, match=r"x\.json"):
        parse_known_good(json.dumps({**whole, "settings": {}, "metrics": rows, **wrong}), "x.json")


def test_published_returns_are_found_by_task_whatever_its_version() -> None:
    assert [score.value for score in published_scores("CartPole-v1", "ppo")] == [500.0, 490.0]
    assert published_scores("Hopper-v4", "TD3")[0].source == "zoo"
    assert published_scores("MyTask-v0", "PPO") == ()


def test_value_clipping_is_what_matters_most_between_sb3_and_cleanrl() -> None:
    found = behaviours_apart("PPO", "sb3", "cleanrl")
    assert found[0].id == "value-clipping"
    assert "time-limit-bootstrapping" in {item.id for item in found}
    assert behaviours_apart("PPO", "rlclinic", "sb3") == ()
    assert weight_of("learning_rate") > weight_of("ent_coef") > weight_of("vf_coef")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('weight = "slight"', 'weight = "huge"'),
        ('key = "adam_epsilon"', 'key = "no_such"'),
        ('{ sb3 = "off"', '{ sb9 = "off"'),
        ("slight = [", 'slight = ["gamma", '),
    ],
)
def test_the_table_of_differences_refuses_what_it_does_not_know(old: str, new: str) -> None:
    from importlib.resources import files

    text = files("rlclinic.reference").joinpath("framework_differences.toml").read_text(encoding="utf-8")
    assert old in text
    with pytest.raises(ValueError, match=r"framework_differences\.toml"):
        load_differences(text.replace(old, new, 1))


def test_every_framework_of_the_table_has_a_source_with_a_version() -> None:
    table = differences()
    assert {name for item in table.behaviours for name in item.values} <= set(table.sources)
    assert all(entry["version"] and entry["where"] for entry in table.sources.values())

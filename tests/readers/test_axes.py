"""Steps: which column holds them, what they count, and what happens when they go back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlclinic.model.config import Config, Setting
from rlclinic.readers.axes import env_step_factor, in_written_order, table_steps
from rlclinic.readers.columns import from_sparse
from rlclinic.readers.draft import RawTable
from rlclinic.reference.framework import Framework, framework


def raw_table(**columns: list[float]) -> RawTable:
    rows = len(next(iter(columns.values())))
    arrays = {
        name: (np.flatnonzero(~np.isnan(values)), np.array(values)[~np.isnan(values)])
        for name, values in columns.items()
    }
    return RawTable(from_sparse(arrays, rows), "log.csv")


def test_the_frameworks_own_step_column_wins_over_a_generic_one() -> None:
    raw = raw_table(**{"time/total_timesteps": [10.0, 20.0], "step": [1.0, 2.0]})
    column, steps, axis = table_steps(raw, framework("sb3"))
    assert (column, steps.tolist(), axis) == ("time/total_timesteps", [10.0, 20.0], "env_steps")


@pytest.mark.parametrize(
    ("column", "axis"), [("global_step", "env_steps"), ("iteration", "iterations"), ("epoch", "epochs"), ("x", "rows")]
)
def test_generic_columns_say_what_they_count(column: str, axis: str) -> None:
    _, _, found = table_steps(raw_table(**{column: [1.0, 2.0]}), framework("unknown"))
    assert found == axis


def test_rows_without_a_step_take_the_one_before_them() -> None:
    raw = raw_table(global_step=[np.nan, 5.0, np.nan, 9.0], loss=[1.0, 2.0, 3.0, 4.0])
    _, steps, _ = table_steps(raw, framework("unknown"))
    assert steps.tolist() == [5.0, 5.0, 5.0, 9.0]


def test_iterations_become_env_steps_only_when_the_config_tells_how(tables: Framework) -> None:
    known = Config({name: Setting(name, value, name) for name, value in (("n_steps", 24), ("n_envs", 4096))})
    assert env_step_factor(tables, known) == 24 * 4096
    assert env_step_factor(tables, Config()) is None


@pytest.fixture
def tables() -> Framework:
    return framework("rsl_rl")


def test_a_resumed_run_keeps_what_was_written_last() -> None:
    order, dropped = in_written_order(np.array([1.0, 2.0, 3.0, 4.0, 2.0, 3.0, 5.0]))
    assert order.tolist() == [0, 4, 5, 6]
    assert dropped == 3


@given(st.lists(st.integers(0, 50), max_size=60))
@settings(derandomize=True)
def test_the_kept_steps_never_go_back(steps: list[int]) -> None:
    array = np.array(steps, dtype=np.float64)
    order, _ = in_written_order(array)
    kept = array[order]
    assert bool(np.all(np.diff(kept) >= 0))
    assert kept.size == 0 or kept[-1] in (array[-1], array.max())

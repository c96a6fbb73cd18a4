"""The catalogue of faults, the clean configurations and the plan that follows from them."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace

import pytest
from bench.faults.bases import bases
from bench.faults.catalogue import GROUPS, BadFault, Level, _checked, faults
from bench.faults.patches import check
from bench.faults.plan import SEEDS, Instance, _cases, plan
from bench.faults.split import TEST_ALGORITHMS, TEST_ENVIRONMENTS, TEST_LAYOUTS, WITHHELD, sides

ALGORITHMS = {"PPO", "A2C", "DQN", "SAC", "TD3", "REINFORCE", "MM-RKHS"}
INSTANCES = {entry.instance.name: entry.instance for entry in plan()}


def test_there_are_sixty_faults_in_all_groups_on_all_algorithms_and_ten_environments() -> None:
    assert len(faults()) >= 60
    assert {fault.group for fault in faults().values()} == set(GROUPS)
    used = [bases()[base] for fault in faults().values() for base in fault.cases]
    assert {base.algorithm for base in used} == ALGORITHMS
    assert len({base.environment for base in used}) >= 10


@pytest.mark.parametrize("fault", sorted(faults()))
def test_every_level_of_a_fault_changes_the_run_and_its_patches_fit_the_installed_code(fault: str) -> None:
    entry = faults()[fault]
    for base, levels in (*entry.cases.items(), *entry.further.items()):
        clean = bases()[base].recipe(0)
        for level in (entry.levels[name] for name in levels):
            assert level.edits or level.inject(clean).to_config() != clean.to_config()
    for level in entry.levels.values():
        for edit in level.edits:
            check(edit)


def test_a_factor_and_a_share_of_the_budget_follow_the_base() -> None:
    clean = bases()["room-dqn"].recipe(0)
    changed = Level(scale={"learning_rate": 10.0}, of_budget={"learning_starts": 0.5}).inject(clean)
    assert changed.number("learning_rate") == pytest.approx(10.0 * (clean.number("learning_rate") or 0.0))
    assert changed.number("learning_starts") == clean.total_steps // 2


def test_a_fault_that_names_an_unknown_cause_is_refused() -> None:
    raw = {"id": "E1", "group": "E", "title": "", "accepted": ["no-such-cause"], "cases": {}, "levels": {}}
    with pytest.raises(BadFault, match="no-such-cause"):
        _checked(raw, "e1.toml", bases())


def test_further_cases_are_recorded_and_leave_the_counted_ones_alone() -> None:
    counted = replace(faults()["E1"], further={})
    both = replace(counted, further={"rail-ppo": ("gross", "near")})
    assert [one.name for one in _cases(both)] == [
        *(one.name for one in _cases(counted)),
        "E1.gross@rail-ppo",
        "E1.near@rail-ppo",
    ]


def test_a_further_case_on_a_base_that_is_counted_already_is_refused() -> None:
    levels = {"gross": {"set": {"gamma": 0.2}}}
    twice = {"cases": {"rail-ppo": ["gross"]}, "further": {"rail-ppo": ["gross"]}}
    raw = {"id": "D1", "group": "D", "title": "", "accepted": ["discount-too-low"], "levels": levels, **twice}
    with pytest.raises(BadFault, match="rail-ppo"):
        _checked(raw, "d1.toml", bases())


def test_the_plan_has_enough_runs_seeds_healthy_runs_pairs_and_other_layouts() -> None:
    seeds: dict[str, int] = Counter(entry.instance.name for entry in plan())
    assert len(plan()) >= 450
    assert min(seeds.values()) >= SEEDS
    for part in (plan()[:600], plan()):
        healthy = sum(not entry.instance.injected for entry in part)
        assert healthy >= len(part) / 4
    assert sum(entry.instance.kind == "double" for entry in plan()) >= 20
    assert sum(entry.instance.layout != "lab" for entry in plan()) >= 40


def test_decoys_of_a_faulty_run_leave_its_fault_alone() -> None:
    for instance in INSTANCES.values():
        odd = {key for at in instance.decoys for key in bases()[instance.base].decoys[at]}
        touched = {key for fault, level in instance.injected for key in faults()[fault].levels[level].touched}
        assert not odd & touched, instance.name


def test_what_is_only_tested_never_calibrates() -> None:
    for name, side in sides().items():
        instance = INSTANCES[name]
        base = bases()[instance.base]
        apart = (
            base.environment in TEST_ENVIRONMENTS
            or base.algorithm in TEST_ALGORITHMS
            or instance.layout in TEST_LAYOUTS
            or (instance.injected and instance.accepted & WITHHELD)
        )
        assert side == "test" or not apart, name


def test_a_fault_with_two_free_instances_is_on_both_sides() -> None:
    found: dict[str, list[Instance]] = defaultdict(list)
    for instance in INSTANCES.values():
        if instance.kind == "fault" and not instance.accepted & WITHHELD:
            found[instance.injected[0][0]].append(instance)
    for fault, members in found.items():
        free = [one for one in members if bases()[one.base].environment not in TEST_ENVIRONMENTS]
        free = [one for one in free if bases()[one.base].algorithm not in TEST_ALGORITHMS and one.layout == "lab"]
        if len(free) >= 2:
            assert {sides()[one.name] for one in members} == {"calibration", "test"}, fault


def test_every_part_of_the_plan_has_all_kinds_of_loggers() -> None:
    """The order of the list and what a logger keeps must not follow from the same chance."""
    whole = Counter(entry.instance.profile for entry in plan())
    first = Counter(entry.instance.profile for entry in plan()[: len(plan()) // 3])
    for profile in ("full", "sb3", "random"):
        assert first[profile] / (len(plan()) // 3) == pytest.approx(whole[profile] / len(plan()), abs=0.15)

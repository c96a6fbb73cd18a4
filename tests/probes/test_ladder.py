"""The ladder's files: environments, answers, documentation and tables agree."""

from __future__ import annotations

import pytest
from gymnasium.utils.env_checker import check_env

from rlclinic.model.errors import UsageError
from rlclinic.probes.definition import CannotJudge, Case, Given, Probe
from rlclinic.probes.environment import WorldEnv
from rlclinic.probes.faults import components, faults, touches
from rlclinic.probes.ladder import LADDER, chosen_probes, find_probe
from rlclinic.probes.ladder.p03_discount import questions as discount_questions
from rlclinic.probes.settings import settings
from rlclinic.probes.signatures import as_toml, signatures
from rlclinic.probes.world import END, State, World

CASES = [(probe, case) for probe in LADDER for case in probe.cases]
SECTIONS = ("What it does", "Right answer", "Wrong answers", "Isolates", "References")


@pytest.mark.parametrize(("probe", "case"), CASES, ids=[f"{p.code}-{c.name}" for p, c in CASES])
@pytest.mark.filterwarnings("ignore")
def test_an_environment_passes_gymnasiums_checker(probe: Probe, case: Case) -> None:
    check_env(WorldEnv(case.world, default_seed=0), skip_render_check=True)


@pytest.mark.parametrize(("probe", "case"), CASES, ids=[f"{p.code}-{c.name}" for p, c in CASES])
def test_a_tolerance_is_less_than_half_the_gap_to_every_wrong_answer(probe: Probe, case: Case) -> None:
    for family in case.budget:
        for query in case.questions(Given(0.7, family, case.world, case.settings(family))):
            assert query.tolerance > 0
            for wrong in query.wrong:
                assert abs(wrong.value - query.truth) > 2 * query.tolerance, (query.name, wrong.fault)
                assert wrong.fault in faults()


@pytest.mark.parametrize("probe", LADDER, ids=lambda probe: probe.code)
def test_a_probe_is_documented_and_uses_known_words(probe: Probe) -> None:
    assert [head for head in SECTIONS if f"\n{head}:" not in probe.documentation] == []
    assert set(probe.after) <= {other.code for other in LADDER}
    for case in probe.cases:
        for family in case.budget:
            assert set(case.settings(family)) <= set(settings())


def test_every_fault_touches_only_queries_that_exist() -> None:
    places = {
        (probe.code, case.name, query.name)
        for probe, case in CASES
        for family in case.budget
        for query in case.questions(Given(0.7, family, case.world, case.settings(family)))
    }
    for entry in faults().values():
        for pattern in (*entry.fails, *entry.may_fail, *entry.untrained):
            assert any(touches((pattern,), *place) for place in places), (entry.id, pattern)
    assert "done mask" in components()


def test_a_pattern_names_a_probe_a_case_or_the_beginning_of_a_query() -> None:
    assert touches(("P6",), "P6", "arms", "V(+1)")
    assert touches(("P6.arms",), "P6", "arms", "V(+1)")
    assert touches(("P6.arms:V",), "P6", "arms", "V(+1)")
    assert not touches(("P6.line", "P6.arms:pi", "P1"), "P6", "arms", "V(+1)")
    assert not touches(("P1",), "P11", "arms", "pi(3)")


def test_every_fault_can_be_seen_by_a_probe() -> None:
    named = {fault for family in ("on-policy", "off-policy") for fault in signatures(family, 0.7)}  # type: ignore[arg-type]
    assert [
        name
        for name, entry in faults().items()
        if name not in named and not (entry.fails or entry.untrained or entry.may_fail)
    ] == []


@pytest.mark.slow
def test_the_stored_signatures_are_those_of_the_oracle() -> None:
    from rlclinic.probes import signatures as module

    stored = module.resources.files("rlclinic.probes").joinpath("signatures.toml").read_text(encoding="utf-8")
    assert stored == as_toml(), "run python -m rlclinic.probes.signatures"


def test_the_five_probes_keep_their_names() -> None:
    assert [find_probe(f"ProbeEnv{n}").code for n in range(1, 6)] == ["P1", "P2", "P3", "P5", "P6"]  # type: ignore[union-attr]
    assert find_probe("p8") is find_probe("truncation-twin")
    assert find_probe("") is None


def test_probes_are_chosen_by_name_and_in_order() -> None:
    assert [probe.code for probe in chosen_probes(("P8", "discount"))] == ["P3", "P8"]
    assert len(chosen_probes(("S0",))) == 7
    assert [case.name for case in chosen_probes(("P5.line",))[0].cases] == ["line"]
    with pytest.raises(UsageError, match="no probe is called 'P99'"):
        chosen_probes(("P99",))


def test_a_gamma_that_hides_a_wrong_answer_is_refused() -> None:
    case = find_probe("P3").cases[0]  # type: ignore[union-attr]
    given = Given(0.99, "on-policy", case.world, case.settings("on-policy"))
    with pytest.raises(CannotJudge, match=r"gamma 0\.99"):
        discount_questions(given)


def test_a_world_that_leads_nowhere_is_refused() -> None:
    with pytest.raises(ValueError, match="do not exist"):
        World({"a": State((0.0,), 1.0, ((1.0, "b"),))}, ((1.0, "a"),))
    with pytest.raises(ValueError, match="do not sum to 1"):
        World({"a": State((0.0,), 1.0, ((0.5, END),))}, ((1.0, "a"),))

"""Localisation on hand-made vectors of readings."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rlclinic.probes.definition import Given
from rlclinic.probes.ladder import find_probe
from rlclinic.probes.localise import SURE, Localisation, localise
from rlclinic.probes.portrait import Portrait
from rlclinic.probes.result import CaseResult, answers_of
from rlclinic.probes.seed_run import SeedResult
from rlclinic.probes.settings import Family

ON_POLICY = Portrait(
    "on-policy",
    (),
    ("discrete", "box"),
    ("value", "action_probabilities", "advantages", "log_ratio", "losses", "logged", "log_prob", "network_input"),
)


def vector(readings: dict[str, dict[str, float]], family: Family = "on-policy") -> tuple[CaseResult, ...]:
    """Cases with these readings; queries that are not named read right."""
    results = []
    for name, given_readings in readings.items():
        code, _, case_name = name.partition(".")
        probe = find_probe(code)
        assert probe is not None
        case = next(case for case in probe.cases if case.name == (case_name or probe.cases[0].name))
        queries = case.questions(Given(0.7, family, case.world, case.settings(family)))
        found = {query.name: given_readings.get(query.name, query.truth) for query in queries}
        seed = SeedResult(0, found, dict.fromkeys(found, 0.0), passed=False, steps=1, seconds=0.0)
        answers = answers_of(queries, (seed,))
        verdict = "pass" if all(answer.right for answer in answers) else "fail"
        results.append(CaseResult(code, case.name, verdict, "", answers, (seed,)))  # type: ignore[arg-type]
    return tuple(results)


@pytest.mark.parametrize(
    ("readings", "component"),
    [
        ({"P1": {"V": 3.33}, "P3": {"V(0)": 2.33, "V(1)": 3.33}, "P8": {"V(B)": 3.33}}, "done mask"),
        # Swapped flags surface at P1, but P8 tells them from an ignored done flag.
        ({"P1": {"V": 3.33}, "P3": {"V(0)": 2.33, "V(1)": 3.33}, "P8": {"V(A)": 1.0, "V(B)": 3.33}}, "flag order"),
        ({"P1": {}, "P3": {"V(0)": 1.0}, "P8": {"V(A)": 60.0}}, "gamma"),
        ({"P1": {}, "P3": {"V(0)": 0.49}, "P8": {"V(A)": 1.96}}, "gamma"),
        ({"P1": {}, "P2": {}, "P3": {}, "P8": {"V(A)": 1.0}}, "time-limit bootstrapping"),
        ({"P1": {}, "P3": {}, "P4": {"V": 0.1455}, "P8": {}}, "lambda plumbing"),
        ({"P1": {}, "P3": {}, "P4": {"V": 0.66}, "P8": {}}, "GAE recursion"),
        (
            {"P1": {"V": 0.77}, "P2": {"V(+1)": 0.5, "V(-1)": -0.5}, "P3": {"V(0)": 0.56, "V(1)": 0.7}},
            "fake autoreset row",
        ),
        # One value for all observations: the loss compares all pairs, or the returns belong to other rows.
        (
            {"S0f": {"value loss": 1.0}, "P2": {"V(+1)": 0.0, "V(-1)": 0.0}, "P3": {"V(0)": 0.81, "V(1)": 0.81}},
            "broadcasting",
        ),
        ({"S0f": {}, "P2": {"V(+1)": 0.0, "V(-1)": 0.0}, "P3": {"V(0)": 0.81, "V(1)": 0.81}}, "batching"),
        ({"P3": {}, "P3.rollout": {"V(0)": 0.0}, "P1": {}, "P2": {}}, "bootstrap"),
        ({"P5": {}, "P5.clip": {}, "P5.luck": {"move of pi(best|1)": 0.45}}, "actor update"),
        ({"P13.bonus": {"pi(best)": 1.0}, "P13.even": {}, "P5": {}}, "entropy term"),
        ({"P13.bonus": {"pi(best)": 1.0}, "P13.even": {"pi(1)": 0.0}, "P5": {}}, "entropy sign"),
        # Steps by environments, flattened row by row.
        (
            {"S0b": {"A(0,env 0)": 0.24448, "A(0,env 1)": -0.984, "A(2,env 0)": -1.3888}},
            "environment axis",
        ),
        # One action for both observations: right at one of them.
        ({"P1": {}, "P2": {}, "P5": {"pi(best)": 0.5}, "P6": {"pi(match|+1)": 0.0, "V(+1)": -1.0}}, "batching"),
        (
            {
                "P1": {},
                "P5": {"pi(best)": 0.0},
                "P6": {"pi(match|+1)": 0.0, "pi(match|-1)": 0.0, "V(+1)": -1.0, "V(-1)": -1.0},
            },
            "advantage sign",
        ),
        (
            {
                "P1": {"V": 0.0},
                "P2": {"V(+1)": 0.0, "V(-1)": 0.0},
                "P3": {"V(0)": 0.0, "V(1)": 0.0},
                "P8": {"V(A)": 0.0, "V(B)": 0.0},
            },
            "value loss",
        ),
        ({"P9.signed": {"V(s0)": 0.89, "V(s1)": 1.74}, "P9.stay": {}, "P8": {}}, "environment axis"),
        ({"P9.signed": {"lockstep": 1.0}, "P9.stay": {}, "P8": {}}, "shared random key"),
        ({"P8": {}, "P8.both": {"V(A)": 3.33}, "P1": {}}, "time-limit bootstrapping"),
        ({"P16.frames": {"V(first)": 0.4, "V(second)": 1.87}, "P3": {}, "P8": {}}, "frame stack"),
        ({"P10.limit": {"V(5)": 1.37, "V(1)": 1.96}, "P8": {}, "P9.stay": {}}, "observation normalisation"),
        ({"P10.evaluation": {"moved": 4.7}, "P10.inputs": {}}, "observation normalisation"),
        ({"P6.usual": {"V(+1)": 0.8, "V(-1)": 0.6}, "P6": {}, "P1": {}, "P2": {}}, "value loss"),
        ({"P11.normalised": {"logged": 2.0}, "P11.logged": {}, "S0g": {}}, "units of logs"),
        # A reward of the wrong sign turns values and policy alike.
        ({"P1": {"V": -1.0}, "P3": {"V(0)": -0.7, "V(1)": -1.0}, "P5": {"pi(best)": 0.0}}, "reward sign"),
        # Without discount a value that is cut off by a time limit grows for ever; where it stands is no number.
        ({"P1": {}, "P3": {"V(0)": 1.0}, "P8": {"V(A)": 17.0}}, "gamma"),
        # A stray failure of another probe does not drown an exact match.
        (
            {"P1": {}, "P2": {}, "P3": {}, "P8": {"V(A)": 1.0}, "P5": {}, "P6": {"pi(match|+1)": 0.7, "V(+1)": 0.5}},
            "time-limit bootstrapping",
        ),
        # An off-by-one may log too little or too much.
        ({"S0g": {"logged return": 6.0, "logged length": 6.0}}, "bookkeeping"),
        ({"S0g": {"logged return": 8.0, "logged length": 8.0}}, "bookkeeping"),
        ({"S0g": {}, "S0g.vector": {"logged steps": 0.5}}, "bookkeeping"),
        # A density that integrates to something else than the wrong answer that is named.
        ({"S0e": {"integral": 0.44}, "S0e.plane": {"integral": 0.2}}, "squashing Jacobian"),
    ],
)
def test_the_signature_names_the_component(readings: dict[str, dict[str, float]], component: str) -> None:
    suspicions = localise(vector(readings), ON_POLICY, 0.7).suspicions
    assert suspicions[0].component == component, [(s.component, round(s.weight, 2)) for s in suspicions]
    assert suspicions[0].reasons
    assert sum(suspicion.weight for suspicion in suspicions) <= 1 + 1e-9


def test_nothing_is_suspected_where_nothing_failed() -> None:
    assert localise(vector({"P1": {}, "P3": {}}), ON_POLICY, 0.7) == Localisation()


def test_readings_that_no_fault_explains_stay_unknown() -> None:
    odd = {"P1": {"V": -7.0}, "P2": {}, "P3": {"V(0)": 0.7, "V(1)": -4.0}, "P8": {}}
    suspicions = localise(vector(odd), ON_POLICY, 0.7).suspicions
    assert suspicions[0].component == "unknown"


def test_a_further_probe_is_named_that_tells_two_candidates_apart() -> None:
    # An ignored done flag and swapped flags read alike here; P8 separates them.
    found = localise(vector({"P1": {"V": 3.33}, "P3": {"V(0)": 2.33, "V(1)": 3.33}}), ON_POLICY, 0.7)
    assert {suspicion.component for suspicion in found.suspicions[:2]} == {"done mask", "flag order"}
    assert found.separating in ("S0b", "P8")


def test_nothing_more_is_asked_once_the_first_component_is_sure() -> None:
    whole = {"P1": {"V": 3.33}, "P3": {"V(0)": 2.33, "V(1)": 3.33}, "P8": {"V(A)": 1.0, "V(B)": 3.33}}
    found = localise(vector(whole), ON_POLICY, 0.7)
    assert found.suspicions[0].weight >= SURE
    assert found.separating == found.settling == ""


def test_a_failure_that_a_fault_only_may_cause_does_not_name_it() -> None:
    # A reversed value loss may mislead the policy, but here the values are right.
    odd = {"P1": {}, "P2": {}, "P3": {}, "P5": {"pi(best)": 0.8}, "P8": {}}
    suspicions = localise(vector(odd), ON_POLICY, 0.7).suspicions
    assert "value-loss-reversed" not in [suspicion.fault for suspicion in suspicions]


def test_a_case_that_could_not_be_judged_is_not_asked_for_again() -> None:
    results = vector({"P1": {"V": 3.33}, "P3": {"V(0)": 2.33, "V(1)": 3.33}})
    asked = localise(results, ON_POLICY, 0.7).separating
    code, _, case = asked.partition(".")
    probe = find_probe(code)
    assert probe is not None
    tried = CaseResult(code, case or probe.cases[0].name, "not-judged", "raised: ValueError")
    assert localise((*results, tried), ON_POLICY, 0.7).separating not in ("", asked)


def test_targets_that_a_fault_leaves_alone_do_not_mislead_a_policy() -> None:
    # Lambda is nothing to an episode of one step, so it cannot be why an arm is not found.
    suspicions = localise(vector({"P5": {"pi(best)": 0.8}}), ON_POLICY, 0.7).suspicions
    named = [suspicion.component for suspicion in suspicions]
    assert "lambda plumbing" not in named
    assert "done mask" in named


def test_seeds_that_are_wrong_to_either_side_do_not_average_out() -> None:
    probe = find_probe("P13")
    assert probe is not None
    case = next(case for case in probe.cases if case.name == "even")
    queries = case.questions(Given(0.7, "on-policy", case.world, case.settings("on-policy")))
    seeds = tuple(
        SeedResult(seed, {"pi(1)": reading}, {}, passed=False, steps=1, seconds=0.0)
        for seed, reading in enumerate((0.0, 1.0, 0.01, 0.99))
    )
    (answer,) = answers_of(queries, seeds)
    assert answer.reading in (0.0, 1.0, 0.01, 0.99)
    assert not answer.right


REVERSED = {
    "P1": {}, "P2": {}, "P3": {}, "P5": {"pi(best)": 0.0}, "P5.clip": {"move of pi(best|1)": -0.17},
    "P6": {"pi(match|+1)": 0.0, "pi(match|-1)": 0.0, "V(+1)": -1.0, "V(-1)": -1.0},
}  # fmt: skip


def test_an_inverted_ratio_and_a_reversed_advantage_read_alike_and_neither_is_sure() -> None:
    found = localise(vector(REVERSED), ON_POLICY, 0.7)
    assert {item.component for item in found.suspicions[:2]} == {"advantage sign", "ratio direction"}
    assert found.suspicions[0].weight < SURE


def test_without_static_contracts_less_is_sure_and_the_method_that_would_tell_is_named() -> None:
    bare = replace(ON_POLICY, methods=("value", "action_probabilities"))
    whole, less = (localise(vector(REVERSED), portrait, 0.7) for portrait in (ON_POLICY, bare))
    assert less.suspicions[0].weight < whole.suspicions[0].weight
    assert less.settling == "advantages() (S0b advantages)"


def test_a_target_network_that_is_never_copied_is_told_from_lost_time_limits() -> None:
    portrait = Portrait("off-policy", (), ("discrete",), ("q", "targets"))
    readings = {"P1": {}, "P3": {"V(0)": 0.02}, "P8": {"V(A)": 1.0}, "S0d": {"slope": 0.0}}
    assert localise(vector(readings, "off-policy"), portrait, 0.7).suspicions[0].component == "target update"
    del readings["S0d"]
    leading = localise(vector(readings, "off-policy"), portrait, 0.7)
    assert "target update" in [item.component for item in leading.suspicions[:2]]


@pytest.mark.slow
def test_another_gamma_moves_the_signatures() -> None:
    results = vector({"P1": {}, "P3": {}})
    probe = find_probe("P3")
    assert probe is not None
    queries = probe.cases[0].questions(
        Given(0.6, "on-policy", probe.cases[0].world, probe.cases[0].settings("on-policy"))
    )
    seed = SeedResult(0, {"V(0)": 0.36, "V(1)": 1.0}, {}, passed=False, steps=1, seconds=0.0)
    results = (*results[:1], CaseResult("P3", "value", "fail", "", answers_of(queries, (seed,)), (seed,)))
    suspicions = localise(results, ON_POLICY, 0.6).suspicions
    assert (suspicions[0].component, suspicions[0].fault) == ("gamma", "gamma-squared")

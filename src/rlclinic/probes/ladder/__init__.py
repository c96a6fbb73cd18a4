"""The ladder: static contracts first, then probes, each in its own file. The order is that of the ladder."""

from __future__ import annotations

from dataclasses import replace

from rlclinic.model.errors import UsageError
from rlclinic.probes.definition import Probe
from rlclinic.probes.ladder import (
    p01_constant_value,
    p02_observation_value,
    p03_discount,
    p04_lambda_fingerprint,
    p05_advantage_sign,
    p06_contextual,
    p07_max_chain,
    p08_truncation_twin,
    p09_autoreset,
    p10_observation_normalisation,
    p11_reward_scale,
    p12_action_bounds,
    p13_soft_value,
    p14_temperature,
    p15_replay,
    p16_memory,
    s0a_ratio_identity,
    s0b_advantages,
    s0c_gradient_flow,
    s0d_target_update,
    s0e_log_prob,
    s0f_shapes,
    s0g_bookkeeping,
)

LADDER: tuple[Probe, ...] = tuple(
    module.PROBE
    for module in (
        s0a_ratio_identity, s0b_advantages, s0c_gradient_flow, s0d_target_update, s0e_log_prob, s0f_shapes,
        s0g_bookkeeping, p01_constant_value, p02_observation_value, p03_discount, p04_lambda_fingerprint,
        p05_advantage_sign, p06_contextual, p07_max_chain, p08_truncation_twin, p09_autoreset,
        p10_observation_normalisation, p11_reward_scale, p12_action_bounds, p13_soft_value, p14_temperature, p15_replay,
        p16_memory,
    )
)  # fmt: skip


def find_probe(name: str) -> Probe | None:
    """A probe by its code, its name, or the name it had in the five-probe suite; upper and lower case are alike."""
    wanted = name.casefold()
    for probe in LADDER:
        if wanted in {probe.code.casefold(), probe.name, probe.alias.casefold()} - {""}:
            return probe
    return None


def chosen_probes(names: tuple[str, ...], *, preflight: bool = False) -> tuple[Probe, ...]:
    """The probes of these names in the order of the ladder; without names all, or the preflight.

    `S0` is all of S0, `P5.arms` one case.
    """
    if not names:
        return tuple(probe for probe in LADDER if probe.preflight or not preflight)
    wanted: dict[str, set[str]] = {}
    for name in names:
        if name.casefold() == "s0":
            wanted.update({probe.code: _cases(probe) for probe in LADDER if probe.code.startswith("S0")})
            continue
        head, _, case = name.partition(".")
        found = find_probe(head)
        if found is None or (case and case not in _cases(found)):
            raise UsageError(f"no probe is called {name!r}", hint="`rlclinic explain` lists the probes")
        wanted.setdefault(found.code, set()).update({case} if case else _cases(found))
    return tuple(
        replace(probe, cases=tuple(case for case in probe.cases if case.name in wanted[probe.code]))
        for probe in LADDER
        if probe.code in wanted
    )


def _cases(probe: Probe) -> set[str]:
    return {case.name for case in probe.cases}

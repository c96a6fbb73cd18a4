"""Values with which a config can run at all, a network that is wide enough, and what to halve when memory ran out."""

from __future__ import annotations

from rlclinic.model.numbers import number_in
from rlclinic.prescriptions.assessment import Assessment
from rlclinic.prescriptions.checks.constraints import RANGES, dividing_batch
from rlclinic.prescriptions.setting_change import Changes, SettingChange, change_to

# gymnasium-solver knows its networks by name.
PRESETS = ("mlp_tiny", "mlp_small", "mlp_medium", "mlp_large")
WIDEST = 512
# A replay buffer below this many transitions is not what fills a machine, unless observations are images.
SMALL_BUFFER = 50_000


def valid_values(assessment: Assessment) -> Changes:
    """Text that is a number as that number; a value outside its range at the reference; a batch that divides."""
    changes = possible_values(assessment)
    batch, rollout = assessment.number("batch_size"), assessment.rollout
    if batch and rollout and assessment.is_on_policy and batch > 1 and rollout % batch:
        changes += change_to("batch_size", dividing_batch(batch, rollout))
    return changes


def possible_values(assessment: Assessment) -> Changes:
    """The same without the batch, which many trainers accept as it is: only what no trainer can work with."""
    changes: list[SettingChange] = []
    for key, setting in assessment.run.config.settings.items():
        if setting.is_default or setting.is_derived or key not in RANGES:
            continue
        allowed, value = RANGES[key], assessment.number(key)
        if isinstance(setting.value, str):
            meant = number_in(setting.value)
        elif value is None or allowed.holds(value) or value == -1:
            continue
        else:
            known = assessment.reference_number(key)
            meant = known if known is not None and allowed.holds(known) else None
        if meant is not None:
            changes.append(SettingChange(key, meant))
    return tuple(changes)


def wider_network(assessment: Assessment) -> Changes:
    """The next preset; else the reference layers; else each layer twice as wide, up to 512 units. The critic's too."""
    config = assessment.run.config
    here = config.get("net_arch")
    if isinstance(here, str):
        return change_to("net_arch", PRESETS[PRESETS.index(here) + 1]) if here in PRESETS[:-1] else ()
    wider = {key: _wider(assessment, config.get(key)) for key in ("net_arch", "net_arch_critic")}
    return tuple(SettingChange(key, layers) for key, layers in wider.items() if layers)


def smaller_micro_batch(assessment: Assessment) -> Changes:
    """Half of what a language model is trained on at once: gradients are accumulated, so the batch stays as it is."""
    size = assessment.number("micro_batch_size") if assessment.is_language_model else None
    return change_to("micro_batch_size", round(size / 2)) if size and size >= 2 and size % 2 == 0 else ()


def less_memory(assessment: Assessment) -> Changes:
    """Half of what is likely to be the largest; nothing where that is not known."""
    if assessment.is_language_model:
        return ()
    buffer, batch = assessment.number("buffer_size"), assessment.number("batch_size")
    if buffer is not None and buffer > SMALL_BUFFER and not assessment.is_on_policy:
        return change_to("buffer_size", round(buffer / 2))
    return change_to("batch_size", round(batch / 2)) if batch and batch >= 2 else ()


def _wider(assessment: Assessment, here: object) -> list[int]:
    """Empty where the layers are not known or as wide as they may be."""
    if not isinstance(here, list) or not here or not all(isinstance(width, int) for width in here):
        return []
    known = assessment.reference.get("net_arch")
    if isinstance(known, list) and len(known) >= len(here) and sum(known) > sum(here):
        return list(known)
    wider = [min(WIDEST, 2 * width) for width in here]
    return wider if wider != here else []

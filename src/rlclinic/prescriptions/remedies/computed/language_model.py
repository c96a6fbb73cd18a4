"""Settings of language-model training: a calmer update, the KL to the reference model, sampling, validation."""

from __future__ import annotations

from rlclinic.prescriptions.assessment import Assessment
from rlclinic.prescriptions.remedies.careful_step import COARSE, FINE, rounded, stepped
from rlclinic.prescriptions.setting_change import Changes, change_to

# Updates between validations that cost little beside training.
EVERY = 20
# What GRPO examples of verl and TRL use when the penalty is switched on.
USUAL_KL = 0.001
# The largest that a trainer comes with (TRL's PPO).
LARGEST_KL = 0.05
# A wider upper clip lets rare tokens become more likely (DAPO, arXiv 2503.14476).
UPPER_CLIP = 0.28
# Frameworks in which the upper clip is a setting of its own.
HAVE_UPPER_CLIP = frozenset({"verl", "trl", "openrlhf", "slime", "nemo-rl", "areal"})

# What tells how long responses may be: the longest, else their mean.
OF_LENGTH = ("response_length/max", "response_length")


def calmer_language_model(assessment: Assessment) -> Changes:
    """Take an entropy bonus away first: it feeds the explosion; else a third of the learning rate."""
    if (assessment.number("ent_coef") or 0.0) > 0:
        return change_to("ent_coef", 0.0)
    rate = assessment.number("learning_rate")
    return change_to("learning_rate", rounded("learning_rate", rate / COARSE)) if rate else ()


def clip_higher(assessment: Assessment) -> Changes:
    """The upper ratio clip at 0.28; the lower one stays."""
    here = assessment.number("clip_range_high") or assessment.number("clip_range")
    if assessment.run.framework not in HAVE_UPPER_CLIP or (here is not None and here >= UPPER_CLIP):
        return ()
    return change_to("clip_range_high", UPPER_CLIP)


def longer_responses(assessment: Assessment) -> Changes:
    """Twice the cap; where no file tells it, twice the longest response that was seen."""
    key = "max_response_length"
    after = stepped(assessment, key, up=True)
    if after is None and key in assessment.run.config:
        return ()
    longest = next((float(found.max()) for found in map(assessment.logged, OF_LENGTH) if found.size), 0.0)
    # What was generated the cap allowed, whatever the default.
    wanted = max(after or 0.0, rounded(key, FINE * longest) if longest else 0.0)
    return change_to(key, wanted) if wanted else ()


def weaker_kl(assessment: Assessment) -> Changes:
    """A third of the weight in force, or the largest that trainers come with."""
    key = _kl_weight(assessment)
    value = assessment.number(key) if key else None
    return change_to(key, rounded(key, min(value / COARSE, LARGEST_KL))) if value else ()


def stronger_kl(assessment: Assessment) -> Changes:
    """Three times the weight in force; the usual one where there is none."""
    config = assessment.run.config
    key = _kl_weight(assessment) or ("kl_loss_coef" if "kl_loss_coef" in config else "")
    if not key:
        return ()
    value = assessment.number(key)
    stronger = change_to(key, rounded(key, COARSE * value) if value else USUAL_KL)
    return stronger + (_kl_loss_on(assessment) if key == "kl_loss_coef" else ())


def kl_out_of_reward(assessment: Assessment) -> Changes:
    """The KL as a loss instead of inside the reward, with the weight it had."""
    config = assessment.run.config
    if config.get("use_kl_in_reward") is not True or "use_kl_loss" not in config:
        return ()
    return change_to("use_kl_in_reward", False) + _kl_loss_on(assessment)


def same_sampling(assessment: Assessment) -> Changes:
    """Full sampling: the trainer's probabilities are neither cut (top-p, top-k) nor rescaled."""
    share, temperature = assessment.number("top_p"), assessment.number("temperature")
    uncut = change_to("top_p", 1.0) if (share or 1.0) < 1.0 else ()
    return uncut + (change_to("temperature", 1.0) if temperature not in (None, 1.0) else ())


def some_validation(assessment: Assessment) -> Changes:
    """A validation every few dozen updates, where it is switched off."""
    every = assessment.number("eval_freq")
    return change_to("eval_freq", EVERY) if every is not None and every <= 0 else ()


def _kl_weight(assessment: Assessment) -> str:
    """The setting that weighs the KL, in whichever place the run has it."""
    config = assessment.run.config
    for key, switch in (("kl_loss_coef", "use_kl_loss"), ("kl_coef", "use_kl_in_reward")):
        if config.get(switch) is True or (assessment.number(key) and switch not in config):
            return key
    return ""


def _kl_loss_on(assessment: Assessment) -> Changes:
    return change_to("use_kl_loss", True) if assessment.run.config.get("use_kl_loss") is False else ()

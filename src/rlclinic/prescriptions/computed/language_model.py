"""Settings of language-model training: a calmer update, sampling that the trainer can follow, validation."""

from __future__ import annotations

from rlclinic.prescriptions.case import Case
from rlclinic.prescriptions.target import COARSE, rounded
from rlclinic.prescriptions.turn import Turn

# Updates between validations that cost little beside training.
EVERY = 20


def calmer_language_model(case: Case) -> tuple[Turn, ...]:
    """Take an entropy bonus away first: it feeds the explosion; else a third of the learning rate."""
    if (case.number("ent_coef") or 0.0) > 0:
        return (Turn("ent_coef", 0.0),)
    rate = case.number("learning_rate")
    return (Turn("learning_rate", rounded("learning_rate", rate / COARSE)),) if rate else ()


def same_sampling(case: Case) -> tuple[Turn, ...]:
    """Full sampling: the trainer's probabilities are neither cut (top-p, top-k) nor rescaled."""
    turns = []
    if (case.number("top_p") or 1.0) < 1.0:
        turns.append(Turn("top_p", 1.0))
    temperature = case.number("temperature")
    if temperature is not None and temperature != 1.0:
        turns.append(Turn("temperature", 1.0))
    return tuple(turns)


def some_validation(case: Case) -> tuple[Turn, ...]:
    """A validation every few dozen updates, where it is switched off."""
    every = case.number("eval_freq")
    return (Turn("eval_freq", EVERY),) if every is not None and every <= 0 else ()

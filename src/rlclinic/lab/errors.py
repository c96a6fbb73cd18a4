"""Errors of training."""

from __future__ import annotations

from rlclinic.model.errors import RlclinicError, UsageError


class TrainingError(RlclinicError):
    """A training run could not go on. `path` is its folder, which says the same and keeps all that was logged."""

    kind = "training-failed"


class EnvironmentFault(RlclinicError):  # noqa: N818 - reads as what it is
    """The environment raised or returned a number that is none."""

    kind = "environment-fault"


class ExpertFault(UsageError):  # noqa: N818 - reads as what it is
    """The expert raised, or its action is none of the environment's."""

"""Examination of an environment: reward, environment and task, measured and not judged."""

from typing import Any

__all__ = ["Observe", "ObserveVector"]


def __getattr__(name: str) -> Any:
    """The wrappers that watch a training; imported when asked for, because they need gymnasium."""
    if name in __all__:
        from rlclinic.lab.instruments import observe

        return getattr(observe, name)
    raise AttributeError(name)

"""Advantage actor-critic: one gradient step per rollout."""

from __future__ import annotations

from .on_policy import OnPolicy


class A2C(OnPolicy):
    """The on-policy base as it is."""

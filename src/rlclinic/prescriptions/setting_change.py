"""One hyperparameter and the value it is to have, before it is written in the user's terms."""

from __future__ import annotations

from typing import NamedTuple


class SettingChange(NamedTuple):
    """A canonical hyperparameter and its new value; None removes the setting."""

    key: str
    to: object


Changes = tuple[SettingChange, ...]


def change_to(key: str, to: object) -> Changes:
    """One change alone."""
    return (SettingChange(key, to),)

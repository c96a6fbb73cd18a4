"""Finds the settings a training program printed into its console, in whatever shape it printed them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.readers.consoles.config_commands import command_settings, override_settings
from rlclinic.readers.consoles.config_dicts import dict_settings
from rlclinic.readers.consoles.config_listings import dotted_settings, listing_settings
from rlclinic.readers.consoles.config_reprs import repr_settings
from rlclinic.readers.consoles.config_values import Setting

# Notes on settings printed again with another value; more of them say nothing new.
MAX_NOTES = 5


@dataclass(frozen=True, slots=True)
class PrintedConfig:
    """The settings found; empty if none were."""

    values: Mapping[str, object]
    """Dotted name -> value."""
    lines: Mapping[str, int]
    """Dotted name -> the 1-based line it was read from."""
    problems: tuple[str, ...]
    typed: frozenset[str] = frozenset()
    """Names that are known from a command line alone: what the program added to them is not in the text."""


def find_config(lines: Sequence[str]) -> PrintedConfig:
    """The settings in the text.

    What the program resolved counts more than what the user typed: a dict before an object before Hydra's
    overrides before the command line before a list. The first print of a setting counts.
    """
    dicts, problems = dict_settings(lines)
    commands = override_settings(lines), command_settings(lines)
    sources = (dicts, repr_settings(lines), dotted_settings(lines), *commands, listing_settings(lines))
    found: dict[str, Setting] = {}
    typed: set[str] = set()
    for settings in sources:
        notes: list[str] = []
        own: dict[str, Setting] = {}
        for setting in settings:
            first = own.setdefault(setting.name, setting)
            if not _same(first.value, setting.value):
                notes.append(_printed_again(first, setting))
        problems.extend(notes[:MAX_NOTES])
        new = {name: setting for name, setting in own.items() if name not in found}
        typed |= new.keys() if settings in commands else set()
        found |= new
    values = {name: setting.value for name, setting in found.items()}
    places = {name: setting.line for name, setting in found.items()}
    return PrintedConfig(values, places, tuple(problems), frozenset(typed))


def _same(one: object, other: object) -> bool:
    return repr(one) == repr(other)


def _printed_again(first: Setting, again: Setting) -> str:
    was, now = repr(first.value)[:80], repr(again.value)[:80]
    return f"line {again.line}: {again.name} printed again as {now}, first as {was} on line {first.line}"

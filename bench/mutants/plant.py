"""Plant a mutant: import a second copy of the reference trainers in which its texts are replaced."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import CodeType
from typing import Any

from bench.mutants.catalogue import SOURCES, Edit, mutants, variants
from bench.mutants.registry import TRAINERS

REFERENCE = "bench.mutants.trainers"
PLANTED = "bench.mutants.planted_"
"""Package names of the copies start with it."""


class Planted:
    """The factory of a reference trainer, with or without a mutant; picklable, so that workers can have it."""

    def __init__(self, trainer: str, mutant: str = "") -> None:
        self.trainer, self.mutant = trainer, mutant
        self.__name__ = f"{trainer}+{mutant}" if mutant else trainer
        self.__module__ = __name__

    @property
    def family(self) -> str:
        """As the class says."""
        return str(self._class().family)

    def __call__(self, *args: Any, **settings: Any) -> Any:
        """A trainer."""
        return self._class()(*args, **settings)

    def _class(self) -> Any:
        return getattr(importlib.import_module(f"{package_of(self.mutant)}.{self.trainer}"), TRAINERS[self.trainer])


def package_of(mutant: str) -> str:
    """The package to import for a mutant; the reference itself for none."""
    if not mutant:
        return REFERENCE
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
    return PLANTED + mutant.replace("-", "_")


class _Finder(MetaPathFinder):
    """Finds the copies; everything else is left to the finders after it."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: Any = None) -> ModuleSpec | None:
        if not fullname.startswith(PLANTED):
            return None
        package, _, module = fullname.removeprefix(PLANTED).partition(".")
        file = SOURCES / f"{module or '__init__'}.py"
        if not file.exists():
            return None
        planted = {**mutants(), **variants()}[package.replace("_", "-")]
        loader = _Loader(fullname, str(file), planted.edits)
        return importlib.util.spec_from_file_location(
            fullname, file, loader=loader, submodule_search_locations=None if module else [str(SOURCES)]
        )


class _Loader(SourceFileLoader):
    """Reads a source file and replaces what the mutant replaces in it."""

    def __init__(self, fullname: str, path: str, edits: tuple[Edit, ...]) -> None:
        super().__init__(fullname, path)
        self._edits = edits

    def get_code(self, fullname: str) -> CodeType:
        # Bytecode on disk is that of the reference, so it is never looked at.
        text = self.get_data(self.path).decode()
        for edit in self._edits:
            if self.path.endswith(f"/{edit.file}"):
                text = edit.apply(text)
        return self.source_to_code(text.encode(), self.path)

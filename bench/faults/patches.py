"""Patched trainer components: one text of the training code is replaced when its module is imported.

A patch is an edit as the mutants of the probes have it: a file, the text that stands there exactly once, the text with
the fault. The file is one of an installed package, such as `stable_baselines3/ppo/ppo.py`.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

from bench.mutants.catalogue import BadMutant, Edit


def module_of(edit: Edit) -> str:
    """The module that a file of a package is."""
    return edit.file.removesuffix(".py").replace("/", ".")


def check(edit: Edit) -> None:
    """BadMutant where the text does not stand in the installed file exactly once."""
    spec = importlib.util.find_spec(module_of(edit))
    if spec is None or spec.origin is None:
        raise BadMutant(f"{edit.file} is not installed")
    edit.apply(Path(spec.origin).read_text(encoding="utf-8"))


def install(edits: Sequence[Edit]) -> None:
    """Patch modules as they are imported in this process from now on."""
    by_module: dict[str, list[Edit]] = {}
    for edit in edits:
        by_module.setdefault(module_of(edit), []).append(edit)
    loaded = sorted(set(by_module) & set(sys.modules))
    if loaded:
        raise BadMutant(f"imported before it could be patched: {', '.join(loaded)}")
    if by_module:
        sys.meta_path.insert(0, _Finder(by_module))


class _Finder(MetaPathFinder):
    def __init__(self, edits: Mapping[str, Sequence[Edit]]) -> None:
        self._edits = edits

    def find_spec(self, fullname: str, path: Any = None, target: ModuleType | None = None) -> ModuleSpec | None:
        if fullname not in self._edits:
            return None
        for finder in sys.meta_path:
            spec = finder.find_spec(fullname, path, target) if finder is not self else None
            if spec is not None and spec.loader is not None:
                spec.loader = _Loader(spec.loader, self._edits[fullname])
                return spec
        return None


class _Loader(Loader):
    """Compiles the changed source; bytecode on disk is that of the library, so it is never looked at."""

    def __init__(self, inner: Any, edits: Sequence[Edit]) -> None:
        self._inner, self._edits = inner, edits

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        source = self._inner.get_source(module.__name__)
        for edit in self._edits:
            source = edit.apply(source)
        exec(compile(source, str(module.__file__), "exec"), module.__dict__)

"""Which section of a config file a run was made with, so that the right one of many equal keys is edited."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rlclinic.model.run import Run
from rlclinic.prescriptions.edit.edits import MISSING, Path, Refused, agrees, dotted, value_at

# Nesting at which hyperparameters are looked for.
MAX_DEPTH = 4
# A section that shares fewer settings with the run is no place to add a key to.
LEAST_SHARED = 2


def section_of(data: object, keys: tuple[str, ...], run: Run, named: Path = ()) -> Path:
    """The path of the mapping in which the run's keys stand; Refused where several fit equally."""
    if named:
        if not isinstance(value_at(data, named), Mapping):
            raise Refused(f"the file has no section {dotted(named)}")
        return named
    if not isinstance(data, Mapping):
        raise Refused("the file holds no mapping of settings")
    if run.framework == "sb3-zoo":
        return _zoo(data, run)
    if run.framework == "gymnasium-solver":
        return _variant(data, run)
    return _best(data, keys, run)


def inherited(data: object, section: Path, key: str, run: Run) -> object:
    """What a variant of gymnasium-solver takes from the file's base; MISSING elsewhere."""
    if run.framework != "gymnasium-solver" or not isinstance(data, Mapping) or len(section) != 1:
        return MISSING
    return _base(data).get(key, MISSING)


def _zoo(data: Mapping[object, object], run: Run) -> Path:
    """rl-zoo takes the environment's section, else `atari`, else `default`."""
    names = [run.environment, *(["atari"] if "NoFrameskip" in run.environment else []), "default"]
    for name in names:
        if isinstance(data.get(name), Mapping):
            return (name,)
    raise Refused(f"the file has no section for {run.environment}", hint="name it: --config FILE::SECTION")


def _variant(data: Mapping[object, object], run: Run) -> Path:
    """The name of the variant is not kept in the run, so it is known by its values."""
    variants = {
        str(name): entry
        for name, entry in data.items()
        if isinstance(entry, Mapping) and str(entry.get("algo_id", "")).upper() == run.algorithm
    }
    if not variants:
        raise Refused(f"the file has no variant with algo_id {run.algorithm.lower()}")
    base = _base(data)
    scores = {name: _agreement(dict([*base.items(), *entry.items()]), run) for name, entry in variants.items()}
    best = [name for name, score in scores.items() if score == max(scores.values())]
    if len(best) > 1:
        raise Refused(
            f"the variants {', '.join(best)} fit the run equally well", hint=f"name one: --config FILE::{best[0]}"
        )
    return (best[0],)


def _base(data: Mapping[object, object]) -> dict[str, object]:
    plain = {str(key): value for key, value in data.items() if not isinstance(value, Mapping)}
    own = data.get("_base")
    return {**plain, **({str(key): value for key, value in own.items()} if isinstance(own, Mapping) else {})}


def _best(data: Mapping[object, object], keys: tuple[str, ...], run: Run) -> Path:
    sections = {path: _agreement(entry, run) for path, entry in _mappings(data)}
    holding = {path: score for path, score in sections.items() if _holds(data, path, keys)}
    if () in holding:
        return ()
    options = holding or {path: score for path, score in sections.items() if score >= LEAST_SHARED}
    if not options:
        raise Refused(f"nothing in this file sets {', '.join(keys)}")
    best = [path for path, score in options.items() if score == max(options.values())]
    if len(best) > 1:
        shown = ", ".join(map(dotted, best[:3]))
        raise Refused(f"{keys[0]} stands in several sections: {shown}", hint="name one: --config FILE::SECTION")
    return best[0]


def _holds(data: object, section: Path, keys: tuple[str, ...]) -> bool:
    return any(value_at(data, (*section, *key.split("."))) is not MISSING for key in keys)


def _mappings(data: object, path: Path = ()) -> Iterator[tuple[Path, Mapping[object, object]]]:
    if not isinstance(data, Mapping) or len(path) > MAX_DEPTH:
        return
    yield path, data
    for key, value in data.items():
        yield from _mappings(value, (*path, str(key)))


def _agreement(entry: Mapping[object, object], run: Run) -> int:
    """How many of the run's settings stand in a mapping with the same value, less those with another."""
    score = 0
    for key, setting in run.config.native.items():
        found = value_at(entry, tuple(key.split(".")))
        if found is not MISSING and not isinstance(found, Mapping):
            score += 1 if agrees(found, setting.value) else -1
    return score

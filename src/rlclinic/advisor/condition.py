"""Conditions of rules: `fact operator value`, as in `task.action in discrete|box` or `env.parallel >= 64`."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping

from rlclinic.advisor.fact_keys import fact_keys
from rlclinic.model.lazy_dataclass import dataclass

NUMERIC: Mapping[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
IN_WORDS = {"<": "below ", "<=": "at most ", ">": "above ", ">=": "at least "}
YES_NO: Mapping[object, str] = {True: "yes", False: "no"}
WORDS = frozenset({"is", "is-not", "in", "known", "unknown"})
# What holds without a value.
ABSENT = frozenset({"is-not", "unknown"})


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition of a rule."""

    key: str
    operator: str
    value: object = None

    def holds(self, facts: Mapping[str, object]) -> bool | None:
        """Whether it holds; None where the fact is not known. `is-not` and `unknown` hold where nothing is known."""
        known = facts.get(self.key)
        if known is None:
            return True if self.operator in ABSENT else None
        if self.operator in ("known", "unknown"):
            return self.operator == "known"
        if isinstance(known, float) and isinstance(self.value, float) and self.operator in NUMERIC:
            return NUMERIC[self.operator](known, self.value)
        if isinstance(self.value, tuple):
            return known in self.value
        return (known == self.value) is (self.operator == "is")

    @property
    def examples(self) -> Mapping[str, object]:
        """Values for which it holds, by what they are called: `yes`, `at least 64`; none where any value would do."""
        if isinstance(self.value, float):
            beyond = {"<": -0.1, ">": 0.1}.get(self.operator, 0.0) * max(abs(self.value), 1e-6)
            return {f"{IN_WORDS.get(self.operator, '')}{self.value:,g}": self.value + beyond}
        values = self.value if isinstance(self.value, tuple) else () if self.value is None else (self.value,)
        return {YES_NO.get(value, str(value)): value for value in values}


def parse_condition(text: str) -> Condition:
    """A condition of a table; ValueError where it cannot be one."""
    key, symbol, *rest = text.split(maxsplit=2)
    entry = fact_keys().get(key)
    if entry is None or symbol not in WORDS | NUMERIC.keys():
        raise ValueError(f"no such condition: {text}")
    if symbol in ("known", "unknown"):
        return Condition(key, symbol)
    if symbol == "in":
        return Condition(key, symbol, tuple(entry.parse(word) for word in rest[0].split("|")))
    if symbol in NUMERIC and entry.kind not in ("number", "share"):
        raise ValueError(f"{key} is no number: {text}")
    return Condition(key, symbol, entry.parse(rest[0]))

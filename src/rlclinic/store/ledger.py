"""The ledger of trials: every run of every experiment, written as it happens, so that a killed trial goes on.

SQLite in WAL mode. Unlike the index it is no cache: what it holds was paid for with training, so it lies with the
user's data and an error in writing it is an error.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rlclinic.model.errors import UsageError
from rlclinic.model.trial import Outcome, OutcomeState, outcome_from, outcome_object

_SCHEMA = """
CREATE TABLE IF NOT EXISTS trials (
    id TEXT PRIMARY KEY,
    started TEXT NOT NULL,
    environment TEXT NOT NULL,
    algorithm TEXT NOT NULL,
    plan TEXT NOT NULL,
    result TEXT
);
CREATE TABLE IF NOT EXISTS outcomes (
    trial TEXT NOT NULL REFERENCES trials(id),
    arm TEXT NOT NULL,
    seed INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    PRIMARY KEY (trial, arm, seed)
);
"""


def default_path() -> Path:
    """Where the ledger lies: RLCLINIC_LEDGER, else the user's data folder."""
    named = os.environ.get("RLCLINIC_LEDGER")
    if named:
        return Path(named)
    data = os.environ.get("XDG_DATA_HOME")
    return (Path(data) if data else Path.home() / ".local" / "share") / "rlclinic" / "trials.sqlite"


def default_state() -> tuple[Path, int, int] | None:
    """Path, time and size of the ledger, which change with every entry; None where there is none."""
    path = default_path()
    try:
        state = path.stat()
    except OSError:
        return None
    return path, state.st_mtime_ns, state.st_size


class Ledger:
    """All trials, with what each of their runs came to."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or default_path()

    def start(self, trial: str, *, environment: str, algorithm: str, plan: dict[str, Any]) -> None:
        """Enter a trial; one that is there already keeps its outcomes."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        with self._open() as database:
            database.execute(
                "INSERT OR IGNORE INTO trials VALUES (?, ?, ?, ?, ?, NULL)",
                (trial, now, environment, algorithm, json.dumps(plan)),
            )

    def record(self, trial: str, outcome: Outcome) -> None:
        """Enter what one run came to."""
        with self._open() as database:
            database.execute(
                "INSERT OR REPLACE INTO outcomes VALUES (?, ?, ?, ?)",
                (trial, outcome.arm, outcome.seed, json.dumps(outcome_object(outcome))),
            )

    def finish(self, trial: str, result: dict[str, Any]) -> None:
        """Enter what the trial found."""
        with self._open() as database:
            database.execute("UPDATE trials SET result = ? WHERE id = ?", (json.dumps(result), trial))

    def plan(self, trial: str) -> dict[str, Any] | None:
        """What a trial set out to do; None where no trial has this id."""
        rows = self._rows("SELECT plan FROM trials WHERE id = ?", (trial,))
        return None if not rows else json.loads(rows[0][0])

    def outcomes(self, trial: str) -> tuple[Outcome, ...]:
        """The runs of a trial that ended by themselves."""
        rows = self._rows("SELECT outcome FROM outcomes WHERE trial = ? ORDER BY arm, seed", (trial,))
        found = [outcome_from(json.loads(text)) for (text,) in rows]
        return tuple(outcome for outcome in found if outcome.state is not OutcomeState.STOPPED)

    def results(self) -> list[dict[str, Any]]:
        """What finished trials found, oldest first."""
        rows = self._rows("SELECT result FROM trials WHERE result IS NOT NULL ORDER BY started, id", ())
        return [json.loads(text) for (text,) in rows]

    def listing(self) -> list[dict[str, Any]]:
        """Every trial with its progress, newest first."""
        rows = self._rows(
            "SELECT t.id, t.started, t.environment, t.algorithm, t.result IS NOT NULL, COUNT(o.seed) FROM trials t "
            "LEFT JOIN outcomes o ON o.trial = t.id GROUP BY t.id ORDER BY t.started DESC, t.id",
            (),
        )
        names = ("id", "started", "environment", "algorithm", "finished", "runs")
        return [{**dict(zip(names, row, strict=True)), "finished": bool(row[4])} for row in rows]

    def _rows(self, query: str, values: tuple[object, ...]) -> list[tuple[Any, ...]]:
        if not self.path.exists():
            return []
        with self._open() as database:
            return database.execute(query, values).fetchall()

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self.path, timeout=30.0)) as database, database:
                database.execute("PRAGMA journal_mode = WAL")
                database.executescript(_SCHEMA)
                yield database
        except (sqlite3.Error, OSError) as error:
            raise UsageError(
                f"the ledger of trials cannot be used: {error}",
                path=str(self.path),
                hint="set RLCLINIC_LEDGER to a file that can be written",
            ) from error

"""What a W&B log says about the run itself: identity, machine, version, and how it ended."""

from __future__ import annotations

from rlclinic.readers.formats.protobuf import BYTES, VARINT, Field, WireError, fields, signed, text

TELEMETRY, RUN, EXIT, FINAL, HEADER, FOOTER, ENVIRONMENT = 11, 17, 18, 20, 21, 22, 26  # fields of Record
FACTS = frozenset((TELEMETRY, RUN, EXIT, FINAL, HEADER, FOOTER, ENVIRONMENT))

RUN_CONFIG, RUN_SUMMARY, RUN_TAGS, RUN_START, RUN_TELEMETRY, RUN_GIT = 4, 5, 10, 17, 19, 21
_RUN_TEXT = {
    1: "run_id",
    2: "entity",
    3: "project",
    6: "run_group",
    7: "job_type",
    8: "display_name",
    9: "notes",
    12: "sweep_id",
    13: "host",
}
_ENVIRONMENT_TEXT = {2: "python", 6: "program", 12: "host", 18: "gpu"}
_ENVIRONMENT_ARGS, _ENVIRONMENT_GIT = 5, 9
_GIT_TEXT = {1: "git_remote", 2: "git_commit"}
_CLI_VERSION = 5  # of TelemetryRecord
MAX_TAGS = 1_000  # tags and arguments kept


class WandbRun:
    """Collects the records that are not about metrics; later records override earlier ones."""

    def __init__(self) -> None:
        self.run: dict[str, object] = {}
        self.exit_code: int | None = None
        self.runtime: float | None = None
        self.wandb_version: str | None = None
        self.malformed = 0
        self._complete = True
        self._closed = False

    @property
    def finished(self) -> bool:
        """An exit record, and the closing records where the writer (before the Go core) makes them."""
        return self.exit_code is not None and self._complete and self._closed

    def add(self, data: bytes, number: int, start: int, end: int) -> list[Field]:
        """Take in one record; returns the fields of a run record that hold config and summary."""
        found = self._fields(data, start, end)
        if number == RUN:
            return self._add_run(data, found)
        if number == EXIT:
            self._add_exit(found)
        elif number == HEADER:
            self._add_header(data, found)
        elif number == TELEMETRY:
            self._add_telemetry(data, found)
        elif number == ENVIRONMENT:
            self._add_environment(data, found)
        else:
            self._closed = True
        return []

    def _fields(self, data: bytes, start: int, end: int) -> list[Field]:
        found: list[Field] = []
        try:
            found.extend(fields(data, start, end))
        except WireError:
            self.malformed += 1
        return found

    def _inner(self, data: bytes, field: Field) -> list[Field]:
        return self._fields(data, field.start, field.end)

    def _add_run(self, data: bytes, found: list[Field]) -> list[Field]:
        self._add_text(data, found, _RUN_TEXT)
        self._add_list(data, found, RUN_TAGS, "tags")
        states: list[Field] = []
        for field in found:
            if field.wire != BYTES:
                continue
            if field.number in (RUN_CONFIG, RUN_SUMMARY):
                states.append(field)
            elif field.number == RUN_START:
                self.run["start_time"] = timestamp(self._inner(data, field))
            elif field.number == RUN_TELEMETRY:
                self._add_telemetry(data, self._inner(data, field))
            elif field.number == RUN_GIT:
                self._add_text(data, self._inner(data, field), _GIT_TEXT)
        return states

    def _add_exit(self, found: list[Field]) -> None:
        values = {field.number: signed(field.varint) for field in found if field.wire == VARINT}
        self.exit_code = values.get(1, 0)
        self.runtime = float(values.get(2, 0))
        self._complete = not values.get(3, 0)

    def _add_header(self, data: bytes, found: list[Field]) -> None:
        for field in found:
            if field.number != 1 or field.wire != BYTES:
                continue
            for part in self._inner(data, field):
                if part.number == 1 and part.wire == BYTES:
                    self.wandb_version = text(data, part).partition("+")[0]
                    self._closed = True  # writers that name their version end a log with the exit record

    def _add_telemetry(self, data: bytes, found: list[Field]) -> None:
        for field in found:
            if field.number == _CLI_VERSION and field.wire == BYTES and self.wandb_version is None:
                self.wandb_version = text(data, field)

    def _add_environment(self, data: bytes, found: list[Field]) -> None:
        self._add_text(data, found, _ENVIRONMENT_TEXT)
        self._add_list(data, found, _ENVIRONMENT_ARGS, "args")
        for field in found:
            if field.number == _ENVIRONMENT_GIT and field.wire == BYTES:
                self._add_text(data, self._inner(data, field), _GIT_TEXT)

    def _add_text(self, data: bytes, found: list[Field], names: dict[int, str]) -> None:
        for field in found:
            name = names.get(field.number)
            if name and field.wire == BYTES and field.end > field.start:
                self.run[name] = text(data, field)

    def _add_list(self, data: bytes, found: list[Field], number: int, name: str) -> None:
        values = [text(data, field) for field in found if field.number == number and field.wire == BYTES]
        if values:
            self.run[name] = tuple(values[:MAX_TAGS])


def timestamp(found: list[Field]) -> float:
    """A google.protobuf.Timestamp as unix seconds."""
    values = {field.number: signed(field.varint) for field in found if field.wire == VARINT}
    return values.get(1, 0) + values.get(2, 0) * 1e-9

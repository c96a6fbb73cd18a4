"""A tool bound to one root: arguments checked, the work done apart from the event loop, errors as answers."""

from __future__ import annotations

import base64
import inspect
import json
import logging
from collections.abc import Awaitable, Callable
from functools import cached_property
from typing import Any

import anyio
from mcp.types import CallToolResult, ImageContent, TextContent

from rlclinic.apps.mcp.registry import STEADY, ToolSpec
from rlclinic.apps.mcp.reply import Reply
from rlclinic.apps.mcp.workspace import Workspace
from rlclinic.model.errors import InternalError, NothingReadable, RlclinicError, RunReadError, UsageError
from rlclinic.readers.no_links import confined

WHERE = "call list_runs for the runs below the root"
# Answers that are kept of one run, and characters of an error.
MOST_ANSWERS = 16
LONGEST_ERROR = 2_000

_log = logging.getLogger(__name__)


class BoundTool:
    """One tool of one server. Its code is imported when it is first called."""

    def __init__(self, row: ToolSpec, workspace: Workspace) -> None:
        self.row = row
        self.workspace = workspace

    async def answer(self, arguments: dict[str, Any]) -> CallToolResult:
        """What the tool says to these arguments, as they came from the client."""
        found = await anyio.to_thread.run_sync(self._answer, arguments)
        return found if isinstance(found, CallToolResult) else await found

    @cached_property
    def _function(self) -> Callable[..., Any]:
        return self.row.function

    @cached_property
    def _metadata(self) -> Any:
        from rlclinic.apps.mcp.published import metadata_of

        return metadata_of(self._function)

    def _answer(self, arguments: dict[str, Any]) -> CallToolResult | Awaitable[CallToolResult]:
        try:
            wanted = self._checked(arguments)
            with confined(self.workspace.root):
                if self.row.name in STEADY:
                    return self._steady(wanted)
                reply = self._function(self.workspace, **wanted)
                return self._awaited(reply) if inspect.isawaitable(reply) else result(reply)
        except Exception as error:
            return failure(self.row.name, error, self.workspace)

    async def _awaited(self, reply: Awaitable[Reply]) -> CallToolResult:
        try:
            with confined(self.workspace.root):
                return result(await reply)
        except Exception as error:
            return failure(self.row.name, error, self.workspace)

    def _steady(self, wanted: dict[str, Any]) -> CallToolResult:
        """The answer that was given before, as long as the run's files are the same."""
        answers = self.workspace.open(wanted["run_id"]).answers
        key = self.row.name, json.dumps({**wanted, "run_id": ""}, sort_keys=True)
        if key not in answers:
            if len(answers) >= MOST_ANSWERS:
                answers.clear()
            answers[key] = result(self._function(self.workspace, **wanted))
        found: CallToolResult = answers[key]
        return found

    def _checked(self, arguments: dict[str, Any]) -> dict[str, Any]:
        from pydantic import ValidationError

        try:
            found: dict[str, Any] = self._metadata.validate_arguments(arguments)
        except ValidationError as error:
            told = "; ".join(_complaint(item) for item in error.errors(include_input=False, include_url=False)[:5])
            fields = self._metadata.arg_model.model_fields
            names = [f"{name} (required)" if field.is_required() else name for name, field in fields.items()]
            raise UsageError(told, hint=f"{self.row.name} takes {', '.join(names) or 'nothing'}") from error
        return found


def result(reply: Reply) -> CallToolResult:
    """A reply as the protocol wants it."""
    from rlclinic.readers.redaction.redact import redact, redact_value
    from rlclinic.reports.run_json import dumps
    from rlclinic.reports.text import printable

    # Runs come clean from their readers; the project's config files and what the caller typed pass none.
    data: Any = redact_value("", reply.data())
    body = dumps(data, indent=None)
    # The data stand in the text too, for clients that do not read structured content.
    told = printable(redact(reply.text))
    content: list[Any] = [TextContent(type="text", text=told), TextContent(type="text", text=body)]
    for picture in reply.pictures:
        content.append(ImageContent(type="image", data=base64.b64encode(picture).decode(), mime_type="image/png"))
    return CallToolResult(content=content, structured_content=data)


def failure(tool: str, error: Exception, workspace: Workspace) -> CallToolResult:
    """What is wrong and what to call instead; of an error of ours no detail leaves the server."""
    if isinstance(error, InternalError):
        _log.error("%s", tool, exc_info=error)
    if isinstance(error, RlclinicError):
        hint = WHERE if isinstance(error, NothingReadable | RunReadError) and "call" not in error.hint else error.hint
        where = f"{error.path}: " if error.path else ""
        text = workspace.relative(f"{where}{error.message}{'. ' + hint if hint else ''}")
    elif isinstance(error, OSError):
        text = f"a file could not be read or written: {error.strerror or type(error).__name__}. {WHERE}"
    else:
        _log.exception("%s", tool)
        text = f"{tool} failed inside rlclinic ({type(error).__name__}); show_run tells what was read of a run"
    from rlclinic.readers.redaction.redact import redact
    from rlclinic.reports.text import printable

    told = redact(printable(text))[:LONGEST_ERROR]
    return CallToolResult(content=[TextContent(type="text", text=told)], is_error=True)


def _complaint(item: Any) -> str:
    """One wrong argument: its name and what is wrong, never its value."""
    place = ".".join(str(part) for part in item["loc"])
    words = {"missing": "is missing", "extra_forbidden": "is no parameter of this tool"}
    return f"{place} {words[item['type']]}" if item["type"] in words else f"{place}: {item['msg']}"

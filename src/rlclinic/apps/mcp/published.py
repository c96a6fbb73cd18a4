"""The tools as clients see them. They are written down in tables/tools.json, so that a server starts without making
the schemas or importing the tools; `python -m rlclinic.apps.mcp.published` writes the file anew."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

from mcp.types import Tool, ToolAnnotations

from rlclinic.apps.mcp.registry import TOOLS, Effect, ToolSpec

FILE = "tools.json"
# What the hints of the protocol say of each effect.
HINTS: dict[Effect, ToolAnnotations] = {
    "reads": ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False),
    "starts": ToolAnnotations(
        read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False
    ),
    "stops": ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False),
}


def published() -> list[Tool]:
    """The tools as they are written down."""
    text = files("rlclinic.apps.mcp.tables").joinpath(FILE).read_text(encoding="utf-8")
    return [Tool.model_validate(entry) for entry in json.loads(text)]


def described() -> list[dict[str, Any]]:
    """The tools as the code has them now."""
    return [_tool(row).model_dump(mode="json", by_alias=True, exclude_none=True) for row in TOOLS]


def metadata_of(function: Callable[..., Any]) -> Any:
    """How the SDK checks a tool's arguments; one that is not known is refused."""
    from mcp.server.mcpserver.utilities.func_metadata import func_metadata

    found = func_metadata(function, skip_names=["workspace"], structured_output=False)
    # A misspelt argument that is silently dropped would make the answer a lie.
    found.arg_model.model_config["extra"] = "forbid"
    found.arg_model.model_rebuild(force=True)
    return found


def _tool(row: ToolSpec) -> Tool:
    from pydantic.json_schema import GenerateJsonSchema

    class Plain(GenerateJsonSchema):
        """Without titles that only repeat the name: they cost an agent's context."""

        def field_title_should_be_set(self, schema: Any) -> bool:
            return False

    function = row.function
    answer = inspect.signature(function, eval_str=True).return_annotation
    return Tool(
        name=row.name,
        title=row.title,
        description=inspect.cleandoc(function.__doc__ or "").replace("\n", " "),
        input_schema=metadata_of(function).arg_model.model_json_schema(schema_generator=Plain),
        output_schema=answer.model_json_schema(schema_generator=Plain),
        annotations=HINTS[row.effect].model_copy(update={"title": row.title}),
    )


def main() -> None:
    """Write the file anew."""
    path = Path(__file__).parent / "tables" / FILE
    path.write_text(json.dumps(described(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

"""The prescribed change as a diff of the user's own config. Nothing is written."""

from __future__ import annotations

from typing import Any

from rlclinic.apps.mcp.confine import inside
from rlclinic.apps.mcp.reply import UNTRUSTED, Reply, plain_value
from rlclinic.apps.mcp.workspace import Workspace
from rlclinic.model.errors import UsageError


class ProposedFix(Reply):
    run_id: str
    prescription: dict[str, Any] | None
    file: str | None
    diff: str
    """Unified diff of the user's file; nothing was written."""
    native: dict[str, str] | None
    """The change in the framework's own syntax."""
    reason: str
    """Why no file is edited, where that is so."""
    hint: str
    note: str
    by_hand: list[str]
    guidelines: list[str]
    written: bool = False
    untrusted: str = UNTRUSTED


def propose_fix(
    workspace: Workspace,
    run_id: str,
    prescription: int | None = None,
    config: str = "",
    unsafe: bool = False,  # noqa: FBT001, FBT002
) -> ProposedFix:
    """The change that diagnose prescribes, as a diff of the config file the run was made from and in the framework's
    own syntax. Nothing is written. `prescription` is its number in diagnose; `config` names the file (FILE or
    FILE::SECTION) where it is not found; `unsafe` allows changes that alter what is learned."""
    from rlclinic.apps.cli.fix import decide, fix_object

    path = workspace.locate(run_id)
    if prescription is not None and prescription < 1:
        raise UsageError(f"prescription {prescription}", hint="they are numbered from 1; call diagnose")
    source = workspace.placed(config) if config else ""
    outcome, _ = decide(path, None, prescription, source, unsafe=unsafe, writes=False)
    found = fix_object(outcome)
    if found["file"] is not None:
        try:
            inside(workspace.root, found["file"])
        except UsageError:
            found |= {"file": None, "diff": "", "reason": "the run's config file lies outside the root of this server"}
    reply = ProposedFix(
        run_id=outcome.run.id,
        prescription=plain_value(found["prescription"]),
        file=None if found["file"] is None else workspace.shown(found["file"]),
        diff=found["diff"],
        native=found["native"],
        reason=workspace.relative(found["reason"]),
        hint=found["hint"].replace("--config FILE", "`config`").replace("--unsafe", "`unsafe`"),
        note=found["note"],
        by_hand=found["by_hand"],
        guidelines=[workspace.shown(item) for item in found["guidelines"]],
    )
    if reply.diff:
        return reply.said(f"A diff of {reply.file!r}; nothing was written. start_trial would prove the change.")
    told = "the change is given in the framework's syntax" if reply.native else "no config change"
    return reply.said(f"No file to edit: {reply.reason or 'nothing is prescribed'}; {told}.")

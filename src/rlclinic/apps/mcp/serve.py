"""Run the server: over stdio, or over HTTP on the loopback interface behind a token."""

from __future__ import annotations

import hmac
import secrets
import socket
import sys
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from rlclinic.apps.mcp.workspace import Workspace
from rlclinic.model.errors import UsageError

HOST = "127.0.0.1"
PATH = "/mcp"

Message = MutableMapping[str, Any]
App = Callable[[Message, Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]], Awaitable[None]]


def serve_stdio(workspace: Workspace, name: str) -> None:
    """Serve until the client closes its end."""
    import anyio
    from mcp.server.stdio import stdio_server

    from rlclinic.apps.mcp.server import build_server

    server = build_server(workspace, name)

    async def talk() -> None:
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())

    anyio.run(talk)


def serve_http(workspace: Workspace, name: str, port: int, token: str) -> None:
    """Serve streamable HTTP on the loopback interface; without a token one is made and told on stderr."""
    import uvicorn

    from rlclinic.apps.mcp.server import build_server

    listening = _bound(port)
    chosen = token or secrets.token_urlsafe(24)
    app = guarded(build_server(workspace, name).streamable_http_app(host=HOST, streamable_http_path=PATH), chosen)
    sys.stderr.write(f"rlclinic serves {workspace.root} at http://{HOST}:{port}{PATH}\n")
    if not token:
        sys.stderr.write(f"  Authorization: Bearer {chosen}\n")
    sys.stderr.flush()
    uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=5)).run(sockets=[listening])


def guarded(app: Any, token: str) -> App:
    """The app for those who know the token; everybody else is told nothing."""
    wanted = f"Bearer {token}".encode()

    async def check(
        scope: Message, receive: Callable[[], Awaitable[Message]], send: Callable[[Message], Awaitable[None]]
    ) -> None:
        headers = dict(scope.get("headers", ()))
        if scope["type"] == "http" and not hmac.compare_digest(headers.get(b"authorization", b""), wanted):
            head = [(b"content-type", b"text/plain"), (b"www-authenticate", b"Bearer")]
            await send({"type": "http.response.start", "status": 401, "headers": head})
            await send({"type": "http.response.body", "body": b"a token is needed: Authorization: Bearer TOKEN\n"})
            return
        await app(scope, receive, send)

    return check


def _bound(port: int) -> socket.socket:
    """The place to listen at, taken before anything is promised."""
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((HOST, port))
    except OSError as error:
        listening.close()
        told = f"port {port} cannot be used: {error.strerror}"
        raise UsageError(told, hint="choose another with --port") from error
    return listening

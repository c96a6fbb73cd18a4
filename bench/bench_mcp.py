"""The MCP server: ready beside an empty server of the same SDK, warm answers on a long run, calls a second, memory.

Times are of the clock; on a machine that is shared the ratio of CPU time to that of an empty tool says more.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import shutil
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from mcp import Client
from mcp.client.stdio import StdioServerParameters

RUNS = Path(__file__).parents[1] / "tests" / "fixtures" / "runs" / "gymnasium_solver" / "runs"
SMALL = "local-20260115-103000"
LONG = "long"
LONG_ROWS = 100_000
COLUMNS = 30
STARTS = 5
WARM = 30
CALLS = 1_000
MANY = 10_000
# Both servers answer one cheap tool, so that what is measured is the server and not the question.
EMPTY = """
from mcp.server.mcpserver import MCPServer
server = MCPServer("empty", log_level="ERROR")
@server.tool()
def echo(text: str) -> str:
    return text
server.run("stdio")
"""
GOALS = {"ready": 0.5, "info": 0.05, "calls": 200.0, "memory": 0.1}


@dataclass(frozen=True, slots=True)
class Calls:
    """Calls over one connection."""

    seconds: list[float]
    cpu: float
    """Seconds of CPU in client and server together, per call; the start is not counted."""

    @property
    def per_second(self) -> float:
        """Calls a second, the first one apart."""
        return 1.0 / statistics.median(self.seconds[1:])


def main() -> dict[str, float]:
    """Print what was measured beside the goals."""
    with tempfile.TemporaryDirectory() as folder:
        root = _root(Path(folder))
        ours, empty = _ours(root, Path(folder)), StdioServerParameters(command=sys.executable, args=["-c", EMPTY])
        starts = [(_ready(empty), _ready(ours)) for _ in range(STARTS)]
        later = statistics.median(b - a for a, b in starts)
        beside = statistics.median(a for a, _ in starts)
        info = _calls(ours, "get_run_info", {"run_id": LONG}, WARM)
        calls = _calls(ours, "get_run_info", {"run_id": SMALL}, CALLS)
        echoes = _calls(empty, "echo", {"text": "x"}, CALLS)
        grown, size = asyncio.run(_memory(root))
    result = {
        "ready": later,
        "info": statistics.median(info.seconds[1:]),
        "calls": calls.per_second,
        "memory": grown,
    }
    print(f"mcp       ready    {later:.2f} s after an empty server, itself at {beside:.2f} s (goal {GOALS['ready']} s)")
    warm = f"{1e3 * result['info']:.1f} ms warm on {LONG_ROWS:,} rows, first {1e3 * info.seconds[0]:.0f} ms"
    print(f"mcp       info     {warm} (goal {1e3 * GOALS['info']:.0f} ms)")
    beside_echo = f"an empty tool {echoes.per_second:.0f} /s, CPU {calls.cpu / echoes.cpu:.2f} times its"
    print(f"mcp       calls    {calls.per_second:.0f} /s, {beside_echo} (goal {GOALS['calls']:.0f} /s)")
    grew = f"{100 * grown:+.1f}% of {size:.0f} MB from call {CALLS:,} to {MANY:,}"
    print(f"mcp       memory   {grew} (goal {100 * GOALS['memory']:.0f}%)")
    return result


def _root(folder: Path) -> Path:
    """A project with a small run and one of 100,000 rows."""
    root = folder / "project"
    shutil.copytree(RUNS, root / "runs")
    run = root / "runs" / LONG
    run.mkdir()
    shutil.copy(RUNS / SMALL / "config.json", run)
    rng = np.random.default_rng(0)
    steps = 256.0 * np.arange(1, LONG_ROWS + 1)
    names = ["time", "total_timesteps", "epoch", "train/cnt/total_env_steps", "train/roll/ep_rew/mean"]
    names += [f"train/opt/made/{number}" for number in range(COLUMNS - len(names))]
    columns = [1.7e9 + np.arange(LONG_ROWS), steps / 8, np.arange(LONG_ROWS), steps, np.sqrt(steps)]
    columns += [rng.normal(size=LONG_ROWS) for _ in range(COLUMNS - len(columns))]
    table = np.column_stack(columns)
    np.savetxt(run / "metrics.csv", table, fmt="%.6g", delimiter=",", header=",".join(names), comments="")
    (run / "run.log").write_text("training\n", encoding="utf-8")
    return root


def _ours(root: Path, folder: Path) -> StdioServerParameters:
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "rlclinic", "mcp", "--root", str(root)],
        env={**os.environ, "RLCLINIC_INDEX": str(folder / "index.sqlite")},
    )


def _ready(server: StdioServerParameters) -> float:
    """Seconds from the start of the process until its tools are listed."""

    async def connect() -> float:
        start = time.perf_counter()
        async with Client(server) as client:
            await client.list_tools()
            return time.perf_counter() - start

    return asyncio.run(connect())


def _calls(server: StdioServerParameters, name: str, arguments: dict[str, Any], count: int) -> Calls:
    start = _spent()
    asyncio.run(_times(server, name, arguments, 1))
    alone = _spent() - start
    found = asyncio.run(_times(server, name, arguments, count))
    return Calls(found, (_spent() - start - 2 * alone) / max(count - 1, 1))


async def _times(server: StdioServerParameters, name: str, arguments: dict[str, Any], count: int) -> list[float]:
    found = []
    async with Client(server) as client:
        for _ in range(count):
            start = time.perf_counter()
            result = await client.call_tool(name, arguments)
            found.append(time.perf_counter() - start)
            assert not result.is_error, json.dumps(result.model_dump(mode="json"))
    return found


def _spent() -> float:
    """Seconds of CPU of this process and of its children that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


async def _memory(root: Path) -> tuple[float, float]:
    """Growth of this process from the first thousand calls on, in shares and MB; server and client live in it."""
    from rlclinic.apps.mcp.server import build_server
    from rlclinic.apps.mcp.workspace import Workspace

    mixture = [
        ("get_run_info", {"run_id": SMALL}),
        ("get_metrics_summary", {"run_id": SMALL, "metric_name": "return/train"}),
        ("get_training_progress", {"run_id": SMALL}),
        ("health_check", {"run_id": SMALL}),
    ]
    before = 0.0
    async with Client(build_server(Workspace(root.resolve()))) as client:
        for number in range(MANY):
            name, arguments = mixture[number % len(mixture)]
            await client.call_tool(name, arguments)
            if number + 1 == CALLS:
                before = _resident()
    return (_resident() - before) / before, before


def _resident() -> float:
    """MB of this process in memory."""
    pages = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


if __name__ == "__main__":
    main()

"""An editor on the Python SDK: answers what agents ask, and connects to `sessiond acp`."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import acp
from acp import schema

from ledger import Update

# Nothing a drive waits for takes longer on a healthy machine; a hang shall be a failed check.
PATIENCE = 20.0

Frame = dict[str, Any]
T = TypeVar("T")


async def within(work: Awaitable[T], seconds: float = PATIENCE) -> T:
    """Waits, but not forever."""
    return await asyncio.wait_for(work, seconds)


class Terminal:
    """A command that the agent asked the editor to run."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.output = b""
        self.released = False
        self._reading = asyncio.ensure_future(self._read())

    async def _read(self) -> None:
        assert self.process.stdout
        while chunk := await self.process.stdout.read(4096):
            self.output += chunk

    async def exit(self) -> dict[str, Any]:
        await self._reading
        code = await self.process.wait()
        return {"exit_code": code} if code >= 0 else {"signal": str(-code)}


class Editor(acp.Client):
    """What a person and an editor do: choose permissions, hold files and terminals."""

    def __init__(self) -> None:
        self.choice = "allow_once"
        self.reads: list[str] = []
        self.writes: dict[str, str] = {}
        self.terminals: dict[str, Terminal] = {}
        self._numbers = itertools.count(1)

    async def request_permission(self, session_id, tool_call, options, **kwargs):
        option = next((o for o in options if o.kind == self.choice), None)
        if option is None:
            outcome = schema.DeniedOutcome(outcome="cancelled")
        else:
            outcome = schema.AllowedOutcome(outcome="selected", option_id=option.option_id)
        return schema.RequestPermissionResponse(outcome=outcome)

    async def session_update(self, session_id, update, **kwargs) -> None:
        """Nothing: the drive reads the frames, in the order of the wire."""

    async def read_text_file(self, session_id, path, line=None, limit=None, **kwargs):
        self.reads.append(path)
        lines = Path(path).read_text().splitlines(keepends=True)
        start = (line or 1) - 1
        stop = None if limit is None else start + limit
        return schema.ReadTextFileResponse(content="".join(lines[start:stop]))

    async def write_text_file(self, session_id, path, content, **kwargs):
        self.writes[path] = content
        Path(path).write_text(content)
        return schema.WriteTextFileResponse()

    async def create_terminal(
        self, session_id, command, args=None, env=None, cwd=None, output_byte_limit=None, **kwargs
    ):
        process = await asyncio.create_subprocess_exec(
            command,
            *(args or []),
            cwd=cwd,
            env={**os.environ, **{e.name: e.value for e in env or []}},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        identity = f"terminal-{next(self._numbers)}"
        self.terminals[identity] = Terminal(process)
        return schema.CreateTerminalResponse(terminal_id=identity)

    async def terminal_output(self, session_id, terminal_id, **kwargs):
        terminal = self.terminals[terminal_id]
        status = None
        if terminal.process.returncode is not None:
            status = schema.TerminalExitStatus(**await terminal.exit())
        return schema.TerminalOutputResponse(
            output=terminal.output.decode(errors="replace"), truncated=False, exit_status=status
        )

    async def wait_for_terminal_exit(self, session_id, terminal_id, **kwargs):
        status = await self.terminals[terminal_id].exit()
        return schema.WaitForTerminalExitResponse(**status)

    async def kill_terminal(self, session_id, terminal_id, **kwargs):
        with contextlib.suppress(ProcessLookupError):
            self.terminals[terminal_id].process.kill()
        return schema.KillTerminalResponse()

    async def release_terminal(self, session_id, terminal_id, **kwargs):
        self.terminals[terminal_id].released = True
        with contextlib.suppress(ProcessLookupError):
            self.terminals[terminal_id].process.kill()
        return schema.ReleaseTerminalResponse()


@dataclass
class Exchange:
    """What came between a request of the editor and its response, in the order of the wire."""

    result: Any
    frames: list[Frame]
    # Where the response stands among the frames of the connection.
    end: int

    @property
    def updates(self) -> list[Update]:
        return [f["params"]["update"] for f in self.frames if f.get("method") == "session/update"]

    @property
    def permissions(self) -> list[Frame]:
        asked = "session/request_permission"
        return [f["params"] for f in self.frames if f.get("method") == asked]


@dataclass
class Link:
    """One connection to one process of sessiond."""

    agent: acp.Agent
    process: asyncio.subprocess.Process
    editor: Editor
    frames: list[Frame] = field(default_factory=list)
    arrival: asyncio.Event = field(default_factory=asyncio.Event)

    def observe(self, event: Any) -> None:
        """Called by the SDK with every frame; those of the agent are kept."""
        if event.direction.value == "incoming":
            self.frames.append(event.message)
            self.arrival.set()

    async def until(self, condition: Callable[[], object]) -> None:
        """Waits for frames until `condition` holds."""
        while not condition():
            self.arrival.clear()
            await within(self.arrival.wait())

    async def exchange(self, request: Awaitable[Any]) -> Exchange:
        """Waits for a request's result. Only one request may be open, so that the first response
        on the wire is its own."""
        mark = len(self.frames)
        result = await within(request)
        end = next(i for i in range(mark, len(self.frames)) if "method" not in self.frames[i])
        return Exchange(result, self.frames[mark:end], end)

    async def after(self, exchange: Exchange) -> Update:
        """The update in the first frame after a response; empty when it is no update."""
        await self.until(lambda: len(self.frames) > exchange.end + 1)
        return self.frames[exchange.end + 1].get("params", {}).get("update", {})

    async def turn(self, session: str, text: str) -> Exchange:
        """One prompt and all that came before its response."""
        return await self.exchange(
            self.agent.prompt(session_id=session, prompt=[acp.text_block(text)])
        )

    async def load(self, session: str, cwd: str) -> Exchange:
        """Loads a session: the exchange holds the replay."""
        return await self.exchange(
            self.agent.load_session(session_id=session, cwd=cwd, mcp_servers=[])
        )


@contextlib.asynccontextmanager
async def connect() -> AsyncIterator[Link]:
    """Starts `sessiond acp`; at the end closes its stdin and waits for it to leave."""
    editor = Editor()
    links: list[Link] = []
    process_of = acp.spawn_agent_process(
        editor,
        os.environ["SESSIOND_BIN"],
        "acp",
        env={"SESSIOND_HOME": os.environ["SESSIOND_HOME"]},
        transport_kwargs={"stderr": None},
        observers=[lambda event: links[0].observe(event)],
    )
    async with process_of as (agent, process):
        links.append(Link(agent, process, editor))
        yield links[0]


async def initialize(
    link: Link, capabilities: schema.ClientCapabilities | None = None
) -> schema.InitializeResponse:
    """The first request of every connection."""
    return await within(
        link.agent.initialize(
            protocol_version=acp.PROTOCOL_VERSION,
            client_capabilities=capabilities or schema.ClientCapabilities(),
            client_info=schema.Implementation(name="acp_py", version="0"),
        )
    )

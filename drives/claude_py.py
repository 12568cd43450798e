"""Drives `sessiond-claude` through the unmodified Claude agent SDK for Python: the SDK starts it in
place of its CLI, and everything below is what a program on that SDK does."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import traceback
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from claude_agent_sdk import (
    AssistantMessage,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    HookMatcher,
    InMemorySessionStore,
    PermissionResultAllow,
    PermissionResultDeny,
    ResultMessage,
    StreamEvent,
    SystemMessage,
    TextBlock,
    ToolResultBlock,
    ToolUseBlock,
    UserMessage,
    create_sdk_mcp_server,
    get_session_messages_from_store,
    query,
    tool,
)

from checks import Checks

# Nothing a drive waits for takes longer on a healthy machine; a hang shall be a failed check.
PATIENCE = 30.0

CLI = str(Path(os.environ["SESSIOND_BIN"]).with_name("sessiond-claude"))


# The least of an MCP server; its one tool forbids what has the word in it.
GATE = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if asked["method"] == "initialize":
        result = {"protocolVersion": asked["params"]["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "gate", "version": "1"}}
    elif asked["method"] == "tools/call":
        given = asked["params"]["arguments"]["input"]
        answer = {"behavior": "allow", "updatedInput": given}
        if "forbidden" in given["command"]:
            answer = {"behavior": "deny", "message": "not that"}
        result = {"content": [{"type": "text", "text": json.dumps(answer)}]}
    else:
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""


def options(**more: Any) -> ClaudeAgentOptions:
    return ClaudeAgentOptions(cli_path=CLI, **more)


async def stream(*prompts: str) -> AsyncIterator[dict[str, Any]]:
    for prompt in prompts:
        yield {"type": "user", "message": {"role": "user", "content": prompt},
               "parent_tool_use_id": None, "session_id": "default"}


async def ask(prompt: Any, **more: Any) -> list[Any]:
    """All messages of a query."""
    async def collect() -> list[Any]:
        return [message async for message in query(prompt=prompt, options=options(**more))]
    return await asyncio.wait_for(collect(), PATIENCE)


def kinds(messages: list[Any]) -> list[str]:
    return [type(message).__name__ for message in messages]


def blocks(messages: list[Any], kind: type) -> list[Any]:
    return [block for message in messages
            if isinstance(message, AssistantMessage | UserMessage) and isinstance(message.content, list)
            for block in message.content if isinstance(block, kind)]


def said(messages: list[Any]) -> str:
    return "".join(block.text for block in blocks(messages, TextBlock))


class Drive:
    def __init__(self) -> None:
        self.checks = Checks()

    async def run(self) -> None:
        for part in (self.speak, self.permit, self.change, self.forbid, self.hook, self.serve,
                     self.serve_behind, self.gate, self.elicit, self.go_on, self.keep, self.converse, self.interrupt, self.refuse, self.shape):
            try:
                await part()
            except Exception as error:  # the other parts still tell something
                self.checks.that(f"{part.__name__} runs to its end", False,
                                 f"{error!r} {traceback.format_exc(limit=-2)}")

    async def speak(self) -> None:
        that = self.checks.that
        messages = await ask("hello there")
        that("a turn is init, answer, result",
             kinds(messages) == ["SystemMessage", "AssistantMessage", "ResultMessage"], kinds(messages))
        result = messages[-1]
        that("the result repeats the answer", result.result == "hello there", result)
        that("and is good", not result.is_error and result.subtype == "success", result)
        partial = await ask("hello there", include_partial_messages=True)
        events = [m.event for m in partial if isinstance(m, StreamEvent)]
        deltas = [e["delta"]["text"] for e in events if e["type"] == "content_block_delta"]
        that("partial messages join to the answer", "".join(deltas) == "hello there", deltas)
        that("and are framed", [events[0]["type"], events[-1]["type"]]
             == ["message_start", "message_stop"], events)
        two = await ask(stream("first", "second"))
        that("two prompts get two results",
             [m.result for m in two if isinstance(m, ResultMessage)] == ["first", "second"], two)
        inits = [m for m in two if isinstance(m, SystemMessage) and m.subtype == "init"]
        that("each with its own init", len(inits) == 2, two)
        long = await ask("/stream 3 500000\n/say done")
        that("an answer beyond the SDK's longest line arrives whole",
             len(said(long)) > 1_500_000 and not long[-1].is_error, len(said(long)))

    async def permit(self) -> None:
        seen: list[Any] = []

        async def allow(name: str, given: dict[str, Any], context: Any) -> Any:
            seen.append((name, given, context.tool_use_id))
            return PermissionResultAllow(updated_input=given)

        messages = await ask(stream("/run echo ran > permitted.txt; echo hi"), can_use_tool=allow)
        use, = blocks(messages, ToolUseBlock)
        result, = blocks(messages, ToolResultBlock)
        self.checks.that("the program is asked about Bash, by the id of the call",
                         [(n, i) for n, _, i in seen] == [("Bash", use.id)], seen)
        self.checks.that("what it allows runs", Path("permitted.txt").read_text() == "ran\n"
                         and result.content.strip() == "hi" and not result.is_error, result)
        text = await ask("/run echo again", can_use_tool=allow)
        self.checks.that("also for a prompt that is a text", len(seen) == 2, text)

    async def change(self) -> None:
        async def other(_name: str, given: dict[str, Any], _context: Any) -> Any:
            return PermissionResultAllow(updated_input={**given, "command": "echo other > changed.txt"})

        await ask(stream("/run echo mine > changed.txt"), can_use_tool=other)
        self.checks.that("an input that the program changes is what runs",
                         Path("changed.txt").read_text() == "other\n")

    async def forbid(self) -> None:
        async def deny(_name: str, _given: dict[str, Any], _context: Any) -> Any:
            return PermissionResultDeny(message="not today", interrupt=False)

        messages = await ask(stream("/run echo x > forbidden.txt\n/say on"), can_use_tool=deny)
        result, = blocks(messages, ToolResultBlock)
        that = self.checks.that
        that("what the program denies does not run", not Path("forbidden.txt").exists())
        that("the call says why", result.is_error and "not today" in result.content, result)
        that("the turn goes on", "on" in said(messages) and not messages[-1].is_error, messages)
        that("the result lists the denial", len(messages[-1].permission_denials or []) == 1,
             messages[-1])
        nobody = await ask("/run echo x > forbidden.txt")
        that("without anybody to ask nothing runs", not Path("forbidden.txt").exists()
             and len(nobody[-1].permission_denials or []) == 1, nobody)
        await ask("/run echo yes > allowed.txt", allowed_tools=["Bash(echo:*)", "Bash"])
        that("an allowed tool runs unasked", Path("allowed.txt").exists())
        rule = await ask("/run echo x > forbidden.txt", permission_mode="bypassPermissions",
                         disallowed_tools=["Bash"])
        that("a rule that denies beats a mode that allows", not Path("forbidden.txt").exists(), rule)

    async def hook(self) -> None:
        seen: list[str] = []

        async def note(given: Any, _id: str | None, _context: Any) -> Any:
            seen.append(given["hook_event_name"])
            return {}

        async def block(given: Any, _id: str | None, _context: Any) -> Any:
            if "rm " not in given["tool_input"].get("command", ""):
                return {}
            return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny",
                                           "permissionDecisionReason": "no removing"}}

        events = ("UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop")
        hooks: Any = {event: [HookMatcher(hooks=[note])] for event in events}
        await ask("/run echo hi", hooks=hooks, allowed_tools=["Bash"])
        that = self.checks.that
        that("hooks are called in order", seen == list(events), seen)
        Path("kept.txt").write_text("x")
        messages = await ask("/run rm kept.txt", allowed_tools=["Bash"],
                             hooks={"PreToolUse": [HookMatcher(matcher="Bash", hooks=[block])]})
        that("a hook stops a call that the rules allow", Path("kept.txt").exists(), messages)
        result, = blocks(messages, ToolResultBlock)
        that("with its reason", "no removing" in result.content, result)

    async def serve(self) -> None:
        calls: list[Any] = []

        @tool("add", "adds", {"a": float, "b": float})
        async def add(given: dict[str, Any]) -> dict[str, Any]:
            calls.append(given)
            return {"content": [{"type": "text", "text": str(given["a"] + given["b"])}]}

        server = create_sdk_mcp_server("calc", tools=[add])
        messages = await ask('/mcp calc add {"a": 1, "b": 2}', mcp_servers={"calc": server})
        init = messages[0].data
        self.checks.that("a server in the program is called", calls == [{"a": 1, "b": 2}], messages)
        result, = blocks(messages, ToolResultBlock)
        self.checks.that("its answer is the result", result.content == "3", result)
        self.checks.that("init lists it with its tools", "mcp__calc__add" in init["tools"]
                         and init["mcp_servers"][0]["status"] == "connected", init)

    async def serve_behind(self) -> None:
        """An agent that connects servers itself: another sessiond, over ACP."""
        calls: list[Any] = []

        @tool("add", "adds", {"a": float, "b": float})
        async def add(given: dict[str, Any]) -> dict[str, Any]:
            calls.append(given)
            return {"content": [{"type": "text", "text": str(given["a"] + given["b"])}]}

        binary = os.environ["SESSIOND_BIN"]
        command = [binary, "--store", str(Path("behind").absolute()), "acp", "--agent", "script"]
        Path("behind.toml").write_text(
            f'[agents.peer]\nkind = "acp"\ncommand = {json.dumps(command)}\n')
        behind: Any = {"mcp_servers": {"calc": create_sdk_mcp_server("calc", tools=[add])},
                       "permission_mode": "bypassPermissions",
                       "env": {"SESSIOND_CONFIG": str(Path("behind.toml").absolute()),
                               "SESSIOND_AGENT": "peer"}}
        that = self.checks.that
        messages = await ask('/mcp calc add {"a": 1, "b": 2}', **behind)
        that("an ACP agent calls a server in the program", calls == [{"a": 1, "b": 2}], messages)
        result, = blocks(messages, ToolResultBlock)
        that("and has its answer", "3" in str(result.content) and not result.is_error, result)
        again = await ask('/mcp calc add {"a": 3, "b": 4}', resume=messages[-1].session_id, **behind)
        that("also in a session that is resumed", len(calls) == 2 and not again[-1].is_error, again)

    async def gate(self) -> None:
        """A tool that decides, of a server that is a process of its own."""
        Path("gate.py").write_text(GATE)
        server: Any = {"command": sys.executable, "args": [str(Path("gate.py").absolute())]}
        asked: Any = {"mcp_servers": {"gate": server}, "permission_prompt_tool_name": "mcp__gate__may"}
        await ask("/run echo yes > gated.txt", **asked)
        that = self.checks.that
        that("a server outside of the program allows", Path("gated.txt").exists())
        messages = await ask("/run echo no > forbidden.txt", **asked)
        result, = blocks(messages, ToolResultBlock)
        that("and denies", not Path("forbidden.txt").exists() and "not that" in result.content, result)

    async def elicit(self) -> None:
        messages = await ask("/ask Who are you?")
        self.checks.that("a question that the SDK has no callback for is declined",
                         "declined" in said(messages), messages)

    async def go_on(self) -> None:
        that = self.checks.that
        first = (await ask("one"))[-1].session_id
        again = (await ask("two", resume=first))[-1].session_id
        newest = (await ask("three", continue_conversation=True))[-1].session_id
        fork = (await ask("four", resume=first, fork_session=True))[-1].session_id
        that("a resumed session keeps its id", again == first == newest, (first, again, newest))
        that("a fork gets its own", fork != first, fork)

    async def keep(self) -> None:
        store = InMemorySessionStore()
        first = await ask("/say one\n/run echo hi", session_store=store, allowed_tools=["Bash"])
        session = first[-1].session_id
        await ask("two", session_store=store, resume=session)
        kept = [m.type for m in await get_session_messages_from_store(store, session)]
        self.checks.that("a store of the program's has the conversation of both processes",
                         kept == ["user", "assistant", "assistant", "user", "user", "assistant"], kept)

    async def converse(self) -> None:
        that = self.checks.that
        async with ClaudeSDKClient(options()) as client:
            info = await client.get_server_info() or {}
            that("the program learns the commands", any(c["name"] == "run" for c in info["commands"]),
                 info)
            for text in ("one", "two"):
                await client.query(text)
                messages = [m async for m in client.receive_response()]
                that(f"prompt {text} is answered", messages[-1].result == text, messages)
            await client.set_permission_mode("bypassPermissions")
            await client.query("/run echo x > bypassed.txt")
            [m async for m in client.receive_response()]
            that("a mode that allows everything counts at once", Path("bypassed.txt").exists())

    async def interrupt(self) -> None:
        that = self.checks.that
        async with ClaudeSDKClient(options()) as client:
            await client.query("/say before\n/sleep 60\n/say after")
            messages: list[Any] = []
            async for message in client.receive_response():
                messages.append(message)
                if isinstance(message, SystemMessage) and message.subtype == "init":
                    await client.interrupt()
            that("an interrupted turn ends with an error result",
                 messages[-1].subtype == "error_during_execution" and messages[-1].is_error, messages)
            await client.query("still there")
            after = [m async for m in client.receive_response()]
            that("the next prompt works", after[-1].result == "still there", after)

    async def refuse(self) -> None:
        unknown = "0191f0aa-0000-7000-8000-000000000000"
        error: Exception | None = None
        with contextlib.suppress(asyncio.TimeoutError):
            try:
                await ask("x", resume=unknown)
            except Exception as caught:
                error = caught
        self.checks.that("a session that is not there is an error that names it",
                         unknown in str(error), repr(error))

    async def shape(self) -> None:
        schema = {"type": "object", "properties": {"a": {"type": "number"}}, "required": ["a"]}
        wanted = {"type": "json_schema", "schema": schema}
        good = (await ask('/json {"a": 1}', output_format=wanted))[-1]
        self.checks.that("an answer of the wanted shape is given as data",
                         good.structured_output == {"a": 1}, good)


async def main() -> int:
    drive = Drive()
    await drive.run()
    return drive.checks.close()


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))

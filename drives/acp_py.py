"""Drives `sessiond acp` by the Python SDK, unmodified: one session through five processes.

Environment: SESSIOND_BIN, SESSIOND_HOME; the working directory must be empty.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import time

from acp import schema

from checks import Checks
from editor import Editor, Exchange, Link, connect, initialize, within
from ledger import Update, fold

# What `/stream` is asked for: chunks, bytes of each, milliseconds between two.
CHUNKS, BYTES, DELAY_MS = 400, 20, 20
# The server is killed after this many chunks, in the middle of the stream.
KILLED_AFTER = 100
# LOG-17: shown text is written within 100 ms. Ten times that, for a machine that is busy.
MAY_BE_LOST = BYTES * 1000 // DELAY_MS

CLIENT = schema.ClientCapabilities(
    fs=schema.FileSystemCapabilities(read_text_file=True, write_text_file=True), terminal=True
)


class SdkErrors(logging.Handler):
    """Frames that the SDK could not take."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.getMessage().startswith("Unhandled error while handling"):
            self.messages.append(f"{record.getMessage()}: {record.exc_info}")


class Drive:
    """The scenario, step by step. `live` is everything the session's client was ever sent."""

    def __init__(self) -> None:
        self.checks = Checks()
        self.cwd = os.getcwd()
        self.session = ""
        self.fork = ""
        self.live: list[Update] = []

    async def turn(self, link: Link, text: str) -> Exchange:
        exchange = await link.turn(self.session, text)
        self.live += exchange.updates
        return exchange

    def path(self, name: str) -> str:
        return os.path.join(self.cwd, name)

    async def run(self) -> None:
        async with connect() as link:
            await self.first_contact(link)
            await self.permissions(link)
            await self.modes(link)
            await self.cancel(link)
            await self.listing(link)
            await self.forked(link)
        self.checks.that("closing stdin ends the process", link.process.returncode == 0,
                         link.process.returncode)
        async with connect() as link:
            await initialize(link, CLIENT)
            await self.loaded(link)
            await self.client_files(link)
            await self.client_terminal(link)
            await self.resumed(link)
        async with connect() as link:
            await initialize(link)
            await link.load(self.session, self.cwd)
            await self.killed(link)
        await self.recovered()

    async def first_contact(self, link: Link) -> None:
        that, answer = self.checks.that, await initialize(link)
        that("initialize settles on version 1", answer.protocol_version == 1, answer)
        that("agentInfo names sessiond", answer.agent_info and answer.agent_info.name == "sessiond",
             answer.agent_info)
        that("loadSession is offered", answer.agent_capabilities.load_session, answer)
        methods = link.frames[0]["result"].get("authMethods", [])
        that("there is one authentication method, by the agent",
             len(methods) == 1 and methods[0].get("type", "agent") == "agent", methods)
        await within(link.agent.authenticate(method_id=methods[0]["id"]))
        that("authenticate succeeds", True)
        created = await link.exchange(link.agent.new_session(cwd=self.cwd, mcp_servers=[]))
        self.session = created.result.session_id
        that("nothing about a session precedes its session/new response", not created.frames,
             created.frames)
        update = await link.after(created)
        that("available_commands_update follows session/new",
             update.get("sessionUpdate") == "available_commands_update", update)
        names = [command["name"] for command in update.get("availableCommands", [])]
        that("the commands of the script agent are announced", {"run", "write"} <= set(names),
             names)
        hello = await self.turn(link, "hello world")
        that("text arrives before the response", "hello world" in fold(hello.updates).text(),
             hello.updates)
        that("the turn ends with end_turn", hello.result.stop_reason == "end_turn", hello.result)
        that("messages carry an id", all(m.id for m in fold(hello.updates).messages), hello.updates)

    async def permissions(self, link: Link) -> None:
        that = self.checks.that
        allowed = await self.turn(link, "/run echo hi")
        tools = list(fold(allowed.updates).tools.values())
        that("a command asks permission once", len(allowed.permissions) == 1, allowed.frames)
        that("an allowed command completes with its output",
             len(tools) == 1 and tools[0].status == "completed" and "hi" in tools[0].output, tools)
        asked = allowed.permissions[0] if allowed.permissions else {}
        kinds = {option["kind"] for option in asked.get("options", [])}
        that("once and always can be chosen, for and against",
             kinds == {"allow_once", "allow_always", "reject_once", "reject_always"}, kinds)
        order = [f["params"].get("update", {}).get("sessionUpdate", f["method"])
                 for f in allowed.frames]
        that("the tool call is announced before permission is asked",
             "tool_call" in order and "session/request_permission" in order
             and order.index("tool_call") < order.index("session/request_permission")
             and asked["toolCall"]["toolCallId"] in fold(allowed.updates).tools, order)
        await self.turn(link, f"/run touch {self.path('allowed')}")
        that("an allowed command runs", os.path.exists(self.path("allowed")))
        link.editor.choice = "reject_once"
        rejected = await self.turn(link, f"/run touch {self.path('rejected')}")
        tools = list(fold(rejected.updates).tools.values())
        that("a rejected command does not run", not os.path.exists(self.path("rejected")))
        that("a rejected command is shown as failed and the turn goes on to its end",
             [tool.status for tool in tools] == ["failed"]
             and rejected.result.stop_reason == "end_turn", rejected)
        link.editor.choice = "allow_once"

    async def modes(self, link: Link) -> None:
        that = self.checks.that
        await within(link.agent.set_session_mode(session_id=self.session, mode_id="auto"))
        auto = await self.turn(link, f"/run touch {self.path('auto')}")
        that("in mode auto a command runs unasked",
             not auto.permissions and os.path.exists(self.path("auto")), auto.frames)
        option = await link.exchange(link.agent.set_config_option(
            config_id="mode", session_id=self.session, value="ask"))
        values = {o.id: o.current_value for o in option.result.config_options}
        that("set_config_option answers with the options in force", values.get("mode") == "ask",
             values)
        again = await self.turn(link, "/run true")
        that("back in mode ask a command asks again", len(again.permissions) == 1, again.frames)

    async def cancel(self, link: Link) -> None:
        begun = time.monotonic()
        running = asyncio.ensure_future(self.turn(link, "/say before\n/sleep 30"))
        mark = len(link.frames)
        await link.until(lambda: any(
            f.get("params", {}).get("update", {}).get("sessionUpdate") == "agent_message_chunk"
            for f in link.frames[mark:]))
        await within(link.agent.cancel(session_id=self.session))
        ended = await within(running)
        self.checks.that("a cancelled turn says so long before its sleep is over",
                         ended.result.stop_reason == "cancelled"
                         and time.monotonic() - begun < 15, ended.result)
        after = await self.turn(link, "after the cancel")
        self.checks.that("the next prompt runs", after.result.stop_reason == "end_turn", after)

    async def listing(self, link: Link) -> None:
        listed = await within(link.agent.list_sessions(cwd=self.cwd))
        mine = [s for s in listed.sessions if s.session_id == self.session]
        self.checks.that("session/list has the session with its folder and a title",
                         len(mine) == 1 and mine[0].title and mine[0].cwd == self.cwd, listed)

    async def forked(self, link: Link) -> None:
        """A fork goes its own way."""
        forked = await within(link.agent.fork_session(
            cwd=self.cwd, session_id=self.session, mcp_servers=[]))
        self.fork = forked.session_id
        inside = await link.turn(self.fork, "in the fork")
        self.checks.that("a fork is another session, and answers", self.fork != self.session
                         and "in the fork" in fold(inside.updates).text(), inside)
        listed = await within(link.agent.list_sessions(cwd=self.cwd))
        self.checks.that("session/list has both", {self.session, self.fork}
                         <= {session.session_id for session in listed.sessions}, listed)

    async def resumed(self, link: Link) -> None:
        """A resume in a new process replays nothing, and goes on where the session was."""
        back = await link.exchange(link.agent.resume_session(
            cwd=self.cwd, session_id=self.fork, mcp_servers=[]))
        shown = fold(back.updates)
        self.checks.that("session/resume replays nothing",
                         not shown.messages and not shown.tools, back.frames)
        after = await link.turn(self.fork, "after the resume")
        self.checks.that("the resumed session answers",
                         "after the resume" in fold(after.updates).text(), after)

    async def loaded(self, link: Link) -> None:
        replay = await link.load(self.session, self.cwd)
        self.compare("a new process replays", replay)
        update = await link.after(replay)
        self.checks.that("available_commands_update follows session/load",
                         update.get("sessionUpdate") == "available_commands_update", update)

    def compare(self, what: str, replay: Exchange) -> None:
        """What was acknowledged is replayed, under the ids it had."""
        that, was, now = self.checks.that, fold(self.live), fold(replay.updates)
        told = [(m.id, m.text) for m in was.of("agent_message")]
        shown = [(m.id, m.text) for m in now.of("agent_message")]
        that(f"{what} every message under its id, in order", told == shown, (told, shown))
        outcome = {t.id: t.status for t in was.tools.values()}
        that(f"{what} every tool call with its outcome",
             outcome == {t.id: t.status for t in now.tools.values()}, (outcome, now.tools))

    async def client_files(self, link: Link) -> None:
        that, path = self.checks.that, self.path("note.txt")
        written = await self.turn(link, f"/write {path} one two")
        that("a file is written by the client", link.editor.writes.get(path) == "one two",
             (link.editor.writes, written.frames))
        read = await self.turn(link, f"/read {path}")
        tools = list(fold(read.updates).tools.values())
        that("a file is read by the client",
             link.editor.reads.count(path) >= 1 and [t.status for t in tools] == ["completed"],
             read.frames)

    async def client_terminal(self, link: Link) -> None:
        run = await self.turn(link, "/run echo in-the-editor")
        terminals: Editor = link.editor
        output = "".join(t.output.decode() for t in terminals.terminals.values())
        self.checks.that("a command runs in the client's terminal", "in-the-editor" in output,
                         run.frames)
        self.checks.that("the terminal is released",
                         terminals.terminals
                         and all(t.released for t in terminals.terminals.values()), run.frames)
        tools = list(fold(run.updates).tools.values())
        self.checks.that("its tool call completes", [t.status for t in tools] == ["completed"],
                         tools)

    async def killed(self, link: Link) -> None:
        mark = len(link.frames)
        text = f"/stream {CHUNKS} {BYTES} {DELAY_MS}"
        running = asyncio.ensure_future(link.turn(self.session, text))

        def updates() -> list[Update]:
            frames = [f for f in link.frames[mark:] if f.get("method") == "session/update"]
            return [f["params"]["update"] for f in frames]

        await link.until(lambda: running.done()
                         or len(fold(updates()).text()) >= KILLED_AFTER * BYTES)
        link.process.kill()
        await within(link.process.wait())
        outcome = (await asyncio.gather(running, return_exceptions=True))[0]
        self.checks.that("the server was killed in the middle of a turn",
                         isinstance(outcome, ConnectionError), outcome)
        self.live += updates()

    async def recovered(self) -> None:
        that = self.checks.that
        async with connect() as link:
            await initialize(link)
            first = await link.load(self.session, self.cwd)
        self.interrupted(first)
        async with connect() as link:
            await initialize(link)
            second = await link.load(self.session, self.cwd)
            that("two loads give identical sequences", first.updates == second.updates,
                 (first.updates, second.updates))
            after = await self.turn(link, "after the kill")
            that("the next prompt works", after.result.stop_reason == "end_turn"
                 and "after the kill" in fold(after.updates).text(), after)
            await within(link.agent.close_session(session_id=self.session))
            that("session/close succeeds", True)

    def interrupted(self, replay: Exchange) -> None:
        """The message that was cut is there up to the bound; all before it is there whole."""
        that, was, now = self.checks.that, fold(self.live), fold(replay.updates)
        *told, cut = was.of("agent_message")
        shown = {message.id: message.text for message in now.of("agent_message")}
        that("after SIGKILL every finished message is there under its id",
             all(shown.get(message.id) == message.text for message in told), (told, shown))
        kept = shown.get(cut.id, "")
        that("the text that was cut is kept as far as both know it",
             kept and (cut.text.startswith(kept) or kept.startswith(cut.text)), (cut, kept))
        that("it is marked as interrupted", "interrupted" in now.text().lower(), now.text()[-200:])
        that("what was shown is lost by no more than its bound",
             len(kept) + MAY_BE_LOST >= len(cut.text), (len(cut.text), len(kept)))
        outcome = {t.id: t.status for t in was.tools.values()}
        that("every tool call is there once with its outcome",
             outcome == {t.id: t.status for t in now.tools.values()}, (outcome, now.tools))


async def main() -> int:
    errors, drive = SdkErrors(), Drive()
    logging.getLogger().addHandler(errors)
    try:
        await drive.run()
    except Exception as error:  # whatever ends the scenario early is one failed check
        drive.checks.that("the scenario runs to its end", False, repr(error))
        logging.exception("the drive stopped")
    drive.checks.that("the SDK understood every frame", not errors.messages, errors.messages)
    return drive.checks.close()


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))

"""Drives `sessiond-codex app-server` by the Python SDK of Codex, unmodified: one thread through four
processes, one of them killed in the middle of a turn.

Environment: SESSIOND_BIN, SESSIOND_HOME; the working directory must be empty.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

from openai_codex import Codex, CodexConfig
from openai_codex.api import ApprovalMode, Sandbox
from openai_codex.client import CodexClient
from openai_codex.models import UnknownNotification

from checks import Checks

CWD = os.getcwd()
SESSIOND = os.environ["SESSIOND_BIN"]
BIN = os.path.join(os.path.dirname(SESSIOND), "sessiond-codex")
UNKNOWN = "01a22742-0000-7000-8000-000000000000"
FULL = dict(cwd=CWD, approval_mode=ApprovalMode.deny_all, sandbox=Sandbox.full_access)
STREAM = "/stream 400 20 20"
# The server is killed after so many pieces: text that was shown is stored within 100 ms (LOG-17).
KILLED_AFTER = 60

checks = Checks()
that = checks.that


def config() -> CodexConfig:
    return CodexConfig(codex_bin=BIN, cwd=CWD)


def path(name: str) -> str:
    return os.path.join(CWD, name)


def stream(handle, on_delta=None, after=1) -> list:
    """All notifications of a turn; `on_delta` is called once, when so many pieces of text have come."""
    seen = []
    for notification in handle.stream():
        seen.append(notification)
        if notification.method == "item/agentMessage/delta":
            after -= 1
            if on_delta and after == 0:
                on_delta()
    return seen


def refused(call, *args, **named) -> str:
    try:
        call(*args, **named)
    except Exception as error:  # which class is the SDK's business, the words are ours
        return str(error)
    return ""


def first_turns(codex) -> str:
    version = codex.metadata.serverInfo.version
    that("the server says which Codex it speaks", version.startswith("0.171.0 "), codex.metadata)
    thread = codex.thread_start(**FULL)
    result = thread.run("say hi")
    that("a turn completes with the answer", result.final_response == "say hi", result)
    kinds = [item.root.type for item in result.items]
    that("the prompt is an item, too", kinds == ["userMessage", "agentMessage"], kinds)
    seen = stream(thread.turn("/run echo hi\n/write made text\n/plan a; b\n/usage\ndone"))
    methods = [n.method for n in seen]
    unknown = [n.method for n in seen if isinstance(n.payload, UnknownNotification)]
    that("the SDK knows every notification by its form", not unknown, unknown)
    that("a turn begins and ends in order",
         methods[0] == "turn/started" and methods[-1] == "turn/completed", methods)
    done = [n.payload.item.root for n in seen if n.method == "item/completed"]
    command = next((item for item in done if item.type == "commandExecution"), None)
    that("a command has its output and exit code",
         command and command.aggregated_output == "hi\n" and command.exit_code == 0, done)
    that("a change names its file", any(item.type == "fileChange" and item.changes[0].path == path("made")
                                        for item in done), done)
    that("a plan is told", "turn/plan/updated" in methods, methods)
    begun = [n.payload.item.root.id for n in seen if n.method == "item/started"]
    that("every item that begins ends, in order", begun == [item.id for item in done], (begun, done))
    usage = [n.payload.token_usage for n in seen if n.method == "thread/tokenUsage/updated"]
    that("usage is told once, in all and of the turn",
         len(usage) == 1 and usage[0].total.output_tokens == usage[0].last.output_tokens > 0, usage)
    return thread.id


def stopped_and_steered(codex, thread) -> None:
    handle = thread.turn(STREAM)
    seen = stream(handle, handle.interrupt)
    turn = seen[-1].payload.turn
    that("an interrupt ends the turn as interrupted", turn.status.value == "interrupted", turn)
    item = [n.payload.item.root for n in seen if n.method == "item/completed"][-1]
    that("what was said until then is an item that has ended", item.type == "agentMessage" and item.text, item)
    handle = thread.turn(STREAM)
    steered = []
    seen = stream(handle, lambda: steered.append(handle.steer("and this")))
    that("a steer goes into the running turn", steered and steered[0].turn_id == handle.id, steered)
    said = [n.payload.item.root.text for n in seen
            if n.method == "item/completed" and n.payload.item.root.type == "agentMessage"]
    that("and is answered in it", said and said[-1].endswith("and this"), said)
    late = refused(handle.interrupt)
    that("an interrupt of a turn that is over is answered", "no active turn to interrupt" in late, late)
    failed = refused(thread.run, "/fail on purpose")
    that("a failed turn raises with its message", "on purpose" in failed, failed)
    again = thread.run("after the failure")
    that("the thread goes on after it", again.final_response == "after the failure", again)


def shelf(codex, thread) -> None:
    thread.set_name("driven")
    read = thread.read(include_turns=True).thread
    that("a thread is read with its name and turns", read.name == "driven" and len(read.turns) == 6, read)
    listed = {row.id for row in codex.thread_list().data}
    that("it is listed", thread.id in listed, listed)
    fork = codex.thread_fork(thread.id, **FULL)
    that("a fork is another thread", fork.id != thread.id)
    that("which goes on by itself", fork.run("in fork").final_response == "in fork")
    thread.compact()
    models = codex.models().data
    that("there is a model to choose", len(models) == 1 and models[0].is_default, models)
    that("nobody has to log in", codex.account().requires_openai_auth is False)


def approvals() -> None:
    """The client below the SDK's surface: its default handler accepts whatever it is asked."""
    asked = []

    def answer(method, params):
        asked.append((method, params))
        return {"decision": decision} if decision else {}

    def outcome(seen) -> tuple:
        items = [n.payload.item.root for n in seen if n.method == "item/completed"]
        status = [item.status.value for item in items if item.type == "commandExecution"]
        return status[0], seen[-1].payload.turn.status.value, os.path.exists(path("ran"))

    client = CodexClient(config(), approval_handler=answer)
    client.start()
    client.initialize()
    thread = client.thread_start({"cwd": CWD, "approvalPolicy": "on-request", "sandbox": "read-only"})
    table = [
        ("decline", ("declined", "completed", False)),
        (None, ("declined", "completed", False)),
        ("bogus", ("declined", "completed", False)),
        ("cancel", ("declined", "interrupted", False)),
        ("accept", ("completed", "completed", True)),
    ]
    for decision, wanted in table:
        asked.clear()
        found = outcome(subscribed(client, thread.thread.id, "/run touch ran"))
        that(f"the answer {decision} is followed", found == wanted, found)
        that(f"the client is asked once for {decision}", len(asked) == 1
             and asked[0][0] == "item/commandExecution/requestApproval", asked)
    decision = "acceptForSession"
    for count in (1, 1):
        subscribed(client, thread.thread.id, "/run touch twice")
    that("what is accepted for the session is asked once", len(asked) == 2, asked)
    client.close()


def subscribed(client, thread_id: str, text: str) -> list:
    """A turn of the low-level client, to its end."""
    started = client.turn_start(thread_id, [{"type": "text", "text": text}])
    turn = started.turn.id
    client.register_turn_notifications(turn)
    seen = []
    while not seen or seen[-1].method != "turn/completed":
        seen.append(client.next_turn_notification(turn))
    client.unregister_turn_notifications(turn)
    return seen


def killed(thread_id: str) -> None:
    """SIGKILL in the middle of an answer; then another process goes on."""
    codex = Codex(config())
    thread = codex.thread_resume(thread_id, **FULL)
    handle = thread.turn(STREAM)
    failed = refused(stream, handle, lambda: os.kill(child(), 9), KILLED_AFTER)
    that("the SDK notices that its server is gone", failed, failed)
    refused(codex.close)
    with Codex(config()) as codex:
        thread = codex.thread_resume(thread_id, **FULL)
        last = thread.read(include_turns=True).thread.turns[-1]
        that("the turn that was cut is shown as interrupted", last.status.value == "interrupted", last)
        texts = [item.root.text for item in last.items if item.root.type == "agentMessage"]
        that("with what was said of it", texts and texts[0].startswith("w0 "), texts)
        that("and the thread goes on", thread.run("after the kill").final_response == "after the kill")


def child() -> int:
    """The one process that this drive has started and that runs."""
    with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as children:
        found = [int(pid) for pid in children.read().split()]
    servers = [pid for pid in found if b"app-server" in open(f"/proc/{pid}/cmdline", "rb").read()]
    return servers[-1]


def second_process(thread_id: str) -> None:
    with Codex(config()) as codex:
        unknown = refused(codex.thread_resume, UNKNOWN)
        that("an unknown thread is refused in Codex's words", "no rollout found for thread id" in unknown, unknown)
        thread = codex.thread_resume(thread_id, **FULL)
        with Codex(config()) as other:
            busy = refused(other.thread_resume, thread_id)
        that("a second process is told that the thread has a writer", "already has an active writer" in busy, busy)
        codex.thread_archive(thread.id)
        archived = refused(codex.thread_resume, thread.id)
        that("an archived thread is not resumed", "is archived" in archived, archived)
        that("nor listed", all(row.id != thread.id for row in codex.thread_list().data))
        that("but among the archived", any(row.id == thread.id for row in codex.thread_list(archived=True).data))
        codex.thread_unarchive(thread.id)
        again = codex.thread_resume(thread.id, **FULL)
        that("brought back it goes on", again.run("back").final_response == "back")


def main() -> int:
    with Codex(config()) as codex:
        thread_id = first_turns(codex)
        thread = codex.thread_resume(thread_id, **FULL)
        stopped_and_steered(codex, thread)
        shelf(codex, thread)
    second_process(thread_id)
    killed(thread_id)
    log = subprocess.run([SESSIOND, "sessions", "show", "--json", thread_id], capture_output=True, text=True, check=True)
    events = [json.loads(line)["event"] for line in log.stdout.splitlines()]
    begun = sum(event["type"] == "turn.started" for event in events)
    ended = sum(event["type"] == "turn.ended" for event in events)
    that("each turn of the log has one end", begun == ended, (begun, ended))
    approvals()
    return checks.close()


if __name__ == "__main__":
    sys.exit(main())

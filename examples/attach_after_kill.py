#!/usr/bin/env python3
"""Kills sessiond in the middle of an answer, starts it again, and finds the conversation by its id.

An ACP client in plain JSON-RPC, so that every frame can be seen; Python's standard library only.

    usage: attach_after_kill.py        (sessiond on PATH, or named by SESSIOND_BIN)
"""

import json
import os
import subprocess
import sys

SESSIOND = os.environ.get("SESSIOND_BIN", "sessiond")
# An answer of four hundred pieces, one every twenty milliseconds; it is cut off after fifty.
PROMPT, CUT_AFTER = "/stream 400 20 20", 50


class Client:
    """One process of `sessiond acp`."""

    def __init__(self):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen([SESSIOND, "acp"], **pipes)
        self.last_id = 0
        self.request(
            "initialize",
            protocolVersion=1,
            clientCapabilities={},
            clientInfo={"name": "attach_after_kill", "version": "1"},
        )

    def send(self, method, params):
        self.last_id += 1
        frame = {"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params}
        print(json.dumps(frame), file=self.process.stdin, flush=True)

    def frames(self):
        """Every frame of the agent, until it closes its end."""
        return (json.loads(line) for line in self.process.stdout)

    def request(self, method, **params):
        """Sends a request: its result, and the updates that came before it."""
        self.send(method, params)
        updates = []
        for frame in self.frames():
            if frame.get("method") == "session/update":
                updates.append(frame["params"]["update"])
            elif frame.get("id") == self.last_id and "method" not in frame:
                if "error" in frame:
                    sys.exit(f"{method}: {frame['error']}")
                return frame["result"], updates
        sys.exit(f"{method}: sessiond closed the connection")

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def text_of(updates, kind):
    chunks = (update for update in updates if update["sessionUpdate"] == kind)
    return "".join(chunk["content"]["text"] for chunk in chunks)


def main():
    client = Client()
    session = client.request("session/new", cwd=os.getcwd(), mcpServers=[])[0]["sessionId"]
    hello = [{"type": "text", "text": "hello world"}]
    client.request("session/prompt", sessionId=session, prompt=hello)

    stream = [{"type": "text", "text": PROMPT}]
    client.send("session/prompt", {"sessionId": session, "prompt": stream})
    shown = []
    for frame in client.frames():
        shown.append(frame["params"]["update"])
        if len(shown) == CUT_AFTER:
            break
    client.process.kill()
    client.process.wait()
    print(f"killed sessiond (SIGKILL) after {len(text_of(shown, 'agent_message_chunk'))} bytes\n")

    client = Client()
    replay = client.request("session/load", sessionId=session, cwd=os.getcwd(), mcpServers=[])[1]
    client.close()
    print(f"session {session}, loaded by another process:")
    speakers = {"user_message_chunk": "you", "agent_message_chunk": "agent"}
    previous = None
    for update in replay:
        speaker = speakers.get(update["sessionUpdate"])
        if speaker:
            if (speaker, update.get("messageId")) != previous:
                print(f"\n{speaker:>6}: ", end="")
            previous = (speaker, update.get("messageId"))
            print(update["content"]["text"], end="")
    print()

    kept = text_of(replay, "agent_message_chunk")
    if "hello world" not in kept or PROMPT not in text_of(replay, "user_message_chunk"):
        sys.exit("the conversation is not whole")
    if len(kept) <= len("hello world "):
        sys.exit("nothing of the answer that was cut off is left")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Runs a turn over sessiond's native protocol, answers its question, and reads it again.

One JSON object a line, both ways; Python's standard library only. The second process of sessiond
knows nothing of the first: it finds the session by its id and sends the events after a cursor.

    usage: sqeq_turn.py        (sessiond on PATH, or named by SESSIOND_BIN)
"""

import json
import os
import subprocess
import sys

SESSIOND = os.environ.get("SESSIOND_BIN", "sessiond")
PROMPT = "Now for a command.\n/run echo it ran"


class Client:
    """One process of `sessiond sqeq`."""

    def __init__(self):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "encoding": "utf-8"}
        self.process = subprocess.Popen([SESSIOND, "sqeq"], **pipes)
        self.submitted = 0
        self.send("hello", versions=[1], client={"name": "sqeq_turn", "version": "1"})
        welcome = self.next()
        if welcome["type"] != "welcome":
            sys.exit(f"not welcome: {welcome}")

    def send(self, kind, **members):
        print(json.dumps({"v": 1, "type": kind, **members}), file=self.process.stdin, flush=True)

    def next(self):
        """The next frame."""
        line = self.process.stdout.readline()
        if not line:
            sys.exit("sessiond ended the connection")
        return json.loads(line)

    def submit(self, op, session=None):
        """Submits an operation: what was accepted, and the events that came before."""
        self.submitted += 1
        name, of_session = f"s{self.submitted}", {"session": session} if session else {}
        self.send("submission", id=name, **of_session, op=op)
        events = []
        while True:
            frame = self.next()
            if frame["type"] == "event":
                events.append(frame)
            elif frame["type"] == "receipt" and frame["id"] == name:
                if "error" in frame:
                    sys.exit(f"{op['type']}: {frame['error']['code']}: {frame['error']['message']}")
                return frame["accepted"], events

    def turn(self, session, text):
        """Runs a turn to its end, allowing what it asks; its events."""
        op = {"type": "turn.start", "input": [{"type": "text", "text": text}]}
        accepted, events = self.submit(op, session)
        while True:
            frame = self.next()
            if frame["type"] == "request":
                print("asked:", frame["payload"]["title"])
                # The digest says that we have seen exactly this question.
                allow = {"type": "selected", "option": "allow_once"}
                self.send("answer", request=frame["id"], digest=frame["digest"], outcome=allow)
            elif frame["type"] == "event":
                events.append(frame)
                ended = frame["event"]["type"] == "turn.ended"
                if ended and frame["turn"] == accepted["turn"]:
                    return events

    def close(self):
        self.send("bye")
        self.process.stdin.close()
        self.process.stdout.read()
        if self.process.wait() != 0:
            sys.exit(f"sessiond ended with {self.process.returncode}")


def show(events):
    for event in events:
        item = event["event"].get("item", {})
        if event["event"]["type"] != "item.ended":
            continue
        if item["type"] == "agent_message":
            print("agent:", item["text"])
        elif item["type"] == "tool_call":
            print(f"tool:  {item['title']}: {item['status']}")


def main():
    client = Client()
    opened, _ = client.submit({"type": "session.new", "cwd": os.getcwd()})
    session = opened["session"]
    lived = client.turn(session, PROMPT)
    show(lived)
    client.close()

    client = Client()
    # Cursor 1 is the session's own beginning; all after it is the turn.
    resume = {"type": "session.resume", "session": session, "replay": {"after": 1}}
    _, replayed = client.submit(resume)
    client.close()
    print(f"\nsession {session}, replayed by another process:")
    show(replayed)

    # Those with a cursor are in the log.
    durable = [event for event in lived if event.get("cursor", 0) > 1]
    if not replayed or durable != replayed:
        sys.exit("the replay is not what was lived through")
    if replayed[-1]["event"].get("outcome") != "completed":
        sys.exit("the turn did not complete")


if __name__ == "__main__":
    main()

"""A session of sessiond that is written where the Claude CLI looks for its own, read by the unmodified
Claude agent SDK for Python: its list, and its reader of transcripts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

from claude_agent_sdk import get_session_messages, list_sessions

from checks import Checks


def sessiond(*words: str) -> str:
    command = [os.environ["SESSIOND_BIN"], *words]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, timeout=30).stdout


def blocks(message: Any) -> list[dict[str, Any]]:
    content = message.message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def main() -> int:
    checks = Checks()
    sessiond("exec", "/say one\n/run echo hi\n/say after")
    sessiond("exec", "--last", "second prompt")
    session = json.loads(sessiond("sessions", "list", "--json"))["sessions"][0]["session"]
    sessiond("transcript", "convert", session, "--to", "claude")

    here = os.getcwd()
    listed = [it for it in list_sessions(directory=here) if it.session_id == session]
    checks.that("the SDK lists it, with its last prompt",
                len(listed) == 1 and listed[0].summary == "second prompt", listed)
    messages = get_session_messages(session, directory=here)
    all_blocks = [block for message in messages for block in blocks(message)]
    texts = [block["text"] for block in all_blocks if block["type"] == "text"]
    checks.that("the SDK reads all of it, in order",
                texts[1:] == ["one", "after", "second prompt", "second prompt"], texts)
    calls = [block["id"] for block in all_blocks if block["type"] == "tool_use"]
    results = [block["tool_use_id"] for block in all_blocks if block["type"] == "tool_result"]
    checks.that("each call has its result", len(calls) == 1 and calls == results, all_blocks)
    return checks.close()


if __name__ == "__main__":
    sys.exit(main())

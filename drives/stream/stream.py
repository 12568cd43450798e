"""A streaming agent on the Python SDK: what sessiond's throughput is measured beside.

The prompt `/stream N BYTES` is answered by N message chunks of BYTES bytes.
"""

import asyncio

import acp


class Stream(acp.Agent):
    """Knows one session and one command."""

    def on_connect(self, conn):
        self.client = conn

    async def initialize(self, protocol_version, **_):
        return acp.InitializeResponse(protocol_version=acp.PROTOCOL_VERSION)

    async def new_session(self, cwd, mcp_servers=None, **_):
        return acp.NewSessionResponse(session_id="stream")

    async def prompt(self, prompt, session_id, **_):
        _, count, size = prompt[0].text.split()
        text = "x" * int(size)
        for _ in range(int(count)):
            await self.client.session_update(session_id, acp.update_agent_message_text(text))
        return acp.PromptResponse(stop_reason="end_turn")


asyncio.run(acp.run_agent(Stream()))

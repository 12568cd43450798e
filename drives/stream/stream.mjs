// A streaming agent on the TypeScript SDK: what sessiond's throughput is measured beside.
// The prompt `/stream N BYTES` is answered by N message chunks of BYTES bytes, as by sessiond's own
// script agent. `cargo xtask peers` copies it beside the installed SDK.
import { Readable, Writable } from "node:stream";

import * as acp from "@agentclientprotocol/sdk";

const { agent, client } = acp.methods;

acp
  .agent({ name: "stream-ts-sdk" })
  .onRequest(agent.initialize, () => ({
    protocolVersion: acp.PROTOCOL_VERSION,
    agentCapabilities: { loadSession: false },
    agentInfo: { name: "stream-ts-sdk", version: "0.0.0" },
  }))
  .onRequest(agent.session.new, () => ({ sessionId: "stream" }))
  .onRequest(agent.session.prompt, async (context) => {
    const { sessionId, prompt } = context.params;
    const [, count, bytes] = prompt[0].text.split(" ").map(Number);
    const text = "x".repeat(bytes);
    for (let sent = 0; sent < count; sent += 1) {
      await context.client.notify(client.session.update, {
        sessionId,
        update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text } },
      });
    }
    return { stopReason: "end_turn" };
  })
  .connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));

// An echo agent on the TypeScript SDK: what sessiond's start is measured beside.
// A prompt comes back as one message chunk. `cargo xtask peers` copies it beside the installed SDK, so
// that it is loaded as any program of that SDK is.
import { Readable, Writable } from "node:stream";

import * as acp from "@agentclientprotocol/sdk";

const { agent, client } = acp.methods;

acp
  .agent({ name: "echo-ts-sdk" })
  .onRequest(agent.initialize, () => ({
    protocolVersion: acp.PROTOCOL_VERSION,
    agentCapabilities: { loadSession: false },
    agentInfo: { name: "echo-ts-sdk", version: "0.0.0" },
  }))
  .onRequest(agent.session.new, () => ({ sessionId: "echo" }))
  .onRequest(agent.session.prompt, async (context) => {
    const { sessionId, prompt } = context.params;
    const text = prompt.map((block) => block.text ?? "").join("");
    await context.client.notify(client.session.update, {
      sessionId,
      update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text } },
    });
    return { stopReason: "end_turn" };
  })
  .connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));

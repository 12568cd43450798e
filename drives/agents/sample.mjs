// A small agent on the TypeScript SDK that works as the real ones do: a model that calls a shell,
// asks before it runs anything, keeps its sessions in files and loads them, and forgets them when
// SAMPLE_LOADS says no. It stands in for them where they cannot be installed.
// Environment: MODEL_URL (Chat Completions), HOME, SAMPLE_LOADS, SESSIOND_PEERS.
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { promisify } from "node:util";

import { acp } from "../sdk.mjs";

const { agent, client } = acp.methods;
const loads = process.env.SAMPLE_LOADS !== "no";
const file = (id) => join(process.env.HOME, `${id}.json`);
const tools = [{ type: "function", function: { name: "Bash", parameters: { type: "object" } } }];
const options = [
  { optionId: "yes", name: "Run it", kind: "allow_once" },
  { optionId: "no", name: "Do not", kind: "reject_once" },
];

const sessions = new Map();

/** One conversation: what the model is shown, and what a load replays. */
class Session {
  constructor(id, cwd, messages = [], updates = []) {
    Object.assign(this, { id, cwd, messages, updates });
    sessions.set(id, this);
  }

  static load(id) {
    const { cwd, messages, updates } = JSON.parse(readFileSync(file(id), "utf8"));
    return new Session(id, cwd, messages, updates);
  }

  save() {
    const { cwd, messages, updates } = this;
    if (loads) writeFileSync(file(this.id), JSON.stringify({ cwd, messages, updates }));
  }

  async show(peer, update) {
    this.updates.push(update);
    await peer.notify(client.session.update, { sessionId: this.id, update });
  }

  async prompt(peer, blocks) {
    this.abort = new AbortController();
    const text = (block) => block.text ?? block.resource?.text ?? block.uri;
    const content = blocks.map((block) => ({ type: "text", text: text(block) }));
    this.messages.push({ role: "user", content });
    for (const block of blocks)
      this.updates.push({ sessionUpdate: "user_message_chunk", content: block });
    this.save();
    try {
      let more = true;
      while (more) more = await this.#round(peer);
      return { stopReason: "end_turn" };
    } catch (error) {
      if (this.abort.signal.aborted) return { stopReason: "cancelled" };
      throw error;
    } finally {
      this.save();
    }
  }

  /** Asks the model once and does what it says: whether it said anything to do. */
  async #round(peer) {
    const { text, calls } = await this.#ask(peer);
    this.messages.push({ role: "assistant", content: text,
      ...(calls.length > 0 && { tool_calls: calls }) });
    for (const call of calls) {
      const output = await this.#call(peer, call);
      this.messages.push({ role: "tool", tool_call_id: call.id, content: output });
      this.save();
    }
    return calls.length > 0;
  }

  async #ask(peer) {
    const response = await fetch(`${process.env.MODEL_URL}/v1/chat/completions`, {
      method: "POST",
      body: JSON.stringify({ model: "sample", messages: this.messages, tools, stream: true }),
      signal: this.abort.signal,
    });
    const messageId = randomUUID();
    let text = "";
    const calls = [];
    for await (const delta of deltas(response.body)) {
      calls.push(...(delta.tool_calls ?? []));
      if (!delta.content) continue;
      text += delta.content;
      await this.show(peer, { sessionUpdate: "agent_message_chunk", messageId,
        content: { type: "text", text: delta.content } });
    }
    return { text, calls };
  }

  async #call(peer, { id: toolCallId, function: { arguments: input } }) {
    const { command } = JSON.parse(input);
    const told = { title: command, kind: "execute", rawInput: { command } };
    const update = (status, more = {}) => this.show(peer,
      { sessionUpdate: "tool_call_update", toolCallId, status, ...more });
    await this.show(peer, { sessionUpdate: "tool_call", toolCallId, status: "pending", ...told });
    const { outcome } = await peer.request(client.session.requestPermission,
      { sessionId: this.id, toolCall: { toolCallId, ...told }, options });
    if (outcome.optionId !== "yes") {
      await update("failed");
      return "The person does not want this.";
    }
    await update("in_progress");
    const { cwd, abort: { signal } } = this;
    const { stdout } = await promisify(execFile)("sh", ["-c", command], { cwd, signal });
    const content = { type: "text", text: stdout };
    await update("completed", { content: [{ type: "content", content }] });
    return stdout;
  }
}

/** The deltas of a stream of Chat Completions. */
async function* deltas(body) {
  let rest = "";
  for await (const bytes of body.pipeThrough(new TextDecoderStream())) {
    const events = (rest + bytes).split("\n\n");
    rest = events.pop();
    for (const event of events) {
      const data = event.replace(/^data: /, "");
      if (data !== "[DONE]") yield JSON.parse(data).choices[0]?.delta ?? {};
    }
  }
}

const app = acp
  .agent({ name: "sample" })
  .onRequest(agent.initialize, () => ({
    protocolVersion: acp.PROTOCOL_VERSION,
    agentCapabilities: { loadSession: loads, promptCapabilities: { embeddedContext: true } },
    agentInfo: { name: "sample", version: "0.0.0" },
  }))
  .onRequest(agent.session.new, ({ params }) => {
    const session = new Session(randomUUID(), params.cwd);
    session.save();
    return { sessionId: session.id };
  })
  .onRequest(agent.session.prompt, ({ params, client: peer }) =>
    sessions.get(params.sessionId).prompt(peer, params.prompt))
  .onNotification(agent.session.cancel, ({ params }) =>
    sessions.get(params.sessionId).abort.abort());
if (loads)
  app.onRequest(agent.session.load, async ({ params: { sessionId }, client: peer }) => {
    for (const update of Session.load(sessionId).updates)
      await peer.notify(client.session.update, { sessionId, update });
    return {};
  });
app.connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));

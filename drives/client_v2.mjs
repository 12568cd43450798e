// A client on the TypeScript SDK's experimental v2 entry point, connected to `sessiond acp`.
import { within } from "./checks.mjs";
import { Link, seen } from "./link.mjs";
import { acp2 } from "./sdk.mjs";
import { states } from "./ledger_v2.mjs";

const { agent: toAgent, client: toClient } = acp2.methods;

class ClientLink extends Link {
  /** What the person chooses when asked. */
  choice = "allow_once";

  constructor() {
    super("--acp", "auto");
    this.open(acp2, acp2
      .client({ name: "acp_ts_v2" })
      .onRequest(toClient.session.requestPermission, ({ params }) => this.#permission(params))
      // The drive reads the frames, in the order of the wire.
      .onNotification(toClient.session.update, () => {}));
  }

  #permission({ options }) {
    const option = options.find(({ kind }) => kind === this.choice);
    if (!option) return { outcome: { outcome: "cancelled" } };
    return { outcome: { outcome: "selected", optionId: option.optionId } };
  }

  initialize() {
    return this.exchange(toAgent.initialize, {
      protocolVersion: acp2.PROTOCOL_VERSION,
      info: { name: "acp_ts_v2", version: "0" },
    });
  }

  /** A prompt and everything until the session is idle again. */
  async turn(sessionId, text, more = {}) {
    const mark = this.frames.length;
    const params = { sessionId, prompt: [{ type: "text", text }], ...more };
    const sent = this.agent.request(toAgent.session.prompt, params);
    const result = await within(sent, toAgent.session.prompt);
    await this.until(() => this.#idle(mark) >= 0, "the end of the turn");
    const all = seen(this.frames.slice(mark, this.#idle(mark) + 1));
    return { result, ...all, stopReason: states(all.updates).at(-1).stopReason };
  }

  /** Where the session became idle after it ran; nothing before that is an end. */
  #idle(mark) {
    const state = ({ params }) => params?.update?.state;
    const ran = this.frames.findIndex((frame, i) => i >= mark && state(frame) === "running");
    return ran < 0 ? -1 : this.frames.findIndex((frame, i) => i > ran && state(frame) === "idle");
  }

  /** Resumes a session; from its start when `replayFrom` says so. */
  resume(sessionId, cwd, more = {}) {
    return this.exchange(toAgent.session.resume, { sessionId, cwd, mcpServers: [], ...more });
  }
}

/** What `resume` takes to replay everything. */
export const FROM_START = { replayFrom: { type: "start" } };

/** Starts `sessiond acp`. */
export const connect = () => new ClientLink();

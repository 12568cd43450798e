// An editor on the TypeScript SDK: answers what agents ask, and connects to `sessiond acp`.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";

import { Link } from "./link.mjs";
import { acp } from "./sdk.mjs";

const { agent: toAgent, client: toClient } = acp.methods;

/** What the editor can do when it says so. */
export const CAPABILITIES = { fs: { readTextFile: true, writeTextFile: true }, terminal: true };

/** What a person and an editor do: choose permissions, hold files and terminals. */
class Editor {
  choice = "allow_once";
  reads = [];
  writes = new Map();
  terminals = new Map();

  permission({ options }) {
    const option = options.find(({ kind }) => kind === this.choice);
    if (!option) return { outcome: { outcome: "cancelled" } };
    return { outcome: { outcome: "selected", optionId: option.optionId } };
  }

  read({ path, line, limit }) {
    this.reads.push(path);
    const lines = readFileSync(path, "utf8").split(/(?<=\n)/);
    const start = (line ?? 1) - 1;
    return { content: lines.slice(start, limit == null ? undefined : start + limit).join("") };
  }

  write({ path, content }) {
    this.writes.set(path, content);
    writeFileSync(path, content);
    return {};
  }

  create({ command, args, env, cwd }) {
    const variables = Object.fromEntries((env ?? []).map(({ name, value }) => [name, value]));
    const child = spawn(command, args ?? [], {
      cwd: cwd ?? undefined,
      env: { ...process.env, ...variables },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const terminal = { child, output: "", released: false, closed: once(child, "close") };
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text) => (terminal.output += text));
    const terminalId = `terminal-${this.terminals.size + 1}`;
    this.terminals.set(terminalId, terminal);
    return { terminalId };
  }

  output({ terminalId }) {
    const { child, output } = this.terminals.get(terminalId);
    const ended = child.exitCode !== null || child.signalCode !== null;
    const exitStatus = ended ? { exitCode: child.exitCode, signal: child.signalCode } : undefined;
    return { output, truncated: false, exitStatus };
  }

  async exit({ terminalId }) {
    const [exitCode, signal] = await this.terminals.get(terminalId).closed;
    return { exitCode, signal };
  }

  kill({ terminalId }) {
    this.terminals.get(terminalId).child.kill("SIGKILL");
    return {};
  }

  release({ terminalId }) {
    this.terminals.get(terminalId).released = true;
    return this.kill({ terminalId });
  }

  app() {
    const { session, fs, terminal } = toClient;
    return acp
      .client({ name: "acp_ts" })
      .onRequest(session.requestPermission, ({ params }) => this.permission(params))
      .onRequest(fs.readTextFile, ({ params }) => this.read(params))
      .onRequest(fs.writeTextFile, ({ params }) => this.write(params))
      .onRequest(terminal.create, ({ params }) => this.create(params))
      .onRequest(terminal.output, ({ params }) => this.output(params))
      .onRequest(terminal.waitForExit, ({ params }) => this.exit(params))
      .onRequest(terminal.kill, ({ params }) => this.kill(params))
      .onRequest(terminal.release, ({ params }) => this.release(params))
      // The drive reads the frames, in the order of the wire.
      .onNotification(session.update, () => {});
  }
}

/** One connection of the editor to one process of sessiond. */
class EditorLink extends Link {
  editor = new Editor();

  constructor() {
    super();
    this.open(acp, this.editor.app());
  }

  initialize(clientCapabilities = {}) {
    return this.exchange(toAgent.initialize, {
      protocolVersion: acp.PROTOCOL_VERSION,
      clientCapabilities,
      clientInfo: { name: "acp_ts", version: "0" },
    });
  }

  load(sessionId, cwd) {
    return this.exchange(toAgent.session.load, { sessionId, cwd, mcpServers: [] });
  }
}

/** Starts `sessiond acp`. */
export const connect = () => new EditorLink();

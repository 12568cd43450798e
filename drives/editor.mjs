// An editor on the TypeScript SDK: answers what agents ask, and connects to `sessiond acp`.
import { spawn } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { Readable, Writable } from "node:stream";

import { within } from "./checks.mjs";
import { updatesIn } from "./ledger.mjs";
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

/** One connection to one process of sessiond, with every frame the agent sent. */
class Link extends EventEmitter {
  frames = [];
  editor = new Editor();

  constructor() {
    super();
    this.child = spawn(process.env.SESSIOND_BIN, ["acp"], { stdio: ["pipe", "pipe", "inherit"] });
    this.gone = once(this.child, "exit");
    // A killed server breaks the pipe under the SDK's writer; the SDK reports it as closed.
    this.child.stdin.on("error", () => {});
    const stream = acp.ndJsonStream(
      Writable.toWeb(this.child.stdin),
      Readable.toWeb(this.child.stdout),
    );
    const tap = new TransformStream({
      transform: (frame, out) => {
        this.frames.push(frame);
        out.enqueue(frame);
        this.emit("frame");
      },
    });
    this.connection = this.editor
      .app()
      .connect({ writable: stream.writable, readable: stream.readable.pipeThrough(tap) });
    this.agent = this.connection.agent;
  }

  /** Waits for frames until `condition` holds. */
  async until(condition, what) {
    while (!condition()) await within(once(this, "frame"), what);
  }

  /** A request and all that came before its response. Only one may be open, so that the first
   * response on the wire is its own. */
  async exchange(method, params) {
    const mark = this.frames.length;
    const result = await within(this.agent.request(method, params), method);
    const end = this.frames.findIndex((frame, i) => i >= mark && !("method" in frame));
    const frames = this.frames.slice(mark, end);
    return { result, frames, updates: updatesIn(frames), permissions: permissionsIn(frames), end };
  }

  /** The update in the first frame after a response; empty when it is no update. */
  async after({ end }) {
    await this.until(() => this.frames.length > end + 1, "a frame after the response");
    return this.frames[end + 1].params?.update ?? {};
  }

  initialize(clientCapabilities = {}) {
    return this.exchange(toAgent.initialize, {
      protocolVersion: acp.PROTOCOL_VERSION,
      clientCapabilities,
      clientInfo: { name: "acp_ts", version: "0" },
    });
  }

  prompt(sessionId, text) {
    const prompt = [{ type: "text", text }];
    return this.exchange(toAgent.session.prompt, { sessionId, prompt });
  }

  load(sessionId, cwd) {
    return this.exchange(toAgent.session.load, { sessionId, cwd, mcpServers: [] });
  }

  /** Closes stdin and waits for the process: its exit code. */
  async close() {
    this.child.stdin.end();
    const [code] = await within(this.gone, "the end of the process");
    this.connection.close();
    return code;
  }

  /** SIGKILL, and the wait for it. */
  async kill() {
    this.child.kill("SIGKILL");
    await within(this.gone, "the end of the killed process");
  }
}

const permissionsIn = (frames) =>
  frames.filter((f) => f.method === toClient.session.requestPermission).map((f) => f.params);

/** Starts `sessiond acp`. */
export const connect = () => new Link();

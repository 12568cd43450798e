// A bare ACP client: JSON lines on a process's stdio and nothing of an SDK, so that what an agent
// does is seen as it is.
import { spawn } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { createInterface } from "node:readline";

import { within } from "../checks.mjs";
import { updatesIn } from "../ledger.mjs";

/** Starting an agent of a hundred megabytes on a busy machine takes its time. */
const SLOWEST_MS = 60_000;
const METHOD_NOT_FOUND = -32601;

/** One connection to one process of an agent, with every frame it sent. */
export class Link extends EventEmitter {
  /** What the person chooses when asked; null: nothing, the question stays open. */
  choice = "allow_once";
  frames = [];
  #pending = new Map();
  #ids = 0;

  constructor({ command, env, cwd }) {
    super();
    const [program, ...args] = command;
    this.child = spawn(program, args, { env, cwd, stdio: ["pipe", "pipe", "inherit"] });
    this.gone = once(this.child, "close");
    // An agent that is gone breaks the pipe; what is waiting then fails below.
    this.child.stdin.on("error", () => {});
    createInterface({ input: this.child.stdout }).on("line", (line) => this.#receive(line));
    this.gone.then(() => {
      for (const { reject } of this.#pending.values()) reject(new Error("the process ended"));
      this.emit("frame");
    });
  }

  #send(frame) {
    this.child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...frame })}\n`);
  }

  #receive(line) {
    let frame;
    try {
      frame = JSON.parse(line);
    } catch {
      this.frames.push({ noise: line });
      return;
    }
    this.frames.push(frame);
    if (frame.method === undefined) this.#settle(frame);
    else if (frame.id !== undefined && this.choice !== null)
      this.#send({ id: frame.id, ...this.#answer(frame) });
    this.emit("frame");
  }

  #settle({ id, result, error }) {
    const waiting = this.#pending.get(id);
    this.#pending.delete(id);
    if (error) waiting?.reject(Object.assign(new Error(JSON.stringify(error)), { error }));
    else waiting?.resolve(result);
  }

  #answer({ method, params }) {
    if (method !== "session/request_permission")
      return { error: { code: METHOD_NOT_FOUND, message: method } };
    const option = params.options.find(({ kind }) => kind === this.choice);
    const selected = { outcome: "selected", optionId: option?.optionId };
    return { result: { outcome: option ? selected : { outcome: "cancelled" } } };
  }

  /** A request and all that came before its response. */
  async exchange(method, params) {
    const mark = this.frames.length;
    const id = ++this.#ids;
    const answered = new Promise((resolve, reject) => this.#pending.set(id, { resolve, reject }));
    this.#send({ id, method, params });
    const result = await within(answered, method, SLOWEST_MS);
    const frames = this.frames.slice(mark);
    const asked = frames.filter((frame) => frame.method === "session/request_permission");
    return { result, frames, updates: updatesIn(frames), permissions: asked };
  }

  notify(method, params) {
    this.#send({ method, params });
  }

  initialize() {
    const clientInfo = { name: "drive", version: "0" };
    return this.exchange("initialize", { protocolVersion: 1, clientCapabilities: {}, clientInfo });
  }

  prompt(sessionId, text) {
    return this.exchange("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
  }

  /** Waits for frames until `condition` holds; a process that ended is an error. */
  async until(condition, what) {
    while (!condition()) {
      if (this.child.exitCode !== null || this.child.signalCode !== null)
        throw new Error(`${what}: the process ended`);
      await within(once(this, "frame"), what, SLOWEST_MS);
    }
  }

  /** Closes stdin and waits for the process: its exit code. */
  async close() {
    this.child.stdin.end();
    const [code] = await within(this.gone, "the end of the process");
    return code;
  }

  /** SIGKILL, and the wait for it. */
  async kill() {
    this.child.kill("SIGKILL");
    await within(once(this.child, "exit"), "the end of the killed process");
  }
}

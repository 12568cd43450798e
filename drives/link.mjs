// One connection to one process of sessiond through the TypeScript SDK, of either version of the
// protocol, with every frame the agent sent.
import { spawn } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { Readable, Writable } from "node:stream";

import { within } from "./checks.mjs";
import { updatesIn } from "./ledger.mjs";

export class Link extends EventEmitter {
  frames = [];

  constructor(...options) {
    super();
    const command = ["acp", ...options];
    this.child = spawn(process.env.SESSIOND_BIN, command, { stdio: ["pipe", "pipe", "inherit"] });
    this.gone = once(this.child, "exit");
    // A killed server breaks the pipe under the SDK's writer; the SDK reports it as closed.
    this.child.stdin.on("error", () => {});
  }

  /** Connects the app of an SDK. */
  open(sdk, app) {
    const stream = sdk.ndJsonStream(
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
    const readable = stream.readable.pipeThrough(tap);
    this.connection = app.connect({ writable: stream.writable, readable });
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
    return { result, end, ...seen(this.frames.slice(mark, end)) };
  }

  /** The update in the first frame after a response; empty when it is no update. */
  async after({ end }) {
    await this.until(() => this.frames.length > end + 1, "a frame after the response");
    return this.frames[end + 1].params?.update ?? {};
  }

  prompt(sessionId, text) {
    const prompt = [{ type: "text", text }];
    return this.exchange("session/prompt", { sessionId, prompt });
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

/** Frames, the updates and the permissions asked among them. */
export const seen = (frames) => ({
  frames,
  updates: updatesIn(frames),
  permissions: frames
    .filter(({ method }) => method === "session/request_permission")
    .map(({ params }) => params),
});

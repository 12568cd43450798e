// The scripted model server as a child process, and what it was shown.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

import { within } from "../checks.mjs";

export class Model {
  /** Starts the server; it ends with this process. */
  static async start(record) {
    const command = process.env.SESSIOND_MODEL;
    const child = spawn(command, ["--record", record], { stdio: ["pipe", "pipe", "inherit"] });
    const lines = createInterface({ input: child.stdout });
    const [line] = await within(once(lines, "line"), "the model server");
    return new Model(child, JSON.parse(line).url, record);
  }

  constructor(child, url, record) {
    Object.assign(this, { child, url, record });
  }

  /** The bodies of the requests so far, in order. */
  shown() {
    const lines = readFileSync(this.record, "utf8").split("\n").filter(Boolean);
    return lines.map((line) => JSON.parse(line).body);
  }

  stop() {
    this.child.stdin.end();
  }
}

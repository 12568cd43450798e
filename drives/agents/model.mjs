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

  /**
   * The newest request of the conversation. Those that offer the model no tools are none: agents
   * have it make titles and the like besides, whenever they like.
   */
  shown() {
    const lines = readFileSync(this.record, "utf8").split("\n").filter(Boolean);
    const bodies = lines.map((line) => JSON.parse(line).body);
    return bodies.filter(({ tools }) => tools?.length > 0).at(-1);
  }

  stop() {
    this.child.stdin.end();
  }
}

// Drives `sessiond acp` by acpx, unmodified: one-shot runs, a named session, cancel, and the
// re-attach of that session after its server was killed.
// Environment: SESSIOND_BIN, SESSIOND_HOME, SESSIOND_PEERS; HOME and the working directory must be
// empty.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";

import { Checks, within } from "./checks.mjs";
import { said, updatesIn } from "./ledger.mjs";
import { nodeModules } from "./sdk.mjs";

const COMMAND = join(nodeModules, ".bin", "acpx");
/** acpx keeps a process for a named session; it leaves this long after the last prompt. */
const OWNER_STAYS_S = "20";
/** Exit code of acpx for a permission that was denied. */
const PERMISSION_DENIED = 5;
const SESSION = "demo";
const REATTACH = ["session/resume", "session/load"];

const checks = new Checks();
const that = checks.that.bind(checks);
const path = (name) => join(process.cwd(), name);

/** One invocation, with its frames when `--format json` was asked for. */
class Acpx {
  out = "";
  err = "";

  constructor(...args) {
    const agent = ["--agent", `${process.env.SESSIOND_BIN} acp`, "--ttl", OWNER_STAYS_S];
    this.line = args.join(" ");
    const child = spawn(COMMAND, [...agent, ...args], { stdio: ["ignore", "pipe", "pipe"] });
    for (const [stream, key] of [[child.stdout, "out"], [child.stderr, "err"]])
      stream.setEncoding("utf8").on("data", (text) => {
        this[key] += text;
        this.arrived?.();
      });
    this.ended = once(child, "close").then(([code]) => (this.code = code));
  }

  /** Waits for its end: itself. */
  async done() {
    await within(this.ended, `acpx ${this.line}`, 60_000);
    return this;
  }

  /** The JSON objects it printed so far. */
  get frames() {
    const lines = this.out.split("\n").slice(0, -1);
    return lines.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
  }

  get updates() {
    return updatesIn(this.frames);
  }

  /** The result of the request with this method. */
  result(method) {
    const request = this.frames.find((frame) => frame.method === method);
    const answers = (frame) => frame.id === request?.id && "result" in frame;
    return this.frames.find(answers)?.result;
  }

  /** Waits until its output so far satisfies `condition`. */
  async until(condition) {
    while (!condition(this)) {
      if (this.code !== undefined) throw new Error(`ended early: ${JSON.stringify(this)}`);
      const arrival = new Promise((resolve) => (this.arrived = resolve));
      await within(Promise.race([arrival, this.ended]), `output of acpx ${this.line}`);
    }
  }

  toJSON() {
    const { line, code, out, err } = this;
    return { line, code, out, err };
  }
}

const run = (...args) => new Acpx(...args).done();
const json = (...args) => run("--format", "json", ...args);
const prompt = (text) => ["prompt", "--session", SESSION, text];

async function oneShot() {
  const quiet = await run("--format", "quiet", "exec", "hello world");
  that("exec prints the answer", quiet.code === 0 && quiet.out.includes("hello world"), quiet);
  const full = await json("exec", "hello again");
  that("exec ends its turn", full.result("session/prompt")?.stopReason === "end_turn", full);
  that("acpx sees sessiond", full.result("initialize")?.agentInfo?.name === "sessiond", full);

  const approved = await run("--approve-all", "exec", `/run touch ${path("approved")}`);
  that("--approve-all lets a command run",
    approved.code === 0 && existsSync(path("approved")), approved);
  const local = await run("--approve-all", "--no-terminal", "exec", `/run touch ${path("local")}`);
  that("without acpx's terminal it runs all the same", existsSync(path("local")), local);
  const denied = await run("--deny-all", "exec", `/run touch ${path("denied")}`);
  that("--deny-all keeps it from running", !existsSync(path("denied")), denied);
  that("acpx reports the denial", denied.code === PERMISSION_DENIED, denied);

  const note = path("note.txt");
  const written = await run("--approve-all", "exec", `/write ${note} one two`);
  that("a file is written through acpx", existsSync(note), written);
  const read = await json("exec", `/read ${note}`);
  that("a file is read through acpx",
    read.frames.some((frame) => frame.method === "fs/read_text_file") && read.code === 0, read);
}

/** Makes the named session: its id. */
async function named() {
  const created = await json("sessions", "new", "--name", SESSION);
  const id = (await show()).acpSessionId;
  that("a named session is made", created.code === 0 && id, created);
  const first = await json(...prompt("first words"));
  that("the named session answers", said(first.updates).includes("first words"), first);
  const listed = await json("sessions", "list");
  const mine = JSON.parse(listed.out).sessions?.find(({ sessionId }) => sessionId === id);
  that("acpx lists it by session/list, with a title", mine?.title, listed);
  return id;
}

/** What acpx knows of the session: its id, and the process id of the agent. */
async function show() {
  return JSON.parse((await json("sessions", "show", SESSION)).out);
}

async function cancel() {
  const sleeping = new Acpx("--format", "json", ...prompt("/say before\n/sleep 30"));
  await sleeping.until(({ updates }) => said(updates).includes("before"));
  const cancelled = await json("cancel", "--session", SESSION);
  that("acpx cancels the turn", JSON.parse(cancelled.out).cancelled === true, cancelled);
  await sleeping.done();
  that("the cancelled turn says so",
    sleeping.result("session/prompt")?.stopReason === "cancelled", sleeping);
}

async function killed(id) {
  const streaming = new Acpx("--format", "json", ...prompt("/stream 400 20 20"));
  await streaming.until(({ updates }) => said(updates).length > 1000);
  process.kill((await show()).pid, "SIGKILL");
  await streaming.done();
  that("acpx notices that its agent was killed in the middle of a turn",
    streaming.code !== 0, streaming);

  const after = await json(...prompt("after the kill"));
  const asked = after.frames.map(({ method }) => method);
  // It prefers session/resume where an agent has it.
  const back = asked.find((method) => REATTACH.includes(method));
  that("acpx re-attaches to the session, not to a new one",
    back && after.result(back) && !asked.includes("session/new"), after);
  that("the prompt after it is answered",
    after.code === 0 && said(after.updates).includes("after the kill"), after);
  that("it is the same session", (await show()).acpSessionId === id, id);
  const closed = await run("sessions", "close", SESSION);
  that("the session is closed", closed.code === 0, closed);
}

/** A record of acpx made from nothing but the id. */
async function resumed(id) {
  const made = await json("sessions", "new", "--name", "again", "--resume-session", id);
  const again = JSON.parse((await json("sessions", "show", "again")).out);
  that("acpx resumes the session by its id", made.code === 0 && again.acpSessionId === id, made);
  const after = await json("prompt", "--session", "again", "after the resume");
  that("the resumed session answers", said(after.updates).includes("after the resume"), after);
  await run("sessions", "close", "again");
}

try {
  await oneShot();
  const id = await named();
  await cancel();
  await killed(id);
  await resumed(id);
} catch (error) {
  // Whatever ends the scenario early is one failed check.
  that("the scenario runs to its end", false, error.stack);
}
checks.close();

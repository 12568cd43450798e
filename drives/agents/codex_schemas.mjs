// Every frame of `sessiond-codex app-server` against the JSON Schemas that the real Codex generates.
// The script agent is behind it: it can do everything that the face has a frame for.
// Environment: SESSIOND_BIN, SESSIOND_PEERS; the working directory must be empty.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";

import { Checks, within } from "../checks.mjs";
import { codexBinary } from "./codex_binary.mjs";

const checks = new Checks();
const that = checks.that.bind(checks);
const folder = process.cwd();
const place = (name) => {
  const path = join(folder, name);
  mkdirSync(path, { recursive: true });
  return path;
};

/** The schemas of the real one: by the name of their type, and the type of each method's params. */
function schemas() {
  const out = place("schemas");
  const env = { PATH: process.env.PATH, HOME: place("home"), CODEX_HOME: place("home/.codex") };
  const args = ["app-server", "generate-json-schema", "--experimental", "--out", out];
  execFileSync(codexBinary(), args, { env, stdio: ["ignore", "ignore", "inherit"] });
  const require = createRequire(join(process.env.SESSIOND_PEERS, "codex-binary/package.json"));
  const { default: Ajv } = require("ajv");
  // Its formats are Rust's integers; its draft is older than what Ajv is strict about.
  const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });
  const read = (name) => JSON.parse(readFileSync(join(out, name), "utf8"));
  const compiled = new Map();
  const judge = (name) => {
    if (!compiled.has(name)) compiled.set(name, ajv.compile(read(name)));
    return compiled.get(name);
  };
  const params = read("ClientRequest.json").oneOf.map(({ properties }) => [
    properties.method.enum[0],
    properties.params?.$ref?.split("/").at(-1),
  ]);
  return { judge, params: new Map(params) };
}

const { judge, params } = schemas();

/** The file of the schema of a method's result. */
function resultOf(method) {
  const name = params.get(method)?.replace(/Params$/, "Response");
  return method === "initialize" ? `v1/${name}.json` : `v2/${name}.json`;
}

/** What is wrong with a frame; nothing where it is valid. */
function wrong(frame, asked) {
  const [name, value] = frame.error
    ? ["JSONRPCError.json", frame]
    : frame.method === undefined
      ? [resultOf(asked.get(frame.id)), frame.result]
      : [frame.id === undefined ? "ServerNotification.json" : "ServerRequest.json", frame];
  const valid = judge(name);
  if (valid(value)) return undefined;
  // Of a choice of many, only what is about this method says anything.
  const errors = valid.errors.map(({ instancePath, message }) => `${instancePath} ${message}`);
  return { name, errors: [...new Set(errors)].slice(0, 12), value };
}

/** A client of one face. */
class Face {
  frames = [];
  asked = new Map();
  decisions = "accept";
  #waiting = new Map();
  #watchers = new Set();
  #ids = 0;

  constructor() {
    const program = join(dirname(process.env.SESSIOND_BIN), "sessiond-codex");
    const env = { PATH: process.env.PATH, HOME: place("home"), SESSIOND_HOME: join(folder, "store") };
    this.child = spawn(program, ["app-server"], { env, cwd: place("work"),
      stdio: ["pipe", "pipe", "inherit"] });
    createInterface({ input: this.child.stdout }).on("line", (line) => this.#hear(JSON.parse(line)));
  }

  #send(frame) {
    this.child.stdin.write(`${JSON.stringify(frame)}\n`);
  }

  #hear(frame) {
    this.frames.push(frame);
    if (frame.method === undefined) {
      this.#waiting.get(frame.id)?.(frame);
      this.#waiting.delete(frame.id);
    } else if (frame.id !== undefined) {
      this.#send({ id: frame.id, result: this.#answer(frame) });
    }
    for (const watcher of this.#watchers) watcher(frame);
  }

  #answer({ method, params: { questions = [] } }) {
    if (method === "item/tool/requestUserInput")
      return { answers: Object.fromEntries(questions.map(({ id }) => [id, { answers: ["yes"] }])) };
    return { decision: this.decisions };
  }

  ask(method, params) {
    const id = ++this.#ids;
    this.asked.set(id, method);
    const answered = new Promise((resolve) => this.#waiting.set(id, resolve));
    this.#send(params === undefined ? { id, method } : { id, method, params });
    return within(answered, method);
  }

  async call(method, params) {
    const { result, error } = await this.ask(method, params);
    that(`${method} is answered`, error === undefined, error);
    return result ?? {};
  }

  async initialize() {
    await this.call("initialize", {
      clientInfo: { name: "drive", title: null, version: "0" },
      capabilities: { experimentalApi: true },
    });
    this.#send({ method: "initialized" });
  }

  told(method) {
    const seen = new Promise((resolve) => {
      const watcher = (frame) => {
        if (frame.method !== method) return;
        this.#watchers.delete(watcher);
        resolve(frame);
      };
      this.#watchers.add(watcher);
    });
    return within(seen, method);
  }

  async turn(threadId, text, more = {}) {
    const ended = this.told("turn/completed");
    await this.call("turn/start", { threadId, input: [{ type: "text", text }], ...more });
    return (await ended).params.turn;
  }

  async close() {
    this.child.stdin.end();
    await within(once(this.child, "exit"), "the end of the process");
  }
}

const UNKNOWN = "01a22742-0000-7000-8000-000000000000";

const face = new Face();
await face.initialize();
const cwd = place("work");
const opened = await face.call("thread/start", {
  cwd, approvalPolicy: "on-request", sandbox: "read-only",
});
const threadId = opened.thread.id;
const words = "words\n/think a thought\n/plan one; two";
const first = await face.turn(threadId, words);
await face.turn(threadId, "/run echo out\n/write made.txt text\n/edit made.txt text => words");
await face.turn(threadId, "/ask why\n/read made.txt\n/usage\n/title Named");
face.decisions = "decline";
await face.turn(threadId, "/run echo no\n/write no.txt no");
face.decisions = "accept";
await face.turn(threadId, "/fail on purpose");

const stopped = face.told("turn/completed");
const begun = face.told("turn/started");
const { turn } = await face.call("turn/start", { threadId, input: [{ type: "text", text: "/sleep 60" }] });
await begun;
await face.call("turn/steer", { threadId, expectedTurnId: turn.id, input: [{ type: "text", text: "x" }] });
await face.call("turn/interrupt", { threadId, turnId: turn.id });
await stopped;

await face.call("thread/name/set", { threadId, name: "a name" });
await face.call("thread/read", { threadId, includeTurns: true });
for (const sortDirection of ["asc", "desc"]) {
  await face.call("thread/turns/list", { threadId, limit: 2, itemsView: "full", sortDirection });
  await face.call("thread/items/list", { threadId, limit: 3, sortDirection });
}
await face.call("thread/list", { limit: 5 });
await face.call("thread/loaded/list", {});
await face.call("thread/inject_items", { threadId, items: [
  { type: "message", role: "user", content: [{ type: "input_text", text: "put in" }] },
] });
await face.call("thread/resume", { threadId });
const fork = await face.call("thread/fork", { threadId, lastTurnId: first.id });
await face.turn(fork.thread.id, "in the fork");
await face.call("thread/revert", { threadId, beforeTurnId: first.id });
const compacted = face.told("turn/completed");
await face.turn(threadId, "to sum up");
await compacted;
const summed = face.told("turn/completed");
await face.call("thread/compact/start", { threadId });
await summed;
await face.call("thread/archive", { threadId });
await face.call("thread/unarchive", { threadId });
await face.call("thread/unsubscribe", { threadId: fork.thread.id });
await face.call("thread/delete", { threadId });
await face.call("model/list", {});
await face.call("config/read", {});
await face.call("account/read", {});
for (const [method, params] of [
  ["thread/resume", { threadId: UNKNOWN }], ["turn/start", { threadId: UNKNOWN, input: [] }],
  ["thread/goal/get", { threadId }], ["no/such/method", {}], ["thread/start", { cwd: 5 }],
]) {
  const { error } = await face.ask(method, params);
  that(`${method} is refused`, error !== undefined, params);
}
await face.close();

/** Breaks a record of a thread's own log: whoever loads it is warned. */
function damage(threadId) {
  const log = join(folder, "store/sessions", threadId, "log");
  const newest = join(log, readdirSync(log).sort().at(-1));
  const text = readFileSync(newest, "utf8");
  writeFileSync(newest, text.replace("in the fork", "in the f0rk"));
}

damage(fork.thread.id);
const again = new Face();
await again.initialize();
const warned = again.told("warning");
await again.call("thread/resume", { threadId: fork.thread.id });
await warned;
await again.close();

const kinds = new Set();
let bad = 0;
const frames = [face, again].flatMap(({ frames, asked }) => frames.map((frame) => [frame, asked]));
for (const [frame, asked] of frames) {
  const kind = frame.method ?? (frame.error ? "an error" : `the answer to ${asked.get(frame.id)}`);
  kinds.add(kind);
  const problem = wrong(frame, asked);
  if (problem === undefined) continue;
  bad += 1;
  that(`${kind} is valid`, false, problem);
}
that(`all of ${frames.length} frames of ${kinds.size} kinds are valid`, bad === 0, `${bad} are not`);
for (const kind of ["item/commandExecution/requestApproval", "item/fileChange/requestApproval",
  "item/tool/requestUserInput", "item/reasoning/summaryTextDelta", "turn/plan/updated",
  "thread/tokenUsage/updated", "item/commandExecution/outputDelta", "error", "warning"])
  that(`${kind} was among them`, kinds.has(kind), [...kinds]);
// A check that cannot fail is none: a frame that is wrong is found.
const broken = { method: "turn/started", params: { threadId: 5 } };
that("a frame that is wrong is found", wrong(broken, face.asked) !== undefined);
checks.close();

// Rollouts that sessiond wrote, in the hands of the real Codex on the scripted model server: it lists
// and resumes them, and the model is shown all that was said. And rollouts that the real one wrote,
// taken in by sessiond, gone on with, and given back to it.
// Environment: SESSIOND_BIN, SESSIOND_MODEL, SESSIOND_PEERS; the working directory must be empty.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { Checks } from "../checks.mjs";
import { codexBinary, codexConfig } from "./codex_binary.mjs";
import { Link } from "./link.mjs";
import { Model } from "./model.mjs";

const checks = new Checks();
const that = checks.that.bind(checks);
const folder = process.cwd();
const place = (name) => {
  const path = join(folder, name);
  mkdirSync(path, { recursive: true });
  return path;
};
const record = join(folder, "requests.jsonl");
const model = await Model.start(record);
const transcripts = join(dirname(fileURLToPath(import.meta.url)),
  "../../crates/claude/tests/transcripts");

/** What a program says on stdout; all of them work in one folder. */
function run(program, args, env) {
  const path = { PATH: process.env.PATH, HOME: place("home"), OPENAI_API_KEY: "dummy" };
  const options = { env: { ...path, ...env }, cwd: place("work"), encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"] };
  return execFileSync(program, args, options);
}

const sessiond = (store, args, env = {}) =>
  run(process.env.SESSIOND_BIN, args, { SESSIOND_HOME: place(store), ...env });

/** A folder of Codex's own. */
function home(name) {
  const path = place(name);
  writeFileSync(join(path, "config.toml"), codexConfig(model.url));
  return path;
}

const codex = (at, args) =>
  run(codexBinary(), ["exec", "--json", "--skip-git-repo-check", ...args], { CODEX_HOME: at });

/** The rollouts below a folder. */
const rollouts = (path) => readdirSync(path, { recursive: true })
  .filter((name) => name.endsWith(".jsonl") && name.includes("rollout-"))
  .map((name) => join(path, name)).sort();

/** The texts of what the model was shown last, and of calls their ids and results. */
function shown() {
  const said = ({ content, output, call_id: id }) => [id, output, content].flat()
    .flatMap((part) => (typeof part === "object" ? part?.text : part)).filter(Boolean);
  return model.shown().input.flatMap(said);
}

/** Whether these are shown, in this order. */
function inOrder(texts) {
  const all = shown();
  let at = 0;
  for (const text of texts) {
    const found = all.slice(at).findIndex((part) => part.includes(text));
    if (found < 0) return `${text} is not after ${texts[0]} … in ${JSON.stringify(all)}`;
    at += found + 1;
  }
  return undefined;
}

/** The real app-server takes a thread up and goes on with it; the model is shown `texts`. */
async function takenUp(name, at, thread, texts) {
  const env = { PATH: process.env.PATH, HOME: place("home"), CODEX_HOME: at, OPENAI_API_KEY: "dummy" };
  const link = new Link({ command: [codexBinary(), "app-server"], env, cwd: place("work") });
  const clientInfo = { name: "drive", version: "1" };
  await link.exchange("initialize", { clientInfo, capabilities: { experimentalApi: true } });
  link.notify("initialized");
  // What exec led is listed for who asks for it.
  const { result: { data } } = await link.exchange("thread/list", { sourceKinds: ["cli", "exec"] });
  that(`${name}: it is listed`, data.some(({ id }) => id === thread), data);
  await link.exchange("thread/resume", { threadId: thread });
  const { result } = await link.exchange("thread/read", { threadId: thread, includeTurns: true });
  const turns = result.thread.turns.flatMap(({ items }) => items);
  const asked = turns.filter(({ type }) => type === "userMessage").flatMap(({ content }) => content);
  that(`${name}: its turns are shown`, asked.some(({ text }) => text?.includes(texts.at(-1))), turns);
  const input = [{ type: "text", text: "SAY[the real one goes on]" }];
  await link.exchange("turn/start", { threadId: thread, input });
  await link.until(() => link.frames.some(({ method }) => method === "turn/completed"), "the turn");
  const missing = inOrder([...texts, "the real one goes on"]);
  that(`${name}: the model is shown all of it`, missing === undefined, missing);
  await link.close();
  return turns;
}

/** What sessiond makes of a rollout that the real one went on with. */
function takenBack(name, path, before, texts) {
  const text = readFileSync(path, "utf8");
  that(`${name}: what was there is as it was`, text.startsWith(before), text.slice(0, 400));
  const store = `${name} back`;
  const taken = JSON.parse(sessiond(store, ["sessions", "import", path, "--json"]));
  const damage = Object.keys(taken.found).filter((kind) => /line|torn|ordinal|orphan/.test(kind));
  that(`${name}: nothing of it is damaged`, damage.length === 0, taken.found);
  const said = sessiond(store, ["sessions", "show", taken.session]);
  const lost = [...texts, "the real one goes on"].filter((part) => !said.includes(part));
  that(`${name}: all of it comes back`, lost.length === 0, { lost, said });
  const again = sessiond(store, ["transcript", "convert", taken.session, "--to", "codex", "-o", "-"]);
  that(`${name}: it is written again as it was`, again === text);
}

/** Without a call to another folder, a session of `store` into a folder of Codex's. */
const written = (store, session, at) => JSON.parse(
  sessiond(store, ["transcript", "convert", session, "--to", "codex", "--json"], { CODEX_HOME: at }));

async function fromHere() {
  const name = "from here";
  const prompts = ["first of all", "/run echo made here", "/think hm\n/say at last"];
  let session;
  for (const prompt of prompts) {
    const of = session ? ["--session", session] : [];
    const lines = sessiond(name, ["exec", "--json", ...of, prompt]).split("\n").filter(Boolean);
    session ??= lines.map((line) => JSON.parse(line)).find(({ session: id }) => id).session;
  }
  const at = home("codex from here");
  const { file, lost } = written(name, session, at);
  that(`${name}: what is lost is listed`, lost.thoughts?.count === 1, lost);
  const before = readFileSync(file, "utf8");
  const texts = ["first of all", "echo made here", "at last"];
  const turns = await takenUp(name, at, session, texts);
  that(`${name}: its calls are shown`, turns.some(({ type }) => type === "mcpToolCall"), turns);
  takenBack(name, file, before, ["first of all", "at last"]);
}

async function fromClaude(transcript, texts) {
  const name = `from Claude ${transcript}`;
  const at = home(`codex ${transcript}`);
  const from = join(transcripts, transcript);
  const told = sessiond(name, ["transcript", "convert", from, "--to", "codex", "--json"],
    { CODEX_HOME: at });
  const { session, file } = JSON.parse(told);
  const before = readFileSync(file, "utf8");
  await takenUp(name, at, session, texts);
  takenBack(name, file, before, texts);
}

async function thereAndBack() {
  const name = "there and back";
  const first = home("codex first");
  const events = codex(first, ["SHELL[echo made there]"]).split("\n").filter(Boolean);
  const thread = events.map((line) => JSON.parse(line)).find(({ thread_id: id }) => id).thread_id;
  const [path] = rollouts(first);
  const before = readFileSync(path, "utf8");
  that(`${name}: its lines have ordinals`, before.includes("\"ordinal\""));
  sessiond(name, ["sessions", "import", path]);
  sessiond(name, ["exec", "--session", thread, "/run echo said here"]);
  const second = home("codex second");
  const { file } = written(name, thread, second);
  const gone = readFileSync(file, "utf8");
  that(`${name}: what was there is as it was`, gone.startsWith(before));
  const texts = ["SHELL[echo made there]", "/run echo said here"];
  await takenUp(name, second, thread, texts);
  takenBack(name, file, gone, ["echo made there", "echo said here"]);

  // A fork of the real one refers to what it was forked from.
  codex(second, ["fork", thread, "SAY[forked]"]);
  const fork = rollouts(second).find((path) => !path.includes(thread));
  const text = readFileSync(fork, "utf8");
  const taken = JSON.parse(sessiond("forked", ["sessions", "import", fork, "--json"]));
  const said = sessiond("forked", ["sessions", "show", taken.session]);
  that(`${name}: a fork has what it was forked with`, said.includes("made there")
    && said.includes("forked"), { said, text: text.slice(0, 600) });
}

const flows = [
  fromHere,
  () => fromClaude("30n_parallel_tools_split.jsonl", ["old question", "two tools"]),
  () => fromClaude("25_compact.jsonl", ["This session is being", "hello two"]),
  thereAndBack,
];
for (const flow of flows) {
  try {
    await flow();
  } catch (error) {
    // Whatever ends a flow early is one failed check.
    that("the flow runs to its end", false, error.stack ?? JSON.stringify(error));
  }
}
model.stop();
checks.close();
// A process that did not end keeps no drive alive.
process.exit();

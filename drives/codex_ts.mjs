// Drives `sessiond-codex exec` by the TypeScript SDK of Codex, unmodified: one thread through eight
// processes, a kill in the middle of a turn among them.
// Environment: SESSIOND_BIN, SESSIOND_HOME, SESSIOND_PEERS; the working directory must be empty.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

import { Checks, within } from "./checks.mjs";

const { SESSIOND_BIN, SESSIOND_PEERS, SESSIOND_HOME, PATH, HOME } = process.env;
const sdk = join(SESSIOND_PEERS, "codex/node_modules/@openai/codex-sdk/dist/index.js");
const { Codex } = await import(pathToFileURL(sdk));

const UNKNOWN = "01a22742-0000-7000-8000-000000000000";
/** A picture of one point. */
const PICTURE = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");

const checks = new Checks();
const that = checks.that.bind(checks);
const cwd = process.cwd();
const path = (name) => join(cwd, name);

const codex = new Codex({
  codexPathOverride: join(dirname(SESSIOND_BIN), "sessiond-codex"),
  env: { PATH, HOME, SESSIOND_HOME, LANG: "C.UTF-8" },
});
const OPTIONS = {
  workingDirectory: cwd, skipGitRepoCheck: true, approvalPolicy: "never",
  sandboxMode: "danger-full-access",
};

/** All events of a turn. */
async function stream(thread, input, options) {
  const { events } = await thread.runStreamed(input, options);
  const seen = [];
  for await (const event of events) seen.push(event);
  return seen;
}

const kind = (event) => event.type + (event.item ? `:${event.item.type}` : "");

/** The message of a promise's error. */
const refused = (promise) => promise.then(() => "", ({ message }) => message);

async function plain(thread) {
  that("a new thread has no id", thread.id === null, thread.id);
  const turn = await within(thread.run("say hi"), "the first turn");
  that("thread.started gives it one", /^[0-9a-f-]{36}$/.test(thread.id ?? ""), thread.id);
  that("the answer is the final response", turn.finalResponse === "say hi", turn);
  that("every count of the usage is there", Object.keys(turn.usage ?? {}).length === 5, turn.usage);
}

async function tools(thread) {
  const id = thread.id;
  const seen = await within(stream(thread, "/run echo hi\n/write made text\ndone"), "a turn with tools");
  that("a second turn goes on in the thread", thread.id === id, thread.id);
  const kinds = seen.map(kind);
  const wanted = [
    "thread.started", "turn.started",
    "item.started:command_execution", "item.completed:command_execution",
    "item.started:file_change", "item.completed:file_change",
    "item.completed:agent_message", "turn.completed",
  ];
  that("events come in Codex's order", kinds.join() === wanted.join(), kinds);
  const ran = seen[3]?.item ?? {};
  that("a command has its output and exit code",
    ran.aggregated_output === "hi\n" && ran.exit_code === 0 && ran.status === "completed", ran);
  const changed = seen[5]?.item.changes?.[0];
  that("a written file is named", changed?.kind === "update" && changed.path === path("made"), changed);
  that("it was written", readFileSync(path("made"), "utf8").trim() === "text");
}

async function resumed(id) {
  const thread = codex.resumeThread(id, OPTIONS);
  const turn = await within(thread.run("again"), "a resumed turn");
  that("a thread is resumed by its id", thread.id === id && turn.finalResponse === "again", turn);
  const first = await within(thread.run("/usage"), "a turn with usage");
  const second = await within(thread.run("/usage"), "another one");
  that("usage is the thread's, not the turn's",
    second.usage.output_tokens === 2 * first.usage.output_tokens && first.usage.output_tokens > 0,
    [first.usage, second.usage]);
}

async function structured() {
  writeFileSync(path("point.png"), PICTURE);
  const outputSchema = { type: "object", properties: { answer: { type: "number" } }, required: ["answer"] };
  const input = [
    { type: "text", text: '/json {"answer":42}' },
    { type: "local_image", path: path("point.png") },
  ];
  const turn = await within(codex.startThread(OPTIONS).run(input, { outputSchema }), "a schema");
  that("the final response is JSON of the schema", JSON.parse(turn.finalResponse).answer === 42, turn);
}

async function refusals() {
  const failed = await refused(codex.startThread(OPTIONS).run("/fail on purpose"));
  that("a failed turn rejects with its message", failed.includes("on purpose"), failed);
  const unknown = await refused(codex.resumeThread(UNKNOWN, OPTIONS).run("x"));
  that("an unknown thread exits with 1 and says so",
    /exited with code 1/.test(unknown) && unknown.includes("no rollout found"), unknown);
  const narrow = codex.startThread({ ...OPTIONS, sandboxMode: "read-only" });
  const seen = await within(stream(narrow, "/run touch ran"), "a turn in a sandbox");
  const item = seen.find(({ type }) => type === "item.completed")?.item;
  that("what the sandbox does not hold fails, and the turn goes on",
    item?.status === "failed" && seen.at(-1)?.type === "turn.completed", seen);
  that("it did not run", !existsSync(path("ran")));
}

async function aborted() {
  const thread = codex.startThread(OPTIONS);
  const abort = new AbortController();
  const { events } = await thread.runStreamed("begun\n/run echo $$ > pid; exec sleep 600", { signal: abort.signal });
  const thrown = await refused((async () => {
    for await (const event of events)
      if (kind(event) === "item.started:command_execution") {
        while (!existsSync(path("pid")) || !readFileSync(path("pid"), "utf8").trim())
          await new Promise((later) => setTimeout(later, 20));
        abort.abort();
      }
  })());
  that("an aborted turn rejects", thrown !== "", thrown);
  const turn = await within(thread.run("after the abort"), "the turn after an abort");
  that("the thread goes on after an abort", turn.finalResponse === "after the abort", turn);
  const pid = readFileSync(path("pid"), "utf8").trim();
  that("the tool that ran is gone", !existsSync(`/proc/${pid}`), pid);
  const log = execFileSync(SESSIOND_BIN, ["sessions", "show", "--json", thread.id], { encoding: "utf8" });
  const ends = log.split("\n").filter((line) => line.includes('"turn.ended"'));
  that("each turn has one end in the log", ends.length === 2 && ends[0].includes('"cancelled"'), ends);
}

const thread = codex.startThread(OPTIONS);
await plain(thread);
await tools(thread);
await resumed(thread.id);
await structured();
await refusals();
await aborted();
checks.close();

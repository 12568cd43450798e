// The Claude CLI itself behind sessiond: killed at each moment of a turn, and what sessiond exports
// taken up by the CLI alone.
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { said, updatesIn } from "../ledger.mjs";
import { marked } from "./scenario.mjs";

/** How long the CLI has for anything. */
const ALONE_MS = 60_000;

/** What the model was shown: each call with its one result right behind it; else what is wrong. */
export function unpaired({ messages }) {
  const blocks = ({ content }) => (Array.isArray(content) ? content : []);
  const wrong = [];
  messages.forEach((message, at) => {
    const asked = blocks(message).filter(({ type }) => type === "tool_use").map(({ id }) => id);
    const next = messages[at + 1] ?? { content: [] };
    const results = blocks(next).filter(({ type }) => type === "tool_result");
    const answered = results.map((block) => block.tool_use_id);
    if (JSON.stringify([...asked].sort()) !== JSON.stringify([...answered].sort()))
      wrong.push({ asked, answered });
  });
  return wrong;
}

/** Kills the CLI, and leaves sessiond. */
function killCli(mark) {
  const pids = marked(mark)
    .filter((line) => / \S*\/claude /.test(line) && !line.includes("__guard"))
    .map((line) => Number(line.split(" ")[0]));
  for (const pid of pids) process.kill(pid, "SIGKILL");
  return pids.length;
}

/** Waits until `condition` holds. */
async function until(condition, what) {
  const end = Date.now() + ALONE_MS;
  while (!condition()) {
    if (Date.now() > end) throw new Error(`${what}: too late`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const moments = {
  streams: {
    text: "SLOW[400 25] streams",
    seen: (frames) => said(updatesIn(frames)).includes("piece 5 "),
  },
  asks: {
    text: "SHELL[echo asks >> asks.txt]",
    seen: (frames) => frames.some(({ method }) => method === "session/request_permission"),
    holds: true,
  },
  runs: {
    text: "SHELL[echo runs >> runs.txt; sleep 60]",
    seen: (frames, lines) => lines("runs.txt") === 1,
  },
};

/** kill -9 of the CLI at each moment: the turn fails, the next one goes on, nothing runs twice. */
async function killed({ scenario, that, mark, model }) {
  const { link } = await scenario.back();
  for (const [name, { text, seen, holds }] of Object.entries(moments)) {
    const from = link.frames.length;
    const lines = (file) => scenario.lines(file);
    if (holds) link.choice = null;
    const running = link.prompt(scenario.sessionId, text).then(() => "ended", () => "failed");
    await until(() => seen(link.frames.slice(from), lines), `the CLI that ${name}`);
    that(`killed while it ${name}: there was one`, killCli(mark) === 1);
    that(`killed while it ${name}: the turn fails`, (await running) === "failed");
    link.choice = "allow_once";
    const after = await scenario.turn(link, `after it ${name}`);
    that(`killed while it ${name}: the next prompt is answered`,
      said(after.updates).includes(`after it ${name}`), after.frames);
    const shown = model.shown();
    const text1 = JSON.stringify(shown);
    const missing = ["hello there", "out-7", text.split("[")[0], `after it ${name}`]
      .filter((words) => !text1.includes(words));
    that(`killed while it ${name}: the model was shown all of it`, missing.length === 0, missing);
    const wrong = unpaired(shown);
    that(`killed while it ${name}: calls and results are paired`, wrong.length === 0, wrong);
  }
  that("what was asked about did not run", scenario.lines("asks.txt") === 0);
  that("what ran did not run twice", scenario.lines("runs.txt") === 1);
  await link.close();
}

/** What `transcript convert` writes is taken up by the CLI alone. */
async function exported({ scenario, that, model, place, profile, env, store }) {
  const id = scenario.sessionId;
  const folder = join(place.home, "alone", ".claude", "projects", "exported");
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${id}.jsonl`);
  const args = ["transcript", "convert", id, "--to", "claude", "-o", file, "--store", store];
  const converted = spawnSync(process.env.SESSIOND_BIN, args, {
    env: { PATH: env.PATH, HOME: place.home },
  });
  that("the session is exported", converted.status === 0, converted.stderr.toString());
  const [program, ...more] = profile.command;
  const words = [...more, "--print", "--resume", id, "after the export"];
  const alone = spawn(program, words, {
    env: { ...env, HOME: join(place.home, "alone") }, cwd: place.work, timeout: ALONE_MS,
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  alone.stdout.on("data", (data) => (output += data));
  const [code] = await new Promise((resolve) => alone.on("close", (...how) => resolve(how)));
  that("the CLI takes the export up and answers",
    code === 0 && output.includes("after the export"), { code, output });
  const shown = model.shown();
  const text = JSON.stringify(shown);
  const missing = [...scenario.prompts, "out-7", "You said: hello there", "after the export"]
    .filter((words) => !text.includes(JSON.stringify(words).slice(1, -1)));
  that("the model was shown the whole conversation", missing.length === 0, missing);
  const wrong = unpaired(shown);
  that("calls and results of the export are paired", wrong.length === 0, wrong);
}

export const more = [killed, exported];

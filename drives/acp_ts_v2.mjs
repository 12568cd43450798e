// Drives `sessiond acp` by the TypeScript SDK's experimental v2 entry point, unmodified: one
// session through five processes, and a fork of it.
// Environment: SESSIOND_BIN, SESSIOND_HOME, SESSIOND_PEERS; the working directory must be empty.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { Checks, within } from "./checks.mjs";
import { FROM_START, connect } from "./client_v2.mjs";
import { updatesIn } from "./ledger.mjs";
import { calls, fold, of, outcomes, said, states } from "./ledger_v2.mjs";
import { acp2 } from "./sdk.mjs";

const { agent } = acp2.methods;

// What `/stream` is asked for: chunks, bytes of each, milliseconds between two.
const [CHUNKS, BYTES, DELAY_MS] = [400, 20, 20];
// The server is killed after this many chunks, in the middle of the stream.
const KILLED_AFTER = 100;
const KEYED = { idempotencyKey: "once-and-only-once" };

const checks = new Checks();
const that = checks.that.bind(checks);
const cwd = process.cwd();
const path = (name) => join(cwd, name);
const lines = (name) => readFileSync(path(name), "utf8").split("\n").length - 1;

let sessionId;
/** Message id of the prompt that was sent with a key. */
let keyed;
/** Everything the session's client was ever sent. */
const live = [];

async function turn(link, text, more) {
  const exchange = await link.turn(sessionId, text, more);
  live.push(...exchange.updates);
  return exchange;
}

async function firstContact(link) {
  const { result } = await link.initialize();
  that("initialize settles on version 2", result.protocolVersion === 2, result);
  that("info names sessiond", result.info?.name === "sessiond", result);
  that("sessions are offered", result.capabilities?.session, result);

  const created = await link.exchange(agent.session.new, { cwd, mcpServers: [] });
  ({ sessionId } = created.result);
  that("nothing about a session precedes its session/new response",
    created.frames.length === 0, created.frames);
  that("session/new names the options and the commands",
    Array.isArray(created.result.configOptions) && created.result.availableCommands?.length > 0,
    created.result);

  const hello = await turn(link, "hello world");
  const { messages } = fold(hello.updates);
  const [user] = messages.filter(({ role }) => role === "user_message");
  that("the user message is echoed under the id of the response",
    user?.id === hello.result.messageId && user.text === "hello world", hello);
  that("the session runs, then is idle with end_turn",
    states(hello.updates).map(({ state }) => state).join() === "running,idle"
      && hello.stopReason === "end_turn", states(hello.updates));
  that("text arrives in between", said(hello.updates).includes("hello world"), hello.updates);
}

async function permissions(link) {
  const allowed = await turn(link, "/run echo hi");
  const [asked, ...more] = allowed.permissions;
  that("a command asks once, with a title and what it is about",
    asked?.title && asked.subject?.type && more.length === 0, allowed.permissions);
  that("while it asks the session requires action, and then runs again",
    states(allowed.updates).map(({ state }) => state).join()
      === "running,requires_action,running,idle", states(allowed.updates));
  const [tool, ...others] = calls(allowed.updates);
  that("an allowed command completes with its output",
    others.length === 0 && tool?.status === "completed" && JSON.stringify(tool).includes("hi"),
    tool);
  await turn(link, `/run touch ${path("allowed")}`);
  that("an allowed command runs", existsSync(path("allowed")));

  link.choice = "reject_once";
  const rejected = await turn(link, `/run touch ${path("rejected")}`);
  that("a rejected command does not run and the turn goes on to its end",
    !existsSync(path("rejected")) && rejected.stopReason === "end_turn", rejected);
  link.choice = "allow_once";
}

async function options(link) {
  const set = (value) => link.exchange(agent.session.setConfigOption,
    { sessionId, configId: "mode", type: "id", value });
  const { result } = await set("auto");
  const mode = result.configOptions.find(({ configId }) => configId === "mode");
  that("set_config_option answers with the options in force",
    mode?.currentValue === "auto", result);
  const auto = await turn(link, `/run touch ${path("auto")}`);
  that("in mode auto a command runs unasked",
    auto.permissions.length === 0 && existsSync(path("auto")), auto.frames);
  await set("ask");
}

async function cancel(link) {
  const mark = link.frames.length;
  const running = turn(link, "/say before\n/sleep 30");
  await link.until(() => said(updatesIn(link.frames.slice(mark))) !== "", "the first text");
  await link.agent.notify(agent.session.cancel, { sessionId });
  const { stopReason } = await running;
  that("a cancelled turn ends in idle with cancelled", stopReason === "cancelled", stopReason);
  const after = await turn(link, "after the cancel");
  that("the next prompt runs", after.stopReason === "end_turn", after);
}

async function once(link) {
  const text = `/run echo ran >> ${path("keyed")}`;
  const first = await turn(link, text, KEYED);
  keyed = { text, messageId: first.result.messageId };
  const again = await link.exchange(agent.session.prompt,
    { sessionId, prompt: [{ type: "text", text }], ...KEYED });
  that("the same key gets the same message id", again.result.messageId === keyed.messageId, again);
}

async function listing(link) {
  const { result } = await link.exchange(agent.session.list, { cwd });
  const mine = result.sessions.filter((session) => session.sessionId === sessionId);
  that("session/list has the session with its folder and a title",
    mine.length === 1 && mine[0].title && mine[0].cwd === cwd, result);
}

async function forked(link) {
  const { result } = await link.exchange("session/fork", { sessionId, cwd, mcpServers: [] });
  that("session/fork makes another session",
    result.sessionId && result.sessionId !== sessionId, result);
  const inside = await link.turn(result.sessionId, "in the fork");
  that("the fork answers", said(inside.updates).includes("in the fork"), inside.updates);
  that("its updates carry its own id",
    inside.frames.filter((frame) => frame.method === "session/update")
      .every(({ params }) => params.sessionId === result.sessionId), inside.frames);
  return result.sessionId;
}

/** What was acknowledged is replayed, under the ids it had, and then the state of now. */
async function resumed(link, fork) {
  const replay = await link.resume(sessionId, cwd, FROM_START);
  const [was, now] = [fold(live), fold(replay.updates)];
  for (const role of ["user_message", "agent_message"]) {
    const [told, shown] = [was, now].map((ledger) => JSON.stringify(of(ledger, role)));
    that(`a new process replays every ${role} under its id, in order`, told === shown,
      [told, shown]);
  }
  that("and every tool call with its outcome",
    outcomes(was) === outcomes(now), [outcomes(was), outcomes(now)]);
  const kinds = replay.updates.map(({ sessionUpdate }) => sessionUpdate);
  const complete = kinds.indexOf("replay_complete");
  that("the replay ends with one replay_complete, then the state, then the response",
    complete === kinds.lastIndexOf("replay_complete") && complete >= 0
      && kinds.slice(complete + 1).includes("state_update")
      && !kinds.slice(0, complete).includes("state_update"), kinds);
  const child = await link.resume(fork, cwd, FROM_START);
  that("the fork has what was said before it, and its own",
    said(child.updates).includes("after the cancel")
      && said(child.updates).includes("in the fork"), child.updates);
  that("its parent has nothing of it", !said(replay.updates).includes("in the fork"),
    replay.updates);
}

async function silent(link) {
  const { updates } = await link.resume(sessionId, cwd);
  const { messages, tools } = fold(updates);
  that("a resume without replayFrom replays nothing and tells the state",
    messages.length === 0 && tools.size === 0 && states(updates).length === 1
      && !updates.some(({ sessionUpdate }) => sessionUpdate === "replay_complete"), updates);
}

async function killed(link) {
  const mark = link.frames.length;
  const seen = () => updatesIn(link.frames.slice(mark));
  // Nothing ever answers what waits for the end of this turn.
  link.turn(sessionId, `/stream ${CHUNKS} ${BYTES} ${DELAY_MS}`).catch(() => {});
  await link.until(() => said(seen()).length >= KILLED_AFTER * BYTES, "the stream");
  await link.kill();
  const idle = states(seen()).some(({ state }) => state === "idle");
  that("the server was killed in the middle of a turn", !idle, states(seen()));
  live.push(...seen());
}

async function recovered() {
  const before = connect();
  await before.initialize();
  const first = await before.resume(sessionId, cwd, FROM_START);
  await before.close();
  const [was, now] = [fold(live), fold(first.updates)];
  const told = of(was, "agent_message");
  const cut = told.pop();
  const shown = new Map(of(now, "agent_message").map(({ id, text }) => [id, text]));
  that("after SIGKILL every finished message is there under its id",
    told.every(({ id, text }) => shown.get(id) === text), [told, [...shown]]);
  const kept = shown.get(cut.id) ?? "";
  that("the text that was cut is kept as far as both know it",
    kept && (cut.text.startsWith(kept) || kept.startsWith(cut.text)), [cut, kept]);
  that("the session is idle, not running for ever",
    states(first.updates).at(-1)?.state === "idle", states(first.updates));

  const link = connect();
  await link.initialize();
  const second = await link.resume(sessionId, cwd, FROM_START);
  that("two resumes give identical sequences",
    JSON.stringify(first.updates) === JSON.stringify(second.updates),
    [first.updates, second.updates]);
  const again = await link.exchange(agent.session.prompt,
    { sessionId, prompt: [{ type: "text", text: keyed.text }], ...KEYED });
  that("the key is known after the kill", again.result.messageId === keyed.messageId, again);
  const after = await turn(link, "after the kill");
  that("the next prompt works",
    after.stopReason === "end_turn" && said(after.updates).includes("after the kill"), after);
  that("what had the key ran once", lines("keyed") === 1, lines("keyed"));
  await link.exchange(agent.session.close, { sessionId });
  that("session/close succeeds", true);
  await link.close();
}

async function scenario() {
  let link = connect();
  for (const step of [firstContact, permissions, options, cancel, once, listing]) await step(link);
  const fork = await forked(link);
  const code = await link.close();
  that("closing stdin ends the process", code === 0, code);

  link = connect();
  await link.initialize();
  await resumed(link, fork);
  await link.close();

  link = connect();
  await link.initialize();
  await silent(link);
  await killed(link);
  await recovered();
}

try {
  await within(scenario(), "the scenario", 120_000);
} catch (error) {
  // Whatever ends the scenario early is one failed check.
  that("the scenario runs to its end", false, error.stack ?? JSON.stringify(error));
}
checks.close();
// A process that did not end keeps no drive alive.
process.exit();

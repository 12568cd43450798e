// Drives `sessiond acp` by the TypeScript SDK (v1), unmodified: one session through five processes.
// Environment: SESSIOND_BIN, SESSIOND_HOME, SESSIOND_PEERS; the working directory must be empty.
import { existsSync } from "node:fs";
import { join } from "node:path";

import { Checks, within } from "./checks.mjs";
import { CAPABILITIES, connect } from "./editor.mjs";
import { calls, fold, of, outcomes, output, said, updatesIn } from "./ledger.mjs";
import { acp } from "./sdk.mjs";

const { agent } = acp.methods;

// What `/stream` is asked for: chunks, bytes of each, milliseconds between two.
const [CHUNKS, BYTES, DELAY_MS] = [400, 20, 20];
// The server is killed after this many chunks, in the middle of the stream.
const KILLED_AFTER = 100;
// LOG-17: shown text is written within 100 ms. Ten times that, for a machine that is busy.
const MAY_BE_LOST = (BYTES * 1000) / DELAY_MS;

const checks = new Checks();
const that = checks.that.bind(checks);
const cwd = process.cwd();
const path = (name) => join(cwd, name);

let sessionId;
/** Everything the session's client was ever sent. */
const live = [];

async function turn(link, text) {
  const exchange = await link.prompt(sessionId, text);
  live.push(...exchange.updates);
  return exchange;
}

async function firstContact(link) {
  const { result } = await link.initialize();
  that("initialize settles on version 1", result.protocolVersion === 1, result);
  that("agentInfo names sessiond", result.agentInfo?.name === "sessiond", result);
  that("loadSession is offered", result.agentCapabilities?.loadSession === true, result);
  const methods = result.authMethods ?? [];
  const byAgent = methods.filter(({ type = "agent" }) => type === "agent");
  that("there is one authentication method, by the agent",
    methods.length === 1 && byAgent.length === 1, methods);
  await link.exchange(agent.authenticate, { methodId: methods[0]?.id });
  that("authenticate succeeds", true);

  const created = await link.exchange(agent.session.new, { cwd, mcpServers: [] });
  ({ sessionId } = created.result);
  that("nothing about a session precedes its session/new response",
    created.frames.length === 0, created.frames);
  const update = await link.after(created);
  that("available_commands_update follows session/new",
    update.sessionUpdate === "available_commands_update", update);

  const hello = await turn(link, "hello world");
  that("text arrives before the response", said(hello.updates).includes("hello world"), hello);
  that("the turn ends with end_turn", hello.result.stopReason === "end_turn", hello.result);
  that("messages carry an id", fold(hello.updates).messages.every(({ id }) => id), hello.updates);
}

async function permissions(link) {
  const allowed = await turn(link, "/run echo hi");
  const [tool, ...more] = calls(allowed.updates);
  that("a command asks permission once", allowed.permissions.length === 1, allowed.frames);
  that("an allowed command completes with its output",
    more.length === 0 && tool?.status === "completed" && output(tool).includes("hi"), tool);
  const steps = allowed.frames.map((f) => f.params.update?.sessionUpdate ?? f.method);
  const announced = steps.indexOf("tool_call");
  const asked = steps.indexOf("session/request_permission");
  that("the tool call is announced before permission is asked",
    announced >= 0 && announced < asked
      && allowed.permissions[0]?.toolCall.toolCallId === tool?.toolCallId, steps);
  await turn(link, `/run touch ${path("allowed")}`);
  that("an allowed command runs", existsSync(path("allowed")));

  link.editor.choice = "reject_once";
  const rejected = await turn(link, `/run touch ${path("rejected")}`);
  that("a rejected command does not run", !existsSync(path("rejected")));
  that("a rejected command is shown as failed and the turn goes on to its end",
    calls(rejected.updates).map((t) => t.status).join() === "failed"
      && rejected.result.stopReason === "end_turn", rejected);
  link.editor.choice = "allow_once";
}

async function modes(link) {
  await link.exchange(agent.session.setMode, { sessionId, modeId: "auto" });
  const auto = await turn(link, `/run touch ${path("auto")}`);
  that("in mode auto a command runs unasked",
    auto.permissions.length === 0 && existsSync(path("auto")), auto.frames);
  const { result } = await link.exchange(agent.session.setConfigOption,
    { sessionId, configId: "mode", value: "ask" });
  const mode = result.configOptions.find(({ id }) => id === "mode");
  that("set_config_option answers with the options in force", mode?.currentValue === "ask", result);
  const again = await turn(link, "/run true");
  that("back in mode ask a command asks again", again.permissions.length === 1, again.frames);
}

async function cancel(link) {
  const begun = Date.now();
  const mark = link.frames.length;
  const running = turn(link, "/say before\n/sleep 30");
  await link.until(() => said(updatesIn(link.frames.slice(mark))) !== "", "the first text");
  await link.agent.notify(agent.session.cancel, { sessionId });
  const { result } = await running;
  that("a cancelled turn says so long before its sleep is over",
    result.stopReason === "cancelled" && Date.now() - begun < 15_000, result);
  const after = await turn(link, "after the cancel");
  that("the next prompt runs", after.result.stopReason === "end_turn", after);
}

async function listing(link) {
  const { result } = await link.exchange(agent.session.list, { cwd });
  const mine = result.sessions.filter((session) => session.sessionId === sessionId);
  that("session/list has the session with its folder and a title",
    mine.length === 1 && mine[0].title && mine[0].cwd === cwd, result);
}

/** A fork goes its own way: its id. */
async function forked(link) {
  const { result } = await link.exchange("session/fork", { sessionId, cwd, mcpServers: [] });
  const inside = await link.prompt(result.sessionId, "in the fork");
  that("a fork is another session, and answers",
    result.sessionId !== sessionId && said(inside.updates).includes("in the fork"), inside);
  const all = (await link.exchange(agent.session.list, { cwd })).result.sessions;
  that("session/list has both",
    [sessionId, result.sessionId].every((id) => all.some((s) => s.sessionId === id)), all);
  return result.sessionId;
}

/** A resume in a new process replays nothing, and goes on where the session was. */
async function resumed(link, id) {
  const back = await link.exchange(agent.session.resume, { sessionId: id, cwd, mcpServers: [] });
  const { messages, tools } = fold(back.updates);
  that("session/resume replays nothing", messages.length === 0 && tools.size === 0, back.frames);
  const after = await link.prompt(id, "after the resume");
  that("the resumed session answers", said(after.updates).includes("after the resume"), after);
}

/** What was acknowledged is replayed, under the ids it had. */
async function loaded(link) {
  const replay = await link.load(sessionId, cwd);
  const [was, now] = [fold(live), fold(replay.updates)];
  const told = JSON.stringify(of(was, "agent_message"));
  const shown = JSON.stringify(of(now, "agent_message"));
  that("a new process replays every message under its id, in order", told === shown, [told, shown]);
  that("a new process replays every tool call with its outcome",
    outcomes(was) === outcomes(now), [outcomes(was), outcomes(now)]);
  const update = await link.after(replay);
  that("available_commands_update follows session/load",
    update.sessionUpdate === "available_commands_update", update);
}

async function clientSide(link) {
  const { editor } = link;
  const note = path("note.txt");
  const written = await turn(link, `/write ${note} one two`);
  that("a file is written by the client", editor.writes.get(note) === "one two", written.frames);
  const read = await turn(link, `/read ${note}`);
  that("a file is read by the client",
    editor.reads.includes(note) && calls(read.updates)[0]?.status === "completed", read.frames);
  const run = await turn(link, "/run echo in-the-editor");
  const terminals = [...editor.terminals.values()];
  that("a command runs in the client's terminal",
    terminals.some((terminal) => terminal.output.includes("in-the-editor")), run.frames);
  that("the terminal is released",
    terminals.length > 0 && terminals.every(({ released }) => released), run.frames);
  that("its tool call completes", calls(run.updates)[0]?.status === "completed", run.updates);
}

async function killed(link) {
  const mark = link.frames.length;
  const seen = () => updatesIn(link.frames.slice(mark));
  let ended;
  const running = link
    .prompt(sessionId, `/stream ${CHUNKS} ${BYTES} ${DELAY_MS}`)
    .then((exchange) => (ended = exchange), (error) => error);
  await link.until(() => ended || said(seen()).length >= KILLED_AFTER * BYTES, "the stream");
  await link.kill();
  await within(running, "the end of the prompt");
  that("the server was killed in the middle of a turn", !ended, ended);
  live.push(...seen());
}

/** The message that was cut is there up to the bound; all before it is there whole. */
function interrupted(replay) {
  const [was, now] = [fold(live), fold(replay.updates)];
  const told = of(was, "agent_message");
  const cut = told.pop();
  const shown = new Map(of(now, "agent_message").map(({ id, text }) => [id, text]));
  that("after SIGKILL every finished message is there under its id",
    told.every(({ id, text }) => shown.get(id) === text), [told, [...shown]]);
  const kept = shown.get(cut.id) ?? "";
  that("the text that was cut is kept as far as both know it",
    kept && (cut.text.startsWith(kept) || kept.startsWith(cut.text)), [cut, kept]);
  that("it is marked as interrupted", /interrupted/i.test(said(replay.updates)), [...shown]);
  that("what was shown is lost by no more than its bound",
    kept.length + MAY_BE_LOST >= cut.text.length, [cut.text.length, kept.length]);
  that("every tool call is there once with its outcome",
    outcomes(was) === outcomes(now), [outcomes(was), outcomes(now)]);
}

async function recovered() {
  const before = connect();
  await before.initialize();
  const first = await before.load(sessionId, cwd);
  await before.close();
  interrupted(first);

  const link = connect();
  await link.initialize();
  const second = await link.load(sessionId, cwd);
  that("two loads give identical sequences",
    JSON.stringify(first.updates) === JSON.stringify(second.updates),
    [first.updates, second.updates]);
  const after = await turn(link, "after the kill");
  that("the next prompt works",
    after.result.stopReason === "end_turn" && said(after.updates).includes("after the kill"),
    after);
  await link.exchange(agent.session.close, { sessionId });
  that("session/close succeeds", true);
  await link.close();
}

async function scenario() {
  let link = connect();
  for (const step of [firstContact, permissions, modes, cancel, listing]) await step(link);
  const fork = await forked(link);
  const code = await link.close();
  that("closing stdin ends the process", code === 0, code);

  link = connect();
  await link.initialize(CAPABILITIES);
  for (const step of [loaded, clientSide]) await step(link);
  await resumed(link, fork);
  await link.close();

  link = connect();
  await link.initialize();
  await link.load(sessionId, cwd);
  await killed(link);
  await recovered();
}

try {
  await scenario();
} catch (error) {
  // Whatever ends the scenario early is one failed check.
  that("the scenario runs to its end", false, error.stack ?? JSON.stringify(error));
}
checks.close();
// A process that did not end keeps no drive alive.
process.exit();

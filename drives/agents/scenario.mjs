// One story for every real agent, alone and behind sessiond: meet, ask, refuse, cancel; be killed
// in the middle of an answer; come back, go on, nothing run twice.
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

import { calls, fold, of, said, updatesIn } from "../ledger.mjs";
import { Link } from "./link.mjs";

// What the slow replies are asked for: pieces, milliseconds between two.
const SLOW = "SLOW[400 25]";
// Cancelled and killed after this piece, in the middle.
const PIECE = "piece 5 ";
/** After a process was killed, those it started end at their next read. */
const ORPHANS_END_MS = 10_000;

const MOMENTS = ["agent", "sessiond"].flatMap((who) =>
  ["a command runs", "the person is asked"].map((moment) => [who, moment]));

export class Scenario {
  /** Everything the client was sent for the session, prompts that ended only. */
  live = [];
  prompts = [];
  /** What was found and is no matter of right and wrong. */
  facts = {};

  constructor({ that, start, model, work, shell, mark }) {
    Object.assign(this, { that, start, model, shell, mark });
    this.path = (name) => join(work, name);
    this.cwd = work;
  }

  lines(name) {
    const path = this.path(name);
    return existsSync(path) ? readFileSync(path, "utf8").split("\n").length - 1 : 0;
  }

  async connect() {
    const link = new Link(this.start);
    const { result } = await link.initialize();
    return { link, result };
  }

  async turn(link, text) {
    const exchange = await link.prompt(this.sessionId, text);
    this.prompts.push(text);
    this.live.push(...exchange.updates);
    return exchange;
  }

  async meet() {
    const { link, result } = await this.connect();
    this.that("initialize settles on version 1", result.protocolVersion === 1, result);
    const { agentInfo, agentCapabilities: can = {}, authMethods = [] } = result;
    const session = Object.keys(can.sessionCapabilities ?? {}).sort();
    Object.assign(this.facts, {
      agent: `${agentInfo?.name} ${agentInfo?.version}`,
      loads: can.loadSession === true,
      session,
      authMethods: authMethods.map(({ id }) => id),
    });
    const created = await link.exchange("session/new", { cwd: this.cwd, mcpServers: [] });
    this.sessionId = created.result.sessionId;
    this.facts.modes = created.result.modes?.availableModes.map(({ id }) => id) ?? [];
    this.facts.options = created.result.configOptions?.map(({ id }) => id) ?? [];

    const hello = await this.turn(link, "hello there");
    this.that("the model's text arrives", said(hello.updates).includes("You said: hello there"),
      hello.updates);
    this.that("the turn ends with end_turn", hello.result.stopReason === "end_turn", hello.result);
    const ids = hello.updates.filter((u) => u.sessionUpdate === "agent_message_chunk");
    this.facts.messageIds = ids.every(({ messageId }) => messageId);
    return link;
  }

  async permission(link) {
    // What it prints is not in the prompt.
    const allowed = await this.turn(link, `${this.shell}[echo ran >> ran.txt; printf out%s7 -]`);
    this.that("a command asks once", allowed.permissions.length === 1, allowed.frames);
    this.that("an allowed command ran once", this.lines("ran.txt") === 1, allowed.frames);
    const tools = calls(allowed.updates).filter(({ kind }) => kind === "execute");
    this.that("its tool call is completed",
      tools.length === 1 && tools[0].status === "completed", tools);
    const order = allowed.frames.map((f) => f.params?.update?.sessionUpdate ?? f.method);
    const announced = order.indexOf("tool_call");
    this.facts.announcesBeforeItAsks =
      announced >= 0 && announced < order.indexOf("session/request_permission");
    this.that("the model was shown what it printed",
      JSON.stringify(this.model.shown()).includes("out-7"), allowed.frames);

    link.choice = "reject_once";
    const refused = await this.turn(link, `${this.shell}[touch refused.txt]`);
    link.choice = "allow_once";
    this.that("a refused command did not run",
      refused.permissions.length === 1 && !existsSync(this.path("refused.txt")), refused.frames);
    this.facts.afterARefusal = refused.result.stopReason;
  }

  async cancel(link) {
    const mark = link.frames.length;
    const running = this.turn(link, `${SLOW} cancelled`);
    await link.until(() => said(updatesIn(link.frames.slice(mark))).includes(PIECE), "its text");
    link.notify("session/cancel", { sessionId: this.sessionId });
    const { result, updates } = await running;
    this.that("a cancelled turn says so and stops",
      result.stopReason === "cancelled" && !said(updates).includes("piece 400"), result);
    const after = await this.turn(link, "after the cancel");
    this.that("the next prompt is answered",
      said(after.updates).includes("after the cancel"), after);
  }

  /** SIGKILL for the agent behind sessiond, in the middle of its answer; `part` of its command line. */
  async agentKilled(link, part) {
    const mark = link.frames.length;
    const running = this.turn(link, `${this.shell}[echo alone >> alone.txt] THEN ${SLOW}`)
      .then(() => "ended", () => "failed");
    const seen = () => said(updatesIn(link.frames.slice(mark)));
    await link.until(() => seen().includes(PIECE), "the slow answer");
    const agents = marked(this.mark).filter((line) => line.includes(part));
    for (const line of agents) process.kill(Number.parseInt(line, 10), "SIGKILL");
    this.that("an agent that is killed is a failed turn",
      agents.length > 0 && (await running) === "failed", agents);
    const after = await this.turn(link, "after the agent was killed");
    this.that("the next prompt starts it, and is answered",
      said(after.updates).includes("after the agent was killed"), after);
    this.that("what it ran is not run again", this.lines("alone.txt") === 1);
    const shown = JSON.stringify(this.model.shown());
    const missing = ["hello there", "echo alone"].filter((text) => !shown.includes(text));
    this.that("its model was shown the conversation before", missing.length === 0, missing);
  }

  /**
   * SIGKILL at other moments of a turn, for the agent and for sessiond: while its command runs, and
   * while the person is asked. The newest link.
   */
  async killedAtMoments(link, part) {
    for (const [number, [who, moment]] of MOMENTS.entries()) {
      const name = `${who} killed while ${moment}`;
      const file = `moment-${number}.txt`;
      const mark = link.frames.length;
      link.choice = moment === "a command runs" ? "allow_once" : null;
      const text = `${this.shell}[echo ran >> ${file}; sleep 30]`;
      const running = link.prompt(this.sessionId, text).then(() => "ended", () => "failed");
      const asked = () => link.frames.slice(mark).some(
        ({ method }) => method === "session/request_permission");
      await link.until(asked, "the question");
      if (moment === "a command runs") await until(() => this.lines(file) === 1, "the command");
      link.choice = "allow_once";
      if (who === "agent") {
        const agents = marked(this.mark).filter((line) => line.includes(part));
        for (const line of agents) process.kill(Number.parseInt(line, 10), "SIGKILL");
      } else {
        await link.kill();
      }
      this.that(`${name}: the turn does not end well`, (await running) === "failed");
      const left = who === "agent" ? [] : await orphans(this.mark);
      this.that(`${name}: nothing is left running`, left.length === 0, left);
      if (who !== "agent") ({ link } = await this.back());
      const after = await link.prompt(this.sessionId, `after moment ${number}`);
      this.that(`${name}: the next prompt is answered`,
        said(after.updates).includes(`after moment ${number}`), after);
      const ran = moment === "a command runs" ? 1 : 0;
      this.that(`${name}: it ran ${ran} times`, this.lines(file) === ran, this.lines(file));
      const shown = JSON.stringify(this.model.shown());
      this.that(`${name}: the model knows of it`,
        shown.includes("hello there") && shown.includes(file), shown.slice(-2000));
    }
    return link;
  }

  async killed(link) {
    const mark = link.frames.length;
    const text = `${this.shell}[echo once >> once.txt] THEN ${SLOW}`;
    this.prompts.push(text);
    const running = link.prompt(this.sessionId, text).then(() => "ended", () => "broke off");
    const seen = () => updatesIn(link.frames.slice(mark));
    await link.until(() => said(seen()).includes(PIECE), "the slow answer");
    await link.kill();
    this.that("it was killed in the middle of an answer", (await running) === "broke off");
    this.cut = seen();
    const left = await orphans(this.mark);
    this.facts.leftAfterKill = left.length;
    return left;
  }

  /** Loads the session in a new process: what it replays. */
  async back() {
    const { link } = await this.connect();
    const params = { sessionId: this.sessionId, cwd: this.cwd, mcpServers: [] };
    const replay = await link.exchange("session/load", params);
    // Some answer first and replay after it; that is too late to be one.
    const users = of(fold(replay.updates), "user_message");
    this.facts.replaysBeforeItAnswers = users.length > 0;
    return { link, replay: replay.updates };
  }

  /** What of the finished turns the replay lacks. */
  lost(replay) {
    const [was, now] = [fold(this.live), fold(replay)];
    const text = of(now, "agent_message").map((m) => m.text).join("");
    const users = of(now, "user_message").map((m) => m.text).join("\n");
    const tools = [...was.tools.values()].filter(({ kind }) => kind === "execute");
    return [
      ...this.prompts.filter((prompt) => !users.includes(prompt)),
      ...sentences(was).filter((sentence) => !text.includes(sentence)),
      ...tools
        .filter((tool) => now.tools.get(tool.toolCallId)?.status !== tool.status)
        .map((tool) => `${tool.toolCallId} ${tool.status}`),
    ];
  }

  async goOn(link) {
    this.that("nothing ran twice", this.lines("once.txt") === 1, this.lines("once.txt"));
    const after = await this.turn(link, "after the kill");
    this.that("the next prompt is answered in the old session",
      said(after.updates).includes("after the kill"), after);
    const shown = JSON.stringify(this.model.shown());
    const missing = ["hello there", "out-7", "after the cancel"].filter((t) => !shown.includes(t));
    this.that("the model was shown the conversation before", missing.length === 0, missing);
    const again = await this.turn(link, `${this.shell}[echo ran >> ran.txt]`);
    this.that("a command asks and runs as before",
      again.permissions.length === 1 && this.lines("ran.txt") === 2, again.frames);
    this.that("and still nothing ran twice", this.lines("once.txt") === 1);
    await link.close();
    const left = await orphans(this.mark);
    this.that("no process is left after the end", left.length === 0, left);
  }
}

/** The texts the scripted model is known to have said; agents add words of their own. */
const sentences = (ledger) =>
  of(ledger, "agent_message")
    .map(({ text }) => text)
    .join("")
    .match(/You said: [a-z ]+/g) ?? [];

/** Waits for something outside of the frames. */
async function until(condition, what) {
  const end = Date.now() + ORPHANS_END_MS;
  while (!condition()) {
    if (Date.now() > end) throw new Error(`${what} did not come`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Processes with the mark in their environment, once they had the time to end. */
async function orphans(mark) {
  const end = Date.now() + ORPHANS_END_MS;
  for (;;) {
    const left = marked(mark);
    if (left.length === 0 || Date.now() > end) return left;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** The processes that carry the mark: id and command line. */
export function marked(mark) {
  const needle = `SESSIOND_DRIVE=${mark}`;
  const read = (pid, name) => {
    try {
      return readFileSync(`/proc/${pid}/${name}`, "utf8").split("\0");
    } catch {
      return []; // It ended meanwhile, or is not ours.
    }
  };
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && read(name, "environ").includes(needle))
    .map((pid) => `${pid} ${read(pid, "cmdline").join(" ")}`);
}

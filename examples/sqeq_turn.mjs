// @ts-check
// Runs a turn over sessiond's native protocol, answers its question, and reads it again.
//
// One JSON object a line, both ways; Node's own modules only. TypeScript checks it by its comments.
// The second process of sessiond knows nothing of the first: it finds the session by its id and
// sends the events after a cursor.
//
//     usage: node sqeq_turn.mjs        (sessiond on PATH, or named by SESSIOND_BIN)
import { spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { createInterface } from "node:readline";
import { isDeepStrictEqual } from "node:util";

/** @typedef {{ type: string, [member: string]: any }} Frame */

const SESSIOND = process.env.SESSIOND_BIN ?? "sessiond";
const PROMPT = "Now for a command.\n/run echo it ran";

/** One process of `sessiond sqeq`. */
class Client {
  #process = spawn(SESSIOND, ["sqeq"], { stdio: ["pipe", "pipe", "inherit"] });
  #lines = createInterface({ input: this.#process.stdout })[Symbol.asyncIterator]();
  #ended = once(this.#process, "close");
  #submitted = 0;

  async greet() {
    const client = { name: "sqeq_turn", version: "1" };
    this.send("hello", { versions: [1], client });
    const welcome = await this.next();
    if (welcome.type !== "welcome") throw new Error(`not welcome: ${JSON.stringify(welcome)}`);
    return this;
  }

  /** @param {string} type @param {object} [members] */
  send(type, members) {
    this.#process.stdin.write(`${JSON.stringify({ v: 1, type, ...members })}\n`);
  }

  /** The next frame. @returns {Promise<Frame>} */
  async next() {
    const { value, done } = await this.#lines.next();
    if (done) throw new Error("sessiond ended the connection");
    return JSON.parse(value);
  }

  /**
   * Submits an operation: what was accepted, and the events that came before.
   * @param {Frame} op
   * @param {string} [session]
   */
  async submit(op, session) {
    const id = `s${(this.#submitted += 1)}`;
    this.send("submission", { id, session, op });
    /** @type {Frame[]} */
    const events = [];
    for (;;) {
      const frame = await this.next();
      if (frame.type === "event") events.push(frame);
      if (frame.type !== "receipt" || frame.id !== id) continue;
      if (frame.error) throw new Error(`${op.type}: ${frame.error.code}: ${frame.error.message}`);
      return { accepted: frame.accepted, events };
    }
  }

  /**
   * Runs a turn to its end, allowing what it asks; its events.
   * @param {string} session
   * @param {string} text
   */
  async turn(session, text) {
    const op = { type: "turn.start", input: [{ type: "text", text }] };
    const { accepted, events } = await this.submit(op, session);
    for (;;) {
      const frame = await this.next();
      if (frame.type === "request") {
        console.log("asked:", frame.payload.title);
        // The digest says that we have seen exactly this question.
        const outcome = { type: "selected", option: "allow_once" };
        this.send("answer", { request: frame.id, digest: frame.digest, outcome });
      } else if (frame.type === "event") {
        events.push(frame);
        if (frame.event.type === "turn.ended" && frame.turn === accepted.turn) return events;
      }
    }
  }

  async close() {
    this.send("bye");
    this.#process.stdin.end();
    const [code] = await this.#ended;
    if (code !== 0) throw new Error(`sessiond ended with ${code}`);
  }
}

/** @param {Frame[]} events */
function show(events) {
  for (const { event } of events) {
    if (event.type !== "item.ended") continue;
    const { item } = event;
    if (item.type === "agent_message") console.log("agent:", item.text);
    if (item.type === "tool_call") console.log(`tool:  ${item.title}: ${item.status}`);
  }
}

let client = await new Client().greet();
const opened = await client.submit({ type: "session.new", cwd: process.cwd() });
const { session } = opened.accepted;
const lived = await client.turn(session, PROMPT);
show(lived);
await client.close();

client = await new Client().greet();
// Cursor 1 is the session's own beginning; all after it is the turn.
const resume = { type: "session.resume", session, replay: { after: 1 } };
const { events: replayed } = await client.submit(resume);
await client.close();
console.log(`\nsession ${session}, replayed by another process:`);
show(replayed);

// Those with a cursor are in the log.
const durable = lived.filter(({ cursor }) => cursor > 1);
if (replayed.length === 0 || !isDeepStrictEqual(durable, replayed)) {
  throw new Error("the replay is not what was lived through");
}
if (replayed.at(-1)?.event.outcome !== "completed") throw new Error("the turn did not complete");

// Sessions of sessiond that are written where the Claude CLI looks for its own, read by the unmodified
// Claude agent SDK for TypeScript: its list, and its reader of transcripts.
import { execFileSync } from "node:child_process";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { createRequire } from "node:module";

import { Checks, within } from "./checks.mjs";

const { resolve: find } = createRequire(join(process.env.SESSIOND_PEERS, "claude", "package.json"));
const sdk = await import(pathToFileURL(find("@anthropic-ai/claude-agent-sdk")));
const { getSessionMessages, listSessions, renameSession } = sdk;

const checks = new Checks();
const sessiond = (...words) =>
  execFileSync(process.env.SESSIOND_BIN, words, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
const said = (message) => {
  const { content } = message.message;
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content;
  return blocks.map((block) => block.text ?? block.name ?? block.content);
};

try {
  sessiond("exec", "/say one\n/run echo hi\n/say after");
  sessiond("exec", "--last", "second prompt");
  const [{ session }] = JSON.parse(sessiond("sessions", "list", "--json")).sessions;
  sessiond("sessions", "rename", session, "a title of its own");
  const wrote = JSON.parse(sessiond("transcript", "convert", session, "--to", "claude", "--json"));
  checks.that("it lies in a folder of the CLI's",
    dirname(dirname(wrote.file)).endsWith("/projects"), wrote);

  const dir = process.cwd();
  const listed = (await within(listSessions({ dir }), "a list")).find((it) => it.sessionId === session);
  checks.that("the SDK lists it, with its title", listed?.summary === "a title of its own", listed);
  const messages = await within(getSessionMessages(session, { dir }), "a reader");
  const all = messages.flatMap(said);
  // Tools have Claude's names in its transcripts.
  const wanted = ["one", "Bash", "after", "second prompt", "second prompt"];
  checks.that("the SDK reads all of it, in order",
    wanted.every((text, at) => all.slice(1).filter((it) => wanted.includes(it))[at] === text), all);
  const calls = messages.flatMap((it) => it.message.content).filter((it) => it.type === "tool_use");
  const results = messages.flatMap((it) => it.message.content).filter((it) => it.type === "tool_result");
  checks.that("each call has its result",
    calls.length === 1 && results.length === 1 && results[0].tool_use_id === calls[0].id, messages);

  // What another program adds comes back with the rest, and what was there stays as it was.
  await within(renameSession(session, "renamed by the SDK", { dir }), "a rename");
  const other = "0191f0aa-0000-7000-8000-000000000000";
  const taken = JSON.parse(sessiond("sessions", "import", wrote.file, "--as", other, "--json"));
  checks.that("it is taken in again, with the title it got there",
    taken.title === "renamed by the SDK", taken);
  const shown = sessiond("sessions", "show", other);
  const told = ["one", "echo hi", "after", "second prompt"];
  checks.that("and says the same", told.every((text) => shown.includes(text)), shown);
} catch (error) {
  checks.that("the drive runs to its end", false, error?.stack ?? String(error));
}
checks.close();

// Drives `sessiond-claude` through the unmodified Claude agent SDK for TypeScript: the SDK starts it
// in place of its CLI. Where the Python drive tells a story, this one tells what the two SDKs do
// differently: joined flags, prompts before the answer to initialize, servers named in initialize.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve as resolvePath } from "node:path";
import { pathToFileURL } from "node:url";
import { createRequire } from "node:module";

import { Checks, within } from "./checks.mjs";

const { resolve: find } = createRequire(join(process.env.SESSIOND_PEERS, "claude", "package.json"));
const load = (name) => import(pathToFileURL(find(name)));
const { createSdkMcpServer, query, tool } = await load("@anthropic-ai/claude-agent-sdk");
const { z } = await load("zod");

const CLI = join(dirname(process.env.SESSIOND_BIN), "sessiond-claude");
const checks = new Checks();

const options = (more = {}) => ({ pathToClaudeCodeExecutable: CLI, ...more });
const user = (content) => ({
  type: "user",
  message: { role: "user", content },
  parent_tool_use_id: null,
  session_id: "",
});
async function* stream(...prompts) {
  for (const prompt of prompts) yield user(prompt);
}
async function collect(messages) {
  const all = [];
  for await (const message of messages) all.push(message);
  return all;
}
const ask = (prompt, more) => within(collect(query({ prompt, options: options(more) })), "a query");
const types = (messages) => messages.map((message) => message.type);
const blocks = (messages, type) =>
  messages.flatMap((message) => message.message?.content ?? []).filter((block) => block.type === type);

/** An input that is held open: what is pushed is sent. */
class Held {
  waiting = [];
  wake = () => {};
  open = true;
  push(text) {
    this.waiting.push(user(text));
    this.wake();
  }
  close() {
    this.open = false;
    this.wake();
  }
  async *[Symbol.asyncIterator]() {
    while (this.open || this.waiting.length) {
      if (this.waiting.length) yield this.waiting.shift();
      else await new Promise((wake) => (this.wake = wake));
    }
  }
}

const parts = {
  async speak() {
    const messages = await ask("hello there");
    checks.that("a turn is init, answer, result",
      types(messages).join() === "system,assistant,result", types(messages));
    checks.that("the result repeats the answer", messages.at(-1).result === "hello there", messages);
    const partial = await ask("hello there", { includePartialMessages: true });
    const events = partial.filter((message) => message.type === "stream_event");
    const deltas = events.map((message) => message.event.delta?.text ?? "");
    checks.that("partial messages join to the answer", deltas.join("") === "hello there", deltas);
    const two = await ask(stream("first", [{ type: "text", text: "second" }]));
    checks.that("two prompts, a text and blocks, get two results",
      two.filter((it) => it.type === "result").map((it) => it.result).join() === "first,second", two);
  },

  async permit() {
    const seen = [];
    const canUseTool = async (name, input, { toolUseID }) => {
      seen.push([name, toolUseID]);
      if (input.command.includes("forbidden")) return { behavior: "deny", message: "not today" };
      return { behavior: "allow", updatedInput: input };
    };
    const messages = await ask("/run echo ran > permitted.txt\n/run echo x > forbidden.txt", { canUseTool });
    const uses = blocks(messages, "tool_use").map((use) => use.id);
    checks.that("the program is asked about each call, by its id",
      seen.map(([name, id]) => `${name} ${id}`).join() === uses.map((id) => `Bash ${id}`).join(), seen);
    checks.that("what it allows runs, what it denies does not",
      readFileSync("permitted.txt", "utf8") === "ran\n" && !existsSync("forbidden.txt"));
    const denied = blocks(messages, "tool_result").filter((result) => result.is_error);
    checks.that("the call says why", denied.length === 1 && denied[0].content.includes("not today"), denied);
  },

  async hook() {
    const seen = [];
    const note = async (input) => {
      seen.push(input.hook_event_name);
      return {};
    };
    const events = ["UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"];
    const hooks = Object.fromEntries(events.map((event) => [event, [{ hooks: [note] }]]));
    await ask("/run echo hi", { hooks, allowedTools: ["Bash"] });
    checks.that("hooks are called in order", seen.join() === events.join(), seen);
    writeFileSync("kept.txt", "x");
    const change = async ({ tool_input: input }) => ({
      hookSpecificOutput: {
        hookEventName: "PreToolUse",
        permissionDecision: "allow",
        updatedInput: { ...input, command: "echo changed > kept.txt" },
      },
    });
    await ask("/run rm kept.txt", { hooks: { PreToolUse: [{ matcher: "Bash|Read", hooks: [change] }] } });
    checks.that("a hook allows a call with another input",
      readFileSync("kept.txt", "utf8") === "changed\n");
  },

  async serve() {
    const calls = [];
    const add = tool("add", "adds", { a: z.number(), b: z.number() }, async ({ a, b }) => {
      calls.push([a, b]);
      return { content: [{ type: "text", text: String(a + b) }] };
    });
    const mcpServers = { calc: createSdkMcpServer({ name: "calc", version: "1", tools: [add] }) };
    const messages = await ask('/mcp calc add {"a": 1, "b": 2}', { mcpServers });
    checks.that("a server in the program is called", calls.join() === "1,2", messages);
    checks.that("its answer is the result", blocks(messages, "tool_result")[0].content === "3", messages);
  },

  async elicit() {
    const seen = [];
    const onElicitation = async (request) => {
      seen.push(request);
      return { action: "accept", content: { answer: "Ada" } };
    };
    const messages = await ask("/ask Who are you?", { onElicitation });
    checks.that("the program is asked what the agent asks the user",
      seen.length === 1 && seen[0].message === "Who are you?" && seen[0].mode === "form"
        && seen[0].requestedSchema?.required?.[0] === "answer", seen);
    checks.that("its answer reaches the agent", messages.at(-1).result === "Answer: Ada", messages);
    const nobody = await ask("/ask Who are you?");
    checks.that("without a callback the question is declined",
      nobody.at(-1).result === "The question was declined.", nobody);
  },

  async serveBehind() {
    const calls = [];
    const add = tool("add", "adds", { a: z.number(), b: z.number() }, async ({ a, b }) => {
      calls.push([a, b]);
      return { content: [{ type: "text", text: String(a + b) }] };
    });
    const command = [process.env.SESSIOND_BIN, "--store", resolvePath("behind"), "acp", "--agent", "script"];
    writeFileSync("behind.toml", `[agents.peer]\nkind = "acp"\ncommand = ${JSON.stringify(command)}\n`);
    const env = { ...process.env, SESSIOND_CONFIG: resolvePath("behind.toml"), SESSIOND_AGENT: "peer" };
    const mcpServers = () => ({ calc: createSdkMcpServer({ name: "calc", version: "1", tools: [add] }) });
    const permissionMode = "bypassPermissions";
    const first = await ask('/mcp calc add {"a": 1, "b": 2}', { mcpServers: mcpServers(), env, permissionMode });
    checks.that("an ACP agent calls a server in the program", calls.join() === "1,2", first);
    const resume = first.at(-1).session_id;
    await ask('/mcp calc add {"a": 3, "b": 4}', { mcpServers: mcpServers(), env, permissionMode, resume });
    checks.that("also in a session that is resumed", calls.length === 2, calls);
  },

  async goOn() {
    const first = (await ask("one")).at(-1).session_id;
    const again = (await ask("two", { resume: first })).at(-1).session_id;
    const fork = (await ask("three", { resume: first, forkSession: true })).at(-1).session_id;
    checks.that("a resumed session keeps its id, a fork gets its own",
      again === first && fork !== first, [first, again, fork]);
    const gone = await ask("x", { resume: "0191f0aa-0000-7000-8000-000000000000" }).catch(String);
    checks.that("a session that is not there is an error that names it",
      String(gone).includes("0191f0aa"), gone);
  },

  async converse() {
    const held = new Held();
    const talk = query({ prompt: held, options: options({ canUseTool: async () => ({ behavior: "deny", message: "no" }) }) });
    const results = [];
    const talked = (async () => {
      held.push("one");
      for await (const message of talk) {
        if (message.type === "system" && message.subtype === "init" && results.length === 1) {
          results.push(await talk.interrupt());
        }
        if (message.type !== "result") continue;
        results.push(message);
        if (results.length === 1) {
          checks.that("the program learns the commands",
            (await talk.supportedCommands()).some((command) => command.name === "run"));
          checks.that("and the models", (await talk.supportedModels()).length > 0);
          await talk.setPermissionMode("bypassPermissions");
          checks.that("servers are listed", (await talk.mcpServerStatus()).length === 0);
          held.push("/sleep 60");
        } else if (results.length === 3) held.push("/run echo x > bypassed.txt");
        else held.close();
      }
    })();
    await within(talked, "a conversation");
    checks.that("an interrupted turn ends with an error result",
      results[2]?.subtype === "error_during_execution", results);
    checks.that("a mode that allows everything counts", existsSync("bypassed.txt"), results);
    checks.that("and the conversation ends well", results[3]?.subtype === "success", results);
  },

  async shape() {
    const schema = { type: "object", properties: { a: { type: "number" } }, required: ["a"] };
    const outputFormat = { type: "json_schema", schema };
    const good = (await ask('/json {"a": 1}', { outputFormat })).at(-1);
    checks.that("an answer of the wanted shape is given as data", good.structured_output?.a === 1, good);
  },
};

for (const [name, part] of Object.entries(parts)) {
  try {
    await part();
  } catch (error) {
    checks.that(`${name} runs to its end`, false, error?.stack ?? String(error));
  }
}
checks.close();

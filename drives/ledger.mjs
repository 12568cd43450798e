// What a client knows of a session: the fold of the `session/update` frames it was sent.

/** The updates among frames. */
export const updatesIn = (frames) =>
  frames.filter(({ method }) => method === "session/update").map(({ params }) => params.update);

/** Folds updates, in the order of the wire, into messages in order and tool calls by id. */
export function fold(updates) {
  const messages = [];
  const tools = new Map();
  for (const update of updates) {
    const kind = update.sessionUpdate;
    if (kind.endsWith("_chunk")) chunk(messages, kind.replace(/_chunk$/, ""), update);
    else if (kind === "tool_call" || kind === "tool_call_update") {
      const id = update.toolCallId;
      tools.set(id, { status: "pending", ...tools.get(id), ...update });
    }
  }
  return { messages, tools };
}

function chunk(messages, role, { messageId: id, content }) {
  let message = messages.find((m) => id && m.role === role && m.id === id);
  if (!message) messages.push((message = { role, id, text: "" }));
  message.text += content.text ?? "";
}

/** The messages of one role, in order. */
export const of = (ledger, role) => ledger.messages.filter((message) => message.role === role);

/** Everything the agent said. */
export const said = (updates) => of(fold(updates), "agent_message").map((m) => m.text).join("");

/** The tool calls, in the order they began. */
export const calls = (updates) => [...fold(updates).tools.values()];

/** The text among a tool call's content. */
export const output = (tool) => (tool.content ?? []).map((c) => c.content?.text ?? "").join("");

/** Tool calls as id and outcome, to compare. */
export const outcomes = (ledger) =>
  JSON.stringify([...ledger.tools.values()].map((t) => [t.toolCallId, t.status]));

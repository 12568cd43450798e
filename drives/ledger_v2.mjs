// What a v2 client knows of a session: the fold of its `session/update` frames. Chunks append;
// everything else patches: an omitted member stays, null clears, a value replaces.

/** Folds updates, in the order of the wire, into messages in order and tool calls by id. */
export function fold(updates) {
  const messages = new Map();
  const tools = new Map();
  for (const update of updates) {
    const { sessionUpdate: kind, messageId: id, toolCallId } = update;
    const [, role] = /^((?:user|agent)_(?:message|thought))/.exec(kind) ?? [];
    if (role) {
      const message = messages.get(id) ?? { role, id, text: "" };
      messages.set(id, message);
      if (kind.endsWith("_chunk")) message.text += text(update.content);
      else if (update.content !== undefined)
        message.text = (update.content ?? []).map(text).join("");
    } else if (kind === "tool_call_update") {
      tools.set(toolCallId, patched(tools.get(toolCallId) ?? { status: "pending" }, update));
    } else if (kind === "tool_call_content_chunk") {
      const tool = tools.get(toolCallId) ?? { status: "pending" };
      tools.set(toolCallId, { ...tool, content: [...(tool.content ?? []), update.content] });
    }
  }
  return { messages: [...messages.values()], tools };
}

const text = (block) => block?.text ?? "";

function patched(tool, update) {
  const next = { ...tool };
  for (const [key, value] of Object.entries(update)) {
    if (value === null) delete next[key];
    else next[key] = value;
  }
  return next;
}

/** The messages of one role, in order. */
export const of = (ledger, role) => ledger.messages.filter((message) => message.role === role);

/** Everything the agent said. */
export const said = (updates) => of(fold(updates), "agent_message").map((m) => m.text).join("");

/** The tool calls, in the order they began. */
export const calls = (updates) => [...fold(updates).tools.values()];

/** Tool calls as id and outcome, to compare. */
export const outcomes = (ledger) =>
  JSON.stringify([...ledger.tools.values()].map((t) => [t.toolCallId, t.status]));

/** The states the session went through. */
export const states = (updates) =>
  updates.filter(({ sessionUpdate }) => sessionUpdate === "state_update");

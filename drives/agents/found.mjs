// What each agent was found to do, in the exact versions installed: docs/agents.md tells it to
// people, and the drive compares, so that a newer version that does otherwise is noticed. What a
// run cannot tell reliably (how long a killed agent leaves something running) is not compared.

/** What every agent without modes, options and capabilities of sessions does. */
const plain = {
  loads: true,
  session: [],
  modes: [],
  options: [],
  messageIds: true,
  announcesBeforeItAsks: true,
  afterARefusal: "end_turn",
  replaysBeforeItAnswers: true,
  lostInItsReplay: [],
};

const alone = {
  claude: {
    ...plain,
    agent: "@agentclientprotocol/claude-agent-acp 0.101.0",
    session: [
      "additionalDirectories", "close", "delete", "fork", "list", "resume", "systemPrompt",
    ],
    modes: ["default", "acceptEdits", "plan", "auto"],
    options: ["mode", "model", "effort", "fast", "ultracode"],
  },
  codex: {
    ...plain,
    agent: "@agentclientprotocol/codex-acp 2.6.0",
    session: [
      "additionalDirectories", "close", "delete", "fork", "list", "resume", "subagents",
      "systemPrompt", "title",
    ],
    modes: ["read-only", "workspace-write", "agent", "agent-full-access"],
    options: ["mode", "collaboration_mode", "model"],
    messageIds: false,
    afterARefusal: "cancelled",
    // The status of the refused call, whose id holds a number of the run.
    lostInItsReplay: undefined,
  },
  gemini: {
    ...plain,
    agent: "gemini-cli 0.61.0",
    modes: ["default", "autoEdit", "yolo", "plan"],
    messageIds: false,
    announcesBeforeItAsks: false,
    replaysBeforeItAnswers: undefined,
    lostInItsReplay: undefined,
  },
  opencode: {
    ...plain,
    agent: "OpenCode 1.18.33",
    session: ["close", "fork", "list", "resume"],
    options: ["model", "mode"],
  },
  sample: { ...plain, agent: "sample 0.0.0" },
  sample_forgetful: {
    ...plain,
    agent: "sample 0.0.0",
    loads: false,
    replaysBeforeItAnswers: undefined,
    lostInItsReplay: undefined,
  },
};

/** What sessiond is, whoever is behind it: nothing is lost, nothing is announced late. */
const sessiond = {
  ...plain,
  session: [
    "additionalDirectories", "archive", "close", "delete", "fork", "list", "options", "resume",
    "status", "systemPrompt", "title",
  ],
};

const behind = {
  // Its other two options are switches, which this client does not offer to show.
  claude: { ...sessiond, modes: alone.claude.modes, options: ["mode", "model", "effort"] },
  claude_cli: {
    ...sessiond,
    modes: ["default", "acceptEdits", "plan", "dontAsk"],
    options: ["mode", "model"],
  },
  codex: { ...sessiond, modes: alone.codex.modes, options: alone.codex.options },
  codex_cli: { ...sessiond, options: ["model", "approval_policy", "sandbox"] },
  gemini: { ...sessiond, modes: alone.gemini.modes, options: ["mode"] },
  opencode: { ...sessiond, modes: ["build", "plan"], options: ["mode", "model"] },
  sample: sessiond,
  sample_forgetful: sessiond,
};

const found = { alone, behind };

/** Where the facts of a run differ from what was found before: `[name, before, now]` each. */
export function differences(agent, way, facts) {
  return Object.entries(found[way][agent])
    .filter(([, before]) => before !== undefined)
    .filter(([name, before]) => JSON.stringify(before) !== JSON.stringify(facts[name]))
    .map(([name, before]) => [name, before, facts[name]]);
}

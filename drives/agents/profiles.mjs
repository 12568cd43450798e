// The real agents: how each is started and pointed at the scripted model server. What they were
// found to do is in docs/agents.md.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { more } from "./claude_cli.mjs";
import { codexBinary, codexConfig } from "./codex_binary.mjs";

const installed = join(process.env.SESSIOND_PEERS ?? "", "agents", "node_modules");
const node = process.execPath;

/** A dummy: the server looks at no key, and no real one is in the environment. */
const KEY = "dummy";

const claude = {
  package: "@agentclientprotocol/claude-agent-acp",
  command: [node, join(installed, "@agentclientprotocol/claude-agent-acp/dist/index.js")],
  env: ({ url }) => ({
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: KEY,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  }),
  // Its mode of today asks a classifier, not the person.
  files: { ".claude/settings.json": { permissions: { defaultMode: "default" } } },
  shell: "SHELL",
};

const platform = `@anthropic-ai/claude-agent-sdk-${process.platform}-${process.arch}`;

/** The CLI itself, which speaks no ACP: only behind sessiond. */
const claudeCli = {
  package: platform,
  kind: "claude",
  ways: ["behind"],
  more,
  command: [join(process.env.SESSIOND_PEERS ?? "", "claude-cli/node_modules", platform, "claude")],
  env: claude.env,
  files: claude.files,
  shell: "SHELL",
};

const codex = {
  package: "@agentclientprotocol/codex-acp",
  command: [node, join(installed, "@agentclientprotocol/codex-acp/dist/index.js")],
  env: ({ url }) => ({
    OPENAI_API_KEY: KEY,
    NO_BROWSER: "1",
    // Its mode of today lets a model review what leaves the sandbox; this one asks the person.
    INITIAL_AGENT_MODE: "read-only",
    MODEL_PROVIDER: "scripted",
    CODEX_CONFIG: JSON.stringify({
      model: "scripted",
      model_provider: "scripted",
      model_providers: {
        scripted: {
          name: "scripted",
          base_url: `${url}/v1`,
          wire_api: "responses",
          env_key: "OPENAI_API_KEY",
        },
      },
    }),
  }),
  // Only what asks to leave the sandbox is asked about.
  shell: "SUDO",
};

/** Codex itself, which speaks no ACP: only behind sessiond. */
const codexCli = {
  package: "@openai/codex",
  kind: "codex",
  ways: ["behind"],
  command: [codexBinary()],
  env: () => ({ OPENAI_API_KEY: KEY }),
  prepare: ({ home }, url) => {
    mkdirSync(join(home, ".codex"), { recursive: true });
    writeFileSync(join(home, ".codex", "config.toml"), codexConfig(url));
  },
  // Only what asks to leave the sandbox is asked about.
  shell: "SUDO",
  process: "app-server",
};

const gemini = {
  package: "@google/gemini-cli",
  // Without a model named it first asks one to choose, and wants JSON for an answer.
  command: [node, join(installed, "@google/gemini-cli/bundle/gemini.js"), "--acp",
    "--model", "gemini-2.5-flash"],
  env: ({ url }) => ({
    GOOGLE_GEMINI_BASE_URL: url,
    GEMINI_API_KEY: KEY,
    // Otherwise it starts itself once more, and a killed one goes on answering.
    GEMINI_CLI_NO_RELAUNCH: "true",
  }),
  files: { ".gemini/settings.json": { privacy: { usageStatisticsEnabled: false } } },
  shell: "SHELL",
  // A load within the minute in which the session began empties it.
  cannotComeBack: true,
};

const opencode = {
  package: "opencode-ai",
  // Its own launcher starts this binary, after looking for the one of the platform.
  command: [join(installed, `opencode-${process.platform}-${process.arch}`, "bin/opencode"), "acp"],
  env: ({ url }) => ({
    OPENCODE_DISABLE_MODELS_FETCH: "1",
    OPENCODE_CONFIG_CONTENT: JSON.stringify({
      autoupdate: false,
      share: "disabled",
      model: "scripted/scripted",
      small_model: "scripted/scripted",
      enabled_providers: ["scripted"],
      permission: { bash: "ask", edit: "ask" },
      provider: {
        scripted: {
          npm: "@ai-sdk/openai-compatible",
          name: "scripted",
          options: { baseURL: `${url}/v1`, apiKey: KEY },
          models: { scripted: { name: "scripted", tool_call: true } },
        },
      },
    }),
  }),
  shell: "SHELL",
};

const sample = {
  package: "none: it lies beside this file, and runs on the TypeScript SDK",
  command: [node, join(import.meta.dirname, "sample.mjs")],
  env: ({ url }) => ({ MODEL_URL: url, SESSIOND_PEERS: process.env.SESSIOND_PEERS }),
  shell: "SHELL",
};

/** The same without session/load. */
const forgetful = {
  ...sample,
  env: (place) => ({ ...sample.env(place), SAMPLE_LOADS: "no" }),
  cannotComeBack: true,
};

const profiles = {
  claude, claude_cli: claudeCli, codex, codex_cli: codexCli, gemini, opencode,
  sample, sample_forgetful: forgetful,
};

/** The agents whose name contains `filter`. */
export const matching = (filter) =>
  Object.entries(profiles)
    .filter(([name]) => name.includes(filter))
    .map(([name, profile]) => ({ name, ...profile }));

/** A corner for one run: a home with the agent's settings, and an empty folder to work in. */
export function corner(folder, { files = {} }) {
  const parts = ["home", "work", "tmp"].map((part) => [part, join(folder, part)]);
  const place = Object.fromEntries(parts);
  for (const path of Object.values(place)) mkdirSync(path, { recursive: true });
  for (const [name, content] of Object.entries(files)) {
    const path = join(place.home, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, JSON.stringify(content));
  }
  return place;
}

/** The whole environment of an agent: nothing of the person's, and a mark to find it by. */
export const environment = (profile, { home, tmp }, url, mark) => ({
  PATH: process.env.PATH,
  HOME: home,
  TMPDIR: tmp,
  LANG: "C.UTF-8",
  TERM: "dumb",
  SESSIOND_DRIVE: mark,
  ...profile.env({ url }),
});

// Drives real agents, unmodified, on the scripted model server: `node agents.mjs [NAME]`. First
// each alone, which shows that it works here at all, then behind `sessiond acp`.
// Environment: SESSIOND_BIN, SESSIOND_MODEL (the scripted model server), SESSIOND_PEERS; the
// working directory must be empty.
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { Checks } from "../checks.mjs";
import { differences } from "./found.mjs";
import { Model } from "./model.mjs";
import { corner, environment, matching } from "./profiles.mjs";
import { Scenario } from "./scenario.mjs";

const checks = new Checks();

/** The configuration under which sessiond runs the agent. */
function configured(profile, place, env) {
  const path = join(place.home, "config.toml");
  const table = Object.entries(env).map(([key, value]) => `${key} = ${JSON.stringify(value)}`);
  writeFileSync(path, [
    `[agents.${profile.name}]`,
    `kind = ${JSON.stringify(profile.kind ?? "acp")}`,
    `command = ${JSON.stringify(profile.command)}`,
    `env = { ${table.join(", ")} }`,
    "",
  ].join("\n"));
  return path;
}

const ways = {
  alone: (profile, place, env) => ({ command: profile.command, env, cwd: place.work }),
  behind: (profile, place, env) => ({
    command: [process.env.SESSIOND_BIN, "acp", "--agent", profile.name,
      "--config", configured(profile, place, env), "--store", join(place.home, "store")],
    env: { PATH: env.PATH, HOME: place.home, SESSIOND_DRIVE: env.SESSIOND_DRIVE },
    cwd: place.work,
  }),
};

async function drive(profile, way) {
  const name = `${profile.name} ${way}`;
  const that = (what, holds, detail) => checks.that(`${name}: ${what}`, holds, detail);
  const folder = join(process.cwd(), profile.name, way);
  const place = corner(folder, profile);
  const model = await Model.start(join(folder, "requests.jsonl"));
  const mark = randomUUID();
  const env = environment(profile, place, model.url, mark);
  profile.prepare?.(place, model.url);
  const start = ways[way](profile, place, env);
  const scenario = new Scenario({
    that, start, model, mark, work: place.work, shell: profile.shell,
  });
  try {
    let link = await scenario.meet();
    await scenario.permission(link);
    await scenario.cancel(link);
    if (profile.process) {
      await scenario.agentKilled(link, profile.process);
      link = await scenario.killedAtMoments(link, profile.process);
    }
    const left = await scenario.killed(link);
    if (way === "alone" && profile.cannotComeBack) return;
    const { link: again, replay } = await scenario.back();
    const lost = scenario.lost(replay);
    if (way === "behind") {
      that("a killed sessiond leaves no process of the agent", left.length === 0, left);
      that("the replay lacks nothing", lost.length === 0, lost);
    }
    scenario.facts.lostInItsReplay = lost;
    await scenario.goOn(again);
    const store = join(place.home, "store");
    for (const story of profile.more ?? [])
      await story({ scenario, that, mark, model, place, profile, env, store });
  } catch (error) {
    // Whatever ends the scenario early is one failed check.
    that("the scenario runs to its end", false, error.stack ?? JSON.stringify(error));
  } finally {
    model.stop();
    console.log(`     ${name}: ${JSON.stringify(scenario.facts)}`);
    const differs = differences(profile.name, way, scenario.facts);
    that("it does what docs/agents.md says", differs.length === 0, differs);
  }
}

const [filter = "", only = ""] = process.argv.slice(2);
for (const profile of matching(filter))
  for (const way of profile.ways ?? Object.keys(ways))
    if (way.includes(only)) await drive(profile, way);
checks.close();
// A process that did not end keeps no drive alive.
process.exit();

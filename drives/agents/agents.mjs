// Drives real agents, unmodified, on the scripted model server: `node agents.mjs [NAME]`. Each
// alone, which shows what it does and that it works here at all.
// Environment: SESSIOND_MODEL (the scripted model server), SESSIOND_PEERS; the working directory
// must be empty.
import { randomUUID } from "node:crypto";
import { join } from "node:path";

import { Checks } from "../checks.mjs";
import { Model } from "./model.mjs";
import { corner, environment, matching } from "./profiles.mjs";
import { Scenario } from "./scenario.mjs";

const checks = new Checks();

const ways = {
  alone: (profile, place, env) => ({ command: profile.command, env, cwd: place.work }),
};

async function drive(profile, way) {
  const name = `${profile.name} ${way}`;
  const that = (what, holds, detail) => checks.that(`${name}: ${what}`, holds, detail);
  const folder = join(process.cwd(), profile.name, way);
  const place = corner(folder, profile);
  const model = await Model.start(join(folder, "requests.jsonl"));
  const mark = randomUUID();
  const env = environment(profile, place, model.url, mark);
  const start = ways[way](profile, place, env);
  const scenario = new Scenario({
    that, start, model, mark, work: place.work, shell: profile.shell,
  });
  try {
    const link = await scenario.meet();
    await scenario.permission(link);
    await scenario.cancel(link);
    await scenario.killed(link);
    if (way === "alone" && profile.cannotComeBack) return;
    const { link: again, replay } = await scenario.back();
    scenario.facts.lostInItsReplay = scenario.lost(replay);
    await scenario.goOn(again);
  } catch (error) {
    // Whatever ends the scenario early is one failed check.
    that("the scenario runs to its end", false, error.stack ?? JSON.stringify(error));
  } finally {
    model.stop();
    console.log(`     ${name}: ${JSON.stringify(scenario.facts)}`);
  }
}

const [filter = "", only = ""] = process.argv.slice(2);
for (const profile of matching(filter))
  for (const way of Object.keys(ways).filter((name) => name.includes(only)))
    await drive(profile, way);
checks.close();
// A process that did not end keeps no drive alive.
process.exit();

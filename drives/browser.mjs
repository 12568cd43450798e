// A headless Chromium for what is shown to people. Its binary comes in an npm package, so that its version is
// as exact as every other peer's, and is unpacked once, below the folder of the peers.
import { mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

import { nodeModules } from "./sdk.mjs";

/** Starts it. It is closed by its `close`. */
export async function browser() {
  const { resolve: find } = createRequire(pathToFileURL(join(nodeModules, "x")));
  const load = async (name) => await import(pathToFileURL(find(name)));
  // Where the package unpacks to; there the next run finds it.
  process.env.TMPDIR = join(dirname(dirname(nodeModules)), "chromium");
  mkdirSync(process.env.TMPDIR, { recursive: true });
  const { default: binary } = await load("@sparticuz/chromium");
  const executablePath = await binary.executablePath();
  const { default: playwright } = await load("playwright-core");
  // Run as root in CI, where Chromium has no sandbox; it opens only what this project wrote.
  const args = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"];
  return await playwright.chromium.launch({ executablePath, args });
}

// The TypeScript SDK as `cargo xtask peers` installed it. An import by name would look beside this
// file, and nothing of others is ever installed into the source tree.
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const peers = process.env.SESSIOND_PEERS ?? resolve(here, "../target/peers");
const { resolve: find } = createRequire(join(peers, "node", "package.json"));

/** Folder of the installed npm packages. */
export const nodeModules = join(peers, "node", "node_modules");

/** The stable v1 entry point of @agentclientprotocol/sdk. */
export const acp = await import(pathToFileURL(find("@agentclientprotocol/sdk")));

/** The experimental v2 entry point of the same package. */
export const acp2 = await import(pathToFileURL(find("@agentclientprotocol/sdk/experimental/v2")));

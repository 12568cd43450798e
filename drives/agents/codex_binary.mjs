// The real Codex: where its binary is, and the configuration that points it at the scripted model.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** The binary that npm installed for this platform; the name of its folder says for which. */
export function codexBinary() {
  const platform = `codex-${process.platform}-${process.arch}`;
  const vendor = join(process.env.SESSIOND_PEERS ?? "", "codex-binary", "node_modules", "@openai",
    platform, "vendor");
  const [target = "none"] = existsSync(vendor) ? readdirSync(vendor) : [];
  return join(vendor, target, "bin", "codex");
}

/** Its configuration: the scripted model, nothing sent anywhere else. */
export const codexConfig = (url) => `
model = "scripted"
model_provider = "scripted"
approval_policy = "on-request"
sandbox_mode = "read-only"
check_for_update_on_startup = false

[analytics]
enabled = false

[feedback]
enabled = false

[model_providers.scripted]
name = "scripted"
base_url = "${url}/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
request_max_retries = 0
stream_max_retries = 0
supports_websockets = false
`;

// Every frame that sessiond sends in the `acp` suite's cases, judged once more by the schemas that the TypeScript
// SDK ships: the suite itself judges by those of the Rust crate, and one of them may have misread the protocol.
// Environment: SESSIOND_BIN, with the suite beside it, SESSIOND_PEERS; the working directory must be empty.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

import { Checks } from "./checks.mjs";
import { nodeModules } from "./sdk.mjs";

const { default: Ajv } = createRequire(pathToFileURL(join(nodeModules, "x")))("ajv/dist/2020");

const checks = new Checks();
const that = checks.that.bind(checks);

/** The schemas of one version: what a frame of the agent must be, by method and by what it is. */
class Opinion {
  constructor(version) {
    const file = join(nodeModules, "@agentclientprotocol/sdk/schema", `v${version}`, "schema.unstable.json");
    this.schema = JSON.parse(readFileSync(file, "utf8"));
    // Formats and `x-` members are notes there, not rules.
    this.ajv = new Ajv({ strict: false, validateFormats: false });
    this.ajv.addSchema(this.schema, "acp");
    this.names = new Map();
    for (const [name, definition] of Object.entries(this.schema.$defs)) {
      const kind = /(Request|Response|Notification)$/.exec(name)?.[1];
      if (definition["x-method"] && kind) {
        this.names.set(`${definition["x-side"]} ${definition["x-method"]} ${kind}`, name);
      }
    }
  }

  /** The name of the definition of what the agent says: `session/update` is the client's method. */
  of(method, kind) {
    const sides = kind === "Response" ? ["agent"] : ["client", "protocol"];
    return sides.map((side) => this.names.get(`${side} ${method} ${kind}`)).find((name) => name);
  }

  faults(name, value) {
    const validate = this.ajv.getSchema(`acp#/$defs/${name}`);
    return validate(value) ? [] : validate.errors.map((error) => `${error.instancePath} ${error.message}`);
  }
}

const opinions = { 1: new Opinion(1), 2: new Opinion(2) };

/** Frames too long for the page, which shows their beginnings only. */
let cut = 0;

/** What the frames of one process are judged as: [version, definition, value, frame]. */
function* judged(wire) {
  const asked = new Map();
  let version = 1;
  for (const { way, text } of wire) {
    let frame;
    try {
      frame = JSON.parse(text);
    } catch {
      cut += way === "<" ? 1 : 0;
      continue; // What the suite sends to see it refused, and what is no frame: the start, a signal.
    }
    if (way === ">" && frame?.method !== undefined) {
      asked.set(JSON.stringify(frame.id), frame.method);
    }
    if (way !== "<") {
      continue;
    }
    if (frame.method !== undefined) {
      const kind = frame.id === undefined ? "Notification" : "Request";
      yield [version, opinions[version].of(frame.method, kind), frame.params, frame];
    } else if (frame.error !== undefined) {
      yield [version, "Error", frame.error, frame];
    } else {
      const method = asked.get(JSON.stringify(frame.id));
      if (method === "initialize" && frame.result?.protocolVersion) {
        version = frame.result.protocolVersion;
      }
      yield [version, opinions[version].of(method, "Response"), frame.result, frame];
    }
  }
}

const suite = join(dirname(process.env.SESSIOND_BIN), "sessiond-conformance");
const target = ["--", process.env.SESSIOND_BIN, "acp"];
execFileSync(suite, ["acp", "--level", "session", "--html", "report.html", ...target], { stdio: "ignore" });
const page = readFileSync("report.html", "utf8");
const data = JSON.parse(/id="data">(.*?)<\/script>/s.exec(page)[1]);

const seen = new Map();
const unknown = [];
const faults = [];
let count = 0;
for (const [id, wire] of Object.entries(data.columns[0].wire)) {
  for (const process of new Set(wire.map((moment) => moment.process))) {
    for (const [version, name, value, frame] of judged(wire.filter((moment) => moment.process === process))) {
      count += 1;
      if (name === undefined) {
        unknown.push(`${id}: ${JSON.stringify(frame).slice(0, 200)}`);
        continue;
      }
      const found = opinions[version].faults(name, value);
      faults.push(...found.slice(0, 1).map((fault) => `${id} v${version} ${name} ${fault}`));
      seen.set(`v${version} ${name}`, [version, name, value]);
    }
  }
}
that("frames of both versions were judged", ["v1", "v2"].every((version) =>
  [...seen.keys()].filter((key) => key.startsWith(version)).length > 10), [...seen.keys()]);
that(`all ${count} frames of ${seen.size} kinds fit`, faults.length === 0 && count > 1000, faults.slice(0, 10));
that("only what is very long was left out", cut * 100 < count, [cut, count]);
that("each is of a method that the SDK knows", unknown.length === 0, unknown.slice(0, 10));

// Whoever accepts everything judges nothing.
const blind = [];
for (const [key, [version, name, value]] of seen) {
  const required = opinions[version].schema.$defs[name].required ?? [];
  for (const member of required) {
    const { [member]: _, ...rest } = value;
    if (opinions[version].faults(name, rest).length === 0) {
      blind.push(`${key} without ${member}`);
    }
  }
}
that("a frame without a member that it must have is refused", blind.length === 0, blind);
checks.close();

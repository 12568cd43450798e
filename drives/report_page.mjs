// Looks at the page that `sessiond-conformance --html` writes, in a DOM: the matrix of two targets, the
// filter, the wire log of a cell as a sequence, and what a target wrote staying text.
// Environment: SESSIOND_BIN, with the suite beside it, SESSIOND_PEERS; the working directory must be empty.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

import { Checks } from "./checks.mjs";
import { nodeModules } from "./sdk.mjs";

const { JSDOM } = createRequire(pathToFileURL(join(nodeModules, "x")))("jsdom");

const checks = new Checks();
const that = checks.that.bind(checks);
const suite = join(dirname(process.env.SESSIOND_BIN), "sessiond-conformance");

// One target that conforms, and one that says nothing but a script's end tag.
const sound = `id = "sound"\nargv = [${JSON.stringify(process.env.SESSIOND_BIN)}, "sqeq"]\n`
  + `[env]\nSESSIOND_HOME = "{state_dir}"\nXDG_RUNTIME_DIR = "{home}"\n`
  + `[prompts]\ntext = "/say {text}"\n`;
const broken = `id = "broken"\nargv = ["echo", "</script><b id=injected>"]\n[timeouts]\nstart = 500\n`;
writeFileSync("sound.toml", sound);
writeFileSync("broken.toml", broken);
const wanted = ["-k", "sqeq.hello.welcome#", "-k", "sqeq.sessions.new#", "-k", "sqeq.turns.text#"];
const targets = ["--target", "sound.toml", "--target", "broken.toml", "--html", "report.html"];
let code = 0;
try {
  execFileSync(suite, ["sqeq", ...wanted, ...targets], { stdio: "ignore" });
} catch (error) {
  code = error.status;
}
that("one target that does not conform is a failed run", code === 1, code);

const page = readFileSync("report.html", "utf8");
that("the page needs nothing else", !/(?:src|href)\s*=\s*["']?(?:https?:)?\/\//.test(page));
const problems = [];
const dom = new JSDOM(page, { runScripts: "dangerously", url: "file:///report.html", pretendToBeVisual: true });
dom.virtualConsole.on("jsdomError", (error) => problems.push(error.message));
const { document, Event } = dom.window;
const all = (selector) => [...document.querySelectorAll(selector)];
const text = (selector) => all(selector).map((node) => node.textContent);
const settled = () => new Promise((resolve) => setTimeout(resolve, 50));

const rows = () => all("td.check").length;
const total = rows();
that("a row for each check", total > 10, total);
that("a column for each target", text("#matrix tr:first-child th").slice(1).join() === "sound,broken");
that("a cell for each target and check", all("td.cell button").length === 2 * total);
that("the sound target passes", all("td.cell:nth-child(2).pass").length === total);
that("the broken one does not", all("td.cell:nth-child(3).fail, td.cell:nth-child(3).not-testable").length === total);
that("what a target wrote is text", document.getElementById("injected") === null);

const filter = document.getElementById("filter");
filter.value = "sqeq.turns.";
filter.dispatchEvent(new Event("input"));
that("the filter leaves what it names", rows() > 0 && rows() < total, rows());
that("the areas left are its own", text("tr.area th:first-child").join() === "turns");
filter.value = "";
filter.dispatchEvent(new Event("input"));
const status = document.getElementById("status");
status.value = "fail";
status.dispatchEvent(new Event("change"));
that("a status is a filter too", rows() > 0 && rows() < total, rows());
status.value = "";
status.dispatchEvent(new Event("change"));
document.querySelector("tr.area").click();
that("an area can be folded", rows() < total);
document.querySelector("tr.area").click();
that("and unfolded", rows() === total);

const cell = (id, target) => {
  const row = all("td.check").find((node) => node.textContent.startsWith(id)).parentNode;
  return row.querySelectorAll("button")[target];
};
cell("sqeq.turns.text#ended", 0).click();
await settled();
that("a cell opens its wire log", !document.querySelector("main").classList.contains("closed"));
that("it says how to run it again", text("pre.again")[0].includes("-k 'sqeq.turns.text#ended' --target"));
that("the sequence is between client and runtime", text(".seq .heads span").join() === "ms,client,sound");
const sent = text(".moment .out summary");
that("the client's frames go out", sent[0].startsWith("hello") && sent.some((line) => line.includes("turn.start")), sent);
const came = text(".moment .in summary");
that("the runtime's come in", came.some((line) => line.includes("turn.ended")), came);
that("a frame can be read whole", text(".moment .in pre").some((whole) => whole.includes('"turn.ended"')));
cell("sqeq.hello.welcome#answered", 1).click();
await settled();
that("a failure says why", text(".why")[0].length > 10, text(".why"));
that("an open cell is an address", dom.window.location.hash.includes("sqeq.hello.welcome"));
document.querySelector("#detail button").click();
await settled();
that("it can be closed", document.querySelector("main").classList.contains("closed"));
that("no script failed", problems.length === 0, problems);
dom.window.close();
checks.close();

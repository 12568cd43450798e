// Looks at the page that `sessiond-conformance --html` writes, in headless Chromium: the matrix of two targets,
// the filter, the wire log of a cell as a sequence, and what a target wrote staying text.
// Environment: SESSIOND_BIN, with the suite beside it, SESSIOND_PEERS; the working directory must be empty.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

import { browser } from "./browser.mjs";
import { Checks } from "./checks.mjs";

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
const chromium = await browser();
const view = await chromium.newPage({ viewport: { width: 1280, height: 800 } });
const problems = [];
const asked = [];
view.on("pageerror", (error) => problems.push(error.message));
view.on("request", (request) => asked.push(request.url()));
await view.goto(pathToFileURL(resolve("report.html")).href);

const count = (selector) => view.locator(selector).count();
const text = (selector) => view.locator(selector).allTextContents();
const rows = () => count("td.check");
const total = await rows();
that("a row for each check", total > 10, total);
that("a column for each target", (await text("#matrix tr:first-child th")).slice(1).join() === "sound,broken");
that("a cell for each target and check", (await count("td.cell button")) === 2 * total);
that("the sound target passes", (await count("td.cell:nth-child(2).pass")) === total);
const failed = await count("td.cell:nth-child(3).fail, td.cell:nth-child(3).not-testable");
that("the broken one does not", failed === total, failed);
that("what a target wrote is text", (await count("#injected")) === 0);
const wide = await view.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);
that("it fits the width of the window", !wide);

const filter = view.locator("#filter");
await filter.fill("sqeq.turns.");
const left = await rows();
that("the filter leaves what it names", left > 0 && left < total, left);
that("the areas left are its own", (await text("tr.area th:first-child")).join() === "turns");
await filter.fill("");
await view.locator("#status").selectOption("fail");
const red = await rows();
that("a status is a filter too", red > 0 && red < total, red);
await view.locator("#status").selectOption("");
await view.locator("tr.area").first().click();
that("an area can be folded", (await rows()) < total);
await view.locator("tr.area").first().click();
that("and unfolded", (await rows()) === total);

const cell = (id, target) => {
  const row = view.locator("tr").filter({ has: view.locator("td.check", { hasText: id }) });
  return row.locator("button").nth(target);
};
const shut = () => view.locator("main").evaluate((main) => main.classList.contains("closed"));
await cell("sqeq.turns.text#ended", 0).click();
await view.locator(".seq .moment").first().waitFor();
that("a cell opens its wire log", !(await shut()));
const again = (await text("pre.again"))[0];
that("it says how to run it again", again.includes("-k 'sqeq.turns.text#ended' --target"), again);
const heads = (await text(".seq .heads span")).join();
that("the sequence is between client and runtime", heads === "ms,client,sound", heads);
const sent = await text(".moment .out summary");
that("the client's frames go out", sent[0].startsWith("hello") && sent.some((line) => line.includes("turn.start")), sent);
const came = await text(".moment .in summary");
that("the runtime's come in", came.some((line) => line.includes("turn.ended")), came);
const first = view.locator(".moment .in details").first();
await first.locator("summary").click();
that("a frame can be read whole", await first.locator("pre").isVisible());
await view.screenshot({ path: "report.png" });
await cell("sqeq.hello.welcome#answered", 1).click();
await view.locator(".why").first().waitFor();
that("a failure says why", (await text(".why"))[0].length > 10, await text(".why"));
that("an open cell is an address", view.url().includes("sqeq.hello.welcome"), view.url());
await view.locator("#detail button").first().click();
// The address changes first; the page follows it.
const closed = () => view.locator("main.closed").waitFor({ state: "attached", timeout: 5000 });
that("it can be closed", await closed().then(() => true, () => false));
that("no script failed", problems.length === 0, problems);
that("nothing but the file was asked for", asked.every((url) => url.startsWith("file:")), asked);
await chromium.close();
checks.close();

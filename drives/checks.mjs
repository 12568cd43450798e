// The checks of a drive: one line each, a closing line, and the exit code that follows.

/** Counts what held and what did not. */
export class Checks {
  passed = 0;
  failed = 0;

  /** One check; `detail` is shown when it does not hold. */
  that(name, holds, detail = "") {
    if (holds) this.passed += 1;
    else this.failed += 1;
    const shown = typeof detail === "string" ? detail : JSON.stringify(detail);
    console.log(holds ? `ok   ${name}` : `FAIL ${name}: ${shown}`);
  }

  /** Prints the closing line and sets the exit code. */
  close() {
    console.log(`${this.passed} passed, ${this.failed} failed`);
    process.exitCode = this.failed || !this.passed ? 1 : 0;
  }
}

/** Nothing a drive waits for takes longer on a healthy machine; a hang shall be a failed check. */
export const PATIENCE_MS = 20_000;

/** Waits for a promise, but not forever. */
export async function within(promise, what, milliseconds = PATIENCE_MS) {
  let timer;
  const late = new Promise((_, reject) => {
    const error = new Error(`${what}: nothing for ${milliseconds} ms`);
    timer = setTimeout(() => reject(error), milliseconds);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

"""The checks of a drive: one line each, a closing line, and the exit code that follows."""


class Checks:
    """Counts what held and what did not."""

    def __init__(self) -> None:
        self.passed = 0
        self.failed = 0

    def that(self, name: str, holds: object, detail: object = "") -> None:
        """One check; `detail` is shown when it does not hold."""
        if holds:
            self.passed += 1
            print(f"ok   {name}", flush=True)
        else:
            self.failed += 1
            print(f"FAIL {name}: {detail}", flush=True)

    def close(self) -> int:
        """Prints the closing line and returns the exit code."""
        print(f"{self.passed} passed, {self.failed} failed", flush=True)
        return 1 if self.failed or not self.passed else 0

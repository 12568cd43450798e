//! The `exec` face: one headless turn, as the TypeScript SDK of Codex starts it.

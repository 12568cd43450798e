//! Rollouts, Codex's transcripts, in and out.

//! The real Codex app-server as the thinking part of a session.

//! The real Claude CLI as the thinking part of a session.

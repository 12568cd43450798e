//! The stream-json face: what an agent SDK talks to in place of the Claude CLI.

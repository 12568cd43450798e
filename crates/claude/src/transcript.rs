//! Transcripts in the Claude CLI's own shape, in and out.

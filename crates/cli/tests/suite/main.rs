//! The real binary from outside: each file one behaviour, all of them in one program, so that a
//! cold build links once.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "clippy sees tests only in functions marked so; all of this is tests"
)]

mod harness;

mod acp_agent;
mod acp_agent_between;
mod acp_agent_cancels;
mod acp_agent_client;
mod acp_agent_extensions;
mod acp_agent_faults;
mod acp_agent_given;
mod acp_agent_history;
mod acp_agent_media;
mod acp_agent_places;
mod acp_agent_questions;
mod acp_agent_versions;
mod acp_agent_words;
mod acp_compaction;
mod acp_v2;
mod audit;
mod bad_input;
mod claude;
mod claude_agent;
mod claude_agent_faults;
mod claude_agent_record;
mod claude_ends;
mod claude_frames;
mod claude_outside;
mod claude_questions;
mod claude_sessions;
mod codex_agent;
mod codex_agent_faults;
mod codex_app_server;
mod codex_ends;
mod codex_exec;
mod codex_long;
mod codex_threads;
mod codex_turns;
mod configuration;
mod damage;
mod demo;
mod doctor;
mod durability_order;
mod editor_gone;
mod exec;
mod faces;
mod first_contact;
mod foreign_store;
mod fork;
mod host;
mod host_frames;
mod kill_frames;
mod kill_moments;
mod mcp_endpoint;
mod names;
mod older;
mod orphans;
mod pitfalls;
mod portable;
mod progress;
mod rename;
mod resume;
mod resume_restores;
mod retention;
mod rollouts;
mod schema;
mod sessions;
mod shelf;
mod small_disk;
mod sqeq;
mod sqeq_bad_frames;
mod sqeq_flood;
mod sqeq_ops;
mod sqeq_resume;
mod stdout_purity;
mod stopped;
mod transcripts;
mod two_processes;

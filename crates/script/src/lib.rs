//! The built-in script agent: deterministic, without a network, the default agent and the reference
//! for editors, tests and the conformance suite.
//!
//! Each line of a prompt that begins with `/` is a command; the commands run in order and all other
//! text is echoed word by word. One table ([`ScriptAgent`] advertises it as slash commands) gives
//! every command its name, its hint and the reader of its arguments. Tools ask for permission, go
//! through the client's files and terminals where it offers them, and otherwise use local files and
//! a supervised child.
//!
//! What it is not: it decides no policy (mode and grants are the engine's), sees no frame and no
//! face, writes no log, and calls no model.
//!
//! # Invariants
//! - The same prompt with the same answers gives the same events in the same order.
//! - Nothing happens outside this process before the call that does it was announced, allowed and
//!   is durable: [`start_call`](sessiond_engine::TurnContext::start_call) comes first (LOG-5).
//! - Every call that was announced ends exactly once, also when its turn is cancelled (SQEQ-3).
//! - Once a turn is being cancelled nothing more runs; what runs is stopped with its whole tree.
//! - A script that is wrong is answered with text that says the right form; only `/fail` fails.
//!
//! ```
//! use sessiond_engine::AgentFactory;
//! use sessiond_script::ScriptAgent;
//! use sessiond_wire::process::SupervisorExe;
//!
//! let agent = ScriptAgent::new(SupervisorExe::default());
//! let info = agent.info();
//! assert_eq!(info.id.name, "script");
//! assert_eq!(info.modes.first().map(|mode| mode.id.as_str()), Some("ask"));
//! assert!(info.commands.iter().any(|command| command.name == "run"));
//! ```

mod agent;
mod call;
mod command;
mod error;
mod files;
mod mcp;
mod output;
mod parse;
mod question;
mod run;
mod settings;
mod speech;
mod stage;
mod step;
mod summary;

pub use agent::ScriptAgent;

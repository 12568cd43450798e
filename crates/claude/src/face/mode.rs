//! Permission modes: what they are called, and what they mean for an agent behind.

use std::fmt;
use std::str::FromStr;

use sessiond_protocol::{self as protocol, ModePolicy};

/// A permission mode of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Ask for what is not allowed by a rule.
    #[default]
    Default,
    /// The same, but edits of files are allowed.
    AcceptEdits,
    /// Nothing is changed and nothing is run.
    Plan,
    /// Everything is allowed that no rule forbids.
    BypassPermissions,
    /// What is not allowed by a rule is refused without asking.
    DontAsk,
    /// The original lets a model decide; here it asks as `default` does.
    Auto,
}

impl Mode {
    const ALL: [Mode; 6] = [
        Mode::AcceptEdits,
        Mode::Auto,
        Mode::BypassPermissions,
        Mode::Default,
        Mode::DontAsk,
        Mode::Plan,
    ];

    /// Its name in the protocol.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Default => "default",
            Mode::AcceptEdits => "acceptEdits",
            Mode::Plan => "plan",
            Mode::BypassPermissions => "bypassPermissions",
            Mode::DontAsk => "dontAsk",
            Mode::Auto => "auto",
        }
    }

    /// All names, for people.
    pub fn names() -> String {
        Mode::ALL.map(Mode::name).join(", ")
    }

    /// What the agent's own mode does with the questions of a call.
    fn policy(self) -> ModePolicy {
        match self {
            Mode::Default | Mode::AcceptEdits | Mode::DontAsk | Mode::Auto => ModePolicy::Ask,
            Mode::Plan => ModePolicy::Deny,
            Mode::BypassPermissions => ModePolicy::Allow,
        }
    }

    /// The mode of an agent that stands for this one, where that is another than the one in force:
    /// one of the same name, else the first that treats questions alike.
    pub(crate) fn of_agent(
        self,
        modes: &[protocol::Mode],
        in_force: Option<&str>,
    ) -> Option<String> {
        let named = modes.iter().find(|mode| mode.id == self.name());
        let current = modes.iter().find(|mode| Some(&*mode.id) == in_force);
        if named.is_none() && current.is_some_and(|mode| mode.policy == self.policy()) {
            return None;
        }
        let like = || modes.iter().find(|mode| mode.policy == self.policy());
        let found = named.or_else(like)?;
        (Some(&*found.id) != in_force).then(|| found.id.clone())
    }

    /// The mode that an agent's mode stands for.
    pub(crate) fn from_agent(modes: &[protocol::Mode], in_force: Option<&str>) -> Mode {
        let named = in_force.and_then(|id| id.parse().ok());
        let policy = modes.iter().find(|mode| Some(&*mode.id) == in_force);
        named.unwrap_or(match policy.map(|mode| mode.policy) {
            Some(ModePolicy::Allow) => Mode::BypassPermissions,
            Some(ModePolicy::Deny) => Mode::Plan,
            Some(ModePolicy::Ask) | None => Mode::Default,
        })
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The name is none of a mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoMode;

impl FromStr for Mode {
    type Err = NoMode;

    fn from_str(name: &str) -> Result<Self, NoMode> {
        let found = Mode::ALL.into_iter().find(|mode| mode.name() == name);
        found.ok_or(NoMode)
    }
}

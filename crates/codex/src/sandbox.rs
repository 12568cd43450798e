//! What a thread may do without anybody being asked. Codex confines the commands of its own agent;
//! sessiond confines no agent's, so that here a sandbox decides about questions: what it holds is
//! allowed, all else is for whoever decides beyond it.

use std::path::{Component, Path, PathBuf};
use std::str::FromStr;

use sessiond_protocol::{Permission, PermissionKind, ToolCall, ToolKind};

/// The sandbox of a thread.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Sandbox {
    /// Reading.
    #[default]
    ReadOnly,
    /// Reading, and changing files below these directories, absolute. No command: nothing of ours
    /// could keep one inside.
    WorkspaceWrite(Vec<PathBuf>),
    /// Everything.
    Full,
}

/// A sandbox by its name alone, before it is known where the workspace is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SandboxMode {
    /// `read-only`
    #[default]
    ReadOnly,
    /// `workspace-write`
    WorkspaceWrite,
    /// `danger-full-access`
    DangerFullAccess,
}

impl SandboxMode {
    /// Its names, in Codex's order.
    pub const NAMES: [&'static str; 3] = ["read-only", "workspace-write", "danger-full-access"];

    /// The sandbox with these roots to write to.
    #[must_use]
    pub fn with_roots(self, roots: impl IntoIterator<Item = PathBuf>) -> Sandbox {
        match self {
            SandboxMode::ReadOnly => Sandbox::ReadOnly,
            SandboxMode::WorkspaceWrite => Sandbox::WorkspaceWrite(roots.into_iter().collect()),
            SandboxMode::DangerFullAccess => Sandbox::Full,
        }
    }
}

impl FromStr for SandboxMode {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "read-only" => Ok(SandboxMode::ReadOnly),
            "workspace-write" => Ok(SandboxMode::WorkspaceWrite),
            "danger-full-access" => Ok(SandboxMode::DangerFullAccess),
            _ => Err(format!("it is one of {}", SandboxMode::NAMES.join(", "))),
        }
    }
}

impl Sandbox {
    /// Whether a call may run without a question.
    pub(crate) fn holds(&self, call: &ToolCall) -> bool {
        let reads = matches!(
            call.kind,
            ToolKind::Read | ToolKind::Search | ToolKind::Think
        );
        match self {
            Sandbox::Full => true,
            Sandbox::ReadOnly => reads,
            Sandbox::WorkspaceWrite(roots) => {
                let changes = matches!(
                    call.kind,
                    ToolKind::Edit | ToolKind::Delete | ToolKind::Move
                );
                // What says nothing of where it works may work anywhere.
                let inside = |path: &str| roots.iter().any(|root| is_below(Path::new(path), root));
                let mut places = call.locations.iter().peekable();
                reads || changes && places.peek().is_some() && places.all(|at| inside(&at.path))
            }
        }
    }
}

/// Whether a path lies below a root, as it is written: one that goes up again does not count.
fn is_below(path: &Path, root: &Path) -> bool {
    let plain = path
        .components()
        .all(|part| !matches!(part, Component::ParentDir));
    plain && path.starts_with(root)
}

/// The option of a question that says this, if it is offered.
pub(crate) fn option(permission: &Permission, kind: PermissionKind) -> Option<String> {
    let option = permission.options.iter().find(|option| option.kind == kind);
    option.map(|option| option.id.clone())
}

#[cfg(test)]
mod tests;

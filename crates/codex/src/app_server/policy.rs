//! What a thread's client said about what may run: the sandbox, and who is asked beyond it.

use std::path::PathBuf;

use serde_json::{Value, json};
use sessiond_protocol::{ToolCall, ToolKind};

use super::params::{ApprovalsReviewer, AskForApproval, SandboxMode, SandboxPolicy};
use crate::sandbox::{self, Sandbox};

/// Who is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Approval {
    /// The client, about what the sandbox does not hold.
    #[default]
    OnRequest,
    /// The client, about all that does more than read.
    Untrusted,
    /// Nobody: what the sandbox does not hold is declined.
    Never,
}

/// The policy of a thread.
#[derive(Debug, Clone, Default)]
pub(super) struct Policy {
    pub(super) approval: Approval,
    pub(super) sandbox: Sandbox,
}

/// What becomes of a question about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decision {
    Allow,
    Decline,
    Ask,
}

impl Policy {
    /// Takes up what a client says of approvals. A reviewer that is no person is nobody here: there
    /// is none, and an SDK that accepts everything by itself must not stand for one.
    pub(super) fn set_approval(
        &mut self,
        approval: Option<&AskForApproval>,
        reviewer: Option<ApprovalsReviewer>,
    ) {
        match approval {
            Some(AskForApproval::Never) => self.approval = Approval::Never,
            Some(AskForApproval::Untrusted) => self.approval = Approval::Untrusted,
            Some(AskForApproval::OnRequest | AskForApproval::Granular(_)) => {
                self.approval = Approval::OnRequest;
            }
            None => {}
        }
        if reviewer.is_some_and(|reviewer| reviewer != ApprovalsReviewer::User) {
            self.approval = Approval::Never;
        }
    }

    /// Takes up a sandbox by its name.
    pub(super) fn set_mode(&mut self, mode: SandboxMode, roots: Vec<PathBuf>) {
        let mode = match mode {
            SandboxMode::ReadOnly => sandbox::SandboxMode::ReadOnly,
            SandboxMode::WorkspaceWrite => sandbox::SandboxMode::WorkspaceWrite,
            SandboxMode::DangerFullAccess => sandbox::SandboxMode::DangerFullAccess,
        };
        self.sandbox = mode.with_roots(roots);
    }

    /// Takes up a sandbox with its details. One that is elsewhere confines nothing of ours: it is
    /// asked about as the narrowest is.
    pub(super) fn set_sandbox(&mut self, policy: SandboxPolicy, cwd: &str) {
        self.sandbox = match policy {
            SandboxPolicy::DangerFullAccess {} => Sandbox::Full,
            SandboxPolicy::ReadOnly {} | SandboxPolicy::ExternalSandbox {} => Sandbox::ReadOnly,
            SandboxPolicy::WorkspaceWrite { writable_roots } => {
                let roots = writable_roots.into_iter().map(PathBuf::from);
                Sandbox::WorkspaceWrite([PathBuf::from(cwd)].into_iter().chain(roots).collect())
            }
        };
    }

    /// What becomes of a question about a call; about none that is known, somebody is asked.
    pub(super) fn decide(&self, call: Option<&ToolCall>) -> Decision {
        let held = match (&self.sandbox, call) {
            (Sandbox::Full, _) => true,
            (sandbox, Some(call)) => sandbox.holds(call),
            (_, None) => false,
        };
        let reads = call.is_some_and(|call| {
            matches!(
                call.kind,
                ToolKind::Read | ToolKind::Search | ToolKind::Think
            )
        });
        match (self.approval, held) {
            (Approval::Untrusted, _) if !reads => Decision::Ask,
            (_, true) => Decision::Allow,
            (Approval::Never, false) => Decision::Decline,
            (Approval::OnRequest | Approval::Untrusted, false) => Decision::Ask,
        }
    }

    /// The approvals as an answer tells them.
    pub(super) fn approval(&self) -> &'static str {
        match self.approval {
            Approval::OnRequest => "on-request",
            Approval::Untrusted => "untrusted",
            Approval::Never => "never",
        }
    }

    /// The sandbox as an answer tells it.
    pub(super) fn sandbox(&self) -> Value {
        match &self.sandbox {
            Sandbox::ReadOnly => json!({ "type": "readOnly", "networkAccess": false }),
            Sandbox::WorkspaceWrite(roots) => json!({
                "type": "workspaceWrite", "writableRoots": roots, "networkAccess": false,
                "excludeTmpdirEnvVar": true, "excludeSlashTmp": true,
            }),
            Sandbox::Full => json!({ "type": "dangerFullAccess" }),
        }
    }
}

#[cfg(test)]
mod tests;

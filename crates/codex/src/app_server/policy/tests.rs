use std::path::PathBuf;

use sessiond_protocol::{Location, ToolCall, ToolKind};

use super::super::params::{ApprovalsReviewer, AskForApproval, SandboxMode, SandboxPolicy};
use super::{Decision, Policy};

fn call(kind: ToolKind) -> ToolCall {
    ToolCall {
        kind,
        locations: vec![Location {
            path: "/w/a".into(),
            line: None,
        }],
        ..ToolCall::default()
    }
}

/// SEC-5
#[test]
fn the_sandbox_decides_first_and_then_who_may_be_asked() {
    use Decision::{Allow, Ask, Decline};
    let (on_request, untrusted, never) = (
        AskForApproval::OnRequest,
        AskForApproval::Untrusted,
        AskForApproval::Never,
    );
    let (read, edit, run) = (ToolKind::Read, ToolKind::Edit, ToolKind::Execute);
    let (narrow, workspace, full) = (
        SandboxMode::ReadOnly,
        SandboxMode::WorkspaceWrite,
        SandboxMode::DangerFullAccess,
    );
    let table = [
        (&on_request, None, narrow, read, Allow),
        (&on_request, None, narrow, run, Ask),
        (&on_request, None, workspace, edit, Allow),
        (&on_request, None, workspace, run, Ask),
        (&on_request, None, full, run, Allow),
        (&untrusted, None, full, run, Ask),
        (&untrusted, None, workspace, edit, Ask),
        (&untrusted, None, narrow, read, Allow),
        (&never, None, narrow, run, Decline),
        (&never, None, full, run, Allow),
        (&on_request, Some(ApprovalsReviewer::User), narrow, run, Ask),
        (
            &on_request,
            Some(ApprovalsReviewer::AutoReview),
            narrow,
            run,
            Decline,
        ),
        (
            &on_request,
            Some(ApprovalsReviewer::GuardianSubagent),
            narrow,
            run,
            Decline,
        ),
    ];
    for (approval, reviewer, sandbox, kind, decision) in table {
        let mut policy = Policy::default();
        policy.set_approval(Some(approval), reviewer);
        policy.set_mode(sandbox, vec![PathBuf::from("/w")]);
        let decided = policy.decide(Some(&call(kind)));
        assert_eq!(
            decided, decision,
            "{approval:?} {reviewer:?} {sandbox:?} {kind:?}"
        );
    }
}

#[test]
fn a_call_that_is_not_known_is_asked_about_and_what_is_left_out_stays() {
    let mut policy = Policy::default();
    assert_eq!(policy.decide(None), Decision::Ask);
    policy.set_approval(Some(&AskForApproval::Never), None);
    policy.set_approval(None, None);
    assert_eq!(policy.decide(None), Decision::Decline);
    policy.set_sandbox(
        SandboxPolicy::WorkspaceWrite {
            writable_roots: vec!["/v".into()],
        },
        "/w",
    );
    assert_eq!(
        policy.sandbox()["writableRoots"],
        serde_json::json!(["/w", "/v"])
    );
    assert_eq!(policy.approval(), "never");
}

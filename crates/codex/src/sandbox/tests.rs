use std::path::PathBuf;

use sessiond_protocol::{Location, ToolCall, ToolKind};

use super::{Sandbox, SandboxMode};

fn call(kind: ToolKind, paths: &[&str]) -> ToolCall {
    let location = |path: &&str| Location {
        path: (*path).into(),
        line: None,
    };
    ToolCall {
        kind,
        locations: paths.iter().map(location).collect(),
        ..ToolCall::default()
    }
}

/// SEC-5: what a sandbox does not plainly hold is not held.
#[test]
fn a_sandbox_holds_what_plainly_stays_inside() {
    let workspace = || SandboxMode::WorkspaceWrite.with_roots([PathBuf::from("/w/p")]);
    let table: [(Sandbox, ToolKind, &[&str], bool); 14] = [
        (Sandbox::ReadOnly, ToolKind::Read, &["/etc/passwd"], true),
        (Sandbox::ReadOnly, ToolKind::Search, &[], true),
        (Sandbox::ReadOnly, ToolKind::Edit, &["/w/p/a"], false),
        (Sandbox::ReadOnly, ToolKind::Execute, &[], false),
        (Sandbox::ReadOnly, ToolKind::Fetch, &[], false),
        (workspace(), ToolKind::Edit, &["/w/p/a", "/w/p"], true),
        (workspace(), ToolKind::Edit, &["/w/p/a", "/w/q"], false),
        (workspace(), ToolKind::Edit, &["/w/p/../q"], false),
        (workspace(), ToolKind::Edit, &["/w/pq"], false),
        (workspace(), ToolKind::Edit, &["a"], false),
        (workspace(), ToolKind::Edit, &[], false),
        (workspace(), ToolKind::Execute, &["/w/p"], false),
        (workspace(), ToolKind::Other, &["/w/p"], false),
        (Sandbox::Full, ToolKind::Execute, &[], true),
    ];
    for (sandbox, kind, paths, held) in table {
        assert_eq!(
            sandbox.holds(&call(kind, paths)),
            held,
            "{sandbox:?} {kind:?} {paths:?}"
        );
    }
}

#[test]
fn modes_have_codexs_names() {
    for name in SandboxMode::NAMES {
        assert!(name.parse::<SandboxMode>().is_ok(), "{name}");
    }
    assert!("full".parse::<SandboxMode>().is_err());
}

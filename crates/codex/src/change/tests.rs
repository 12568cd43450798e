use sessiond_protocol::{Location, ToolCall, ToolContent, ToolKind};

use super::{Change, ChangeKind, changes, unified};

fn call(kind: ToolKind, content: Vec<ToolContent>) -> ToolCall {
    let locations = vec![Location {
        path: "/w/a".into(),
        line: None,
    }];
    ToolCall {
        kind,
        content,
        locations,
        ..ToolCall::default()
    }
}

fn diff(old: Option<&str>, new: &str) -> ToolContent {
    ToolContent::Diff {
        path: "/w/a".into(),
        old_text: old.map(str::to_owned),
        new_text: new.into(),
    }
}

#[test]
fn a_change_is_told_by_its_diff_and_before_that_by_its_place() {
    let table = [
        (ToolKind::Edit, vec![], ChangeKind::Update, ""),
        (ToolKind::Delete, vec![], ChangeKind::Delete, ""),
        (
            ToolKind::Edit,
            vec![diff(None, "x\n")],
            ChangeKind::Add,
            "x\n",
        ),
        (
            ToolKind::Delete,
            vec![diff(Some("x\n"), "")],
            ChangeKind::Delete,
            "x\n",
        ),
        (
            ToolKind::Edit,
            vec![diff(Some("x\n"), "y\n")],
            ChangeKind::Update,
            "@@ -1,1 +1,1 @@\n-x\n+y\n",
        ),
    ];
    for (tool, content, kind, diff) in table {
        let change = Change {
            path: "/w/a".into(),
            kind,
            diff: diff.into(),
        };
        assert_eq!(changes(&call(tool, content)), [change], "{tool:?}");
    }
}

#[test]
fn a_unified_diff_has_three_lines_around_what_differs() {
    let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
    let table = [
        (old, old, ""),
        ("", "a\n", "@@ -0,0 +1,1 @@\n+a\n"),
        ("a\n", "", "@@ -1,1 +0,0 @@\n-a\n"),
        (
            old,
            "1\n2\n3\n4\nfive\n6\n7\n8\n9\n",
            "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n",
        ),
        ("a\na\n", "a\na\na\n", "@@ -1,2 +1,3 @@\n a\n a\n+a\n"),
    ];
    for (old, new, diff) in table {
        assert_eq!(unified(old, new), diff, "{old:?} {new:?}");
    }
}

use serde_json::json;

use super::*;

#[test]
fn a_call_is_titled_by_what_it_does() {
    let patch = "*** Begin Patch\n*** Update File: src/a.rs\n+x\n*** End Patch\n";
    let table = [
        ("exec_command", json!({"cmd": "cargo test\n"}), "cargo test"),
        (
            "shell",
            json!({"command": ["bash", "-lc", "ls -l"]}),
            "ls -l",
        ),
        ("shell", json!({"command": ["ls", "-l"]}), "ls -l"),
        ("apply_patch", json!(patch), "apply_patch src/a.rs"),
        (
            "apply_patch",
            json!({"input": patch}),
            "apply_patch src/a.rs",
        ),
        (
            "web_search",
            json!({"type": "search", "query": "q"}),
            "web_search q",
        ),
        ("update_plan", json!({"plan": []}), "update_plan"),
        ("mine", json!(null), "mine"),
    ];
    for (name, input, expected) in table {
        assert_eq!(title(name, &input), expected);
    }
    assert_eq!(locations("apply_patch", &json!(patch))[0].path, "src/a.rs");
    assert_eq!(locations("read_file", &json!({"path": "/a"}))[0].path, "/a");
    assert!(locations("exec_command", &json!({"cmd": "ls"})).is_empty());
}

#[test]
fn a_change_shows_what_its_diff_shows() {
    let changes = json!({
        "/w/a": {"type": "add", "content": "new\n"},
        "/w/b": {"type": "delete", "content": "old\n"},
        "/w/c": {"type": "update", "unified_diff": "@@ -1,2 +1,2 @@\n one\n--- two\n+++ three\n"},
        "/w/d": {"type": "odd"},
    });
    let shown = |old: Option<&str>, new: &str, path: &str| ToolContent::Diff {
        path: path.to_owned(),
        old_text: old.map(str::to_owned),
        new_text: new.to_owned(),
    };
    assert_eq!(
        diffs(&changes),
        [
            shown(None, "new\n", "/w/a"),
            shown(Some("old\n"), "", "/w/b"),
            shown(Some("one\n-- two\n"), "one\n++ three\n", "/w/c"),
        ]
    );
}

#[test]
fn an_output_tells_its_exit_code_in_each_of_its_forms() {
    let table = [
        (
            "Chunk ID: 1\nProcess exited with code 3\nOutput:\n",
            Some(3),
        ),
        ("Exit code: 0\nWall time: 1 seconds\nOutput:\n", Some(0)),
        (r#"{"output":"x","metadata":{"exit_code":2}}"#, Some(2)),
        ("{\"output\":", None),
        ("nothing", None),
    ];
    for (output, code) in table {
        assert_eq!(exit_code(output), code, "{output}");
    }
}

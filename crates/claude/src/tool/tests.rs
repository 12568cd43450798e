use serde_json::json;

use super::*;

#[test]
fn a_title_says_what_a_call_is_about_in_one_line() {
    for (name, input, title_of_it) in [
        ("Bash", json!({"command": "\n ls -l\ncat x"}), "ls -l"),
        ("Read", json!({"file_path": "/a"}), "Read /a"),
        ("Grep", json!({"pattern": "x"}), "Grep x"),
        ("mcp__s__t", json!({"n": 1}), "mcp__s__t"),
        ("Bash", json!(null), "Bash"),
    ] {
        assert_eq!(title(name, &input), title_of_it);
    }
    let long = title("Bash", &json!({"command": "é".repeat(500)}));
    assert_eq!(long.chars().count(), TITLE_CHARS + 1);
}

#[test]
fn a_change_is_shown_as_one() {
    let edit = json!({"file_path": "/a", "old_string": "x", "new_string": "y"});
    let Some(ToolContent::Diff {
        path,
        old_text,
        new_text,
    }) = diff("Edit", &edit)
    else {
        panic!()
    };
    assert_eq!(
        (path.as_str(), old_text.as_deref(), new_text.as_str()),
        ("/a", Some("x"), "y")
    );
    assert_eq!(diff("Bash", &edit), None);
    assert_eq!(locations(&edit)[0].path, "/a");
}

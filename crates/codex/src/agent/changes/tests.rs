use serde_json::json;
use sessiond_protocol::ToolContent;

use super::read;

#[test]
fn a_change_shows_both_sides_as_far_as_its_diff_tells_them() {
    let changes = json!([
        { "path": "/w/new", "kind": { "type": "add" }, "diff": "a\nb\n" },
        { "path": "/w/old", "kind": { "type": "delete" }, "diff": "a\n" },
        { "path": "/w/file", "kind": { "type": "update", "move_path": null },
          "diff": "--- a\n+++ b\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n\\ No newline at end of file\n" },
        { "path": "/w/from", "kind": { "type": "update", "move_path": "/w/to" }, "diff": "" },
        { "path": "/w/what", "kind": { "type": "melt" } },
    ]);
    let (shown, places) = read(&changes);
    let diff = |path: &str, old: Option<&str>, new: &str| ToolContent::Diff {
        path: path.to_owned(),
        old_text: old.map(str::to_owned),
        new_text: new.to_owned(),
    };
    let expected = vec![
        diff("/w/new", None, "a\nb\n"),
        diff("/w/old", Some("a\n"), ""),
        diff("/w/file", Some("one\ntwo\nthree\n"), "one\n2\nthree\n"),
        diff("/w/to", Some(""), ""),
    ];
    assert_eq!(shown, expected);
    let places: Vec<_> = places.into_iter().map(|place| place.path).collect();
    assert_eq!(places, ["/w/new", "/w/old", "/w/file", "/w/from", "/w/to"]);
}

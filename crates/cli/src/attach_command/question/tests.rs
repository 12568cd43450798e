use serde_json::json;

use super::*;

fn permission() -> RequestFrame {
    let option =
        |id: &str, kind: &str| json!({"id": id, "name": format!("{id}\nname"), "kind": kind});
    let id = "0199ab01-1234-7abc-8def-0123456789ab";
    serde_json::from_value(json!({
        "id": id, "session": id, "turn": id, "digest": "d", "kind": "permission",
        "payload": {"title": "Run echo", "tool": "run", "pattern": "echo", "options": [
            option("yes", "allow_once"), option("no", "reject_once")]},
    }))
    .unwrap()
}

#[test]
fn a_question_is_shown_with_numbers_and_answered_by_one() {
    let asked = permission();
    let shown = text(&asked).unwrap();
    assert_eq!(shown.lines().count(), 3, "no name breaks its line: {shown}");
    let table = [
        ("1", Some("yes")),
        ("2", Some("no")),
        ("0", None),
        ("3", None),
        ("", None),
        ("yes", None),
        ("-1", None),
    ];
    for (line, option) in table {
        let expected = option.map(|id| Outcome::Selected {
            option: id.to_owned(),
        });
        assert_eq!(outcome(&asked, line), expected, "{line}");
    }
}

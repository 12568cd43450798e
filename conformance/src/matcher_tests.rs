use serde_json::{Value, json};

use super::{fits, unknown_operators};

#[test]
fn a_pattern_fits_what_it_says_and_nothing_else() {
    let value = json!({
        "id": 1, "name": "session", "list": [1, {"a": 2}], "nothing": null, "empty": ""
    });
    let rows: [(Value, bool); 26] = [
        (json!({}), true),
        (json!({"id": 1}), true),
        (json!({"id": 1.0}), true),
        (json!({"id": "1"}), false),
        (json!({"missing": null}), false),
        (json!({"nothing": null}), true),
        (json!({"missing": {"$exists": false}}), true),
        (json!({"nothing": {"$exists": false}}), false),
        (json!({"id": {"$type": "integer"}}), true),
        (json!({"missing": {"$type": "null"}}), false),
        (json!({"nothing": {"$type": "null"}}), true),
        (json!({"id": {"$in": [0, 1]}}), true),
        (json!({"id": {"$in": []}}), false),
        (json!({"missing": {"$in": [{"$exists": false}, 1]}}), true),
        (json!({"id": {"$not": 1}}), false),
        (json!({"id": {"$from": 1}}), true),
        (json!({"id": {"$from": 2}}), false),
        (json!({"name": {"$contains": "ess"}}), true),
        (json!({"name": {"$starts": "ess"}}), false),
        (json!({"list": {"$some": {"a": 2}}}), true),
        (json!({"list": {"$some": {"a": 3}}}), false),
        (json!({"list": [1]}), false),
        (json!({"list": [1, {}]}), true),
        (json!({"empty": {"$nonempty": false}}), true),
        (
            json!({"name": {"$all": [{"$starts": "s"}, {"$contains": "on"}]}}),
            true,
        ),
        (json!({"name": {"$unknown": 1}}), false),
    ];
    for (pattern, expected) in rows {
        assert_eq!(fits(&pattern, Some(&value)), expected, "{pattern}");
    }
}

#[test]
fn a_misspelt_operator_is_named() {
    let pattern = json!({"a": [{"$typ": "x"}], "b": {"$in": [{"$exists": true, "c": 1}]}});
    let mut unknown = unknown_operators(&pattern);
    unknown.sort();
    assert_eq!(unknown, ["$exists", "$typ"]);
}

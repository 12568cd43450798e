use serde_json::json;

use super::Variables;

#[test]
fn variables_are_replaced_where_they_stand() {
    let mut variables = Variables::default();
    variables.set("session", json!("abc"));
    variables.set("id", json!(7));
    variables.set("object", json!({"a": 1}));
    let rows = [
        (json!("$session"), json!("abc")),
        (json!("$id"), json!(7)),
        (json!("${id}-${session}"), json!("7-abc")),
        (json!(["$object"]), json!([{"a": 1}])),
        (json!({"deep": {"x": "$id"}}), json!({"deep": {"x": 7}})),
        (json!("$unknown ${unknown}"), json!("$unknown ${unknown}")),
        (json!("cost: $5 ${"), json!("cost: $5 ${")),
    ];
    for (value, expected) in rows {
        assert_eq!(variables.fill(&value), expected, "{value}");
    }
}

use super::{read, settings};

#[test]
fn a_value_is_toml_and_else_a_text() {
    let table = [
        ("\"high\"", serde_json::json!("high")),
        ("true", serde_json::json!(true)),
        ("[\"a\"]", serde_json::json!(["a"])),
        ("{a = 1}", serde_json::json!({"a": 1})),
        ("plain text", serde_json::json!("plain text")),
        ("", serde_json::json!("")),
        ("a\nb = 1", serde_json::json!("a\nb = 1")),
    ];
    for (text, value) in table {
        assert_eq!(read(text), value, "{text:?}");
    }
}

#[test]
fn what_sets_nothing_is_a_mistake() {
    assert!(settings(&["model".to_owned()]).is_err());
    let set = settings(&["model=\"a=b\"".to_owned()]).unwrap_or_default();
    assert_eq!(set.text("model"), Some("a=b"));
}

use serde_json::json;

use super::{Schema, TRIES};

#[test]
fn an_answer_fits_its_schema_or_says_what_does_not() {
    let schema =
        json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "number"}}});
    let schema = Schema::new(&schema).unwrap();
    let good = [
        "{\"a\":1}",
        " {\"a\": 1}\n",
        "```json\n{\"a\":1}\n```",
        "```\n{\"a\":1}\n```",
    ];
    for text in good {
        assert_eq!(schema.read(text), Ok(json!({"a": 1})), "{text}");
        assert_eq!(schema.problem(text, 0), None);
    }
    for text in ["", "hello", "{\"a\":", "{}", "{\"a\":\"x\"}"] {
        assert!(schema.read(text).is_err(), "{text}");
        assert!(schema.problem(text, 0).is_some());
        assert_eq!(schema.problem(text, TRIES), None, "the tries are over");
    }
    assert!(Schema::new(&json!({"type": 7})).is_err());
}

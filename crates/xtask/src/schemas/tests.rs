use serde_json::{Value, json};

use super::compare::{Sender, compare};
use super::{Files, breaks, drift};

/// A document with one of each kind of thing.
fn document() -> Value {
    json!({
        "oneOf": [
            {"$ref": "#/$defs/Move", "properties": {"type": {"const": "move"}}, "required": ["type"]},
            {"properties": {"type": {"const": "rest"}}, "required": ["type"]},
        ],
        "$defs": {
            "Move": {
                "type": "object",
                "properties": {
                    "to": {"$ref": "#/$defs/Place"},
                    "steps": {"type": ["integer", "null"], "minimum": 0, "maximum": 9},
                    "name": {"type": "string", "maxLength": 5, "pattern": "^a"},
                    "way": {"oneOf": [{"const": "left"}, {"const": "right"}]},
                    "via": {"type": "array", "items": {"$ref": "#/$defs/Place"}},
                    "then": {"anyOf": [{"$ref": "#/$defs/Move"}, {"type": "null"}]},
                },
                "required": ["to"],
            },
            "Place": {"type": "string"},
        },
    })
}

/// What both say breaks when the value at a place of the document becomes another.
fn changed(pointer: &str, value: Option<Value>) -> (Vec<String>, Vec<String>) {
    let old = document();
    let mut new = old.clone();
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    let parent = new.pointer_mut(parent).unwrap();
    match (parent, value) {
        (Value::Object(map), Some(value)) => drop(map.insert(name.to_owned(), value)),
        (Value::Object(map), None) => drop(map.remove(name).unwrap()),
        (Value::Array(list), Some(value)) => list.push(value),
        (Value::Array(list), None) => drop(list.remove(name.parse().unwrap())),
        (other, _) => panic!("{other}"),
    }
    (
        compare(&old, &new, Sender::Client),
        compare(&old, &new, Sender::Server),
    )
}

/// SQEQ-10: which change breaks which side.
#[test]
fn every_kind_of_change_breaks_whom_the_table_says() {
    const MOVE: &str = "/$defs/Move/properties";
    let (fits, breaks) = (false, true);
    let table: Vec<(&str, String, Option<Value>, bool, bool)> = vec![
        (
            "a member is gone",
            format!("{MOVE}/name"),
            None,
            breaks,
            breaks,
        ),
        (
            "a member is new",
            format!("{MOVE}/later"),
            Some(json!({"type": "string"})),
            fits,
            fits,
        ),
        ("a variant is gone", "/oneOf/1".into(), None, breaks, breaks),
        (
            "a variant is new",
            "/oneOf/-".into(),
            Some(json!({"properties": {"type": {"const": "fly"}}})),
            fits,
            fits,
        ),
        (
            "a value is gone",
            format!("{MOVE}/way/oneOf/0"),
            None,
            breaks,
            breaks,
        ),
        (
            "a value is new",
            format!("{MOVE}/way/oneOf/-"),
            Some(json!({"const": "up"})),
            fits,
            fits,
        ),
        (
            "a member is required now",
            "/$defs/Move/required/-".into(),
            Some(json!("name")),
            breaks,
            fits,
        ),
        (
            "a member may be missing now",
            "/$defs/Move/required/0".into(),
            None,
            fits,
            breaks,
        ),
        (
            "a tag is another",
            "/oneOf/1/properties/type/const".into(),
            Some(json!("sleep")),
            breaks,
            breaks,
        ),
        (
            "a type is another",
            "/$defs/Place/type".into(),
            Some(json!("integer")),
            breaks,
            breaks,
        ),
        (
            "fewer types",
            format!("{MOVE}/steps/type"),
            Some(json!("integer")),
            breaks,
            fits,
        ),
        (
            "more types",
            format!("{MOVE}/name/type"),
            Some(json!(["string", "null"])),
            fits,
            breaks,
        ),
        ("any type", "/$defs/Place/type".into(), None, fits, breaks),
        (
            "a wider number",
            format!("{MOVE}/steps/type"),
            Some(json!(["number", "null"])),
            fits,
            breaks,
        ),
        (
            "more forms",
            format!("{MOVE}/name"),
            Some(json!({"anyOf": [{"type": "null"}, {"type": "string"}]})),
            fits,
            breaks,
        ),
        (
            "one form of two",
            format!("{MOVE}/then"),
            Some(json!({"$ref": "#/$defs/Move"})),
            breaks,
            fits,
        ),
        (
            "a lower maximum",
            format!("{MOVE}/steps/maximum"),
            Some(json!(8)),
            breaks,
            fits,
        ),
        (
            "a higher maximum",
            format!("{MOVE}/steps/maximum"),
            Some(json!(10)),
            fits,
            fits,
        ),
        (
            "a higher minimum",
            format!("{MOVE}/steps/minimum"),
            Some(json!(1)),
            breaks,
            fits,
        ),
        (
            "a new bound",
            "/$defs/Place/minLength".into(),
            Some(json!(1)),
            breaks,
            fits,
        ),
        (
            "another form",
            format!("{MOVE}/name/pattern"),
            Some(json!("^b")),
            breaks,
            fits,
        ),
        (
            "no form any more",
            format!("{MOVE}/name/pattern"),
            None,
            fits,
            fits,
        ),
        (
            "a few values",
            "/$defs/Place/enum".into(),
            Some(json!(["here"])),
            breaks,
            fits,
        ),
        (
            "closed",
            "/$defs/Move/additionalProperties".into(),
            Some(json!(false)),
            breaks,
            fits,
        ),
        (
            "other words",
            "/$defs/Move/description".into(),
            Some(json!("text")),
            fits,
            fits,
        ),
        (
            "another kind in a list",
            format!("{MOVE}/via/items"),
            Some(json!({"type": "integer"})),
            breaks,
            breaks,
        ),
    ];
    for (what, pointer, value, client, server) in table {
        let (found_client, found_server) = changed(&pointer, value);
        assert_eq!(
            !found_client.is_empty(),
            client,
            "{what}, client: {found_client:?}"
        );
        assert_eq!(
            !found_server.is_empty(),
            server,
            "{what}, server: {found_server:?}"
        );
    }
}

#[test]
fn a_schema_fits_itself_and_a_finding_says_where() {
    for sender in [Sender::Client, Sender::Server] {
        assert_eq!(compare(&document(), &document(), sender), [""; 0]);
    }
    let (client, _) = changed("/$defs/Move/properties/steps/maximum", Some(json!(8)));
    assert_eq!(client, ["(type=move)/steps has a tighter maximum"]);
}

#[test]
fn files_that_differ_are_missing_or_are_too_many_are_found() {
    let files = |list: &[(&str, &str)]| -> Files {
        let owned = |(name, text): &(&str, &str)| ((*name).to_owned(), (*text).to_owned());
        list.iter().map(owned).collect()
    };
    let types = files(&[("v/a", "{}"), ("v/b", "{}")]);
    assert_eq!(drift(&types, &types), [""; 0]);
    let tree = files(&[("v/a", "{} "), ("v/c", "{}")]);
    assert_eq!(drift(&tree, &types).len(), 3);
    assert_eq!(breaks(&types, &types).unwrap(), [""; 0]);
    let published = files(&[("v/a", "{}"), ("v/c", "{}")]);
    assert_eq!(breaks(&published, &types).unwrap().len(), 2);
    assert!(breaks(&files(&[("v/a", "{")]), &types).is_err());
}

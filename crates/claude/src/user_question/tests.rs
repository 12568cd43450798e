use serde_json::{Value, json};

use super::{answered, content, form};

fn asked() -> Value {
    json!({ "questions": [
        { "question": "Which library?", "header": "Library", "multiSelect": false, "options": [
            { "label": "serde", "description": "the usual one" }, { "label": "own" } ] },
        { "question": "Which features?", "header": "Features", "multiSelect": true, "options": [
            { "label": "a", "description": "" }, { "label": "b" }, { "label": "c" } ] },
        { "question": "Anything else?", "header": "Else" },
    ] })
}

#[test]
fn each_question_is_a_property_with_its_choices() {
    let (message, schema) = form(&asked()).unwrap();
    assert_eq!(message, "Which library?\nWhich features?\nAnything else?");
    assert_eq!(
        schema,
        json!({
            "type": "object",
            "properties": {
                "q1": { "type": "string", "title": "Library", "description": "Which library?",
                    "oneOf": [{ "const": "serde", "title": "serde: the usual one" },
                              { "const": "own", "title": "own" }] },
                "q2": { "type": "array", "title": "Features", "description": "Which features?",
                    "items": { "anyOf": [{ "const": "a", "title": "a" },
                        { "const": "b", "title": "b" }, { "const": "c", "title": "c" }] } },
                "q3": { "type": "string", "title": "Else", "description": "Anything else?" },
            },
            "required": ["q1", "q2", "q3"],
        })
    );
    for nothing in [
        json!({}),
        json!({ "questions": [] }),
        json!({ "questions": [{}] }),
    ] {
        assert_eq!(form(&nothing), None, "{nothing}");
    }
}

#[test]
fn answers_go_by_the_words_of_their_question_and_back() {
    let filled = json!({ "q1": "own", "q2": ["a", "c"], "q3": "no", "q9": "of nothing" });
    let answered = answered(&asked(), &filled);
    assert_eq!(answered["questions"], asked()["questions"]);
    assert_eq!(
        answered["answers"],
        json!({ "Which library?": "own", "Which features?": "a, c", "Anything else?": "no" })
    );
    let back = content(&asked(), &answered).unwrap();
    assert_eq!(back, json!({ "q1": "own", "q2": ["a", "c"], "q3": "no" }));
    assert_eq!(content(&asked(), &asked()), None);
}

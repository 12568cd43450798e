//! `AskUserQuestion`, the tool that asks the user: its questions as one form of the waist, and what was
//! answered as the tool wants it.
//!
//! Each question is a property of the form, named by its number: the text is no name.

use serde_json::{Map, Value, json};

/// The tool's name.
pub(crate) const TOOL: &str = "AskUserQuestion";

/// What stands between the choices of an answer with several.
const SEVERAL: &str = ", ";

/// The questions of a call.
fn questions(input: &Value) -> impl Iterator<Item = &Value> {
    let questions = input.get("questions").and_then(Value::as_array);
    questions.into_iter().flatten()
}

fn text<'a>(value: &'a Value, member: &str) -> Option<&'a str> {
    value.get(member).and_then(Value::as_str)
}

fn name(number: usize) -> String {
    format!("q{}", number + 1)
}

fn takes_several(question: &Value) -> bool {
    question.get("multiSelect").and_then(Value::as_bool) == Some(true)
}

/// What a call asks: the message, and the form of the answer. None where it asks nothing that could be
/// shown.
pub(crate) fn form(input: &Value) -> Option<(String, Value)> {
    let mut properties = Map::new();
    let mut asked = Vec::new();
    for (number, question) in questions(input).enumerate() {
        let wording = text(question, "question")?;
        asked.push(wording);
        properties.insert(name(number), property(wording, question));
    }
    let required: Vec<String> = properties.keys().cloned().collect();
    let schema = json!({ "type": "object", "properties": properties, "required": required });
    (!asked.is_empty()).then(|| (asked.join("\n"), schema))
}

fn property(wording: &str, question: &Value) -> Value {
    let options = question.get("options").and_then(Value::as_array);
    let choice = |option: &Value| {
        let label = text(option, "label")?;
        let title = match text(option, "description").filter(|about| !about.is_empty()) {
            Some(about) => format!("{label}: {about}"),
            None => label.to_owned(),
        };
        Some(json!({ "const": label, "title": title }))
    };
    let choices: Vec<Value> = options.into_iter().flatten().filter_map(choice).collect();
    let title = text(question, "header").unwrap_or(wording);
    let mut property = match (choices.is_empty(), takes_several(question)) {
        (true, _) => json!({ "type": "string" }),
        (false, false) => json!({ "type": "string", "oneOf": choices }),
        (false, true) => json!({ "type": "array", "items": { "anyOf": choices } }),
    };
    if let Some(property) = property.as_object_mut() {
        property.insert("title".to_owned(), title.into());
        property.insert("description".to_owned(), wording.into());
    }
    property
}

/// The call's input with what the user answered.
pub(crate) fn answered(input: &Value, content: &Value) -> Value {
    let mut answers = Map::new();
    for (number, question) in questions(input).enumerate() {
        let answer = match content.get(name(number)) {
            Some(Value::String(answer)) => answer.clone(),
            Some(Value::Array(chosen)) => {
                let chosen: Vec<&str> = chosen.iter().filter_map(Value::as_str).collect();
                chosen.join(SEVERAL)
            }
            _ => continue,
        };
        if let Some(wording) = text(question, "question") {
            answers.insert(wording.to_owned(), answer.into());
        }
    }
    let mut input = input.clone();
    if let Some(members) = input.as_object_mut() {
        members.insert("answers".to_owned(), answers.into());
    }
    input
}

/// The way back: the form filled in, of an input that holds answers. None where it holds none.
pub(crate) fn content(asked: &Value, answered: &Value) -> Option<Value> {
    let answers = answered.get("answers")?.as_object()?;
    let mut content = Map::new();
    for (number, question) in questions(asked).enumerate() {
        let Some(answer) = text(question, "question").and_then(|it| answers.get(it)?.as_str())
        else {
            continue;
        };
        let answer = match takes_several(question) {
            true => answer.split(SEVERAL).collect(),
            false => Value::from(answer),
        };
        content.insert(name(number), answer);
    }
    Some(content.into())
}

#[cfg(test)]
mod tests;

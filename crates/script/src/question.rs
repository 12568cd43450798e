//! Questions to the user.

use serde_json::{Value, json};
use sessiond_engine::TurnOver;
use sessiond_protocol::{Outcome, RequestBody};

use crate::stage::Stage;

/// Asks for one line of text and says what came of it.
pub(crate) async fn ask(stage: &mut Stage<'_>, question: &str) -> Result<(), TurnOver> {
    stage.end_message();
    let body = RequestBody::Elicitation {
        message: question.to_owned(),
        schema: schema(),
    };
    let said = match stage.context.ask(None, body).await? {
        Outcome::Accepted { content } => match content.get("answer").and_then(Value::as_str) {
            Some(answer) => format!("Answer: {answer}"),
            None => "The answer does not have the asked form.".to_owned(),
        },
        // Contract.md, "fall back": a client without questions is one that declines them.
        Outcome::Declined | Outcome::Unanswered => "The question was declined.".to_owned(),
        Outcome::Cancelled if stage.is_cancelled() => return Ok(()),
        Outcome::Cancelled => "The question was dismissed.".to_owned(),
        Outcome::Failed { message } => format!("The question could not be asked: {message}"),
        _ => "The client's answer does not fit the question.".to_owned(),
    };
    stage.say(&said).await
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": { "answer": { "type": "string", "title": "Answer" } },
        "required": ["answer"],
    })
}

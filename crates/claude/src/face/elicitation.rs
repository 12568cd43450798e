//! Questions to the user, asked through the program: as `elicitation`, or, where the agent asks with the
//! tool that programs know for it, as permission for that.

use serde_json::{Value, json};
use sessiond_protocol::{Outcome, RequestFrame, WireError};

use super::arguments::Asked as Whom;
use super::open::{Asked, Question};
use super::serve::{Face, Input};
use crate::{control, elicited, user_question};

impl Face {
    /// Asks the user. Without anybody to ask the question is declined.
    pub(super) async fn ask_user(&mut self, request: RequestFrame) -> Result<(), WireError> {
        if self.input == Input::Ended {
            return self.engine.answer(&request, Outcome::Declined).await;
        }
        let shown = self.shown(&request);
        let asks_program = matches!(self.options.arguments.asked, Some(Whom::Program));
        if asks_program && shown.name == user_question::TOOL {
            let asked = json!({
                "subtype": "can_use_tool",
                "tool_name": shown.name,
                "display_name": shown.name,
                "input": shown.input,
                "tool_use_id": shown.id,
                "requires_user_interaction": true,
            });
            let question = Question { request, shown };
            self.put(Asked::UserQuestion(question), asked);
            return Ok(());
        }
        let Some(asked) = elicited::request(&self.agent.id.name, &request.body) else {
            return self.engine.answer(&request, Outcome::Unanswered).await;
        };
        self.put(Asked::Elicitation(request), asked);
        Ok(())
    }

    fn put(&mut self, asked: Asked, request: Value) {
        self.out.state("requires_action");
        let id = self.asks.open(asked);
        self.out.control(control::request(&id, request));
    }

    /// The program has answered a question.
    pub(super) async fn user_answered(
        &mut self,
        request: &RequestFrame,
        answer: Result<Value, String>,
    ) -> Result<(), WireError> {
        self.out.state("running");
        self.engine.answer(request, elicited::outcome(answer)).await
    }

    /// The program has answered the questions of the tool: they stand in the input that it gives back.
    pub(super) async fn question_answered(
        &mut self,
        question: Question,
        answer: Result<Value, String>,
    ) -> Result<(), WireError> {
        self.out.state("running");
        let answer = answer.unwrap_or_default();
        let allows = answer.get("behavior").and_then(Value::as_str) == Some("allow");
        let input = answer.get("updatedInput").filter(|_| allows);
        let content = input.and_then(|it| user_question::content(&question.shown.input, it));
        let outcome = match content {
            Some(content) => Outcome::Accepted { content },
            None => Outcome::Declined,
        };
        self.engine.answer(&question.request, outcome).await
    }
}

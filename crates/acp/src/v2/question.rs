//! What the agent asks the user, as version 2 asks it.

use serde::Serialize;
use sessiond_protocol::{
    Outcome, Permission, PermissionKind, RequestBody, RequestFrame, RequestId, SessionId, ToolCall,
};

use super::face::Face;
use super::patch::CallPatch;
use crate::extension::{may_be_asked, of_session};
use crate::question::Question;
use crate::questions::{Answered, Decided, answer_to};

/// The params of `session/request_permission`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct AskedPermission<'a> {
    session_id: SessionId,
    title: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<Subject<'a>>,
    options: Vec<AskedOption<'a>>,
}

/// What the question is about. A client takes the call in it as a patch of the call.
#[derive(Debug, Serialize)]
#[serde(
    tag = "type",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
enum Subject<'a> {
    ToolCall { tool_call: CallPatch<'a> },
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct AskedOption<'a> {
    option_id: &'a str,
    name: &'a str,
    kind: PermissionKind,
}

impl<'a> AskedPermission<'a> {
    fn of(request: &RequestFrame, asked: &'a Permission, call: Option<&'a ToolCall>) -> Self {
        let option = |option: &'a sessiond_protocol::PermissionOption| AskedOption {
            option_id: &option.id,
            name: &option.name,
            kind: option.kind,
        };
        let subject = request.item.zip(call).map(|(id, call)| Subject::ToolCall {
            tool_call: CallPatch::whole(id, call),
        });
        Self {
            session_id: request.session,
            title: &asked.title,
            subject,
            options: asked.options.iter().map(option).collect(),
        }
    }
}

impl Face {
    /// Asks the client what the agent asks. What it did not offer is not asked for.
    pub(super) fn ask(&mut self, request: RequestFrame) {
        if !may_be_asked(&request.body) {
            // A method of the protocol that we do not know: neither does the client.
            let message = "Method not found".to_owned();
            self.settle(&request, Outcome::Failed { message });
        } else if self.offers.answers.contains(&request.body.kind()) {
            self.put(request, 0);
        } else {
            self.settle(&request, Outcome::Unanswered);
        }
    }

    /// Hands the client's answer on, unless it names an option that was not offered: then nothing is
    /// decided, and it is asked again.
    pub(crate) fn answered(&mut self, answered: Answered) {
        match answered.decided() {
            Decided::Settled(request, outcome) => self.settle(&request, outcome),
            Decided::AskedAgain(request, times) => self.put(request, times),
        }
    }

    /// A question needs no answer any more: the client is told.
    pub(super) fn withdraw(&mut self, session: SessionId, id: RequestId) {
        self.questions.withdraw(id);
        self.look_after(session, id);
    }

    fn put(&mut self, request: RequestFrame, asked_again: u32) {
        let session = request.session;
        let state = self.sessions.get_mut(&session);
        let call = request
            .item
            .and_then(|item| state.as_ref()?.show.call(item));
        let sent = match &request.body {
            RequestBody::Permission(asked) => {
                let question = AskedPermission::of(&request, asked, call);
                self.client.call("session/request_permission", &question)
            }
            RequestBody::Extension { method, params } => {
                let params = of_session(params.clone(), session);
                self.client.call(method, &params)
            }
            // The others are asked as in version 1.
            _ => match Question::of(&request, call) {
                Some(question) => self.client.call(question.method(), &question),
                None => return,
            },
        };
        let is_for_user = !matches!(request.body, RequestBody::Extension { .. });
        if let Some(state) = state
            && is_for_user
            && asked_again == 0
        {
            state.ask(request.id, request.item);
            state.look(&self.client, session);
        }
        self.questions.hold((request, asked_again), sent);
    }

    fn settle(&mut self, request: &RequestFrame, outcome: Outcome) {
        self.send(answer_to(request, outcome));
        self.look_after(request.session, request.id);
    }

    fn look_after(&mut self, session: SessionId, request: RequestId) {
        if let Some(state) = self.sessions.get_mut(&session)
            && state.settled(request)
        {
            state.look(&self.client, session);
        }
    }
}

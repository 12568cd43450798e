//! What client and agent say to each other beyond the protocol: `_…` methods, and updates that the
//! waist does not know. Only a top-level `sessionId` is rewritten.

use serde_json::Value;
use serde_json::value::RawValue;
use sessiond_protocol::{Answered, Op, RequestBody, SessionId};
use sessiond_wire::rpc::{ErrorObject, RawId};

use crate::awaited::{Awaited, Purpose, Wish};
use crate::face::Face;
use crate::gate::{Gate, Passage, passage};
use crate::params::read;
use crate::refusal::method_not_found;

/// How the names of extension methods begin.
const OWN: char = '_';

const SESSION_ID: &str = "sessionId";

/// Whether a method is nobody's but an extension's.
pub(crate) fn is_extension(method: &str) -> bool {
    method.starts_with(OWN)
}

/// What passes an extension on to the agent of the session that it names; none where it names no
/// session that is active.
pub(crate) fn extension_op(
    (method, params): (&str, Option<&RawValue>),
    answer: Answered,
    active: impl FnOnce(&str) -> Option<SessionId>,
) -> Option<(SessionId, Op)> {
    let params: Value = read(params).ok()?;
    let session = active(params.get(SESSION_ID)?.as_str()?)?;
    let method = method.to_owned();
    let op = Op::Extension {
        method,
        params,
        answer,
    };
    Some((session, op))
}

impl Face {
    /// An extension goes to the agent of the session that it names; who names none speaks to us, and
    /// we have none.
    pub(crate) fn extension(
        &mut self,
        id: &RawId,
        method: &str,
        params: Option<&RawValue>,
    ) -> Result<(), ErrorObject> {
        let (session, op) = self
            .extension_op(method, params, Answered::Answer)
            .ok_or_else(method_not_found)?;
        let awaited = Awaited::about(session, id, Purpose::Extension(Wish::Run));
        self.submit(awaited, Some(session), op)
    }

    /// The same, where no answer is wanted: what nobody takes is passed over.
    pub(crate) fn extension_told(&mut self, method: &str, params: &RawValue) {
        let Some((session, op)) = self.extension_op(method, Some(params), Answered::None) else {
            return;
        };
        if self.submit(Awaited::nothing(), Some(session), op).is_err() {
            tracing::error!("an extension could not be submitted");
        }
    }

    fn extension_op(
        &self,
        method: &str,
        params: Option<&RawValue>,
        answer: Answered,
    ) -> Option<(SessionId, Op)> {
        extension_op((method, params), answer, |session| self.is_active(session))
    }

    /// Something of the agent's protocol that is for this client, if it offered to show it.
    pub(crate) fn extension_event(&mut self, session: SessionId, method: &str, params: Value) {
        match method {
            "session/update" => self.foreign_update(session, params),
            "elicitation/complete" => {
                let name = params.get("elicitationId").and_then(Value::as_str);
                if name.is_some_and(|name| self.questions.completed(name)) {
                    self.client.tell(method, &params);
                }
            }
            _ if is_extension(method) => self.client.tell(method, &of_session(params, session)),
            _ => {}
        }
    }

    /// An update that the waist does not know. A child session is known from its first
    /// `subagent_update` on; what it shows keeps its own id (acp.md 1.7).
    fn foreign_update(&mut self, session: SessionId, params: Value) {
        let gates = self.gates();
        let Some(state) = self.sessions.get_mut(&session) else {
            return;
        };
        let variant = params
            .pointer("/update/sessionUpdate")
            .and_then(Value::as_str);
        let whose = params.get(SESSION_ID).and_then(Value::as_str);
        let is_childs = whose.is_some_and(|whose| state.children.contains(whose));
        let passes = match passage(variant.unwrap_or_default()) {
            // Of the session itself the waist carries these: they would come twice.
            Passage::Baseline => is_childs && gates.has(Gate::Subagents),
            Passage::Gated(gate) => gates.has(gate),
            Passage::Never => false,
        };
        if !passes {
            return;
        }
        if variant == Some("subagent_update")
            && let Some(child) = params.pointer("/update/sessionId").and_then(Value::as_str)
        {
            state.children.insert(child.to_owned());
        }
        let params = match is_childs {
            true => params,
            false => of_session(params, session),
        };
        self.client.tell("session/update", &params);
    }
}

/// The params with the id that the client knows the session by.
pub(crate) fn of_session(mut params: Value, session: SessionId) -> Value {
    if let Some(id) = params.get_mut(SESSION_ID) {
        *id = Value::from(session.to_string());
    }
    params
}

/// Whether a question of the agent is one that a client may know.
pub(crate) fn may_be_asked(body: &RequestBody) -> bool {
    match body {
        RequestBody::Extension { method, .. } => is_extension(method),
        _ => true,
    }
}

#[cfg(test)]
mod tests;

//! Notifications of an agent, read.

use serde_json::Value;
use serde_json::value::RawValue;
use sessiond_engine::Emit;

use super::native::Native;
use super::update::{self, Update};

/// The notification that carries updates.
const UPDATE: &str = "session/update";

/// Notifications about requests, not about sessions, begin so: nobody upstream knows those requests.
const PROTOCOL: &str = "$/";

/// What a notification says.
#[derive(Debug)]
pub(super) enum Said<'a> {
    /// This, about the session.
    Update(Update<'a>),
    /// This, for a client that speaks the agent's protocol.
    Beyond(Emit),
    /// Nothing: it is malformed, or about another session (ADAPT-8).
    Nothing,
}

/// Reads a notification.
pub(super) fn said<'a>(native: &Native, method: &str, params: Option<&'a RawValue>) -> Said<'a> {
    let Some(params) = params else {
        return Said::Nothing;
    };
    if method.starts_with(PROTOCOL) {
        return Said::Nothing;
    }
    if method != UPDATE {
        return beyond(native, method, params);
    }
    match update::read(params) {
        Some((session, _)) if session != native.id => Said::Nothing,
        Some((_, Update::Other)) => beyond(native, method, params),
        Some((_, update)) => Said::Update(update),
        None => Said::Nothing,
    }
}

fn beyond<'a>(native: &Native, method: &str, params: &RawValue) -> Said<'a> {
    let Ok(mut params) = serde_json::from_str::<Value>(params.get()) else {
        return Said::Nothing;
    };
    native.to_ours(&mut params);
    Said::Beyond(Emit::Extension(method.to_owned(), params))
}

//! What a client knows of a session: the fold of its `session/update` frames, of either version.

use std::collections::BTreeMap;

use serde_json::Value;

/// The updates among frames.
pub(crate) fn updates(frames: &[Value]) -> impl Iterator<Item = &Value> {
    frames
        .iter()
        .filter(|frame| frame["method"] == "session/update")
        .map(|frame| &frame["params"]["update"])
}

/// The permissions asked among frames.
pub(crate) fn permissions(frames: &[Value]) -> Vec<&Value> {
    let asked = |frame: &&Value| frame["method"] == "session/request_permission";
    frames
        .iter()
        .filter(asked)
        .map(|frame| &frame["params"])
        .collect()
}

/// The messages of a role (`user`, `agent`) with their ids, in order.
pub(crate) fn messages(frames: &[Value], role: &str) -> Vec<(String, String)> {
    let (whole, chunk) = (format!("{role}_message"), format!("{role}_message_chunk"));
    let mut messages: Vec<(String, String)> = Vec::new();
    for update in updates(frames) {
        let kind = update["sessionUpdate"].as_str().unwrap_or_default();
        let text = if kind == chunk {
            update["content"]["text"]
                .as_str()
                .unwrap_or_default()
                .to_owned()
        } else if kind == whole {
            let blocks = update["content"].as_array().into_iter().flatten();
            blocks.filter_map(|block| block["text"].as_str()).collect()
        } else {
            continue;
        };
        let id = update["messageId"].as_str().unwrap_or_default();
        match messages.iter_mut().find(|(known, _)| known == id) {
            Some((_, so_far)) if kind == chunk => so_far.push_str(&text),
            Some((_, so_far)) => *so_far = text,
            None => messages.push((id.to_owned(), text)),
        }
    }
    messages
}

/// Everything the agent said.
pub(crate) fn said(frames: &[Value]) -> String {
    messages(frames, "agent")
        .into_iter()
        .map(|(_, text)| text)
        .collect()
}

/// The last status of each tool call.
pub(crate) fn outcomes(frames: &[Value]) -> BTreeMap<String, String> {
    let mut outcomes = BTreeMap::new();
    for update in updates(frames) {
        if let (Some(id), Some(status)) = (update["toolCallId"].as_str(), update["status"].as_str())
        {
            outcomes.insert(id.to_owned(), status.to_owned());
        }
    }
    outcomes
}

/// The states a v2 session went through, with the reason it stopped.
pub(crate) fn states(frames: &[Value]) -> Vec<(String, String)> {
    updates(frames)
        .filter(|update| update["sessionUpdate"] == "state_update")
        .map(|update| {
            let text = |member: &str| update[member].as_str().unwrap_or_default().to_owned();
            (text("state"), text("stopReason"))
        })
        .collect()
}

//! What a request asks, the same for every service.

use super::tool::Offer;

/// One request, as far as the script of its prompt decides the reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ask {
    /// The model that was named; services echo it.
    pub(crate) model: String,
    /// The last prompt, without what agents put around it.
    pub(crate) prompt: String,
    /// How many rounds of tool results have come since that prompt.
    pub(crate) rounds: usize,
    /// What the tools of the last round returned, in order.
    pub(crate) results: Vec<String>,
    /// The tools the model may call.
    pub(crate) tools: Vec<Offer>,
    /// Bytes of the request, from which tokens are reckoned.
    pub(crate) size: usize,
    /// Whether the reply goes out in pieces.
    pub(crate) delivery: Delivery,
}

/// How a reply goes out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Delivery {
    /// Server-sent events.
    Stream,
    /// One JSON object.
    Whole,
}

impl Delivery {
    /// What a `stream` member asks for; services take its absence as no.
    pub(crate) fn of(body: &serde_json::Value) -> Self {
        match body.get("stream") {
            Some(serde_json::Value::Bool(true)) => Self::Stream,
            _ => Self::Whole,
        }
    }
}

/// What a person wrote, of the texts that a user message holds: the last one that is not an
/// agent's own. Agents mark what they add by a leading tag, and put it, like what was said in
/// another session, before the prompt.
pub(crate) fn written<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let own = |text: &&str| !text.trim_start().starts_with('<') && !text.trim().is_empty();
    texts
        .into_iter()
        .filter(own)
        .last()
        .unwrap_or_default()
        .to_owned()
}

/// Tokens of so many bytes, as reckoned everywhere here: four bytes each.
pub(crate) fn tokens(bytes: usize) -> usize {
    bytes.div_ceil(4)
}

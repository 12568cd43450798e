//! What a request asks, the same for every service.

use super::tool::Offer;

/// One request, as far as the script of its prompt decides the reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ask {
    /// The model that was named; services echo it.
    pub(crate) model: String,
    /// The text of the last prompt, without what agents put around it (`<tag>…` texts).
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

/// Texts a person wrote, of those a user message holds: agents mark what they add by a leading tag.
pub(crate) fn written<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let kept: Vec<_> = texts
        .into_iter()
        .filter(|text| !text.trim_start().starts_with('<') && !text.trim().is_empty())
        .collect();
    kept.join("\n")
}

/// Tokens of so many bytes, as reckoned everywhere here: four bytes each.
pub(crate) fn tokens(bytes: usize) -> usize {
    bytes.div_ceil(4)
}

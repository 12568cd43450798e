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

/// How texts begin that agents put beside a prompt of their own accord: tagged ones, notes of
/// Claude about what was interrupted, what Gemini and codex make of an embedded resource.
const OWN: [&str; 5] = [
    "<",
    "[Request interrupted",
    "--- ",
    "Content from @",
    "sessiond://",
];

/// What a person wrote, of the texts that a user message holds: the last one that is not an
/// agent's own. What was said in another session stands before the prompt.
pub(crate) fn written<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let own = |text: &str| text.is_empty() || OWN.iter().any(|mark| text.starts_with(mark));
    let kept = texts.into_iter().filter(|text| !own(text.trim()));
    kept.last().unwrap_or_default().to_owned()
}

/// Tokens of so many bytes, as reckoned everywhere here: four bytes each.
pub(crate) fn tokens(bytes: usize) -> usize {
    bytes.div_ceil(4)
}

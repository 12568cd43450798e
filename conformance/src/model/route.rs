//! Which service and which of its methods a path names.

use super::ask::Delivery;

/// One of the four services.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Service {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI Responses.
    Responses,
    /// OpenAI Chat Completions.
    Chat,
    /// Google generateContent.
    Google,
}

/// What a request is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Route<'a> {
    /// A reply of the model.
    Reply(Service),
    /// A reply of Google's model: the path names it and how the reply goes out.
    GoogleReply(&'a str, Delivery),
    /// The number of tokens of a prompt.
    Count(Service),
    /// The list of models, in the form of this service.
    Models(Service),
    /// Whether anybody is there.
    Probe,
    /// Nothing that is known here.
    Unknown,
}

impl<'a> Route<'a> {
    /// Of a method and a path with or without a query.
    pub(crate) fn of(method: &str, path: &'a str) -> Self {
        let path = path.split_once('?').map_or(path, |(path, _)| path);
        let path = path.trim_end_matches('/');
        let ends = |with: &str| path.ends_with(with);
        match method {
            "HEAD" => Self::Probe,
            "GET" if ends("/v1beta/models") => Self::Models(Service::Google),
            "GET" if ends("/models") => Self::Models(Service::Chat),
            "POST" if ends("/messages/count_tokens") => Self::Count(Service::Anthropic),
            "POST" if ends("/messages") => Self::Reply(Service::Anthropic),
            "POST" if ends("/responses") => Self::Reply(Service::Responses),
            "POST" if ends("/chat/completions") => Self::Reply(Service::Chat),
            "POST" => Self::google(path),
            _ => Self::Unknown,
        }
    }

    fn google(path: &'a str) -> Self {
        let last = path.rsplit('/').next().unwrap_or_default();
        match last.split_once(':') {
            Some((model, "generateContent")) => Self::GoogleReply(model, Delivery::Whole),
            Some((model, "streamGenerateContent")) => Self::GoogleReply(model, Delivery::Stream),
            Some((_, "countTokens")) => Self::Count(Service::Google),
            _ => Self::Unknown,
        }
    }
}

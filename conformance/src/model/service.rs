//! From a request to a reply, by service.

use serde_json::{Value, json};

use super::ask::{Ask, tokens};
use super::plan::Plan;
use super::reply::Reply;
use super::route::{Route, Service};
use super::{anthropic, chat, google, responses};

/// Name of the one model that lists name; any other is answered as well.
const MODEL: &str = "scripted";

/// What is said of a body that is no JSON: services read strictly, half a surrogate pair is none to them.
const NO_JSON: &str = "the request body is not valid JSON";

/// A request, as far as replies depend on it.
#[derive(Debug)]
pub(crate) struct Request<'a> {
    /// Its number, from 1, of which ids are made.
    pub(crate) number: u64,
    pub(crate) route: Route<'a>,
    /// The body, null when there was none, or no JSON.
    pub(crate) body: &'a Value,
    /// Its bytes.
    pub(crate) size: usize,
}

/// The reply to a request.
pub(crate) fn answer(request: &Request<'_>) -> Reply {
    let (number, body, size) = (request.number, request.body, request.size);
    let (service, ask) = match request.route {
        Route::Probe => return Reply::whole(200, &Value::Null),
        Route::Unknown => {
            let message = "no such route";
            return Reply::whole(404, &error(Service::Anthropic, 404, message));
        }
        Route::Models(service) => return Reply::whole(200, &models(service)),
        Route::Count(service) => return Reply::whole(200, &count(service, size)),
        Route::GoogleReply(model, delivery) => {
            (Service::Google, google::ask(body, size, model, delivery))
        }
        Route::Reply(service) => (service, ask(service, body, size)),
    };
    let plan = match body {
        Value::Null if size > 0 => Plan::Refusal(400, NO_JSON.to_owned()),
        _ => Plan::of(&ask),
    };
    match plan {
        Plan::Refusal(status, said) => Reply::whole(status, &error(service, status, &said)),
        Plan::Answer(answer) => {
            let reply = match service {
                Service::Anthropic => anthropic::reply(number, &ask, &answer),
                Service::Responses => responses::reply(number, &ask, &answer),
                Service::Chat => chat::reply(number, body, &ask, &answer),
                Service::Google => google::reply(number, &ask, &answer),
            };
            Reply {
                hold: answer.hold,
                ..reply
            }
        }
    }
}

fn ask(service: Service, body: &Value, size: usize) -> Ask {
    match service {
        Service::Anthropic => anthropic::ask(body, size),
        Service::Responses => responses::ask(body, size),
        Service::Chat => chat::ask(body, size),
        Service::Google => google::ask(body, size, MODEL, super::ask::Delivery::Whole),
    }
}

fn models(service: Service) -> Value {
    match service {
        Service::Google => json!({"models": [{"name": format!("models/{MODEL}")}]}),
        _ => json!({"object": "list", "data": [{"id": MODEL, "object": "model"}]}),
    }
}

fn count(service: Service, size: usize) -> Value {
    match service {
        Service::Google => json!({"totalTokens": tokens(size)}),
        _ => json!({"input_tokens": tokens(size)}),
    }
}

/// An error in the form of the service.
fn error(service: Service, status: u16, message: &str) -> Value {
    let message = format!("{message} (HTTP {status})");
    match service {
        Service::Anthropic => {
            let kind = match status {
                400 => "invalid_request_error",
                401 => "authentication_error",
                403 => "permission_error",
                404 => "not_found_error",
                413 => "request_too_large",
                429 => "rate_limit_error",
                529 => "overloaded_error",
                _ => "api_error",
            };
            json!({"type": "error", "error": {"type": kind, "message": message}})
        }
        Service::Responses | Service::Chat => {
            let kind = if status < 500 {
                "invalid_request_error"
            } else {
                "server_error"
            };
            json!({"error": {"message": message, "type": kind, "param": null, "code": kind}})
        }
        Service::Google => {
            let kind = match status {
                400 => "INVALID_ARGUMENT",
                401 => "UNAUTHENTICATED",
                403 => "PERMISSION_DENIED",
                404 => "NOT_FOUND",
                429 => "RESOURCE_EXHAUSTED",
                503 => "UNAVAILABLE",
                _ => "INTERNAL",
            };
            json!({"error": {"code": status, "message": message, "status": kind}})
        }
    }
}

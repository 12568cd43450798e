//! The scripted model server as an agent sees it: the same table for each of its four services.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on says so loudly"
)]

mod http;
mod service;

use std::path::Path;

use serde_json::json;
use sessiond_conformance::model::ModelServer;

use http::{End, post, request};
use service::{ALL, Heard, Service};

async fn server(record: Option<&Path>) -> ModelServer {
    ModelServer::start(0, record).await.unwrap()
}

/// Sends a prompt with a shell tool: what the model said.
async fn streamed(server: &ModelServer, service: &Service, prompt: &str) -> Heard {
    let turns = [(service.user)(prompt)];
    let (path, body) = (service.request)(&turns, true);
    let reply = post(&server.url(), path, &body).await;
    assert_eq!(
        (reply.status, reply.end),
        (200, End::Whole),
        "{prompt}: {reply:?}"
    );
    assert_eq!(reply.media, "text/event-stream");
    (service.stream)(&reply.text)
}

async fn whole(server: &ModelServer, service: &Service, prompt: &str) -> Heard {
    let turns = [(service.user)(prompt)];
    let (path, body) = (service.request)(&turns, false);
    let reply = post(&server.url(), path, &body).await;
    assert_eq!(
        (reply.status, reply.end),
        (200, End::Whole),
        "{prompt}: {reply:?}"
    );
    (service.whole)(&serde_json::from_str(&reply.text).unwrap())
}

#[tokio::test]
async fn every_service_says_thinks_and_calls_as_the_prompt_asks() {
    let server = server(None).await;
    let shell = |command: &str| json!({"command": command, "description": "A scripted command"});
    let table = [
        ("hello", "", "You said: hello", vec![]),
        ("SAY[a b c d]", "", "a b c d", vec![]),
        ("THINK[hm] SAY[yes]", "hm", "yes", vec![]),
        ("SHELL[echo hi]", "", "", vec![shell("echo hi")]),
        (
            "SAY[now] SHELL[a] SHELL[b]",
            "",
            "now",
            vec![shell("a"), shell("b")],
        ),
        ("READ[/x]", "", "No tool for READ was offered.", vec![]),
    ];
    for service in &ALL {
        for (prompt, thought, said, calls) in &table {
            let heard = streamed(&server, service, prompt).await;
            assert_eq!(heard.thought, *thought, "{} {prompt}", service.name);
            assert_eq!(heard.said, *said, "{} {prompt}", service.name);
            let inputs: Vec<_> = heard.calls.iter().map(|call| call.input.clone()).collect();
            assert_eq!(inputs, *calls, "{} {prompt}", service.name);
            assert!(
                heard.calls.iter().all(|call| call.name == "Bash"),
                "{heard:?}"
            );
            let stop = if calls.is_empty() {
                service.stop
            } else {
                service.stop_for_calls
            };
            assert_eq!(heard.stop, stop, "{} {prompt}", service.name);
        }
    }
}

#[tokio::test]
async fn without_a_stream_the_same_comes_whole() {
    let server = server(None).await;
    for service in &ALL {
        let heard = whole(&server, service, "THINK[hm] SAY[now] SHELL[a]").await;
        assert_eq!(heard.said, "now", "{}", service.name);
        assert_eq!(heard.calls.len(), 1, "{}", service.name);
        assert_eq!(heard.stop, service.stop_for_calls, "{}", service.name);
    }
}

/// Each round of tool results moves the script on, and what the tools returned is repeated.
#[tokio::test]
async fn a_script_goes_on_round_by_round_with_the_results_of_tools() {
    let server = server(None).await;
    for service in &ALL {
        let mut turns = vec![
            (service.user)("earlier SHELL[z]"),
            (service.user)("<context>SAY[not this]</context>"),
            (service.user)("SHELL[a] SHELL[b] THEN SHELL[c] THEN SAY[done]"),
            (service.user)("<reminder>SAY[nor this]</reminder>"),
        ];
        for (round, expected) in [("a", 2), ("c", 1)].into_iter().enumerate() {
            let (path, body) = (service.request)(&turns, true);
            let heard = (service.stream)(&post(&server.url(), path, &body).await.text);
            let (first, count) = expected;
            assert_eq!(heard.calls.len(), count, "{} round {round}", service.name);
            assert_eq!(heard.calls[0].input["command"], first, "{}", service.name);
            turns.extend((service.results)(&heard.calls, &format!("out {round}")));
        }
        let (path, body) = (service.request)(&turns, true);
        let heard = (service.stream)(&post(&server.url(), path, &body).await.text);
        assert_eq!(
            (heard.said.as_str(), heard.calls.len()),
            ("done", 0),
            "{}",
            service.name
        );
        turns.push((service.user)("SHELL[d]"));
        let (path, body) = (service.request)(&turns, true);
        let heard = (service.stream)(&post(&server.url(), path, &body).await.text);
        assert_eq!(
            heard.calls[0].input["command"], "d",
            "a new prompt, {}",
            service.name
        );
        turns.extend((service.results)(&heard.calls, "out 2"));
        let (path, body) = (service.request)(&turns, true);
        let heard = (service.stream)(&post(&server.url(), path, &body).await.text);
        assert_eq!(heard.said, "The tools returned: out 2", "{}", service.name);
    }
}

/// Agents hand over what was said elsewhere before the prompt, and reminders on either side of it.
#[tokio::test]
async fn only_the_last_text_of_a_prompt_is_its_script() {
    let server = server(None).await;
    for service in &ALL {
        let texts = [
            "before: SAY[old]",
            "sessiond://session/1",
            "SAY[new]",
            "<reminder>SAY[own]</reminder>",
            "[Request interrupted by user]",
            "\n--- Content from referenced context ---",
            "Content from @x: SAY[context]",
            " ",
        ];
        let (path, body) = (service.request)(&[(service.texts)(&texts)], true);
        let heard = (service.stream)(&post(&server.url(), path, &body).await.text);
        assert_eq!(heard.said, "new", "{}", service.name);
    }
}

#[tokio::test]
async fn parallel_results_that_alternate_with_their_calls_are_one_round() {
    let server = server(None).await;
    let service = &ALL[1];
    assert_eq!(service.name, "responses");
    let call = |id: &str| json!({"type": "function_call", "call_id": id, "name": "Bash"});
    let output = |id: &str| json!({"type": "function_call_output", "call_id": id, "output": "x"});
    let turns = [
        (service.user)("SHELL[a] SHELL[b] THEN SAY[done] THEN SAY[too far]"),
        call("call_7_0"),
        output("call_7_0"),
        call("call_7_1"),
        output("call_7_1"),
    ];
    let (path, body) = (service.request)(&turns, true);
    let heard = (service.stream)(&post(&server.url(), path, &body).await.text);
    assert_eq!(heard.said, "done");
}

#[tokio::test]
async fn a_slow_reply_comes_piece_by_piece_and_a_huge_one_comes_whole() {
    let server = server(None).await;
    for service in &ALL {
        let turns = [(service.user)("SLOW[4 30]")];
        let (path, body) = (service.request)(&turns, true);
        let reply = post(&server.url(), path, &body).await;
        // Whatever the machine is busy with, pieces 30 ms apart cannot come in one read.
        assert!(reply.reads >= 3, "{}: {} reads", service.name, reply.reads);
        let said = "piece 1 piece 2 piece 3 piece 4 ";
        assert_eq!((service.stream)(&reply.text).said, said, "{}", service.name);
        let heard = streamed(&server, service, "HUGE[2097152]").await;
        assert_eq!(heard.said.len(), 2 * 1024 * 1024, "{}", service.name);
    }
}

#[tokio::test]
async fn a_cut_stream_ends_in_the_middle_of_its_text() {
    let server = server(None).await;
    for service in &ALL {
        let turns = [(service.user)("SAY[abcdef] CUT[]")];
        let (path, body) = (service.request)(&turns, true);
        let reply = post(&server.url(), path, &body).await;
        assert_eq!(
            (reply.status, reply.end),
            (200, End::Cut),
            "{}",
            service.name
        );
        let heard = (service.stream)(&reply.text);
        assert_eq!(
            (heard.said.as_str(), heard.stop.as_str()),
            ("ab", ""),
            "{}",
            service.name
        );
    }
}

#[tokio::test]
async fn errors_have_the_status_and_the_form_of_their_service() {
    let server = server(None).await;
    for service in &ALL {
        for (status, kind) in service.errors {
            let turns = [(service.user)(&format!("HTTP[{status}]"))];
            let (path, body) = (service.request)(&turns, true);
            let reply = post(&server.url(), path, &body).await;
            assert_eq!(reply.status, *status, "{}", service.name);
            let error: serde_json::Value = serde_json::from_str(&reply.text).unwrap();
            assert_eq!(
                error.pointer(service.error_kind),
                Some(&json!(kind)),
                "{error}"
            );
        }
    }
}

#[tokio::test]
async fn a_body_that_is_no_json_is_refused() {
    let server = server(None).await;
    for service in &ALL {
        let turns = [(service.user)("half SURROGATE end")];
        let (path, body) = (service.request)(&turns, true);
        let body = body.to_string().replace("SURROGATE", "\\ud83d");
        let reply = request(&server.url(), "POST", path, &body).await;
        assert_eq!(reply.status, 400, "{}", service.name);
        let error: serde_json::Value = serde_json::from_str(&reply.text).unwrap();
        let (_, kind) = service.errors[0];
        assert_eq!(error.pointer(service.error_kind), Some(&json!(kind)));
    }
}

#[tokio::test]
async fn what_agents_ask_besides_is_answered() {
    let server = server(None).await;
    let table = [
        ("GET", "/v1/models", 200, "/data/0/id", json!("scripted")),
        (
            "GET",
            "/v1beta/models",
            200,
            "/models/0/name",
            json!("models/scripted"),
        ),
        (
            "POST",
            "/v1/messages/count_tokens?beta=true",
            200,
            "/input_tokens",
            json!(1),
        ),
        (
            "POST",
            "/v1beta/models/m:countTokens",
            200,
            "/totalTokens",
            json!(1),
        ),
        (
            "POST",
            "/v1/nothing",
            404,
            "/error/type",
            json!("not_found_error"),
        ),
        (
            "GET",
            "/v1/messages",
            404,
            "/error/type",
            json!("not_found_error"),
        ),
    ];
    for (method, path, status, place, value) in table {
        let reply = request(&server.url(), method, path, "{}").await;
        assert_eq!(reply.status, status, "{path}");
        let body: serde_json::Value = serde_json::from_str(&reply.text).unwrap();
        assert_eq!(body.pointer(place), Some(&value), "{path}: {body}");
    }
}

#[tokio::test]
async fn every_request_is_recorded_with_what_the_model_was_shown_and_without_its_keys() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("requests.jsonl");
    let server = server(Some(&path)).await;
    for service in &ALL {
        streamed(&server, service, "remember me").await;
    }
    request(
        &server.url(),
        "GET",
        "/v1beta/models?alt=sse&key=secret-key",
        "",
    )
    .await;
    let requests = server.requests().unwrap();
    assert_eq!(requests.len(), ALL.len() + 1);
    for (index, (service, request)) in ALL.iter().zip(&requests).enumerate() {
        assert_eq!(request["number"], index + 1);
        assert_eq!(request["method"], "POST");
        let (path, body) = (service.request)(&[(service.user)("remember me")], true);
        assert_eq!((&request["path"], &request["body"]), (&json!(path), &body));
        assert_eq!(request["headers"]["x-api-key"], "(withheld)");
    }
    assert_eq!(
        requests[ALL.len()]["path"],
        "/v1beta/models?alt=sse&key=(withheld)"
    );
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(!text.contains("secret-key"), "{text}");
}

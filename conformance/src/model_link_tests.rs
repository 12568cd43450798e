use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;

use super::ModelLink;
use crate::recording::{Recorder, What};

/// Asks the model at an address; the head of its answer.
fn ask(url: &str) -> String {
    let rest = url.strip_prefix("http://").expect("an address");
    let (host, path) = rest.split_once('/').expect("a path");
    let body = r#"{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"SAY[hi]"}]}"#;
    let mut stream = TcpStream::connect(host).expect("a server");
    let request = format!(
        "POST /{path}/v1/messages HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n\
         Connection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    answer
}

/// CONF-3: the wire log of a case holds what its target asked the model, and no other's.
#[test]
fn what_a_target_asks_the_model_stands_in_the_recording_of_its_case() {
    let link = ModelLink::start().expect("a server");
    let recorder = Arc::new(Recorder::new());
    link.follow("one", Arc::clone(&recorder));
    for case in ["one", "other"] {
        let answer = ask(&link.url(case));
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
    let seen: Vec<String> = recorder
        .look()
        .entries
        .iter()
        .map(|entry| match &entry.what {
            What::ModelAsked(text) => format!("asked {text}"),
            What::ModelAnswered(text) => format!("answered {text}"),
            what => format!("{what:?}"),
        })
        .collect();
    assert_eq!(seen.len(), 2, "{seen:?}");
    assert!(seen[0].starts_with("asked v1/messages ") && seen[0].contains("SAY[hi]"));
    assert_eq!(seen[1], "answered 200 to v1/messages");
    link.forget("one");
    ask(&link.url("one"));
    assert_eq!(recorder.look().entries.len(), 2);
}

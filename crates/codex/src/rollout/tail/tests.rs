use std::fs;

use serde_json::json;

use super::super::File;
use super::super::tests::{event, head, item, message, thread, words};
use super::*;

/// A file in memory under a tail.
struct Followed {
    tail: Tail,
    bytes: Vec<u8>,
    number: u64,
}

impl Followed {
    fn new() -> Self {
        Self {
            tail: Tail::default(),
            bytes: Vec::new(),
            number: 1,
        }
    }

    /// What a look at so many bytes finds, in words; what begins anew is `!`.
    fn look(&mut self) -> Vec<String> {
        let length = self.bytes.len() as u64;
        let identity = Identity {
            file: (1, self.number),
            bytes: length,
        };
        let open = || {
            let name = format!("rollout-2026-11-30T12-00-00-{}.jsonl", thread(1));
            let source = Upto::new(self.bytes.clone(), length);
            Rollout::read(File { name, source }, |_| Ok(Vec::new()))
        };
        let grown = self.tail.look(&self.bytes, identity, open).unwrap();
        let said = grown.into_iter().map(|grown| match grown {
            Grown::Told(told) => words(&[told.what]).concat(),
            Grown::Anew => "!".to_owned(),
        });
        said.collect()
    }

    fn then(&mut self, text: &str) -> Vec<String> {
        self.bytes.extend_from_slice(text.as_bytes());
        self.look()
    }
}

fn call(id: &str) -> String {
    item(json!({"type": "function_call", "name": "x", "arguments": "{}", "call_id": id}))
}

fn output(id: &str) -> String {
    item(json!({"type": "function_call_output", "call_id": id, "output": id}))
}

#[test]
fn what_comes_to_a_file_is_told_once_when_it_is_whole() {
    let mut file = Followed::new();
    assert_eq!(file.look(), [""; 0]);
    let (start, end) = (head(1, json!({})), message("user", "a"));
    assert_eq!(file.then(&start[..9]), [""; 0]);
    assert_eq!(file.then(&start[9..]), [""; 0]);
    assert_eq!(file.then(&end[..end.len() - 9]), [""; 0]);
    assert_eq!(file.then(&end[end.len() - 9..]), ["a"]);
    assert_eq!(file.look(), [""; 0]);
    assert_eq!(
        file.then(&(call("b") + &message("assistant", "c"))),
        [""; 0]
    );
    assert_eq!(file.then(&output("b")), ["x Completed b", "[c]"]);
    assert!(file.tail.findings().is_sound(), "{}", file.tail.findings());
}

#[test]
fn a_file_that_was_replaced_or_cut_is_told_anew() {
    let mut file = Followed::new();
    let start = head(1, json!({})) + &message("user", "a");
    assert_eq!(
        file.then(&(start.clone() + &message("user", "b"))),
        ["a", "b"]
    );
    file.bytes = (start.clone() + &message("user", "c")).into_bytes();
    assert_eq!(file.look(), ["!", "a", "c"]);
    file.bytes = start.into_bytes();
    assert_eq!(file.look(), ["!", "a"]);
    file.number = 2;
    assert_eq!(file.look(), ["!", "a"]);
}

#[test]
fn what_is_rolled_back_is_told_anew_without_it() {
    let mut file = Followed::new();
    let start = head(1, json!({})) + &message("user", "a") + &message("user", "b");
    assert_eq!(file.then(&start), ["a", "b"]);
    let back = event(json!({"type": "thread_rolled_back", "num_turns": 1}));
    assert_eq!(file.then(&back), ["!", "a"]);
    assert_eq!(file.then(&message("user", "c")), ["c"]);
}

/// ADAPT-4: however an append is cut, following tells what reading all at once does.
#[test]
fn a_real_file_that_comes_in_pieces_is_told_as_when_it_is_read_at_once() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/rollouts");
    let text = fs::read(format!("{folder}/11_appr_0.jsonl")).unwrap();
    let start = text.iter().position(|b| *b == b'\n').unwrap() + 1;
    let text = &text[start..];
    let mut whole = Followed::new();
    whole.bytes = text.to_vec();
    let whole = whole.look();
    assert!(whole.len() > 20, "{whole:?}");
    for step in [701, 4099] {
        let (mut file, mut told) = (Followed::new(), Vec::new());
        for piece in text.chunks(step) {
            file.bytes.extend_from_slice(piece);
            told.extend(file.look());
        }
        assert_eq!(told, whole, "in steps of {step}");
    }
}

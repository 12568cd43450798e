use sessiond_protocol::Content;

use super::*;

fn entry(nth: u8, parent: u8, kind: &str, message: &str) -> String {
    let id = |nth: u8| format!("00000000-0000-4000-8000-0000000000{nth:02x}");
    let parent = match parent {
        0 => "null".to_owned(),
        parent => format!("\"{}\"", id(parent)),
    };
    let uuid = id(nth);
    format!(r#"{{"parentUuid":{parent},"type":"{kind}","uuid":"{uuid}","message":{message}}}"#)
        + "\n"
}

fn user(nth: u8, parent: u8, text: &str) -> String {
    entry(nth, parent, "user", &format!(r#"{{"content":"{text}"}}"#))
}

fn call(nth: u8, parent: u8, id: &str) -> String {
    let block = format!(r#"{{"type":"tool_use","id":"{id}","name":"Bash","input":{{}}}}"#);
    // The first two are called in parallel.
    let message = if id == "z" { "n" } else { "m" };
    entry(
        nth,
        parent,
        "assistant",
        &format!(r#"{{"id":"{message}","content":[{block}]}}"#),
    )
}

fn result(nth: u8, parent: u8, id: &str) -> String {
    let block = format!(r#"{{"type":"tool_result","tool_use_id":"{id}","content":"out"}}"#);
    entry(nth, parent, "user", &format!(r#"{{"content":[{block}]}}"#))
}

/// A look, as one word for each thing.
fn look(tail: &mut Tail, file: u64, text: &str) -> Vec<String> {
    let identity = Identity {
        file: (1, file),
        bytes: text.len() as u64,
    };
    let grown = tail.look(text.as_bytes(), identity).unwrap();
    let words = grown.into_iter().map(|grown| match grown {
        Grown::Anew => "anew".to_owned(),
        Grown::Told(told) => match told.what {
            Telling::Item(Item::UserMessage { content }) => match &content[0] {
                Content::Text { text, .. } => text.clone(),
                other => panic!("{other:?}"),
            },
            Telling::Item(Item::ToolCall(call)) => format!("{:?}", call.status),
            other => panic!("{other:?}"),
        },
    });
    words.collect()
}

#[test]
fn each_thing_is_told_once_and_when_it_is_whole() {
    let lines = [
        (user(1, 0, "a"), vec!["a"]),
        (call(2, 1, "x"), vec![]),
        (call(3, 2, "y"), vec![]),
        (result(4, 3, "y"), vec![]),
        (result(5, 2, "x"), vec!["Completed", "Completed"]),
        (call(6, 5, "z"), vec![]),
        (user(7, 6, "b"), vec!["Unknown", "b"]),
    ];
    let (mut tail, mut text) = (Tail::default(), String::new());
    for (line, words) in lines {
        let half = text.clone() + &line[..line.len() / 2];
        assert_eq!(look(&mut tail, 1, &half), [""; 0], "{line}");
        text += &line;
        assert_eq!(look(&mut tail, 1, &text), words, "{line}");
        assert_eq!(look(&mut tail, 1, &text), [""; 0], "{line}");
    }
    assert!(tail.findings().is_sound());
}

#[test]
fn what_is_replaced_cut_or_goes_on_from_elsewhere_is_told_anew() {
    let (a, b) = (user(1, 0, "a"), user(2, 1, "b"));
    let text = a.clone() + &b;
    let mut tail = Tail::default();
    assert_eq!(look(&mut tail, 1, &text), ["a", "b"]);
    assert_eq!(look(&mut tail, 2, &text), ["anew", "a", "b"]);
    assert_eq!(look(&mut tail, 2, &a), ["anew", "a"]);
    assert_eq!(look(&mut tail, 2, &text), ["b"]);
    let branched = text + &user(3, 1, "c");
    assert_eq!(look(&mut tail, 2, &branched), ["anew", "a", "c"]);
    // Written over in place, and longer than before.
    let other = user(4, 0, "other") + &user(5, 4, "longer") + &branched;
    assert_eq!(look(&mut tail, 2, &other)[..2], ["anew", "a"]);
    assert_eq!(look(&mut tail, 2, ""), ["anew"]);
    assert_eq!(look(&mut tail, 2, ""), [""; 0]);
}

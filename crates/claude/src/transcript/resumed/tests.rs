use sessiond_protocol::{Content, ItemId, Titler};

use super::super::check::check;
use uuid::Uuid;

use super::*;

fn id(nth: u128) -> Uuid {
    Uuid::from_u128(nth | 4 << 76 | 8 << 60)
}

fn entry(nth: u128, parent: Option<u128>, kind: &str, message: &str) -> String {
    let parent = parent.map_or("null".to_owned(), |parent| format!("\"{}\"", id(parent)));
    format!(
        r#"{{"parentUuid":{parent},"type":"{kind}","uuid":"{}","timestamp":"T","sessionId":"s","cwd":"/w","version":"2.1.332","message":{message}}}"#,
        id(nth)
    )
}

fn original() -> String {
    let lines = [
        entry(1, None, "user", r#"{"role":"user","content":"one"}"#),
        entry(
            2,
            Some(1),
            "assistant",
            r#"{"id":"m1","model":"x","role":"assistant","usage":{},"content":[{"type":"text","text":"first"}]}"#,
        ),
        entry(3, Some(2), "user", r#"{"role":"user","content":"two"}"#),
        entry(
            4,
            Some(3),
            "assistant",
            r#"{"id":"m2","model":"x","role":"assistant","usage":{},"content":[{"type":"text","text":"second"}]}"#,
        ),
    ];
    lines.join("\n") + "\n"
}

fn told(id: Uuid, text: &str) -> Told {
    let content = vec![Content::text(text)];
    Told {
        id: Some(ItemId::new(id)),
        at: None,
        what: Telling::Item(Item::UserMessage { content }),
    }
}

fn all() -> Vec<Told> {
    (1..=4)
        .map(|nth| told(id(nth), "of the original"))
        .collect()
}

fn write(original: &str, told: Vec<Told>, about: &ToldAbout) -> String {
    let mut out = Vec::new();
    let session = SessionId::new(id(99));
    go_on(original.as_bytes(), (session, about), told, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// What a reader takes for the conversation.
fn conversation(text: &str) -> Vec<String> {
    let index = Index::read(text.as_bytes()).unwrap();
    let told = Fold::new(&index, text.as_bytes()).map(|told| match told.unwrap().what {
        Telling::Item(Item::UserMessage { content }) => content[0].as_text().unwrap().to_owned(),
        Telling::Item(Item::AgentMessage { text, .. }) => text,
        other => panic!("{other:?}"),
    });
    told.collect()
}

/// ADAPT-4: untouched records are written byte for byte.
#[test]
fn nothing_is_added_to_a_transcript_that_says_it_all() {
    let about = ToldAbout::default();
    for text in [original(), original().trim_end().to_owned(), String::new()] {
        let told = if text.is_empty() { Vec::new() } else { all() };
        assert_eq!(write(&text, told, &about), text);
    }
}

#[test]
fn what_was_said_here_follows_the_last_entry() {
    for original in [original(), original().trim_end().to_owned()] {
        let mut told_here = all();
        told_here.push(told(id(50), "three"));
        let text = write(&original, told_here, &ToldAbout::default());
        assert!(text.starts_with(&original));
        assert_eq!(check(text.as_bytes()), []);
        assert_eq!(
            conversation(&text),
            ["one", "first", "two", "second", "three"]
        );
    }
}

/// CKPT-2: a rewound conversation goes on from where it was rewound to, and says so.
#[test]
fn a_rewound_conversation_goes_on_where_it_was_rewound_to() {
    let mut rewound = all();
    rewound.truncate(2);
    let about = ToldAbout::default();
    let text = write(&original(), rewound.clone(), &about);
    assert_eq!(conversation(&text), ["one", "first"]);
    rewound.push(told(id(50), "other"));
    let text = write(&original(), rewound, &about);
    assert_eq!(check(text.as_bytes()), []);
    assert_eq!(conversation(&text), ["one", "first", "other"]);
}

#[test]
fn a_title_that_the_user_gave_here_is_written_down() {
    let about = ToldAbout {
        title: Some(("mine".to_owned(), Titler::User)),
        ..ToldAbout::default()
    };
    let text = write(&original(), all(), &about);
    let index = Index::read(text.as_bytes()).unwrap();
    assert_eq!(index.about().title, about.title);
    assert_eq!(write(&text, all(), &about), text);
    let by_prompt = ToldAbout {
        title: Some(("one".to_owned(), Titler::Prompt)),
        ..ToldAbout::default()
    };
    assert_eq!(write(&original(), all(), &by_prompt), original());
}

/// A cleared conversation has a beginning of its own.
#[test]
fn a_cleared_conversation_begins_anew() {
    let text = write(
        &original(),
        vec![told(id(50), "new")],
        &ToldAbout::default(),
    );
    assert_eq!(conversation(&text), ["new"]);
}

use serde_json::json;
use sessiond_protocol::{Content, HistoryItem, Item, ItemId, Lack, SessionId};
use uuid::Uuid;

use super::{Missing, Record, compare};

type Prompts = &'static [&'static str];

fn history(prompts: &[&str]) -> Vec<HistoryItem> {
    let of = |prompt: &&str| HistoryItem {
        id: ItemId::new(Uuid::now_v7()),
        turn: None,
        item: Item::UserMessage {
            content: vec![Content::text(*prompt)],
        },
        origin: Default::default(),
    };
    prompts.iter().map(of).collect()
}

fn record(prompts: &[&str]) -> Record {
    let mut record = Record::default();
    for prompt in prompts {
        let item = json!({ "type": "userMessage", "id": "i", "content": [{ "type": "text", "text": prompt }] });
        record.take(&json!({ "data": [{ "id": "t", "items": [item] }] }));
    }
    record
}

/// ADAPT-10: what a thread lacks is given to it, and one that is of another conversation is left.
#[test]
fn a_thread_goes_on_or_gets_what_it_lacks_or_is_left() {
    let anew = Missing::All(Lack::BeganAnew);
    let cases: [(Prompts, Option<Prompts>, Missing, bool); 7] = [
        (&[], None, anew, false),
        (&["one"], None, anew, true),
        (&["one"], Some(&[]), anew, true),
        (&["one"], Some(&["one"]), Missing::Nothing, false),
        (&["one", "two"], Some(&["one"]), Missing::From(1), true),
        (&["one"], Some(&["two"]), Missing::All(Lack::Differs), true),
        (
            &["one"],
            Some(&["one", "two"]),
            Missing::All(Lack::Differs),
            true,
        ),
    ];
    for (ours, theirs, expected, is_told) in cases {
        let history = history(ours);
        let session = SessionId::new(Uuid::now_v7());
        let (missing, notice) = compare(("codex", session), (&history, None), theirs.map(record));
        assert_eq!(missing, expected, "{ours:?} {theirs:?}");
        assert_eq!(notice.is_some(), is_told, "{ours:?} {theirs:?}");
    }
}

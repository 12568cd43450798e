use sessiond_protocol::{Compaction, Content, Cursor, Stretch, ToolContent, ToolKind};

use super::super::check::check;
use super::super::{Fold, Index};
use super::*;

fn session() -> SessionId {
    SessionId::new(Uuid::from_u128(7 << 76 | 8 << 60))
}

fn about() -> ToldAbout {
    ToldAbout {
        cwd: Some("/w".to_owned()),
        ..ToldAbout::default()
    }
}

fn told(nth: u128, item: Item) -> Told {
    Told {
        id: Some(ItemId::new(Uuid::from_u128(nth << 96 | 7 << 76 | 8 << 60))),
        at: Some("2026-11-30T12:00:00.123456Z".to_owned()),
        what: Telling::Item(item),
    }
}

fn user(text: &str) -> Item {
    Item::UserMessage {
        content: vec![Content::text(text)],
    }
}

fn agent(text: &str) -> Item {
    Item::AgentMessage {
        text: text.to_owned(),
        finish: Finish::Whole,
    }
}

fn call(name: &str, status: ToolStatus, output: &str) -> Item {
    Item::ToolCall(Box::new(ToolCall {
        name: name.to_owned(),
        title: name.to_owned(),
        kind: ToolKind::Other,
        status,
        input: json!({ "n": 1 }),
        content: vec![ToolContent::text(output)],
        native: Some("toolu_1".to_owned()),
        ..ToolCall::default()
    }))
}

fn write(items: Vec<Item>) -> (Vec<u8>, Losses) {
    let mut out = Vec::new();
    let mut transcript = Transcript::new(&mut out, (session(), &about()), Continuation::default());
    for (item, nth) in items.into_iter().zip(1..) {
        transcript.tell(told(nth, item)).unwrap();
    }
    let losses = transcript.finish(None).unwrap();
    (out, losses)
}

fn read(text: &Vec<u8>) -> Vec<Telling> {
    let index = Index::read(text).unwrap();
    let told = Fold::new(&index, text).map(|told| told.unwrap().what);
    told.collect()
}

/// ADAPT-4: what is written keeps every rule of the chain, and is read as what was told.
#[test]
fn what_is_written_is_read_as_it_was_told() {
    let items = vec![
        user("run it"),
        agent("I will"),
        call("Bash", ToolStatus::Completed, "out"),
        call("Bash", ToolStatus::Failed, "bad"),
        agent("done"),
        user("thanks"),
    ];
    let (text, losses) = write(items.clone());
    assert_eq!(check(&text), []);
    assert_eq!(
        losses.iter().map(|(kind, _)| kind).collect::<Vec<_>>(),
        ["ids of calls"]
    );
    let back = read(&text);
    assert_eq!(back.len(), items.len());
    for (told, item) in back.iter().zip(&items) {
        match (told, item) {
            (Telling::Item(Item::ToolCall(told)), Item::ToolCall(call)) => {
                assert_eq!((&told.name, told.status), (&call.name, call.status));
                assert_eq!((&told.input, &told.content), (&call.input, &call.content));
            }
            (told, item) => assert_eq!(told, &Telling::Item(item.clone())),
        }
    }
    assert_eq!(write(items).0, text);
}

/// ADAPT-6: one mapping of tools: a transcript has them by the names that programs are shown.
#[test]
fn a_tool_of_another_agent_is_written_as_the_one_it_is_like() {
    let Item::ToolCall(mut run) = call("run", ToolStatus::Completed, "out") else {
        panic!("a call")
    };
    run.kind = ToolKind::Execute;
    run.input = json!({ "command": "ls" });
    let (text, losses) = write(vec![user("go"), Item::ToolCall(run)]);
    assert_eq!(check(&text), []);
    assert_eq!(
        losses.iter().map(|(kind, _)| kind).collect::<Vec<_>>(),
        ["names of tools"]
    );
    let back = read(&text);
    let [_, Telling::Item(Item::ToolCall(told))] = &back[..] else {
        panic!("{back:?}")
    };
    assert_eq!(told.name, "Bash");
    assert_eq!(told.input, json!({ "command": "ls" }));
}

/// RESUME-6: a model is told of a call whose outcome is unknown, and every call has a result.
#[test]
fn a_call_that_nothing_tells_the_end_of_is_written_as_interrupted() {
    for status in [ToolStatus::Unknown, ToolStatus::Running] {
        let (text, losses) = write(vec![user("go"), call("Bash", status, "some")]);
        assert_eq!(check(&text), []);
        assert_eq!(losses.iter().next().unwrap().0, "outcomes of calls");
        let text = String::from_utf8(text).unwrap();
        assert!(text.contains(INTERRUPTED) && text.contains("\"is_error\":true"));
    }
}

/// CTX-2: a summary stands behind the boundary that cuts what it covers.
#[test]
fn a_compaction_is_a_boundary_and_a_summary() {
    let compaction = Item::Compaction(Box::new(Compaction {
        summary: "all of it".to_owned(),
        covers: Stretch {
            from: Cursor(1),
            to: Cursor(2),
        },
        window: 1,
        digest: String::new(),
    }));
    let (text, _) = write(vec![user("a"), agent("b"), compaction, user("c")]);
    assert_eq!(check(&text), []);
    let told = read(&text);
    assert_eq!(told[2], Telling::Summary("all of it".to_owned()));
    assert_eq!(told.len(), 4);
}

#[test]
fn what_has_no_place_is_listed_with_what_becomes_of_it() {
    let thought = Item::Thought {
        text: "hm".to_owned(),
        finish: Finish::Whole,
    };
    let plan = Item::Plan {
        entries: Vec::new(),
    };
    let odd = Item::ToolCall(Box::new(ToolCall {
        name: "my tool!".to_owned(),
        status: ToolStatus::Completed,
        input: json!([1]),
        output: json!({ "x": 1 }),
        native: Some("a b".to_owned()),
        ..ToolCall::default()
    }));
    let content = vec![
        Content::Audio {
            data: String::new(),
            mime_type: "audio/wav".to_owned(),
            extra: Map::new(),
        },
        Content::ResourceLink {
            uri: "file:///a".to_owned(),
            name: "a".to_owned(),
            extra: Map::new(),
        },
        Content::Resource {
            resource: json!({ "uri": "x:y", "blob": "AA==" }),
            extra: Map::new(),
        },
    ];
    let (text, losses) = write(vec![Item::UserMessage { content }, thought, plan, odd]);
    assert_eq!(check(&text), []);
    let kinds: Vec<_> = losses.iter().map(|(kind, _)| kind).collect();
    assert_eq!(
        kinds,
        [
            "arguments that are no object",
            "embedded data",
            "ids of calls",
            "links to resources",
            "names of tools",
            "plans",
            "sounds",
            "structured results",
            "thoughts",
        ]
    );
    assert!(losses.to_string().contains("1 plans: left out"));
}

#[test]
fn times_have_milliseconds() {
    for (at, written) in [
        ("2026-11-30T12:00:00Z", "2026-11-30T12:00:00.000Z"),
        ("2026-11-30T12:00:00.1Z", "2026-11-30T12:00:00.100Z"),
        ("2026-11-30T12:00:00.123456Z", "2026-11-30T12:00:00.123Z"),
        ("2026-11-30T12:00:00+01:00", "2026-11-30T12:00:00+01:00"),
    ] {
        assert_eq!(millis(at), written);
    }
}

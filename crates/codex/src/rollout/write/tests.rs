use sessiond_protocol::{Compaction, Cursor, Severity, Stretch, ToolContent};

use super::super::tests::{file, read, thread, words};
use super::super::{Fold, Rollout, go_on};
use super::*;

fn about() -> ToldAbout {
    ToldAbout {
        session: Some(SessionId::new(thread(1))),
        cwd: Some("/w".to_owned()),
        branch: Some("main".to_owned()),
        began: Some("2026-11-30T12:00:00Z".to_owned()),
        ..ToldAbout::default()
    }
}

fn told(nth: u128, what: Telling) -> Told {
    Told {
        id: Some(ItemId::new(thread(100 + nth))),
        at: Some(format!("2026-11-30T12:00:0{nth}.5Z")),
        what,
    }
}

fn user(text: &str) -> Telling {
    let content = vec![Content::text(text)];
    Telling::Item(Item::UserMessage { content })
}

fn agent(text: &str) -> Telling {
    let (text, finish) = (text.to_owned(), Finish::Whole);
    Telling::Item(Item::AgentMessage { text, finish })
}

fn call(native: &str, status: ToolStatus, input: Value) -> Telling {
    Telling::Item(Item::ToolCall(Box::new(ToolCall {
        name: "Bash".to_owned(),
        title: "Bash".to_owned(),
        status,
        input,
        content: vec![ToolContent::text("out")],
        native: Some(native.to_owned()),
        ..ToolCall::default()
    })))
}

fn written(told: &[Told]) -> (String, Losses) {
    let mut out = Vec::new();
    let about = about();
    let session = (about.session.unwrap(), &about);
    let mut writer = Writer::begin(&mut out, session, None).unwrap();
    told.iter()
        .for_each(|told| writer.tell(told.clone()).unwrap());
    let losses = writer.finish().unwrap();
    (String::from_utf8(out).unwrap(), losses)
}

fn back(text: &str) -> Vec<Told> {
    let rollout = Rollout::read(file(1, "", text), |_| Ok(Vec::new())).unwrap();
    assert!(rollout.findings().is_sound());
    assert_eq!(rollout.about().cwd.as_deref(), Some("/w"));
    assert_eq!(rollout.about().branch.as_deref(), Some("main"));
    Fold::new(&rollout).map(Result::unwrap).collect()
}

/// ADAPT-4: what has a place in a rollout comes back as it was, with its id and its time.
#[test]
fn what_is_written_is_read_back_as_it_was() {
    let cut = Telling::Item(Item::AgentMessage {
        text: "half".to_owned(),
        finish: Finish::Cut,
    });
    let image = Content::Image {
        data: "AAAA".to_owned(),
        mime_type: "image/png".to_owned(),
        extra: Map::new(),
    };
    let shown = Telling::Item(Item::UserMessage {
        content: vec![Content::text("<skill> is mine"), image],
    });
    let interrupted = Telling::Notice {
        severity: Severity::Info,
        title: INTERRUPTED.to_owned(),
        description: None,
    };
    let mut unknown = call("d", ToolStatus::Unknown, json!({"command": "ls"}));
    if let Telling::Item(Item::ToolCall(call)) = &mut unknown {
        call.content.clear();
    }
    let all = [
        user("a"),
        call("a", ToolStatus::Completed, json!({"command": "ls"})),
        call("b", ToolStatus::Failed, json!({"command": "ls"})),
        call("c", ToolStatus::Cancelled, json!("a text")),
        unknown,
        agent("done"),
        Telling::Summary("all of it".to_owned()),
        shown,
        cut,
        interrupted,
    ];
    let all: Vec<Told> = (0..).zip(all).map(|(nth, what)| told(nth, what)).collect();
    let (text, losses) = written(&all);
    assert!(losses.is_empty(), "{losses}");
    let back = back(&text);
    assert_eq!(back.len(), all.len());
    for (back, told) in back.iter().zip(&all) {
        let is_new = matches!(told.what, Telling::Notice { .. });
        assert!(is_new || back.id == told.id, "{told:?}");
        assert_eq!(back.at, told.at.as_deref().map(millis));
        assert_eq!(back.what, told.what);
    }
}

#[test]
fn what_has_no_place_is_listed() {
    let thought = Telling::Item(Item::Thought {
        text: "hm".to_owned(),
        finish: Finish::Whole,
    });
    let plan = Telling::Item(Item::Plan {
        entries: Vec::new(),
    });
    let link = Telling::Item(Item::UserMessage {
        content: vec![Content::ResourceLink {
            uri: "file:///a".to_owned(),
            name: "a".to_owned(),
            extra: Map::new(),
        }],
    });
    let notice = Telling::Notice {
        severity: Severity::Error,
        title: "no".to_owned(),
        description: None,
    };
    let twice = |native: &str| call(native, ToolStatus::Completed, json!([1]));
    let all = [thought, plan, link, notice, twice("a"), twice("a")];
    let all: Vec<Told> = (0..).zip(all).map(|(nth, what)| told(nth, what)).collect();
    let (_, losses) = written(&all);
    let lost: Vec<_> = losses
        .iter()
        .map(|(kind, lost)| (kind, lost.count))
        .collect();
    assert_eq!(
        lost,
        [
            ("arguments that are no object", 2),
            ("ids of calls", 1),
            ("links to resources", 1),
            ("notices", 1),
            ("plans", 1),
            ("thoughts", 1),
        ]
    );
}

#[test]
fn a_compaction_stands_for_what_was_said_before() {
    let compaction = Compaction {
        summary: "sum".to_owned(),
        covers: Stretch {
            from: Cursor(1),
            to: Cursor(2),
        },
        window: 1,
        digest: String::new(),
    };
    let item = Telling::Item(Item::Compaction(Box::new(compaction)));
    let (text, _) = written(&[told(0, user("a")), told(1, item), told(2, user("b"))]);
    let (told, _) = read(&text);
    assert_eq!(words(&told), ["a", "summary sum", "b"]);
    let line = text
        .lines()
        .find(|line| line.contains("\"compacted\""))
        .unwrap();
    let line: Value = serde_json::from_str(line).unwrap();
    let replaced = &line["payload"]["replacement_history"];
    assert_eq!(replaced[0]["content"][0]["text"], "sum");
}

/// ADAPT-4: what was not gone on with is written as it was; what was gone on with begins so.
#[test]
fn what_goes_on_follows_what_was_there() {
    let all = [user("a"), agent("b"), user("c"), agent("d")];
    let all: Vec<Told> = (0..).zip(all).map(|(nth, what)| told(nth, what)).collect();
    let (text, _) = written(&all);
    let more = told(7, user("more"));
    let gone_on = |told: Vec<Told>, original: &str| {
        let rollout = Rollout::read(file(1, "", original), |_| Ok(Vec::new())).unwrap();
        let (about, mut out) = (about(), Vec::new());
        go_on(&rollout, (about.session.unwrap(), &about), told, &mut out).unwrap();
        let out = String::from_utf8(out).unwrap();
        let words = words(&read(&out).0);
        (out, words)
    };
    assert_eq!(gone_on(all.clone(), &text).0, text);
    assert_eq!(gone_on(Vec::new(), &text).0, text);
    let (out, words) = gone_on([&all[..], std::slice::from_ref(&more)].concat(), &text);
    assert!(out.starts_with(&text));
    assert_eq!(words, ["a", "[b]", "c", "[d]", "more"]);
    let (out, words) = gone_on([&all[..2], std::slice::from_ref(&more)].concat(), &text);
    assert_eq!(words, ["a", "[b]", "more"]);
    let kept = out
        .bytes()
        .zip(text.bytes())
        .take_while(|(a, b)| a == b)
        .count();
    assert!(text[..kept].contains("\"b\"") && !out.contains("\"c\""));
    let (_, words) = gone_on(vec![more.clone()], &text);
    assert_eq!(words, ["more"]);
    // A line that was not written to its end is left alone.
    let torn = format!("{text}{{\"timestamp\":\"20");
    let (out, words) = gone_on([&all[..], &[more]].concat(), &torn);
    assert!(out.starts_with(&format!("{torn}\n")));
    assert_eq!(words, ["a", "[b]", "c", "[d]", "more"]);
}

#[test]
fn a_file_whose_lines_have_ordinals_goes_on_with_them() {
    let (text, _) = written(&[told(0, user("a")), told(1, agent("b"))]);
    let lines: Vec<String> = text.lines().map(|line| format!("{line}\n")).collect();
    let text = super::super::tests::numbered(&lines, 0);
    let text = text.replacen("\"source\"", "\"history_mode\":\"paginated\",\"source\"", 1);
    let rollout = Rollout::read(file(1, "", &text), |_| Ok(Vec::new())).unwrap();
    let all = [
        told(0, user("a")),
        told(1, agent("b")),
        told(2, user("c")),
        told(3, call("x", ToolStatus::Cancelled, json!({}))),
        told(4, agent("d")),
    ];
    let (about, mut out) = (about(), Vec::new());
    let session = (about.session.unwrap(), &about);
    go_on(&rollout, session, all.to_vec(), &mut out).unwrap();
    let out = String::from_utf8(out).unwrap();
    assert!(out.starts_with(&text));
    let (told, findings) = read(&out);
    assert_eq!(words(&told), ["a", "[b]", "c", "Bash Cancelled out", "[d]"]);
    assert!(findings.is_sound(), "{findings}");
    let added = &out[text.len()..];
    assert!(added.contains("UserMessage") && !added.contains("\"user_message\""));
}

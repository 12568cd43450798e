use sessiond_log::RecordView;
use sessiond_protocol::{Event, SessionId};

use super::to_frame;

fn session() -> SessionId {
    "0191f0aa-0000-7000-8000-000000000003".parse().unwrap()
}

fn view<'a>(kind: &'a str, data: &'a str) -> RecordView<'a> {
    RecordView {
        seq: 7,
        epoch: 1,
        at: "2026-01-02T03:04:05Z",
        kind,
        data,
    }
}

/// LOG-1, LOG-11: what is read straight from the text is what a record of any kind is read as.
#[test]
fn an_ended_item_is_read_as_any_event_is() {
    let said = r#"{"type":"agent_message","text":"a\n\"b\" é"}"#;
    let (turn, item) = (
        "0191f0aa-0000-7000-8000-000000000001",
        "0191f0aa-0000-7000-8000-000000000002",
    );
    let ended = |members: &str, item: &str| {
        format!(r#"{{{members}"event":{{"type":"item.ended","item":{item}}}}}"#)
    };
    let placed = format!(
        r#""$attached":[],"turn":"{turn}","item":"{item}","cause":"s1","later":{{"a":[1]}},"#
    );
    let call = r#"{"type":"tool_call","name":"exec_command","title":"ls","kind":"execute","status":"completed","input":{"command":"ls"},
        "output":{"exit_code":0},"content":[{"type":"content","content":{"type":"text","text":"x","more":1}}]}"#;
    let known = [
        ended("", said),
        ended(&placed, said),
        ended(&placed, call),
        ended(
            &placed,
            r#"{"type":"user_message","content":[{"type":"text","text":""}]}"#,
        ),
        format!(r#"{{"event":{{"item":{said},"later":1,"type":"item.ended"}},"turn":null}}"#),
    ];
    for data in &known {
        let frame = to_frame(session(), view("item.ended", data));
        assert!(matches!(frame.event, Event::ItemEnded { .. }), "{data}");
        let any = to_frame(session(), view("", data));
        assert_eq!(frame, any, "{data}");
    }
    let unknown = [
        ended("", r#"{"type":"a_later_one","text":"a"}"#),
        ended("", r#"{"type":"agent_message"}"#),
        r#"{"event":{"type":"turn.later"}}"#.to_owned(),
    ];
    for data in &unknown {
        let frame = to_frame(session(), view("item.ended", data));
        assert!(matches!(frame.event, Event::Unknown(_)), "{data}");
        let any = to_frame(session(), view("", data));
        assert_eq!(frame, any, "{data}");
    }
}

//! What the agent asks the user (acp.md 2.5), and when all of a turn waits for that.

use serde_json::{Value, json};
use sessiond_protocol::{
    Item, Outcome, Permission, PermissionKind, PermissionOption, RequestBody, RequestFrame,
    RequestId, ServerFrame, ToolCall, ToolStatus, TurnOutcome,
};

use super::{blocked, running, shown, with_turn};
use crate::harness::{S, Stage, item, session, turn};

pub(super) fn request(number: u8, about: Option<u8>, body: RequestBody) -> ServerFrame {
    ServerFrame::Request(RequestFrame {
        id: id(number),
        session: session(),
        turn: turn(1),
        item: about.map(item),
        body,
        digest: "d".into(),
        deadline: None,
    })
}

fn id(number: u8) -> RequestId {
    format!("00000000-0000-7000-8000-0000000003{number:02}")
        .parse()
        .unwrap()
}

fn permission() -> RequestBody {
    let option = |kind: PermissionKind| PermissionOption {
        id: kind.id().into(),
        name: kind.id().to_uppercase(),
        kind,
    };
    RequestBody::Permission(Permission {
        title: "Run it?".into(),
        tool: "run".into(),
        pattern: "ls".into(),
        options: vec![
            option(PermissionKind::AllowOnce),
            option(PermissionKind::RejectOnce),
        ],
    })
}

fn call(status: ToolStatus) -> Item {
    Item::ToolCall(Box::new(ToolCall {
        name: "run".into(),
        title: "Run ls".into(),
        status,
        input: json!({"command": "ls"}),
        ..ToolCall::default()
    }))
}

/// A turn in which a call waits for permission.
pub(super) async fn asked() -> (Stage, Value) {
    let mut stage = with_turn(json!({})).await;
    stage.happen(Some(item(1)), super::starts(call(ToolStatus::Pending)));
    stage.update().await;
    stage.say(request(1, Some(1), permission()));
    let asked = stage.told().await;
    assert_eq!(stage.update().await, blocked());
    (stage, asked)
}

/// WIRE-8
#[tokio::test]
async fn permission_is_asked_with_a_title_and_the_whole_call() {
    let (mut stage, asked) = asked().await;
    assert_eq!(asked["method"], "session/request_permission");
    let expected = json!({
        "sessionId": S,
        "title": "Run it?",
        "subject": {"type": "tool_call", "toolCall": {
            "toolCallId": item(1), "name": "run", "title": "Run ls", "kind": "other",
            "status": "pending", "rawInput": {"command": "ls"},
        }},
        "options": [
            {"optionId": "allow_once", "name": "ALLOW_ONCE", "kind": "allow_once"},
            {"optionId": "reject_once", "name": "REJECT_ONCE", "kind": "reject_once"},
        ],
    });
    assert_eq!(asked["params"], expected);
    let chosen = json!({"outcome": {"outcome": "selected", "optionId": "allow_once"}});
    stage.answer(&asked, chosen).await;
    let answer = stage.answered().await;
    let option = "allow_once".to_owned();
    assert_eq!(
        (answer.request, answer.outcome),
        (id(1), Outcome::Selected { option })
    );
    assert_eq!(stage.update().await, running());
    stage.quiet().await;
}

/// WIRE-8: nothing but an offered option allows anything.
#[tokio::test]
async fn an_outcome_that_nobody_knows_is_no_approval() {
    for outcome in [
        json!({"outcome": "cancelled"}),
        json!({"outcome": "_approved"}),
        json!({"outcome": "allowed", "optionId": "allow_once"}),
        json!({"outcome": "selected"}),
        json!("selected"),
        json!(null),
    ] {
        let (mut stage, asked) = asked().await;
        stage.answer(&asked, json!({"outcome": outcome})).await;
        assert_eq!(
            stage.answered().await.outcome,
            Outcome::Cancelled,
            "{outcome}"
        );
        assert_eq!(stage.update().await, running());
    }
}

#[tokio::test]
async fn an_option_that_was_not_offered_is_asked_again_and_the_turn_still_waits() {
    let (mut stage, mut asked) = asked().await;
    let chosen = json!({"outcome": {"outcome": "selected", "optionId": "allow_always"}});
    for _ in 0..2 {
        stage.answer(&asked, chosen.clone()).await;
        asked = stage.told().await;
        assert_eq!(asked["method"], "session/request_permission");
    }
    stage.answer(&asked, chosen).await;
    assert_eq!(stage.answered().await.outcome, Outcome::Cancelled);
    assert_eq!(stage.update().await, running());
}

#[tokio::test]
async fn a_turn_waits_for_the_user_only_while_all_of_it_does() {
    let (mut stage, first) = asked().await;
    // Another question: it waits still, and one answer does not end that.
    stage.happen(Some(item(2)), super::starts(call(ToolStatus::Pending)));
    stage.update().await;
    stage.say(request(2, Some(2), permission()));
    let second = stage.told().await;
    let chosen = json!({"outcome": {"outcome": "selected", "optionId": "allow_once"}});
    stage.answer(&first, chosen.clone()).await;
    stage.answered().await;
    stage.quiet().await;
    // The first call runs now: not all of it waits.
    let Item::ToolCall(running_call) = call(ToolStatus::Running) else {
        panic!("a call")
    };
    stage.happen(
        Some(item(1)),
        sessiond_protocol::Event::ItemChanged { call: running_call },
    );
    assert_eq!(stage.update().await["status"], "in_progress");
    assert_eq!(stage.update().await, running());
    // It ends, and all waits again.
    stage.happen(Some(item(1)), super::ends(call(ToolStatus::Completed)));
    assert_eq!(stage.update().await["status"], "completed");
    assert_eq!(stage.update().await, blocked());
    stage.answer(&second, chosen).await;
    stage.answered().await;
    assert_eq!(stage.update().await, running());
    stage.quiet().await;
}

#[tokio::test]
async fn a_question_that_is_taken_back_is_cancelled_and_the_end_is_the_last_word() {
    let (mut stage, asked) = asked().await;
    stage.say(ServerFrame::RequestClosed {
        session: session(),
        id: id(1),
        reason: Default::default(),
    });
    stage.end(turn(1), TurnOutcome::Cancelled);
    let cancelled = stage.told().await;
    assert_eq!(cancelled["method"], "$/cancel_request");
    assert_eq!(cancelled["params"]["requestId"], asked["id"]);
    assert_eq!(stage.update().await, running());
    let lost = stage.update().await;
    assert_eq!(
        (&lost["toolCallId"], &lost["status"]),
        (&shown(item(1)), &json!("failed"))
    );
    assert_eq!(stage.update().await, super::idle("cancelled"));
    // The client's answer comes too late.
    let chosen = json!({"outcome": {"outcome": "selected", "optionId": "allow_once"}});
    stage.answer(&asked, chosen).await;
    stage.quiet().await;
}

fn elicitation() -> RequestBody {
    RequestBody::Elicitation {
        message: "Which?".into(),
        schema: json!({"type": "object", "properties": {"answer": {"type": "string"}}}),
    }
}

/// ADAPT-1
#[tokio::test]
async fn a_form_is_asked_only_of_a_client_that_offered_it() {
    let mut stage = with_turn(json!({"elicitation": {"form": {}}})).await;
    stage.say(request(1, None, elicitation()));
    let asked = stage.told().await;
    assert_eq!(asked["method"], "elicitation/create");
    assert_eq!(asked["params"]["message"], "Which?");
    assert_eq!(stage.update().await, blocked());
    stage
        .answer(
            &asked,
            json!({"action": "accept", "content": {"answer": "this"}}),
        )
        .await;
    let content = json!({"answer": "this"});
    assert_eq!(
        stage.answered().await.outcome,
        Outcome::Accepted { content }
    );
    assert_eq!(stage.update().await, running());

    for capabilities in [
        json!({}),
        json!({"elicitation": {}}),
        json!({"elicitation": {"url": {}}}),
    ] {
        let mut stage = with_turn(capabilities).await;
        stage.say(request(1, None, elicitation()));
        assert_eq!(stage.answered().await.outcome, Outcome::Unanswered);
        stage.quiet().await;
    }
}

/// Files and terminals of the client are not part of this version.
#[tokio::test]
async fn nothing_is_done_through_the_client() {
    let mut stage = with_turn(json!({"fs": {"readTextFile": true}, "terminal": true})).await;
    let (path, line, limit) = ("/w/a".into(), None, None);
    stage.say(request(1, None, RequestBody::FsRead { path, line, limit }));
    assert_eq!(stage.answered().await.outcome, Outcome::Unanswered);
    stage.quiet().await;
}

/// ADAPT-6: what the agent asks of a client that speaks its extension passes as it is.
#[tokio::test]
async fn an_extension_of_the_agent_is_asked_and_answered_as_it_is() {
    let mut stage = with_turn(json!({})).await;
    let (method, params) = (
        "_vendor/ask".to_owned(),
        json!({"sessionId": "theirs", "x": 1}),
    );
    stage.say(request(1, None, RequestBody::Extension { method, params }));
    let asked = stage.told().await;
    assert_eq!(
        (&asked["method"], &asked["params"]),
        (&json!("_vendor/ask"), &json!({"sessionId": S, "x": 1}))
    );
    stage.answer(&asked, json!({"y": 2})).await;
    let result = json!({"y": 2});
    assert_eq!(stage.answered().await.outcome, Outcome::Result { result });
    stage.quiet().await;
}

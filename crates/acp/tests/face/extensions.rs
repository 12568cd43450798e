//! What passes between client and agent beyond the protocol, and the gates on the way.

use serde_json::{Value, json};
use sessiond_protocol::{
    Accepted, Answered, ClientFrame, ErrorCode, Event, Op, Outcome, RequestBody, WireError,
};

use crate::harness::{OTHER, S, Stage, session};
use crate::questions::asked;

fn relayed(method: &str, params: Value) -> Event {
    Event::Extension {
        method: method.into(),
        params,
    }
}

fn update(whose: &str, update: Value) -> Event {
    relayed(
        "session/update",
        json!({"sessionId": whose, "update": update}),
    )
}

/// ADAPT-1: an extension goes to the agent of the session that it names, and its answer comes back.
#[tokio::test]
async fn an_extension_of_the_client_goes_to_the_agent_of_its_session() {
    let mut stage = Stage::with_session(json!({})).await;
    let params = json!({"sessionId": S, "deep": {"sessionId": "x"}, "n": 1});
    stage.request(2, "_own/ask", params.clone()).await;
    let asked = stage.submitted().await;
    let op = |answer| Op::Extension {
        method: "_own/ask".into(),
        params: params.clone(),
        answer,
    };
    assert_eq!(
        (asked.session, &asked.op),
        (Some(session()), &op(Answered::Answer))
    );
    let extension = json!({"well": [1, 2]});
    stage.accept(
        &asked,
        Accepted::Extension {
            extension: extension.clone(),
        },
    );
    assert_eq!(stage.result(2).await, extension);
    stage.notify("_own/ask", params.clone()).await;
    let told = stage.submitted().await;
    assert_eq!(told.op, op(Answered::None));
    stage.accept(&told, Accepted::Done {});

    // An agent that takes none, a session that is not here, or none at all.
    stage.request(3, "_own/ask", params.clone()).await;
    let asked = stage.submitted().await;
    stage.refuse(&asked, WireError::new(ErrorCode::Unsupported, "none"));
    assert_eq!(stage.error(3).await, (-32601, Value::Null));
    for params in [json!({"sessionId": OTHER}), json!({}), json!([1])] {
        stage.request(4, "_own/ask", params.clone()).await;
        assert_eq!(stage.error(4).await, (-32601, Value::Null), "{params}");
        stage.notify("_own/ask", params).await;
    }
    stage.quiet().await;
}

/// acp.md 1.6: who takes an extension back is answered once, with what the agent said if that came
/// first.
#[tokio::test]
async fn an_extension_that_the_client_takes_back_is_taken_back_from_the_agent() {
    let mut stage = Stage::with_session(json!({})).await;
    let params = json!({"sessionId": S});
    for id in [2, 3] {
        stage.request(id, "_own/ask", params.clone()).await;
    }
    let (first, second) = (stage.submitted().await, stage.submitted().await);
    stage
        .notify("$/cancel_request", json!({"requestId": 2}))
        .await;
    let withdrawn = ClientFrame::Withdraw {
        id: first.id.clone(),
    };
    assert_eq!(stage.sent().await, withdrawn);
    stage.refuse(&first, WireError::new(ErrorCode::Refused, "taken back"));
    assert_eq!(stage.error(2).await, (-32800, Value::Null));
    stage
        .notify("$/cancel_request", json!({"requestId": 3}))
        .await;
    stage.sent().await;
    let extension = json!({"well": 1});
    stage.accept(&second, Accepted::Extension { extension });
    assert_eq!(stage.result(3).await, json!({"well": 1}));
    // What is answered is nothing that could be taken back.
    stage
        .notify("$/cancel_request", json!({"requestId": 3}))
        .await;
    stage.quiet().await;
}

#[tokio::test]
async fn an_extension_of_the_agent_comes_to_the_client_under_its_own_session_id() {
    let mut stage = Stage::with_turn(json!({})).await;
    let params = json!({"sessionId": "native", "deep": {"sessionId": "native"}});
    let rewritten = json!({"sessionId": S, "deep": {"sessionId": "native"}});
    stage.passing(None, relayed("_own/told", params.clone()));
    let told = stage.told().await;
    assert_eq!(
        (&told["method"], &told["params"]),
        (&json!("_own/told"), &rewritten)
    );
    let question = RequestBody::Extension {
        method: "_own/ask".into(),
        params: params.clone(),
    };
    stage.say(asked(None, question));
    let told = stage.told().await;
    assert_eq!(
        (&told["method"], &told["params"]),
        (&json!("_own/ask"), &rewritten)
    );
    stage.answer(&told, json!({"ok": true})).await;
    let result = json!({"ok": true});
    assert_eq!(stage.answered().await.outcome, Outcome::Result { result });
    // No extension: a method that no client knows, and nothing that may be told.
    let question = RequestBody::Extension {
        method: "own/ask".into(),
        params: params.clone(),
    };
    stage.say(asked(None, question));
    assert!(matches!(
        stage.answered().await.outcome,
        Outcome::Failed { .. }
    ));
    stage.passing(None, relayed("own/told", params.clone()));
    stage.passing(None, relayed("auth/status_update", params));
    stage.quiet().await;
}

/// ADAPT-1, acp.md 6.4 point 3: every optional variant, with and without the capability it needs;
/// what no client of version 1 knows never passes.
#[tokio::test]
async fn each_optional_update_passes_its_own_gate_only() {
    let text = json!({"type": "text", "text": "x"});
    let gated = [
        (
            "plan",
            json!({"sessionUpdate": "plan_update",
            "plan": {"type": "markdown", "planId": "p", "content": "# a"}}),
        ),
        (
            "plan",
            json!({"sessionUpdate": "plan_removed", "planId": "p"}),
        ),
        (
            "notices",
            json!({"sessionUpdate": "notice", "severity": "info", "title": "t"}),
        ),
        (
            "compaction",
            json!({"sessionUpdate": "compaction_update", "compactionId": "c",
            "status": "completed"}),
        ),
        (
            "compaction",
            json!({"sessionUpdate": "compaction_summary_chunk", "compactionId": "c",
            "content": text}),
        ),
        (
            "subagents",
            json!({"sessionUpdate": "subagent_update", "sessionId": "kid"}),
        ),
        (
            "subagents",
            json!({"sessionUpdate": "session_message", "messageId": "m"}),
        ),
        (
            "subagents",
            json!({"sessionUpdate": "session_message_chunk", "messageId": "m",
            "content": text}),
        ),
    ];
    let never = [
        json!({"sessionUpdate": "prompt_suggestions_update", "suggestions": []}),
        json!({"sessionUpdate": "cursor_update", "cursorId": "c"}),
        json!({"sessionUpdate": "agent_message_chunk", "content": text}),
        json!({"sessionUpdate": "state_update", "state": "idle"}),
        json!({"sessionUpdate": "_own"}),
        json!({}),
    ];
    let capabilities = [
        ("none", json!({})),
        ("plan", json!({"plan": {}})),
        ("notices", json!({"session": {"notices": {}}})),
        ("compaction", json!({"session": {"compaction": {}}})),
        ("subagents", json!({"subagents": {}})),
    ];
    for (name, capability) in capabilities {
        let mut stage = Stage::with_turn(capability).await;
        for (_, variant) in &gated {
            stage.passing(None, update("native", variant.clone()));
        }
        for variant in &never {
            stage.passing(None, update("native", variant.clone()));
        }
        for (_, variant) in gated.iter().filter(|(needs, _)| *needs == name) {
            assert_eq!(&stage.update().await, variant, "{name}");
        }
        stage.quiet().await;
    }
}

/// acp.md 6.4 point 4: a child session is known from its `subagent_update` on; what it shows keeps
/// its id.
#[tokio::test]
async fn a_child_session_shows_nothing_before_it_is_announced() {
    let chunk = json!({"sessionUpdate": "agent_message_chunk",
        "content": {"type": "text", "text": "x"}});
    let mut stage = Stage::with_turn(json!({"subagents": {}})).await;
    stage.passing(None, update("kid", chunk.clone()));
    let announced = json!({"sessionUpdate": "subagent_update", "sessionId": "kid"});
    stage.passing(None, update("native", announced.clone()));
    stage.passing(None, update("kid", chunk.clone()));
    assert_eq!(stage.update().await, announced);
    let told = stage.told().await;
    assert_eq!(told["params"], json!({"sessionId": "kid", "update": chunk}));
    stage.quiet().await;
}

/// acp.md 1.8: each mode of elicitation only where it was offered, and an address is done with once,
/// after it was asked for.
#[tokio::test]
async fn an_address_is_asked_for_and_its_end_is_told_once() {
    let url = RequestBody::ElicitationUrl {
        message: "Sign in".into(),
        url: "https://sign.in/x".into(),
        elicitation: "e1".into(),
    };
    let done = |name: &str| relayed("elicitation/complete", json!({"elicitationId": name}));
    let mut stage = Stage::with_turn(json!({"elicitation": {"form": {}}})).await;
    stage.say(asked(None, url.clone()));
    assert_eq!(stage.answered().await.outcome, Outcome::Unanswered);
    stage.passing(None, done("e1"));
    stage.quiet().await;

    let mut stage = Stage::with_turn(json!({"elicitation": {"url": {}}})).await;
    stage.passing(None, done("e1"));
    stage.say(asked(None, url));
    let question = stage.told().await;
    assert_eq!(question["method"], "elicitation/create");
    let expected = json!({"sessionId": S, "mode": "url", "message": "Sign in",
        "elicitationId": "e1", "url": "https://sign.in/x"});
    assert_eq!(question["params"], expected);
    stage.answer(&question, json!({"action": "accept"})).await;
    let content = json!({});
    assert_eq!(
        stage.answered().await.outcome,
        Outcome::Accepted { content }
    );
    for name in ["e2", "e1", "e1"] {
        stage.passing(None, done(name));
    }
    let told = stage.told().await;
    assert_eq!(told["method"], "elicitation/complete");
    assert_eq!(told["params"], json!({"elicitationId": "e1"}));
    stage.quiet().await;
}

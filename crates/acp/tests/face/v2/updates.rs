//! Each event as version 2 shows it.

use serde_json::{Value, json};
use sessiond_protocol::{
    AgentOption, Choice, Command, Compaction, Cursor, Event, Finish, Item, Location, OptionValue,
    PlanEntry, PlanPriority, PlanStatus, SessionChanged, Severity, Stream, Stretch, ToolCall,
    ToolContent, ToolKind, ToolStatus, TurnOutcome, Usage,
};

use super::{text_of, with_session, with_turn};
use crate::harness::{Stage, item, turn};

fn call(status: ToolStatus) -> ToolCall {
    ToolCall {
        name: "run".into(),
        title: "Run ls".into(),
        kind: ToolKind::Execute,
        status,
        input: json!({"command": "ls -l", "cwd": "/w"}),
        ..ToolCall::default()
    }
}

fn started(call: &ToolCall) -> Event {
    super::starts(Item::ToolCall(Box::new(call.clone())))
}

fn changed(call: &ToolCall) -> Event {
    Event::ItemChanged {
        call: Box::new(call.clone()),
    }
}

fn ended(call: &ToolCall) -> Event {
    super::ends(Item::ToolCall(Box::new(call.clone())))
}

fn printed(offset: u64, text: &str) -> Event {
    Event::ItemDelta {
        stream: Stream::Output,
        offset,
        text: text.into(),
    }
}

#[tokio::test]
async fn a_call_is_made_by_its_first_patch_and_changed_by_later_ones() {
    let mut stage = with_turn(json!({})).await;
    let mut call = call(ToolStatus::Pending);
    call.locations = vec![Location {
        path: "/w/a".into(),
        line: Some(0),
    }];
    stage.happen(Some(item(1)), started(&call));
    let whole = json!({
        "sessionUpdate": "tool_call_update", "toolCallId": item(1), "name": "run",
        "title": "Run ls", "kind": "execute", "status": "pending",
        "locations": [{"path": "/w/a"}], "rawInput": {"command": "ls -l", "cwd": "/w"},
    });
    assert_eq!(stage.update().await, whole);
    call.status = ToolStatus::Running;
    call.locations = vec![Location {
        path: "/w/b".into(),
        line: Some(3),
    }];
    stage.happen(Some(item(1)), changed(&call));
    stage.happen(Some(item(1)), changed(&call));
    let patch = json!({
        "sessionUpdate": "tool_call_update", "toolCallId": item(1), "status": "in_progress",
        "locations": [{"path": "/w/b", "line": 3}],
    });
    assert_eq!(stage.update().await, patch);
    call.status = ToolStatus::Completed;
    call.content = vec![ToolContent::text("done")];
    call.output = json!({"exit_code": 0});
    stage.happen(Some(item(1)), ended(&call));
    let patch = json!({
        "sessionUpdate": "tool_call_update", "toolCallId": item(1), "status": "completed",
        "content": [{"type": "content", "content": {"type": "text", "text": "done"}}],
        "rawOutput": {"exit_code": 0},
    });
    assert_eq!(stage.update().await, patch);
    stage.quiet().await;
}

#[tokio::test]
async fn every_status_has_its_word() {
    let table = [
        (ToolStatus::Completed, "completed"),
        (ToolStatus::Failed, "failed"),
        (ToolStatus::Cancelled, "cancelled"),
        (ToolStatus::Unknown, "failed"),
    ];
    for (status, word) in table {
        let mut stage = with_turn(json!({})).await;
        stage.happen(Some(item(1)), ended(&call(status)));
        assert_eq!(stage.update().await["status"], word);
    }
}

/// WIRE-9
#[tokio::test]
async fn output_of_a_call_is_a_terminal_of_ours() {
    let mut stage = with_turn(json!({})).await;
    let mut call = call(ToolStatus::Running);
    stage.happen(Some(item(1)), started(&call));
    stage.update().await;
    stage.passing(Some(item(1)), printed(0, "one\n"));
    stage.passing(Some(item(1)), printed(0, "one\n"));
    stage.passing(Some(item(1)), printed(2, "e\ntwo\n"));
    let opened = json!({"sessionUpdate": "terminal_update", "terminalId": item(1),
        "command": "ls -l", "cwd": "/w"});
    assert_eq!(stage.update().await, opened);
    let part = json!({"sessionUpdate": "tool_call_content_chunk", "toolCallId": item(1),
        "content": {"type": "terminal", "terminalId": item(1)}});
    assert_eq!(stage.update().await, part);
    for data in ["b25lCg==", "dHdvCg=="] {
        let chunk = json!({"sessionUpdate": "terminal_output_chunk", "terminalId": item(1),
            "data": data});
        assert_eq!(stage.update().await, chunk);
    }
    // While it runs the terminal stands after what else it shows, then the result in its place.
    call.content = vec![ToolContent::text("a remark")];
    stage.happen(Some(item(1)), changed(&call));
    let text = |text: &str| json!({"type": "content", "content": {"type": "text", "text": text}});
    let terminal = json!({"type": "terminal", "terminalId": item(1)});
    assert_eq!(
        stage.update().await["content"],
        json!([text("a remark"), terminal])
    );
    call.status = ToolStatus::Failed;
    call.content = vec![ToolContent::text("one\ntwo\nexit code 3")];
    call.output = json!({"exit_code": 3});
    stage.happen(Some(item(1)), ended(&call));
    let closed = json!({"sessionUpdate": "terminal_update", "terminalId": item(1),
        "exitStatus": {"exitCode": 3}});
    assert_eq!(stage.update().await, closed);
    let patch = stage.update().await;
    let content = json!([text("one\ntwo\nexit code 3")]);
    assert_eq!(
        (&patch["content"], &patch["status"]),
        (&content, &json!("failed"))
    );
}

/// WIRE-4
#[tokio::test]
async fn output_of_any_length_goes_out_in_small_frames() {
    let mut stage = with_turn(json!({})).await;
    stage.happen(Some(item(1)), started(&call(ToolStatus::Running)));
    stage.passing(Some(item(1)), printed(0, &"é".repeat(1 << 20)));
    let mut bytes = 0;
    for _ in 0..3 {
        stage.update().await;
    }
    while bytes < 2 << 20 {
        let chunk = stage.update().await;
        bytes += super::fold::decoded(&chunk["data"]).len();
    }
    stage.quiet().await;
}

#[tokio::test]
async fn a_change_to_a_file_is_what_happened_and_a_patch() {
    let mut stage = with_turn(json!({})).await;
    let diff = |old: Option<&str>, new: &str| ToolContent::Diff {
        path: "/w/a.txt".into(),
        old_text: old.map(str::to_owned),
        new_text: new.into(),
    };
    let mut call = call(ToolStatus::Completed);
    call.content = vec![
        diff(Some("a\nb\n"), "a\nc\n"),
        diff(None, "new\n"),
        diff(Some("s"), "s"),
    ];
    stage.happen(Some(item(1)), ended(&call));
    let change =
        |operation: &str| json!([{"operation": operation, "path": "/w/a.txt", "fileType": "text"}]);
    let modify = "diff --git /w/a.txt /w/a.txt\n--- /w/a.txt\n+++ /w/a.txt\n\
                  @@ -1,2 +1,2 @@\n a\n-b\n+c\n";
    let add = "diff --git /w/a.txt /w/a.txt\nnew file mode 100644\n--- /dev/null\n\
               +++ /w/a.txt\n@@ -0,0 +1,1 @@\n+new\n";
    let content = json!([
        {"type": "diff", "changes": change("modify"), "patch": {"format": "git_patch", "text": modify}},
        {"type": "diff", "changes": change("add"), "patch": {"format": "git_patch", "text": add}},
        {"type": "diff", "changes": change("modify")},
    ]);
    assert_eq!(stage.update().await["content"], content);
}

#[tokio::test]
async fn a_terminal_of_another_client_is_not_shown() {
    let mut stage = with_turn(json!({})).await;
    let mut call = call(ToolStatus::Running);
    call.content = vec![ToolContent::Terminal {
        terminal: "t".into(),
    }];
    stage.happen(Some(item(1)), started(&call));
    assert!(stage.update().await.get("content").is_none());
}

/// WIRE-9
#[tokio::test]
async fn text_that_was_shown_is_never_sent_again() {
    let mut stage = with_turn(json!({})).await;
    let text = |text: &str, finish| Item::Thought {
        text: text.into(),
        finish,
    };
    stage.passing(Some(item(1)), super::starts(text("", Finish::Whole)));
    let delta = |offset, text: &str| Event::ItemDelta {
        stream: Stream::Text,
        offset,
        text: text.into(),
    };
    stage.passing(Some(item(1)), delta(0, "on"));
    stage.passing(Some(item(1)), delta(1, "ne "));
    // A gap: the end brings it all.
    stage.passing(Some(item(1)), delta(9, "lost"));
    stage.happen(Some(item(1)), super::ends(text("one two", Finish::Whole)));
    for piece in ["on", "e ", "two"] {
        assert_eq!(
            stage.update().await,
            text_of(item(1), "agent_thought_chunk", piece)
        );
    }
    stage.quiet().await;
}

#[tokio::test]
async fn a_plan_replaces_the_one_before() {
    let mut stage = with_turn(json!({})).await;
    for content in ["first", "second"] {
        let entries = vec![PlanEntry {
            content: content.into(),
            priority: PlanPriority::High,
            status: PlanStatus::InProgress,
        }];
        stage.happen(Some(item(1)), super::ends(Item::Plan { entries }));
        let entry = json!({"content": content, "priority": "high", "status": "in_progress"});
        let plan = json!({"type": "items", "planId": "plan", "entries": [entry]});
        assert_eq!(
            stage.update().await,
            json!({"sessionUpdate": "plan_update", "plan": plan})
        );
    }
}

/// CTX-2: as a compaction, never as a message.
#[tokio::test]
async fn a_compaction_is_shown_with_its_summary() {
    let mut stage = with_turn(json!({})).await;
    let covers = Stretch {
        from: Cursor(1),
        to: Cursor(5),
    };
    let compaction = Box::new(Compaction {
        summary: "so far".into(),
        covers,
        window: 1,
        digest: String::new(),
    });
    stage.happen(Some(item(1)), super::ends(Item::Compaction(compaction)));
    let summary = json!([{"type": "text", "text": "so far"}]);
    assert_eq!(
        stage.update().await,
        json!({"sessionUpdate": "compaction_update", "compactionId": item(1),
            "status": "completed", "summary": summary})
    );
}

/// All of it also between turns: a session lives outside of requests.
#[tokio::test]
async fn what_belongs_to_no_turn_is_told_when_it_happens() {
    let mut stage = with_session(json!({})).await;
    stage.happen_in(
        None,
        None,
        Event::Usage(Usage {
            used: 3,
            size: 9,
            ..Usage::default()
        }),
    );
    let usage = json!({"sessionUpdate": "usage_update", "used": 3, "size": 9});
    assert_eq!(stage.update().await, usage);
    let damage = Event::Damage {
        segment: "s".into(),
        offset: 1,
        length: 7,
    };
    stage.happen_in(None, None, damage);
    let notice = stage.update().await;
    assert_eq!(
        (&notice["sessionUpdate"], &notice["severity"]),
        (&json!("notice"), &json!("warning"))
    );
    let title = SessionChanged {
        title: Some("A title".into()),
        ..SessionChanged::default()
    };
    stage.happen_in(None, None, Event::SessionChanged(title));
    let info = json!({"sessionUpdate": "session_info_update", "title": "A title"});
    assert_eq!(stage.update().await, info);
    let commands = vec![Command {
        name: "go".into(),
        description: "Goes".into(),
        hint: None,
    }];
    let change = SessionChanged {
        commands: Some(commands),
        ..SessionChanged::default()
    };
    stage.happen_in(None, None, Event::SessionChanged(change));
    let commands = json!([{"type": "command", "name": "go", "description": "Goes"}]);
    assert_eq!(stage.update().await["availableCommands"], commands);
    let options = vec![flag(), model()];
    let change = SessionChanged {
        mode: Some("auto".into()),
        options: Some(options),
        ..SessionChanged::default()
    };
    stage.happen_in(None, None, Event::SessionChanged(change));
    let update = stage.update().await;
    assert_eq!(update["sessionUpdate"], "config_option_update");
    let options = update["configOptions"].as_array().unwrap();
    assert_eq!(options.len(), 3);
    assert_eq!(
        (&options[0]["currentValue"], &options[0]["category"]),
        (&json!("auto"), &json!("mode"))
    );
    let flag = json!({"configId": "fast", "name": "Fast", "type": "boolean", "currentValue": true});
    assert_eq!(options[1], flag);
    let model = json!({"configId": "model", "name": "Model", "category": "model", "type": "select",
    "currentValue": "small", "options": [
        {"groupId": "Cheap", "name": "Cheap", "options": [{"value": "small", "name": "Small"}]},
        {"groupId": "Dear", "name": "Dear", "options": [{"value": "large", "name": "Large"}]},
    ]});
    assert_eq!(options[2], model);
    stage.quiet().await;
}

pub(super) fn flag() -> AgentOption {
    AgentOption {
        id: "fast".into(),
        name: "Fast".into(),
        description: None,
        category: None,
        value: OptionValue::Boolean(true),
        choices: Vec::new(),
    }
}

pub(super) fn model() -> AgentOption {
    let choice = |id: &str, name: &str, group: &str| Choice {
        id: id.into(),
        name: name.into(),
        description: None,
        group: Some(group.into()),
    };
    AgentOption {
        id: "model".into(),
        name: "Model".into(),
        description: None,
        category: Some("model".into()),
        value: OptionValue::Choice("small".into()),
        choices: vec![
            choice("small", "Small", "Cheap"),
            choice("large", "Large", "Dear"),
        ],
    }
}

async fn noticed(stage: &mut Stage) -> Value {
    let notice = json!({"severity": "warning", "title": "Careful"});
    let event = json!({"type": "notice", "severity": notice["severity"], "title": notice["title"]});
    stage.happen_in(None, None, serde_json::from_value(event).unwrap());
    stage.update().await
}

#[tokio::test]
async fn a_notice_needs_no_offer() {
    let mut stage = with_session(json!({})).await;
    let notice =
        json!({"sessionUpdate": "notice", "severity": Severity::Warning, "title": "Careful"});
    assert_eq!(noticed(&mut stage).await, notice);
}

/// ADAPT-6: only a top-level sessionId is rewritten, and only what is an extension passes.
#[tokio::test]
async fn an_extension_passes_as_it_is() {
    let mut stage = with_session(json!({})).await;
    for (method, params) in [
        (
            "session/update",
            json!({"sessionId": "theirs", "update": {"sessionUpdate": "tool_call"}}),
        ),
        (
            "_vendor/note",
            json!({"sessionId": "theirs", "more": {"sessionId": "theirs"}, "x": [1]}),
        ),
    ] {
        stage.happen_in(
            None,
            None,
            Event::Extension {
                method: method.into(),
                params,
            },
        );
    }
    let passed = stage.told().await;
    assert_eq!(passed["method"], "_vendor/note");
    let params = json!({"sessionId": crate::harness::S, "more": {"sessionId": "theirs"}, "x": [1]});
    assert_eq!(passed["params"], params);
    stage.quiet().await;
}

/// What both versions write the same passes; the rest is another version's.
#[tokio::test]
async fn plans_and_compactions_of_the_agent_pass() {
    let mut stage = with_session(json!({})).await;
    for update in [
        json!({"sessionUpdate": "plan_removed", "planId": "theirs"}),
        json!({"sessionUpdate": "compaction_update", "compactionId": "c", "status": "in_progress"}),
    ] {
        let (method, params) = (
            "session/update".to_owned(),
            json!({"sessionId": "theirs", "update": update}),
        );
        stage.happen_in(None, None, Event::Extension { method, params });
        assert_eq!(stage.update().await, update);
    }
    stage.quiet().await;
}

/// Where the log failed the engine cannot end what is open.
#[tokio::test]
async fn no_call_looks_as_if_it_ran_on_after_its_turn() {
    let mut stage = with_turn(json!({})).await;
    stage.happen(Some(item(1)), started(&call(ToolStatus::Running)));
    stage.update().await;
    stage.passing(Some(item(1)), printed(0, "x"));
    for _ in 0..3 {
        stage.update().await;
    }
    stage.end(turn(1), TurnOutcome::Failed);
    assert_eq!(stage.update().await["exitStatus"], json!({}));
    assert_eq!(stage.update().await["status"], "failed");
    assert_eq!(stage.update().await["stopReason"], "error");
}

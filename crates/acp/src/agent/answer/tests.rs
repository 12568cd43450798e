//! What came of a question, as the agent is told.

use serde_json::{Value, json};
use sessiond_protocol::{
    Exit, Outcome, Permission, PermissionKind, PermissionOption, RequestBody, TerminalOp,
};

use super::{Turn, answer};

fn permission(kinds: &[PermissionKind]) -> RequestBody {
    let option = |kind: &PermissionKind| PermissionOption {
        id: kind.id().to_owned(),
        name: kind.id().to_owned(),
        kind: *kind,
    };
    RequestBody::Permission(Permission {
        title: "t".to_owned(),
        tool: "run".to_owned(),
        pattern: "p".to_owned(),
        options: kinds.iter().map(option).collect(),
    })
}

fn told(body: &RequestBody, outcome: Outcome, turn: Turn) -> Result<Value, i32> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let answer = runtime.block_on(answer(body, outcome, turn));
    answer.map_err(|error| error.code())
}

/// WIRE-8: only an option that was chosen allows; nobody's decision is a rejection of the one call,
/// and `cancelled` is said of a cancelled turn only.
#[test]
fn a_permission_is_what_was_chosen_and_otherwise_a_rejection() {
    let selected =
        |option: &str| Ok(json!({ "outcome": { "outcome": "selected", "optionId": option } }));
    let cancelled = || Ok(json!({ "outcome": { "outcome": "cancelled" } }));
    let chosen = |option: &str| Outcome::Selected {
        option: option.to_owned(),
    };
    let all = permission(&PermissionKind::ALL);
    let allowing = permission(&[PermissionKind::AllowOnce]);
    let cases = [
        (
            &all,
            chosen("allow_always"),
            Turn::Runs,
            selected("allow_always"),
        ),
        (
            &all,
            chosen("reject_once"),
            Turn::Runs,
            selected("reject_once"),
        ),
        (
            &all,
            Outcome::Cancelled,
            Turn::Runs,
            selected("reject_once"),
        ),
        (
            &all,
            Outcome::Unanswered,
            Turn::Runs,
            selected("reject_once"),
        ),
        (&all, Outcome::Cancelled, Turn::Cancelled, cancelled()),
        (&all, chosen("allow_once"), Turn::Cancelled, cancelled()),
        (&allowing, Outcome::Cancelled, Turn::Runs, cancelled()),
    ];
    for (body, outcome, turn, expected) in cases {
        assert_eq!(
            told(body, outcome.clone(), turn),
            expected,
            "{outcome:?} {turn:?}"
        );
    }
}

#[test]
fn every_other_outcome_has_its_answer() {
    let read = RequestBody::FsRead {
        path: "/nowhere/at all".to_owned(),
        line: None,
        limit: None,
    };
    let terminal = |op: fn(String) -> TerminalOp| RequestBody::Terminal(op("t".to_owned()));
    let output = terminal(|terminal| TerminalOp::Output { terminal });
    let wait = terminal(|terminal| TerminalOp::Wait { terminal });
    let release = terminal(|terminal| TerminalOp::Release { terminal });
    let form = RequestBody::Elicitation {
        message: "m".to_owned(),
        schema: json!({}),
    };
    let extension = RequestBody::Extension {
        method: "_m".to_owned(),
        params: json!({}),
    };
    let printed = |exit| Outcome::Output {
        output: "o".to_owned(),
        truncated: false,
        exit,
    };
    let exit = || Exit {
        code: Some(3),
        signal: None,
    };
    let failed = || Outcome::Failed {
        message: "m".to_owned(),
    };
    let text = Outcome::Text {
        text: "t".to_owned(),
    };
    let accepted = Outcome::Accepted {
        content: json!({"a": 1}),
    };
    let cases = [
        (&read, text, Ok(json!({ "content": "t" }))),
        (&read, failed(), Err(-32603)),
        (&read, Outcome::Cancelled, Err(-32800)),
        // The client that controls the session now has no files: the local ones count.
        (&read, Outcome::Unanswered, Err(-32002)),
        (
            &output,
            printed(None),
            Ok(json!({ "output": "o", "truncated": false })),
        ),
        (
            &output,
            printed(Some(exit())),
            Ok(json!({
                "output": "o", "truncated": false, "exitStatus": {"exitCode": 3, "signal": null}
            })),
        ),
        (
            &wait,
            printed(Some(exit())),
            Ok(json!({ "exitCode": 3, "signal": null })),
        ),
        (&release, Outcome::Done, Ok(json!({}))),
        (&release, Outcome::Unanswered, Err(-32603)),
        (
            &form,
            accepted,
            Ok(json!({ "action": "accept", "content": {"a": 1} })),
        ),
        (&form, Outcome::Declined, Ok(json!({ "action": "decline" }))),
        (&form, Outcome::Cancelled, Ok(json!({ "action": "cancel" }))),
        (
            &extension,
            Outcome::Result { result: json!(5) },
            Ok(json!(5)),
        ),
        (&extension, Outcome::Unanswered, Err(-32601)),
    ];
    for (body, outcome, expected) in cases {
        assert_eq!(
            told(body, outcome.clone(), Turn::Runs),
            expected,
            "{body:?} {outcome:?}"
        );
    }
}

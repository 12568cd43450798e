//! What needs no tool: text, thoughts, plans, ends.

use serde_json::json;
use sessiond_protocol::{
    Cost, Currency, OptionValue, Outcome, PlanEntry, PlanPriority, PlanStatus, RequestBody,
    RequestKind, Stop, TurnOutcome, Usage,
};

use crate::session::{Act, Seen, Session};

fn texts(pieces: &[&str]) -> Vec<Seen> {
    pieces
        .iter()
        .map(|piece| Seen::Text((*piece).to_owned()))
        .collect()
}

#[tokio::test]
async fn text_comes_in_pieces_that_make_up_the_text() {
    let table: [(&str, &[&str]); 8] = [
        ("hello world", &["hello ", "world"]),
        (
            "  two\n\nlines  here ",
            &["  ", "two\n\n", "lines  ", "here "],
        ),
        ("/say hello world", &["hello world"]),
        (r#"/json {"a": [1, 2]}"#, &[r#"{"a": [1, 2]}"#]),
        ("/say a\n/say b", &["a", "\n", "b"]),
        ("/stream 3 8", &["w0 xxxxx", "w1 xxxxx", "w2 xxxxx"]),
        ("/stream 2 1", &["w", "w"]),
        ("/repeat 2 /say x", &["x", "\n", "x"]),
    ];
    for (prompt, pieces) in table {
        let turn = Session::new(&[]).await.turn(prompt, |_| Act::Watch).await;
        assert_eq!(turn.seen, texts(pieces), "{prompt}");
        assert_eq!(
            (turn.outcome, turn.stop),
            (TurnOutcome::Completed, Some(Stop::EndTurn))
        );
    }
}

#[tokio::test]
async fn a_script_that_is_wrong_is_answered_and_the_rest_runs() {
    let table = [
        ("/sleep soon\n/say b", "The form is: /sleep SECONDS\nb"),
        (
            "/xyz",
            "There is no command /xyz. The commands are:\n/say TEXT\n",
        ),
        (" \n ", "The prompt has no text."),
    ];
    for (prompt, said) in table {
        let turn = Session::new(&[]).await.turn(prompt, |_| Act::Watch).await;
        assert!(turn.text().starts_with(said), "{prompt}: {}", turn.text());
        assert_eq!(turn.outcome, TurnOutcome::Completed);
    }
}

#[tokio::test]
async fn thoughts_plans_usage_and_title_are_what_they_say() {
    let script = "/think hm\n/plan one; two\n/usage\n/title My work";
    let turn = Session::new(&[]).await.turn(script, |_| Act::Watch).await;
    let entry = |content: &str| PlanEntry {
        content: content.to_owned(),
        priority: PlanPriority::Medium,
        status: PlanStatus::Pending,
    };
    let usage = Usage {
        used: 1_200,
        size: 200_000,
        input: 1_000,
        output: 200,
        thought: Some(50),
        cached_read: Some(400),
        cached_write: Some(100),
        cost: Some(Cost {
            nanos: 12_500_000,
            currency: Currency::USD,
        }),
    };
    let seen = [
        Seen::Thought("hm".to_owned()),
        Seen::Plan(vec![entry("one"), entry("two")]),
        Seen::Usage(usage),
        Seen::Title("My work".to_owned()),
    ];
    assert_eq!(turn.seen, seen);
    assert_eq!(turn.usage, Some(usage));
}

#[tokio::test]
async fn fail_fails_the_turn_and_refuse_refuses_it_and_neither_goes_on() {
    let script = "/say a\n/fail it broke\n/say never";
    let turn = Session::new(&[]).await.turn(script, |_| Act::Watch).await;
    assert_eq!((turn.outcome, turn.stop), (TurnOutcome::Failed, None));
    assert_eq!(
        (turn.text().as_str(), turn.error.as_deref()),
        ("a", Some("it broke"))
    );

    let script = "/say a\n/repeat 3 /refuse\n/say never";
    let turn = Session::new(&[]).await.turn(script, |_| Act::Watch).await;
    assert_eq!(
        (turn.outcome, turn.stop),
        (TurnOutcome::Completed, Some(Stop::Refusal))
    );
    assert_eq!(turn.text(), "a");
}

#[tokio::test]
async fn a_question_is_asked_and_its_answer_said() {
    let answer = |value| Outcome::Accepted {
        content: json!({ "answer": value }),
    };
    let table = [
        (answer(json!("the left one")), "Answer: the left one"),
        (answer(json!(7)), "The answer does not have the asked form."),
        (Outcome::Declined, "The question was declined."),
        (Outcome::Cancelled, "The question was dismissed."),
    ];
    for (outcome, said) in table {
        let mut session = Session::new(&[RequestKind::Elicitation]).await;
        let turn = session.turn("/ask which one?", |seen| match seen {
            Seen::Asked(_) => Act::Answer(outcome.clone()),
            _ => Act::Watch,
        });
        let turn = turn.await;
        let Some(Seen::Asked(RequestBody::Elicitation { message, schema })) = turn.seen.first()
        else {
            panic!("not asked: {:?}", turn.seen);
        };
        assert_eq!(message, "which one?");
        assert_eq!(
            schema.pointer("/properties/answer/type"),
            Some(&json!("string"))
        );
        assert_eq!(turn.text(), said);
    }
}

#[tokio::test]
async fn a_client_without_questions_declines_them() {
    let turn = Session::new(&[])
        .await
        .turn("/ask which one?", |_| Act::Watch)
        .await;
    assert_eq!(turn.text(), "The question was declined.");
}

#[tokio::test]
async fn a_call_of_an_mcp_server_fails_with_its_name() {
    let turn = Session::new(&[])
        .await
        .turn(r#"/mcp db query {"a":1}"#, |_| Act::Watch)
        .await;
    assert_eq!(
        turn.shown(),
        r#"There is no MCP server "db" in this session."#
    );
    assert_eq!(turn.call().output, json!({ "error": "no_such_server" }));
    let input = json!({ "server": "db", "tool": "query", "arguments": { "a": 1 } });
    assert_eq!(turn.call().input, input);
}

/// Options: how text is said back, and whether each turn ends with its usage. Both hold at once.
#[tokio::test]
async fn options_change_how_the_agent_speaks_and_what_it_tells() {
    let text = "one two\nthree";
    let table = [
        ("words", vec!["one ", "two\n", "three"]),
        ("lines", vec!["one two\n", "three"]),
        ("whole", vec!["one two\nthree"]),
    ];
    let mut session = Session::new(&[]).await;
    for (echo, pieces) in table {
        session
            .option("echo", OptionValue::Choice(echo.into()))
            .await;
        let turn = session.turn(text, |_| Act::Watch).await;
        assert_eq!(turn.seen, texts(&pieces), "{echo}");
        assert_eq!(turn.usage, None);
    }
    session.option("usage", OptionValue::Boolean(true)).await;
    let turn = session.turn("hi", |_| Act::Watch).await;
    assert!(
        matches!(turn.seen.last(), Some(Seen::Usage(_))),
        "{:?}",
        turn.seen
    );
    assert!(turn.usage.is_some());
}

use super::*;

fn told(lines: &[&str]) -> (Vec<Told>, Findings) {
    let text = lines.join("\n");
    let index = Index::read(text.as_bytes()).unwrap();
    let mut fold = Fold::new(&index, text.as_bytes());
    let told = fold.by_ref().map(Result::unwrap).collect();
    (told, fold.findings().clone())
}

fn user(content: &str) -> String {
    format!(
        r#"{{"parentUuid":null,"type":"user","uuid":"00000000-0000-4000-8000-00000000000a","timestamp":"T","message":{{"content":{content}}}}}"#
    )
}

fn assistant(content: &str) -> String {
    format!(
        r#"{{"parentUuid":null,"type":"assistant","uuid":"00000000-0000-4000-8000-00000000000a","message":{{"content":{content}}}}}"#
    )
}

fn only(line: &str) -> Telling {
    let (told, _) = told(&[line]);
    assert_eq!(told.len(), 1, "{line}");
    told.into_iter().next().unwrap().what
}

#[test]
fn each_kind_of_a_users_block_is_content() {
    let table = [
        (r#""hi""#, Content::text("hi")),
        (r#"[{"type":"text","text":"hi"}]"#, Content::text("hi")),
        (
            r#"[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUI="}}]"#,
            Content::Image {
                data: "QUI=".to_owned(),
                mime_type: "image/png".to_owned(),
                extra: Map::new(),
            },
        ),
        (
            r#"[{"type":"image","source":{"type":"url","url":"http://x"}}]"#,
            Content::ResourceLink {
                uri: "http://x".to_owned(),
                name: String::new(),
                extra: Map::new(),
            },
        ),
        (
            r#"[{"type":"document","title":"d","source":{"type":"text","media_type":"text/plain","data":"t"}}]"#,
            Content::Resource {
                resource: serde_json::json!({"uri": "document:d", "mimeType": "text/plain", "text": "t"}),
                extra: Map::new(),
            },
        ),
    ];
    for (content, block) in table {
        let content_of_it = vec![block];
        let item = Item::UserMessage {
            content: content_of_it,
        };
        assert_eq!(only(&user(content)), Telling::Item(item), "{content}");
    }
}

#[test]
fn what_the_program_wrote_in_the_users_name_is_not_the_users() {
    let (all, findings) = told(&[&user(r#""<command-name>/compact</command-name>""#)]);
    assert_eq!(all, []);
    assert_eq!(findings.of(Kind::LocalCommand), 1);
    let interrupted = only(&user(
        r#"[{"type":"text","text":"[Request interrupted by user for tool use]"}]"#,
    ));
    assert!(matches!(interrupted, Telling::Notice { .. }));
}

/// RESUME-6: a call without a result has an unknown outcome.
#[test]
fn a_call_is_told_with_its_result_or_as_one_whose_outcome_is_unknown() {
    let call =
        assistant(r#"[{"type":"tool_use","id":"x","name":"Bash","input":{"command":"ls"}}]"#);
    let result = |more: &str| {
        format!(
            r#"{{"parentUuid":"00000000-0000-4000-8000-00000000000a","type":"user","uuid":"00000000-0000-4000-8000-00000000000b"{more}}}"#
        )
    };
    let table = [
        (
            r#","message":{"content":[{"type":"tool_result","tool_use_id":"x","content":"out"}]}"#,
            ToolStatus::Completed,
            1,
        ),
        (
            r#","message":{"content":[{"type":"tool_result","tool_use_id":"x","content":[{"type":"text","text":"out"}],"is_error":true}]}"#,
            ToolStatus::Failed,
            1,
        ),
        (
            r#","toolDenialKind":"user-rejected","message":{"content":[{"type":"tool_result","tool_use_id":"x","is_error":true}]}"#,
            ToolStatus::Cancelled,
            0,
        ),
        (r#","message":{"content":"next"}"#, ToolStatus::Unknown, 0),
    ];
    for (answer, status, shown) in table {
        let (told, findings) = told(&[&call, &result(answer)]);
        let Telling::Item(Item::ToolCall(told)) = &told[0].what else {
            panic!("{answer}")
        };
        assert_eq!(
            (told.status, told.content.len()),
            (status, shown),
            "{answer}"
        );
        assert_eq!(told.native.as_deref(), Some("x"));
        assert_eq!(told.title, "ls");
        let unanswered = u64::from(status == ToolStatus::Unknown);
        assert_eq!(findings.of(Kind::UnansweredCall), unanswered);
    }
}

/// claude.md 7.2: results pair by the call's id, also where several share an entry; one whose call is
/// not there is shown for what it is, and no other is shown twice.
#[test]
fn results_that_share_an_entry_are_each_their_calls_own() {
    let calls = assistant(
        r#"[{"type":"tool_use","id":"x","name":"Bash","input":{}},{"type":"tool_use","id":"y","name":"Bash","input":{}}]"#,
    );
    let results = r#"{"parentUuid":"00000000-0000-4000-8000-00000000000a","type":"user","uuid":"00000000-0000-4000-8000-00000000000b","message":{"content":[{"type":"tool_result","tool_use_id":"y","content":"of y","is_error":true},{"type":"tool_result","tool_use_id":"x","content":"of x"},{"type":"tool_result","tool_use_id":"z","content":"of z"}]}}"#;
    let (told, findings) = told(&[&calls, results]);
    let shown = told.iter().map(|told| {
        let Telling::Item(Item::ToolCall(call)) = &told.what else {
            panic!("{told:?}")
        };
        let text = match &call.content[..] {
            [ToolContent::Content { content }] => content.as_text(),
            other => panic!("{other:?}"),
        };
        (call.native.as_deref().unwrap(), call.status, text.unwrap())
    });
    let shown: Vec<_> = shown.collect();
    assert_eq!(
        shown,
        [
            ("x", ToolStatus::Completed, "of x"),
            ("y", ToolStatus::Failed, "of y"),
            ("z", ToolStatus::Completed, "of z"),
        ]
    );
    assert_eq!(findings.of(Kind::OrphanResult), 1);
}

#[test]
fn the_pieces_of_an_entry_have_ids_that_stay() {
    let line = assistant(
        r#"[{"type":"thinking","thinking":"t","signature":"s"},{"type":"text","text":"a"},{"type":"text","text":"b"}]"#,
    );
    let (first, findings) = told(&[&line]);
    let (again, _) = told(&[&line]);
    assert_eq!(first, again);
    assert_eq!(findings.of(Kind::SealedThought), 1);
    let ids: Vec<_> = first
        .iter()
        .map(|told| told.id.unwrap().to_string())
        .collect();
    assert_eq!(ids[0], "00000000-0000-4000-8000-00000000000a");
    assert!(ids[1] != ids[0] && ids[2] != ids[1]);
}

#[test]
fn what_a_store_would_refuse_is_replaced_and_what_nests_too_deep_is_told() {
    let text = only(&user(r#""a\ud800b\u0000c""#));
    let content = vec![Content::text("a\u{fffd}b\u{fffd}c")];
    assert_eq!(text, Telling::Item(Item::UserMessage { content }));
    let deep = "[".repeat(200) + &"]".repeat(200);
    let line = assistant(&format!(
        r#"[{{"type":"tool_use","id":"x","name":"n","input":{deep}}}]"#
    ));
    let (all, findings) = told(&[&line]);
    assert_eq!(all, []);
    assert_eq!(findings.of(Kind::UnreadableEntry), 1);
}

#[test]
fn bytes_that_are_no_utf_8_are_replaced() {
    let mut line = user(r#""a@b""#).into_bytes();
    let at = line.iter().position(|b| *b == b'@').unwrap();
    line[at] = 0xff;
    let index = Index::read(&line).unwrap();
    let told: Vec<_> = Fold::new(&index, &line).map(Result::unwrap).collect();
    let content = vec![Content::text("a\u{fffd}b")];
    assert_eq!(told[0].what, Telling::Item(Item::UserMessage { content }));
}

/// CTX-2: a summary is nobody's message; one that is too long is cut.
#[test]
fn a_summary_is_a_summary() {
    let long = "é".repeat(limits::SUMMARY_BYTES);
    let line =
        user(&format!("\"{long}\"")).replace("\"type\"", "\"isCompactSummary\":true,\"type\"");
    let (told, findings) = told(&[&line]);
    let Telling::Summary(text) = &told[0].what else {
        panic!()
    };
    assert_eq!(text.len(), limits::SUMMARY_BYTES);
    assert_eq!(findings.of(Kind::LongSummary), 1);
}

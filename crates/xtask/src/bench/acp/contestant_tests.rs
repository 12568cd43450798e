use super::{Wish, arrived};

fn chunk(text: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"update":{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":"{text}"}}}}}}}}"#
    )
}

#[test]
fn merged_chunks_count_once_and_lost_text_fails() {
    let wish = Wish {
        updates: 3,
        bytes: 2,
    };
    let usage =
        r#"{"method":"session/update","params":{"update":{"sessionUpdate":"usage_update"}}}"#;
    let cases: [(&str, &[String], Result<u32, ()>); 4] = [
        ("all", &[chunk("aa"), chunk("bb"), chunk("cc")], Ok(3)),
        (
            "two merged, and something else",
            &[chunk("aa"), usage.to_owned(), chunk("bbcc")],
            Ok(2),
        ),
        ("one lost", &[chunk("aa"), chunk("cc")], Err(())),
        ("no JSON", &["{".to_owned()], Err(())),
    ];
    for (name, lines, expected) in cases {
        let lines = format!("{}\n", lines.join("\n"));
        assert_eq!(
            arrived(lines.as_bytes(), wish).map_err(drop),
            expected,
            "{name}"
        );
    }
}

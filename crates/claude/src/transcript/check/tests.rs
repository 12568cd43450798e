use super::*;

const PROMPT: &str = r#"{"parentUuid":null,"type":"user","uuid":"00000000-0000-4000-8000-000000000001","timestamp":"T","sessionId":"s","cwd":"/","version":"1","message":{"role":"user","content":"hi"}}"#;
const CALL: &str = r#"{"parentUuid":"00000000-0000-4000-8000-000000000001","type":"assistant","uuid":"00000000-0000-4000-8000-000000000002","timestamp":"T","sessionId":"s","cwd":"/","version":"1","message":{"role":"assistant","id":"m","model":"x","usage":{},"content":[{"type":"tool_use","id":"c","name":"n","input":{}}]}}"#;
const RESULT: &str = r#"{"parentUuid":"00000000-0000-4000-8000-000000000002","sourceToolAssistantUUID":"00000000-0000-4000-8000-000000000002","type":"user","uuid":"00000000-0000-4000-8000-000000000003","timestamp":"T","sessionId":"s","cwd":"/","version":"1","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":""}]}}"#;
const LEAF: &str = r#"{"type":"last-prompt","leafUuid":"00000000-0000-4000-8000-000000000003"}"#;

fn flaws(lines: &[&str]) -> Vec<&'static str> {
    let text = lines.join("\n") + "\n";
    let flaws = check(text.as_bytes());
    flaws.into_iter().map(|flaw| flaw.what).collect()
}

#[test]
fn a_good_transcript_has_no_flaws_and_each_broken_rule_is_named() {
    assert_eq!(flaws(&[PROMPT, CALL, RESULT, LEAF]), [""; 0]);
    let other = |line: &str, from: &str, to: &str| {
        assert!(line.contains(from), "{from}");
        line.replacen(from, to, 1)
    };
    let table: [(&[&str], &str); 10] = [
        (&[PROMPT, CALL], "a call has no result"),
        (
            &[PROMPT, CALL, RESULT, &other(RESULT, "0003", "0004")],
            "it has a second result of a call",
        ),
        (
            &[PROMPT, RESULT],
            "it has a result whose call was not written before it",
        ),
        (&[CALL, RESULT], "its parent was not written before it"),
        (&[PROMPT, PROMPT], "its uuid was there before"),
        (
            &[PROMPT, &other(PROMPT, "0001", "0009")],
            "it has more than one beginning",
        ),
        (
            &[PROMPT, CALL, &other(RESULT, "000002", "000001")],
            "it has a result and does not follow the entry of its call",
        ),
        (
            &[PROMPT, CALL, RESULT, &other(LEAF, "0003", "0009")],
            "the leaf that it names is not there",
        ),
        (&[PROMPT, "x"], "it is no JSON object"),
        (
            &[PROMPT, &other(CALL, "\"input\":{}", "\"input\":1"), RESULT],
            "the arguments of a call are no object",
        ),
    ];
    for (lines, what) in table {
        assert!(flaws(lines).contains(&what), "{what}: {:?}", flaws(lines));
    }
    assert_eq!(
        check(PROMPT.as_bytes())[0].what,
        "it does not end with a line break"
    );
}

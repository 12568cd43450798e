use super::{Transcript, told};
use crate::check::{Speaker, TranscriptRule as Rule};
use crate::step::ShapeName;

const ENTRY: &str = r#""isSidechain":false,"sessionId":"aaaaaaaa-1111-4000-8000-000000000001","cwd":"/w","version":"1","timestamp":"2026-01-01T00:00:00.000Z""#;

/// An entry of the chain: its id, its parent's, and what else stands in it.
fn entry(uuid: &str, parent: &str, more: &str) -> String {
    let parent = if parent.is_empty() {
        "null".to_owned()
    } else {
        format!("{parent:?}")
    };
    format!("{{\"uuid\":{uuid:?},\"parentUuid\":{parent},{ENTRY},{more}}}\n")
}

fn user(uuid: &str, parent: &str, content: &str) -> String {
    entry(
        uuid,
        parent,
        &format!(r#""type":"user","message":{{"role":"user","content":{content}}}"#),
    )
}

fn agent(uuid: &str, parent: &str, id: &str, block: &str) -> String {
    entry(
        uuid,
        parent,
        &format!(
            r#""type":"assistant","message":{{"id":{id:?},"type":"message","role":"assistant","model":"m","usage":{{}},"content":[{block}]}}"#
        ),
    )
}

const CALL: &str = r#"{"type":"tool_use","id":"t","name":"Bash","input":{}}"#;
const RESULT: &str = r#"[{"type":"tool_result","tool_use_id":"t","content":"out"}]"#;
const TEXT: &str = r#"{"type":"text","text":"said"}"#;

/// A sound transcript: a question, a text and a call of one message, a result, an answer.
fn sound() -> Vec<String> {
    vec![
        user("a", "", "\"asked\""),
        agent("b", "a", "m1", TEXT),
        agent("c", "b", "m1", CALL),
        user("d", "c", RESULT),
        agent("e", "d", "m2", TEXT),
    ]
}

const CLAUDE: [Rule; 14] = [
    Rule::Lines,
    Rule::Ended,
    Rule::Session,
    Rule::Times,
    Rule::Members,
    Rule::Uuids,
    Rule::Parents,
    Rule::Root,
    Rule::Regrouped,
    Rule::Calls,
    Rule::Results,
    Rule::Sidechains,
    Rule::Boundaries,
    Rule::Unbranched,
];

fn broken(rules: &[Rule], text: &str, name: Option<&str>) -> Vec<Rule> {
    let file = Transcript::read(text);
    let broken = rules
        .iter()
        .filter(|rule| file.keeps(**rule, name).is_err());
    broken.copied().collect()
}

/// CONF-1: each rule of a transcript is broken by what it is about, and a sound one breaks none.
#[test]
fn a_transcript_of_claude_breaks_the_rule_that_its_flaw_is_about() {
    let changed = |at: usize, line: String| {
        let mut lines = sound();
        lines[at] = line;
        lines.concat()
    };
    let with = |more: &str| sound().concat() + more;
    let rows: Vec<(&str, String, Vec<Rule>)> = vec![
        ("nothing", sound().concat(), vec![]),
        ("garbage", with("nothing\n"), vec![Rule::Lines]),
        (
            "no end",
            sound().concat().trim_end().to_owned(),
            vec![Rule::Ended],
        ),
        (
            "twice",
            with(&agent("e", "d", "m3", TEXT)),
            vec![Rule::Uuids, Rule::Unbranched],
        ),
        (
            "no parent",
            changed(4, agent("e", "gone", "m2", TEXT)),
            vec![Rule::Parents, Rule::Root, Rule::Unbranched],
        ),
        (
            "a parent that comes later",
            changed(0, user("a", "e", "\"asked\"")),
            vec![Rule::Parents, Rule::Root],
        ),
        (
            "another session",
            changed(4, agent("e", "d", "m2", TEXT).replace("000001", "000002")),
            vec![Rule::Session],
        ),
        (
            "older than what it follows",
            changed(4, agent("e", "d", "m2", TEXT).replace("2026", "2025")),
            vec![Rule::Times],
        ),
        (
            "no model",
            changed(
                4,
                agent("e", "d", "m2", TEXT).replace("\"model\":\"m\",", ""),
            ),
            vec![Rule::Members],
        ),
        (
            "a block without its text",
            changed(4, agent("e", "d", "m2", r#"{"type":"text"}"#)),
            vec![Rule::Members],
        ),
        (
            "one message on both sides of a prompt",
            with(&(user("f", "e", "\"more\"") + &agent("g", "f", "m2", TEXT))),
            vec![Rule::Regrouped],
        ),
        (
            "no result",
            changed(3, user("d", "c", "\"no\"")),
            vec![Rule::Calls],
        ),
        (
            "a second result",
            with(&user("f", "e", RESULT)),
            vec![Rule::Results],
        ),
        (
            "a sidechain",
            changed(
                1,
                agent("b", "a", "m1", TEXT).replace("Sidechain\":false", "Sidechain\":true"),
            ),
            vec![Rule::Sidechains],
        ),
        (
            "a compaction of nothing",
            with(&entry(
                "f",
                "",
                r#""type":"system","subtype":"compact_boundary""#,
            )),
            vec![Rule::Boundaries],
        ),
    ];
    for (flaw, text, expected) in rows {
        assert_eq!(broken(&CLAUDE, &text, None), expected, "{flaw}");
    }
}

fn line(kind: &str, ordinal: usize, payload: &str) -> String {
    format!(
        "{{\"timestamp\":\"2026-01-01T00:00:00.{ordinal:03}Z\",\"ordinal\":{ordinal},\"type\":{kind:?},\"payload\":{{{payload}}}}}\n"
    )
}

/// A sound rollout.
fn rollout() -> Vec<String> {
    let parts = [
        (
            "session_meta",
            r#""id":"aaaaaaaa-1111-4000-8000-000000000001","timestamp":"","cwd":"/","originator":"o","cli_version":"1""#,
        ),
        ("event_msg", r#""type":"task_started","turn_id":"t""#),
        (
            "response_item",
            r#""type":"message","role":"user","content":[{"type":"input_text","text":"asked"}]"#,
        ),
        ("event_msg", r#""type":"user_message","message":"asked""#),
        (
            "response_item",
            r#""type":"function_call","name":"f","arguments":"{}","call_id":"c""#,
        ),
        (
            "response_item",
            r#""type":"function_call_output","output":"out","call_id":"c""#,
        ),
        ("event_msg", r#""type":"task_complete","turn_id":"t""#),
    ];
    let lines = parts.iter().enumerate();
    lines
        .map(|(at, (kind, payload))| line(kind, at, payload))
        .collect()
}

const CODEX: [Rule; 12] = [
    Rule::Lines,
    Rule::Head,
    Rule::Session,
    Rule::Times,
    Rule::Members,
    Rule::Calls,
    Rule::Results,
    Rule::Turns,
    Rule::Mirrored,
    Rule::Ordinals,
    Rule::Base,
    Rule::Compacted,
];

/// CONF-1: the same for rollouts.
#[test]
fn a_rollout_breaks_the_rule_that_its_flaw_is_about() {
    let name = "rollout-2026-01-01T00-00-00-aaaaaaaa-1111-4000-8000-000000000001.jsonl";
    let without = |at: usize| {
        let mut lines = rollout();
        lines.remove(at);
        lines.concat()
    };
    let replaced = |from: &str, to: &str| rollout().concat().replace(from, to);
    let rows: Vec<(&str, String, Vec<Rule>)> = vec![
        ("nothing", rollout().concat(), vec![]),
        ("no head", without(0), vec![Rule::Head, Rule::Session]),
        (
            "another's head",
            replaced("8000-000000000001", "8000-000000000002"),
            vec![Rule::Session],
        ),
        (
            "back in time",
            replaced("00.006Z", "00.001Z"),
            vec![Rule::Times],
        ),
        (
            "a role that is none",
            replaced("input_text", "text"),
            vec![Rule::Members],
        ),
        (
            "arguments",
            replaced("\"{}\"", "\"{\""),
            vec![Rule::Members],
        ),
        ("no output", without(5), vec![Rule::Calls, Rule::Ordinals]),
        ("no call", without(4), vec![Rule::Results, Rule::Ordinals]),
        (
            "a turn that never began",
            without(1),
            vec![Rule::Turns, Rule::Ordinals],
        ),
        ("no event", without(3), vec![Rule::Mirrored, Rule::Ordinals]),
        (
            "a gap",
            replaced("\"ordinal\":6", "\"ordinal\":7"),
            vec![Rule::Ordinals],
        ),
        (
            "a base that ends elsewhere",
            replaced(
                "\"originator\"",
                r#""history_base":{"thread_id":"x","end_ordinal_exclusive":4},"originator""#,
            ),
            vec![Rule::Base],
        ),
        (
            "a summary that is empty",
            rollout().concat() + &line("compacted", 7, r#""message":"""#),
            vec![Rule::Compacted],
        ),
    ];
    for (flaw, text, expected) in rows {
        assert_eq!(broken(&CODEX, &text, Some(name)), expected, "{flaw}");
    }
}

/// CONF-1: one conversation has one form, whichever shape it is in.
#[test]
fn a_conversation_is_the_same_in_both_shapes() {
    let claude = user("a", "", "\"asked\"")
        + &agent(
            "c",
            "a",
            "m1",
            &CALL.replace("\"t\"", "\"c\"").replace("Bash", "f"),
        )
        + &user("d", "c", &RESULT.replace("\"t\"", "\"c\""));
    let (one, two) = (
        Transcript::read(&claude),
        Transcript::read(&rollout().concat()),
    );
    assert_eq!(
        (one.shape, two.shape),
        (ShapeName::Claude, ShapeName::Codex)
    );
    let (one, two) = (told::of(&one), told::of(&two));
    assert_eq!(told::difference(&one, &two), None, "{one:?}");
    let wanted = |texts: &[&str]| {
        texts
            .iter()
            .map(|text| (*text).to_owned())
            .collect::<Vec<_>>()
    };
    let rows = [
        (&["asked", "out"][..], None, true),
        (&["out", "asked"], None, false),
        (&["out"], Some(Speaker::Agent), true),
        (&["asked"], Some(Speaker::Agent), false),
        (&["asked"], Some(Speaker::User), true),
    ];
    for (texts, only, stands) in rows {
        let missing = told::missing(&one, &wanted(texts), only);
        assert_eq!(missing.is_none(), stands, "{texts:?}");
    }
    assert!(told::difference(&one, &two[..1]).is_some());
    let renamed = Transcript::read(&claude.replace("\"name\":\"f\"", "\"name\":\"g\""));
    let (mut one, mut renamed) = (one, told::of(&renamed));
    assert!(told::difference(&one, &renamed).is_some());
    told::unname(&mut one);
    told::unname(&mut renamed);
    assert_eq!(told::difference(&one, &renamed), None);
}

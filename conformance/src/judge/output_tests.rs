use serde_json::{Value, json};

use super::super::tests::found_in;
use crate::driver::End;
use crate::judge::Finding;
use crate::tongue::Tongue;

fn update(update: &Value) -> String {
    let frame = json!({"jsonrpc": "2.0", "method": "session/update",
        "params": {"sessionId": "s", "update": update}});
    format!("< {frame}\n")
}

fn call(content: &Value) -> String {
    update(&json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "content": content}))
}

fn snapshot(terminal: &str, data: &str) -> String {
    update(
        &json!({"sessionUpdate": "terminal_update", "terminalId": terminal, "output": {"data": data}}),
    )
}

fn more(terminal: &str, data: &str) -> String {
    update(&json!({"sessionUpdate": "terminal_output_chunk", "terminalId": terminal, "data": data}))
}

/// CONF-1: what a command printed counts wherever the schema lets it stand. `b25l` is "one", `dHdv`
/// "two".
#[test]
fn what_a_call_printed_is_found_in_its_content_and_in_its_terminal() {
    let text =
        |text: &str| call(&json!([{"type": "content", "content": {"type": "text", "text": text}}]));
    let names = |terminal: &str| call(&json!([{"type": "terminal", "terminalId": terminal}]));
    let rows: [(&str, String, bool); 9] = [
        ("one", text("one"), true),
        ("one", text("two"), false),
        ("one", names("t") + &snapshot("t", "b25l"), true),
        (
            "onetwo",
            names("t") + &more("t", "b25l") + &more("t", "dHdv"),
            true,
        ),
        // A snapshot is in place of what came before.
        (
            "two",
            names("t") + &more("t", "b25l") + &snapshot("t", "dHdv"),
            true,
        ),
        (
            "twoone",
            names("t") + &snapshot("t", "dHdv") + &more("t", "b25l"),
            true,
        ),
        // A terminal that no call names is not what the call shows.
        ("one", names("u") + &snapshot("t", "b25l"), false),
        ("one", names("t") + &snapshot("t", "%%%"), false),
        ("one", names("t"), false),
    ];
    for (printed, script, holds) in rows {
        let check = format!("output = {{ window = [\"begin\", \"end\"], fits = \"{printed}\" }}");
        let found = found_in(Tongue::AcpV2, &check, &script, End::Done);
        assert_eq!(found == Finding::Holds, holds, "{found:?} in {script}");
    }
}

#[test]
fn a_terminal_is_asked_for_by_its_name() {
    let script = snapshot("t", "b25l") + &snapshot("u", "dHdv");
    for (terminal, holds) in [("t", true), ("u", false), ("v", false)] {
        let check = format!(
            "output = {{ window = [\"begin\", \"end\"], terminal = \"{terminal}\", fits = \"one\" }}"
        );
        let found = found_in(Tongue::AcpV2, &check, &script, End::Done);
        assert_eq!(found == Finding::Holds, holds, "{terminal}: {found:?}");
    }
}

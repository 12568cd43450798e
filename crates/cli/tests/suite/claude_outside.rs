//! `--permission-prompt-tool mcp__SERVER__TOOL` of a server that does not live in the program: the face
//! runs or reaches it itself.

use serde_json::{Value, json};

use crate::harness::{Claude, Home, PATIENCE, PROGRAM, alive, eventually};

/// A server whose every tool answers what `$ANSWER` is.
const GATE: &str = r#"echo $$ > gate.pid
while read -r line; do
printf '%s\n' "$line" >> asked
id=$(printf '%s' "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
case "$line" in
*'"method":"initialize"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"gate","version":"1"}}}';;
*'"method":"tools/call"'*)
[ "$ANSWER" = die ] && exit 3
[ "$ANSWER" = wait ] && continue
printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":%s}]}}\n' "$id" "$ANSWER";;
esac
done
"#;

/// The flags of a program over such a server.
fn flags(home: &Home, answer: &str) -> Vec<String> {
    home.write("gate.sh", GATE);
    let server = json!({"command": "sh", "args": ["gate.sh"], "env": {"ANSWER": answer}});
    let config = json!({"mcpServers": {"gate": server}}).to_string();
    // Those of any program; its last word says who is asked.
    let [asking @ .., _] = PROGRAM;
    let flags = [&asking[..], &["mcp__gate__may", "--mcp-config", &config]];
    flags.concat().into_iter().map(str::to_owned).collect()
}

fn start(home: &Home, answer: &str) -> Claude {
    let flags = flags(home, answer);
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    let mut claude = Claude::spawn(home.claude(&flags));
    let answer = claude.control("initialize", json!({}));
    assert_eq!(answer["subtype"], "success", "{answer}");
    claude
}

/// Text of a tool's answer, as a shell puts it into JSON.
fn said(answer: Value) -> String {
    Value::from(answer.to_string()).to_string()
}

/// What may run is what the tool says; nothing but a clear yes is one.
#[test]
fn a_server_outside_of_the_program_decides() {
    let command = json!({"command": "echo changed > ran"});
    let table = [
        (said(json!({"behavior": "allow"})), "yes\n"),
        (
            said(json!({"behavior": "allow", "updatedInput": command})),
            "changed\n",
        ),
        (said(json!({"behavior": "deny", "message": "not now"})), ""),
        ("\"yes\"".to_owned(), ""),
        ("die".to_owned(), ""),
    ];
    for (answer, ran) in table {
        let home = Home::new();
        let mut claude = start(&home, &answer);
        for _ in 0..2 {
            claude.prompt("/run echo yes > ran");
            claude.result();
            assert_eq!(home.read("ran"), ran, "{answer}");
        }
        let asked = home.read("asked");
        let calls = asked.lines().filter(|line| line.contains("tools/call"));
        let call: Value = serde_json::from_str(calls.clone().next_back().unwrap()).unwrap();
        assert_eq!(call["params"]["name"], "may", "{call}");
        let arguments = &call["params"]["arguments"];
        assert_eq!(arguments["tool_name"], "Bash", "{call}");
        assert_eq!(arguments["input"]["command"], "echo yes > ran", "{call}");
        assert_eq!(calls.count(), 2, "{answer}: each call is asked about");
        let starts = asked.matches("\"initialize\"").count();
        assert_eq!(starts, if answer == "die" { 2 } else { 1 }, "{answer}");
        assert_eq!(claude.end().0, Some(0));
        let gate = home.read("gate.pid").trim().parse().unwrap();
        eventually("the server is gone", PATIENCE, || {
            (!alive(gate)).then_some(())
        });
    }
}

/// The end of the input ends no question to such a tool: it is not the program that answers.
#[test]
fn it_is_asked_when_the_input_has_ended_too() {
    let home = Home::new();
    let answer = said(json!({"behavior": "allow"}));
    let flags = flags(&home, &answer);
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    let mut claude = Claude::spawn(home.claude(&flags));
    claude.ask("initialize", json!({}));
    claude.prompt("/run echo yes > ran");
    assert_eq!(claude.end().0, Some(0));
    assert_eq!(home.read("ran"), "yes\n");
}

/// An interrupt does not wait for a tool that never answers, and the program is told of nothing that
/// it was not asked.
#[test]
fn a_tool_that_does_not_answer_is_left_when_the_turn_is_interrupted() {
    let home = Home::new();
    let mut claude = start(&home, "wait");
    claude.prompt("/run echo yes > ran");
    eventually("the tool is asked", PATIENCE, || {
        home.read("asked").contains("tools/call").then_some(())
    });
    claude.control("interrupt", json!({}));
    let result = claude.result();
    assert_eq!(result["terminal_reason"], "aborted_tools", "{result}");
    let gate = home.read("gate.pid").trim().parse().unwrap();
    eventually("the server is left", PATIENCE, || {
        (!alive(gate)).then_some(())
    });
    let (code, frames) = claude.end();
    assert_eq!(code, Some(1));
    let all = claude.server.frames.iter().chain(&frames);
    let mut taken = all.filter(|frame| frame["type"] == "control_cancel_request");
    assert_eq!(taken.next(), None);
    assert_eq!(home.read("ran"), "");
}

/// A server that is not configured decides nothing.
#[test]
fn an_unknown_server_is_a_denial() {
    let home = Home::new();
    let mut claude = Claude::spawn(home.claude(&["--permission-prompt-tool", "mcp__none__may"]));
    claude.control("initialize", json!({}));
    let result = claude.turn("/run echo yes > ran");
    assert_eq!(result["permission_denials"][0]["tool_name"], "Bash");
    assert_eq!(home.read("ran"), "");
}

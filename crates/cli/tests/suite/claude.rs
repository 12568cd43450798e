//! `sessiond-claude`: what a program asks, is asked, and how turns are told.

use serde_json::{Value, json};

use crate::harness::{Claude, Home, PROGRAM, finish};

fn kinds(frames: &[Value]) -> Vec<String> {
    let kind = |frame: &Value| {
        let subtype = frame["subtype"].as_str().map(|it| format!("/{it}"));
        format!(
            "{}{}",
            frame["type"].as_str().unwrap(),
            subtype.unwrap_or_default()
        )
    };
    frames.iter().map(kind).collect()
}

/// ADAPT-6: one init and one result a turn, and nothing of it behind the result.
#[test]
fn a_turn_begins_with_init_and_ends_with_its_result() {
    let tool = ["system/init", "assistant", "user", "result/success"];
    let table: [(&str, &[&str], i32); 9] = [
        ("hello", &["system/init", "assistant", "result/success"], 0),
        (
            "/think hm\n/say so",
            &["system/init", "assistant", "assistant", "result/success"],
            0,
        ),
        ("/run echo hi", &tool, 0),
        ("/read nothing", &tool, 0),
        ("/plan A; B", &tool, 0),
        ("/write f text", &tool, 0),
        ("/usage", &["system/init", "result/success"], 0),
        ("/refuse", &["system/init", "result/success"], 0),
        (
            "/fail broken",
            &["system/init", "result/error_during_execution"],
            1,
        ),
    ];
    for (prompt, expected, code) in table {
        let home = Home::new();
        let mut claude = Claude::start(&home, &["--permission-mode", "bypassPermissions"]);
        claude.prompt(prompt);
        let (exit, frames) = claude.end();
        assert_eq!(kinds(&frames[1..]), expected, "{prompt}");
        assert_eq!(exit, Some(code), "{prompt}");
        let sessions: Vec<&Value> = frames[1..]
            .iter()
            .map(|frame| &frame["session_id"])
            .collect();
        assert!(sessions.iter().all(|session| *session == sessions[0]));
    }
}

#[test]
fn usage_and_cost_are_in_the_result_and_the_context() {
    let home = Home::new();
    let mut claude = Claude::start(&home, &[]);
    let result = claude.turn("/usage");
    assert_eq!(result["usage"]["input_tokens"], 1000);
    assert_eq!(result["total_cost_usd"], 0.0125);
    let context = claude.control("get_context_usage", json!({}));
    assert_eq!(context["response"]["totalTokens"], 1200);
    let mut claude = Claude::start(&home, &["--max-budget-usd", "0.01"]);
    let result = claude.turn("/usage\n/sleep 60");
    assert_eq!(result["subtype"], "error_max_budget_usd");
    assert_eq!(claude.end().0, Some(1));
}

/// claude.md 5: an answer to everything, at once.
#[test]
fn control_requests_are_answered() {
    let home = Home::new();
    let mut claude = Claude::start(&home, &[]);
    for opened in [false, true] {
        if opened {
            claude.turn("hello");
        }
        let table = [
            ("initialize", json!({}), json!("success")),
            ("interrupt", json!({}), json!({"still_queued": []})),
            (
                "set_permission_mode",
                json!({"mode": "plan"}),
                json!({"mode": "plan"}),
            ),
            (
                "set_permission_mode",
                json!({"mode": "x"}),
                json!("invalid_mode"),
            ),
            (
                "set_model",
                json!({"model": "other"}),
                json!({"model": "script"}),
            ),
            ("mcp_status", json!({}), json!({"mcpServers": []})),
            (
                "mcp_reconnect",
                json!({"serverName": "nope"}),
                json!("Server not found: nope"),
            ),
            (
                "mcp_set_servers",
                json!({"servers": {}}),
                json!({"added": [], "removed": [], "errors": {}}),
            ),
            (
                "rewind_files",
                json!({"user_message_id": "x"}),
                json!("File rewinding is not enabled: sessiond keeps no checkpoints of files"),
            ),
            ("stop_task", json!({"task_id": "x"}), json!({})),
            (
                "set_max_thinking_tokens",
                json!({"max_thinking_tokens": 1}),
                json!("unsupported_request"),
            ),
            (
                "seed_read_state",
                json!({"path": "/x", "mtime": 1}),
                json!("unsupported_request"),
            ),
            ("side_question", json!({}), json!("unsupported_request")),
            ("martian", json!({}), json!("unsupported_request")),
        ];
        for (subtype, members, expected) in table {
            let answer = claude.control(subtype, members);
            let found = [
                &answer["response"],
                &answer["error_code"],
                &answer["error"],
                &answer["subtype"],
            ];
            assert!(found.contains(&&expected), "{subtype}: {answer}");
        }
    }
    assert_eq!(claude.end().0, Some(0));
}

/// claude.md 5.2: nothing but a clear yes lets a tool run.
#[test]
fn only_a_clear_yes_allows() {
    let table = [
        (json!({"behavior": "allow"}), true),
        (
            json!({"behavior": "allow", "updatedInput": {"command": "echo yes > ran", "cwd": "/"}}),
            true,
        ),
        (json!({"behavior": "deny", "message": "no"}), false),
        (json!({"behavior": "allowed"}), false),
        (json!({"nonsense": 1}), false),
        (json!(null), false),
    ];
    for (answer, runs) in table {
        let home = Home::new();
        let mut claude = Claude::start(&home, &[]);
        claude.prompt("/run echo yes > ran\n/say on");
        let asked = claude.asked("can_use_tool");
        assert_eq!(asked["request"]["tool_name"], "Bash");
        claude.answer(&asked, answer.clone());
        let result = claude.result();
        assert_eq!(
            home.read("ran"),
            if runs { "yes\n" } else { "" },
            "{answer}"
        );
        let denials = result["permission_denials"].as_array().unwrap().len();
        assert_eq!(
            (denials, result["result"].as_str()),
            (usize::from(!runs), Some("on")),
            "{answer}"
        );
    }
}

#[test]
fn a_denial_may_stop_the_turn() {
    let home = Home::new();
    let mut claude = Claude::start(&home, &[]);
    claude.prompt("/run echo yes > ran\n/say on");
    let asked = claude.asked("can_use_tool");
    claude.answer(
        &asked,
        json!({"behavior": "deny", "message": "stop", "interrupt": true}),
    );
    let result = claude.result();
    assert_eq!(result["subtype"], "error_during_execution");
    assert_eq!(result["terminal_reason"], "aborted_tools");
    assert_eq!(claude.turn("next")["result"], "next");
    assert_eq!(claude.end().0, Some(0));
}

/// Rules that an answer brings count for the rest of the process.
#[test]
fn a_rule_in_an_answer_is_asked_about_no_more() {
    let home = Home::new();
    let mut claude = Claude::start(&home, &[]);
    claude.prompt("/run echo a >> ran\n/run echo b >> ran");
    let asked = claude.asked("can_use_tool");
    let rule = json!({"type": "addRules", "behavior": "allow", "destination": "session",
        "rules": [{"toolName": "Bash"}]});
    claude.answer(
        &asked,
        json!({"behavior": "allow", "updatedPermissions": [rule]}),
    );
    claude.result();
    assert_eq!(home.read("ran"), "a\nb\n");
}

/// `--permission-prompt-tool mcp__SERVER__TOOL`: a server in the program decides.
#[test]
fn a_tool_of_the_program_may_be_asked_for_permission() {
    for (behavior, ran) in [("allow", "yes\n"), ("deny", "")] {
        let home = Home::new();
        let config = r#"{"mcpServers":{"gate":{"type":"sdk","name":"gate"}}}"#;
        let args = [
            "--permission-prompt-tool",
            "mcp__gate__may",
            "--mcp-config",
            config,
        ];
        let mut claude = Claude::start(&home, &args);
        serve_mcp(&mut claude);
        claude.prompt("/run echo yes > ran");
        let asked = claude.asked("mcp_message");
        let message = &asked["request"]["message"];
        assert_eq!(message["params"]["name"], "may");
        assert_eq!(message["params"]["arguments"]["tool_name"], "Bash");
        let text = json!({"behavior": behavior, "message": "m", "updatedInput": null}).to_string();
        let result = json!({"content": [{"type": "text", "text": text}]});
        let response = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
        claude.answer(&asked, json!({"mcp_response": response}));
        claude.result();
        assert_eq!(home.read("ran"), ran, "{behavior}");
    }
}

/// Answers the greeting of a server: initialize, initialized, tools/list. It begins before the answer
/// to the program's own.
fn serve_mcp(claude: &mut Claude) {
    let is_greeting = |frame: &&Value| frame["request"]["subtype"] == "mcp_message";
    let mut asked = claude.server.frames.iter().find(is_greeting).cloned();
    for _ in 0..3 {
        let asked = asked.take().unwrap_or_else(|| claude.asked("mcp_message"));
        let message = asked["request"]["message"].clone();
        let result = match message["method"].as_str().unwrap() {
            "initialize" => json!({"protocolVersion": "2025-06-18", "capabilities": {},
                "serverInfo": {"name": "s", "version": "1"}}),
            "tools/list" => json!({"tools": [{"name": "may"}]}),
            _ => json!({}),
        };
        let response = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
        claude.answer(&asked, json!({"mcp_response": response}));
    }
}

/// A server that never answers its greeting is called all the same, and keeps nothing from ending.
#[test]
fn a_server_that_is_gone_does_not_hold_the_turn() {
    let home = Home::new();
    let mut claude = Claude::with(&home, &[], json!({"sdkMcpServers": ["deaf"]}));
    claude.prompt("hello");
    let (code, frames) = claude.end();
    assert_eq!(code, Some(0));
    assert_eq!(frames.last().unwrap()["result"], "hello");
    let init = frames
        .iter()
        .find(|frame| frame["subtype"] == "init")
        .unwrap();
    assert_eq!(init["mcp_servers"][0]["status"], "failed");
}

#[test]
fn max_turns_ends_the_turn_behind_the_tools_result() {
    let home = Home::new();
    let mut claude = Claude::start(&home, &["--max-turns", "1", "--allowedTools", "Bash"]);
    let result = claude.turn("/run echo a >> ran\n/sleep 60\n/run echo b >> ran");
    assert_eq!(result["subtype"], "error_max_turns");
    assert_eq!(
        result["errors"],
        json!(["Reached maximum number of turns (1)"])
    );
    assert_eq!(home.read("ran"), "a\n");
    assert_eq!(claude.end().0, Some(1));
}

/// An answer that never fits is an error of its own, after a few tries.
#[test]
fn an_answer_of_the_wrong_shape_is_an_error() {
    let home = Home::new();
    let schema = r#"{"type":"object","required":["a"]}"#;
    let mut claude = Claude::start(&home, &["--json-schema", schema]);
    let result = claude.turn("no json at all");
    assert_eq!(
        result["subtype"], "error_max_structured_output_retries",
        "{result}"
    );
    let result = claude.turn("/json {\"a\": [1]}");
    assert_eq!(result["structured_output"], json!({"a": [1]}));
    assert_eq!(claude.end().0, Some(0));
}

/// claude.md 5.4: idle stands behind every result.
#[test]
fn the_state_of_the_session_is_told_where_it_is_read() {
    let home = Home::new();
    let mut command = home.claude(&PROGRAM);
    command.env("CLAUDE_CODE_SDK_READS_SESSION_STATE", "1");
    let mut claude = Claude::spawn(command);
    claude.prompt("/run true");
    let asked = claude.asked("can_use_tool");
    claude.answer(&asked, json!({"behavior": "allow"}));
    claude.result();
    let (_, frames) = claude.end();
    let states: Vec<&str> = frames
        .iter()
        .filter(|frame| frame["subtype"] == "session_state_changed")
        .map(|frame| frame["state"].as_str().unwrap())
        .collect();
    assert_eq!(states, ["running", "requires_action", "running", "idle"]);
    assert_eq!(frames.last().unwrap()["state"], "idle");
}

/// claude.md 5.2: hooks that cannot be read as an opinion forbid nothing; those that fail do.
#[test]
fn a_hook_that_fails_forbids_the_call() {
    let home = Home::new();
    let hooks = json!({"hooks": {"PreToolUse": [{"hookCallbackIds": ["h"]}]}});
    let mut claude = Claude::with(&home, &["--allowedTools", "Bash"], hooks);
    claude.prompt("/run echo yes > ran");
    let asked = claude.asked("hook_callback");
    assert_eq!(asked["request"]["input"]["tool_name"], "Bash");
    let error = json!({"subtype": "error", "request_id": asked["request_id"], "error": "boom"});
    claude
        .server
        .say(&json!({"type": "control_response", "response": error}));
    claude.result();
    assert_eq!(home.read("ran"), "");
    claude.prompt("/run echo yes > ran");
    let asked = claude.asked("hook_callback");
    claude.answer(&asked, json!({}));
    claude.result();
    assert_eq!(home.read("ran"), "yes\n");
}

#[test]
fn a_prompt_that_a_hook_blocks_does_not_run() {
    let home = Home::new();
    let hooks = json!({"hooks": {"UserPromptSubmit": [{"hookCallbackIds": ["h"]}]}});
    let mut claude = Claude::with(&home, &["--allowedTools", "Bash"], hooks);
    claude.prompt("/run echo yes > ran");
    let asked = claude.asked("hook_callback");
    assert_eq!(asked["request"]["input"]["prompt"], "/run echo yes > ran");
    claude.answer(&asked, json!({"decision": "block", "reason": "not this"}));
    let result = claude.result();
    assert_eq!(
        (&result["result"], &result["num_turns"]),
        (&json!("not this"), &json!(0))
    );
    assert_eq!(home.read("ran"), "");
    assert_eq!(claude.end().0, Some(0));
}

/// claude.md 1: what cannot be followed is said on stderr, and nothing else.
#[test]
fn bad_command_lines_say_so_on_stderr_alone() {
    let table: [(&[&str], &str); 4] = [
        (&["--no-such-flag"], "unknown option '--no-such-flag'"),
        (&["--session-id=not-a-uuid"], "Must be a valid UUID"),
        (&["--output-format", "text"], "stream-json"),
        (&["--json-schema", r#"{"type":7}"#], "JSON Schema"),
    ];
    for (args, message) in table {
        let home = Home::new();
        let done = finish(home.claude(args), "");
        assert_eq!((done.code, done.stdout.as_str()), (Some(1), ""), "{args:?}");
        assert!(done.stderr.contains(message), "{args:?}: {}", done.stderr);
    }
    let home = Home::new();
    let done = finish(home.claude(&["--version"]), "").well();
    assert!(done.stdout.starts_with("2."), "{}", done.stdout);
    let flags = [
        "--effort=high",
        "--thinking",
        "adaptive",
        "--plugin-dir",
        "/x",
    ];
    let done = finish(home.claude(&flags), "").well();
    assert_eq!(done.stderr.lines().count(), 3, "{}", done.stderr);
}

/// `--tools` and the rules of `--settings` count before every mode.
#[test]
fn tools_that_are_not_wanted_do_not_run() {
    let settings = r#"{"permissions":{"deny":["Bash(echo:*)"]}}"#;
    for args in [
        ["--tools", "Read"],
        ["--tools", ""],
        ["--settings", settings],
    ] {
        let home = Home::new();
        let mut claude = Claude::start(&home, &args);
        claude.control("set_permission_mode", json!({"mode": "bypassPermissions"}));
        let result = claude.turn("/run echo yes > ran\n/say on");
        assert_eq!(home.read("ran"), "", "{args:?}");
        assert_eq!(
            result["permission_denials"].as_array().unwrap().len(),
            1,
            "{args:?}"
        );
        assert_eq!(result["result"], "on");
    }
}

/// claude.md 4.1: prompts that the original follows without its model.
#[test]
fn clear_and_compact_are_followed_by_the_face() {
    let home = Home::new();
    let mut claude = Claude::start(&home, &[]);
    for early in ["/clear", "/compact"] {
        assert_eq!(claude.turn(early)["num_turns"], 0, "nothing was said yet");
    }
    claude.turn("remember this");
    let result = claude.turn("/compact");
    assert_eq!(
        (&result["subtype"], &result["num_turns"]),
        (&json!("success"), &json!(0))
    );
    let told = |frame: &Value| frame["subtype"] == "compact_boundary";
    assert!(claude.server.frames.iter().any(told));
    let result = claude.turn("/clear");
    assert_eq!(
        (&result["subtype"], &result["num_turns"]),
        (&json!("success"), &json!(0))
    );
    let told = |frame: &Value| frame["type"] == "conversation_reset";
    assert!(claude.server.frames.iter().any(told));
    assert_eq!(claude.turn("next")["result"], "next");
    assert_eq!(claude.end().0, Some(0));
}

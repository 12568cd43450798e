//! Servers that live in a program on a Claude SDK, called by an agent that connects servers itself: it
//! starts `sessiond __mcp`, which asks the program through the session.

use serde_json::{Value, json};

use crate::harness::{Claude, Home, PROGRAM, peer};

/// A program with a server `calc`, which adds, over another sessiond as its agent.
struct Program {
    claude: Claude,
    /// What its server was asked.
    calls: Vec<Value>,
}

impl Program {
    fn start(home: &Home, more: &[&str]) -> Program {
        Program::start_in(home, more, "")
    }

    /// The same, with its sessions in the host where this is not empty.
    fn start_in(home: &Home, more: &[&str], hosted: &str) -> Program {
        let config = peer(home);
        let mut command = home.claude(&[&PROGRAM, more].concat());
        command
            .env("SESSIOND_CONFIG", &config)
            .env("SESSIOND_AGENT", "peer")
            .env("SESSIOND_HOST", hosted);
        let mut program = Program {
            claude: Claude::spawn(command),
            calls: Vec::new(),
        };
        let id = program
            .claude
            .ask("initialize", json!({ "sdkMcpServers": ["calc"] }));
        let answered = |frame: &Value| frame["response"]["request_id"] == *id;
        let answer = program.until(answered);
        assert_eq!(answer["response"]["subtype"], "success", "{answer}");
        program
    }

    /// Reads to a frame, and answers what is asked on the way.
    #[track_caller]
    fn until(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let frame = self.claude.server.until("a frame", |_| true);
            let request = &frame["request"];
            match request["subtype"].as_str() {
                Some("can_use_tool") => {
                    let allowed = json!({ "behavior": "allow", "updatedInput": request["input"] });
                    self.claude.answer(&frame, allowed);
                }
                Some("mcp_message") => {
                    let response = self.served(&request["message"]);
                    let response = json!({ "mcp_response": response });
                    self.claude.answer(&frame, response);
                }
                _ => {}
            }
            if wanted(&frame) {
                return frame;
            }
        }
    }

    fn served(&mut self, message: &Value) -> Value {
        let params = &message["params"];
        let result = match message["method"].as_str().unwrap() {
            "initialize" => json!({ "protocolVersion": params["protocolVersion"],
                "capabilities": { "tools": {} }, "serverInfo": { "name": "calc", "version": "1" } }),
            "tools/list" => {
                json!({ "tools": [{ "name": "add", "inputSchema": { "type": "object" } }] })
            }
            "tools/call" => {
                self.calls.push(params.clone());
                let number = |name: &str| params["arguments"][name].as_i64();
                match (number("a"), number("b")) {
                    (Some(a), Some(b)) => {
                        json!({ "content": [{ "type": "text", "text": (a + b).to_string() }] })
                    }
                    _ => {
                        let error = json!({ "code": -32602, "message": "two numbers" });
                        return json!({ "jsonrpc": "2.0", "id": message["id"], "error": error });
                    }
                }
            }
            _ => json!({}),
        };
        json!({ "jsonrpc": "2.0", "id": message["id"], "result": result })
    }

    /// A turn's result of its one tool.
    #[track_caller]
    fn turn(&mut self, prompt: &str) -> Value {
        self.claude.prompt(prompt);
        let begin = self.claude.server.frames.len();
        let result = self.until(|frame| frame["type"] == "result");
        assert_eq!(result["subtype"], "success", "{result}");
        let frames = self.claude.server.frames[begin..].iter();
        let mut blocks = frames.map(|frame| &frame["message"]["content"][0]);
        let told = blocks.find(|block| block["type"] == "tool_result");
        told.unwrap_or(&Value::Null).clone()
    }
}

#[test]
fn an_acp_agent_calls_a_server_that_lives_in_the_program() {
    for (more, hosted) in [
        (&[][..], ""),
        (&["--no-session-persistence"], ""),
        (&[], "1"),
    ] {
        let home = Home::new();
        let mut program = Program::start_in(&home, more, hosted);
        let told = program.turn(r#"/mcp calc add {"a": 20, "b": 22}"#);
        assert_eq!(told["is_error"], false, "{told}");
        assert!(told["content"].to_string().contains("42"), "{told}");
        let arguments = json!({ "a": 20, "b": 22 });
        assert_eq!(
            program.calls,
            [json!({ "name": "add", "arguments": arguments })]
        );
        let told = program.turn(r#"/mcp calc add {"a": 20}"#);
        assert_eq!(told["is_error"], true, "{told}");
        assert!(
            told["content"].to_string().contains("two numbers"),
            "{told}"
        );
        assert_eq!(program.claude.end().0, Some(0));
    }
}

/// LOG-5, SEC-2: what the program is asked is recorded before, and what it gave is in no log.
#[test]
fn a_call_is_recorded_and_the_tools_are_not() {
    let home = Home::new();
    let mut program = Program::start(&home, &[]);
    program.turn(r#"/mcp calc add {"a": 1, "b": 2}"#);
    assert_eq!(program.claude.end().0, Some(0));
    let session = crate::harness::only_session(&home);
    let log = home.log(&session);
    let opened = log
        .lines()
        .filter(|line| line.contains("\"request.opened\""));
    let opened: Vec<&str> = opened.filter(|line| line.contains("tools/call")).collect();
    assert_eq!(opened.len(), 1, "{log}");
    assert!(!log.contains("inputSchema"), "{log}");
}

/// An agent that is started when a session is resumed is told of the servers at once: they are met
/// before.
#[test]
fn a_resumed_session_has_its_servers_too() {
    let home = Home::new();
    let mut first = Program::start(&home, &[]);
    first.turn("hello");
    assert_eq!(first.claude.end().0, Some(0));
    let session = crate::harness::only_session(&home);
    let mut second = Program::start(&home, &[&format!("--resume={session}")]);
    let told = second.turn(r#"/mcp calc add {"a": 1, "b": 2}"#);
    assert!(told["content"].to_string().contains('3'), "{told}");
    assert_eq!(second.claude.end().0, Some(0));
}

/// The input has ended: a call that comes then is an error that says so, and the turn ends.
#[test]
fn a_program_that_cannot_be_asked_any_more_fails_the_call() {
    let home = Home::new();
    let mut program = Program::start(&home, &["--permission-mode", "bypassPermissions"]);
    program
        .claude
        .prompt("/sleep 1\n/mcp calc add {\"a\": 1, \"b\": 2}");
    program.until(|frame| frame["subtype"] == "init");
    let (code, frames) = program.claude.end();
    assert_eq!(code, Some(0), "{frames:#?}");
    let mut blocks = frames.iter().map(|frame| &frame["message"]["content"][0]);
    let told = blocks.rfind(|block| block["type"] == "tool_result");
    let told = told.unwrap_or(&Value::Null);
    assert_eq!(told["is_error"], true, "{told}");
    assert!(told["content"].to_string().contains("has ended"), "{told}");
    assert_eq!(program.calls, Vec::<Value>::new());
}

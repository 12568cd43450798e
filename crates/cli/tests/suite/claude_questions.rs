//! Questions to the user: asked of a program on a Claude SDK, and asked by a CLI behind other faces.

use serde_json::{Value, json};

use crate::harness::{
    Claude, Home, PROGRAM, Server, claude_behind, claude_peer, serve as start, serve_as,
};

/// A program over the CLI of this configuration.
fn program(home: &Home, config: &str) -> Claude {
    let mut command = home.claude(&PROGRAM);
    command
        .env("SESSIOND_CONFIG", config)
        .env("SESSIOND_AGENT", "cli");
    let mut claude = Claude::spawn(command);
    let answer = claude.control("initialize", json!({}));
    assert_eq!(answer["subtype"], "success", "{answer}");
    claude
}

/// What becomes of each answer of a program. An error is what an SDK says that has no callback.
#[test]
fn a_program_is_asked_what_the_agent_asks_the_user() {
    let table = [
        (
            json!({"action": "accept", "content": {"answer": "Ada"}}),
            "Answer: Ada",
        ),
        (json!({"action": "decline"}), "The question was declined."),
        (json!({"action": "cancel"}), "The question was dismissed."),
        (json!({"odd": true}), "The question was declined."),
    ];
    let home = Home::new();
    let mut claude = Claude::start(&home, &[]);
    for (answer, said) in table {
        claude.prompt("/ask Who are you?");
        let asked = claude.asked("elicitation");
        let request = &asked["request"];
        assert_eq!(request["message"], "Who are you?");
        assert_eq!(request["mode"], "form");
        assert_eq!(request["mcp_server_name"], "script");
        assert_eq!(request["requested_schema"]["required"], json!(["answer"]));
        claude.answer(&asked, answer);
        assert_eq!(claude.result()["result"], said);
    }
    claude.prompt("/ask Who are you?");
    let asked = claude.asked("elicitation");
    let refused = json!({"subtype": "error", "request_id": asked["request_id"],
        "error": "Unsupported control request subtype: elicitation"});
    claude
        .server
        .say(&json!({"type": "control_response", "response": refused}));
    assert_eq!(claude.result()["result"], "The question was declined.");
    // Nobody can be asked any more (claude.md 0.5).
    claude.prompt("/ask And now?");
    claude.asked("elicitation");
    let (code, frames) = claude.end();
    assert_eq!(code, Some(0));
    let result = frames.iter().rfind(|frame| frame["type"] == "result");
    assert_eq!(
        result.unwrap_or(&Value::Null)["result"],
        "The question was declined."
    );
}

/// An interrupt takes the question back before it is answered.
#[test]
fn a_question_is_taken_back_when_its_turn_is_interrupted() {
    let home = Home::new();
    let mut claude = Claude::start(&home, &[]);
    claude.prompt("/ask Who are you?");
    let asked = claude.asked("elicitation");
    let answer = claude.control("interrupt", json!({}));
    assert_eq!(answer["subtype"], "success");
    claude.result();
    let frames = claude.server.frames.iter();
    let mut taken = frames.filter(|frame| frame["type"] == "control_cancel_request");
    assert!(taken.any(|frame| frame["request_id"] == asked["request_id"]));
}

/// A server of the CLI asks the user: an editor shows it as any other question.
#[test]
fn what_a_server_of_the_cli_asks_reaches_an_editor() {
    let home = Home::new();
    let config = claude_peer(&home);
    let mut server = serve_as(&home, &config, json!({"elicitation": {"form": {}}}));
    let session = server.new_session(&home);
    let prompt = server.prompt(&session, "/ask Who are you?");
    let asked = server.asked("elicitation/create");
    assert_eq!(asked["params"]["message"], "Who are you?");
    let content = json!({"action": "accept", "content": {"answer": "Ada"}});
    answer(&mut server, &asked, &content);
    assert_eq!(server.response(prompt)["result"]["stopReason"], "end_turn");
    let said = serde_json::to_string(&server.frames).unwrap();
    assert!(said.contains("Answer: Ada"), "{said}");
    server.quit();
    // Without questions in the client it is declined.
    let mut server = start(&home, &config);
    let session = server.new_session(&home);
    assert_eq!(server.turn(&session, "/ask Who are you?"), "end_turn");
    let said = serde_json::to_string(&server.frames).unwrap();
    assert!(said.contains("declined"), "{said}");
    server.quit();
}

fn answer(server: &mut Server, asked: &Value, result: &Value) {
    server.say(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": result}));
}

const QUESTIONS: &str = r#"{"questions":[{"question":"Which library?","header":"Library","multiSelect":false,"options":[{"label":"serde","description":"the usual one"},{"label":"own","description":""}]}]}"#;

/// A CLI that asks the user with its own tool in each turn, and writes down what it is answered.
fn asking_cli(home: &Home) -> String {
    let script = format!(
        r#"while read -r line; do
asked=$(printf '%s' "$line" | sed 's/.*"request_id":"\([^"]*\)".*/\1/')
case "$line" in
*'"type":"control_request"'*) echo '{{"type":"control_response","response":{{"subtype":"success","request_id":"'$asked'","response":{{}}}}}}';;
*'"type":"control_response"'*)
printf '%s\n' "$line" >> answers
echo '{{"type":"user","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"toolu_q","content":"done"}}]}},"parent_tool_use_id":null,"session_id":"x"}}'
echo '{{"type":"result","subtype":"success","is_error":false,"result":"x","session_id":"x","user_message_uuid":"'$uuid'"}}';;
*'"type":"user"'*)
uuid=$(printf '%s' "$line" | sed 's/.*"uuid":"\([^"]*\)".*/\1/')
echo '{{"type":"assistant","message":{{"id":"m1","type":"message","role":"assistant","model":"m","content":[{{"type":"tool_use","id":"toolu_q","name":"AskUserQuestion","input":{QUESTIONS}}}]}},"parent_tool_use_id":null,"session_id":"x"}}'
echo '{{"type":"control_request","request_id":"q1","request":{{"subtype":"can_use_tool","tool_name":"AskUserQuestion","input":{QUESTIONS},"tool_use_id":"toolu_q"}}}}';;
esac
done
"#
    );
    home.write("cli.sh", &script);
    claude_behind(home, "exec sh cli.sh \"$@\"")
}

/// What the CLI was answered last.
fn answered(home: &Home) -> Value {
    let answers = home.read("answers");
    let last = answers.lines().last().unwrap_or_default();
    serde_json::from_str::<Value>(last).unwrap()["response"]["response"].take()
}

/// ADAPT-5: the tool that asks the user is a form of the waist, and the answers are part of its input.
#[test]
fn the_tool_that_asks_the_user_is_a_form_in_an_editor() {
    let home = Home::new();
    let config = asking_cli(&home);
    let mut server = serve_as(&home, &config, json!({"elicitation": {"form": {}}}));
    let session = server.new_session(&home);
    let table = [
        (
            json!({"action": "accept", "content": {"q1": "own"}}),
            "allow",
        ),
        (json!({"action": "decline"}), "deny"),
        (json!({"action": "cancel"}), "deny"),
    ];
    for (given, behavior) in table {
        let prompt = server.prompt(&session, "ask me");
        let asked = server.asked("elicitation/create");
        assert_eq!(asked["params"]["message"], "Which library?");
        let property = &asked["params"]["requestedSchema"]["properties"]["q1"];
        assert_eq!(property["oneOf"][0]["const"], "serde", "{asked}");
        answer(&mut server, &asked, &given);
        assert_eq!(server.response(prompt)["result"]["stopReason"], "end_turn");
        let told = answered(&home);
        assert_eq!(told["behavior"], behavior, "{told}");
        if behavior == "allow" {
            let input = &told["updatedInput"];
            assert_eq!(input["answers"], json!({"Which library?": "own"}));
            assert_eq!(input["questions"][0]["header"], "Library");
        } else {
            assert_eq!(told["message"], "The user did not answer.");
        }
    }
    server.quit();
}

/// A program on an SDK knows that tool, and is asked as the CLI itself would ask it.
#[test]
fn the_tool_that_asks_the_user_is_a_permission_in_a_program() {
    let home = Home::new();
    let config = asking_cli(&home);
    let mut claude = program(&home, &config);
    for (answers, behavior) in [
        (json!({"Which library?": "serde"}), "allow"),
        (Value::Null, "deny"),
    ] {
        claude.prompt("ask me");
        let asked = claude.asked("can_use_tool");
        let request = &asked["request"];
        assert_eq!(request["tool_name"], "AskUserQuestion");
        let mut input = request["input"].clone();
        assert_eq!(input, serde_json::from_str::<Value>(QUESTIONS).unwrap());
        input["answers"] = answers.clone();
        claude.answer(&asked, json!({"behavior": "allow", "updatedInput": input}));
        claude.result();
        let told = answered(&home);
        assert_eq!(told["behavior"], behavior, "{told}");
        if behavior == "allow" {
            assert_eq!(told["updatedInput"]["answers"], answers);
        }
    }
    assert_eq!(claude.end().0, Some(0));
}

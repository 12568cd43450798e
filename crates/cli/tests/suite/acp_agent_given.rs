//! What a session was given beside its conversation, as an agent behind it gets it: roots, MCP servers,
//! instructions, options.

use serde_json::{Value, json};

use crate::harness::{
    END, Home, PATIENCE, Server, behind, eventually, heard, in_shell, notices, serve,
};

/// Makes a session with more than a working directory, and runs its first turn.
fn given(home: &Home, capabilities: &str, more: &Value) -> (Server, String) {
    let mut server = serve(home, &in_shell(home, capabilities, &[END]));
    let mut params = json!({ "cwd": home.work(), "mcpServers": [] });
    for (member, value) in more.as_object().unwrap() {
        params[member] = value.clone();
    }
    let session = server.call("session/new", params)["sessionId"].clone();
    let session = session.as_str().unwrap().to_owned();
    assert_eq!(server.turn(&session, "go"), "end_turn");
    (server, session)
}

/// CKPT-4: an agent that takes more roots gets exactly those of the session, as the paths they lead
/// to; another one gets none, and the user hears so.
#[test]
fn roots_reach_an_agent_that_takes_them_and_else_the_user_is_told() {
    for (takes, told) in [
        (
            r#"{"sessionCapabilities":{"additionalDirectories":{}}}"#,
            true,
        ),
        (r#"{"sessionCapabilities":{}}"#, false),
    ] {
        let home = Home::new();
        let beside = home.path("beside");
        std::fs::create_dir(&beside).unwrap();
        std::os::unix::fs::symlink(&beside, home.path("link")).unwrap();
        let roots = json!({ "additionalDirectories": [home.path("link")] });
        let (mut server, _) = given(&home, takes, &roots);
        let params = heard(&home, "session/new");
        assert_eq!(params["cwd"], json!(home.work()));
        let expected = if told { json!([beside]) } else { Value::Null };
        assert_eq!(params["additionalDirectories"], expected, "{takes}");
        let said = "does not take directories beside the working directory";
        let says = notices(&server.frames)
            .iter()
            .any(|title| title.contains(said));
        assert_eq!(says, !told, "{takes}");
        server.quit();
    }
}

/// A session without more roots says so to who takes them, and nothing to who does not.
#[test]
fn a_session_without_more_roots_has_nothing_to_tell() {
    let takes = r#"{"sessionCapabilities":{"additionalDirectories":{}}}"#;
    for (takes, expected) in [(takes, json!([])), ("{}", Value::Null)] {
        let home = Home::new();
        let (mut server, _) = given(&home, takes, &json!({}));
        assert_eq!(
            heard(&home, "session/new")["additionalDirectories"],
            expected
        );
        assert!(notices(&server.frames).is_empty());
        server.quit();
    }
}

/// SEC-2: servers reach the agent with their secrets, and nothing else has those; what the agent does
/// not connect is named to the user, by its name alone.
#[test]
fn mcp_servers_reach_an_agent_that_connects_them_and_the_others_are_named() {
    for (takes, http) in [
        (r#"{"mcpCapabilities":{"http":true}}"#, true),
        ("{}", false),
    ] {
        let home = Home::new();
        let program = json!({
            "name": "files", "command": "/bin/files", "args": ["-v", "two words"],
            "env": [{ "name": "FILES_KEY", "value": "s3cret-one" }],
        });
        let web = json!({
            "type": "http", "name": "web", "url": "https://web.example/mcp",
            "headers": [{ "name": "Authorization", "value": "Bearer s3cret-two" }],
        });
        let servers = json!({ "mcpServers": [program, web] });
        let (mut server, session) = given(&home, takes, &servers);
        let expected = if http {
            json!([program, web])
        } else {
            json!([program])
        };
        assert_eq!(
            heard(&home, "session/new")["mcpServers"],
            expected,
            "{takes}"
        );
        let told = notices(&server.frames);
        let named = told
            .iter()
            .any(|title| title.ends_with("these MCP servers: web"));
        assert_eq!((named, told.len()), (!http, usize::from(!http)), "{told:?}");
        server.quit();
        let (log, shown) = (home.log(&session), format!("{:?}", server.frames));
        assert!(!log.contains("s3cret") && !shown.contains("s3cret"));
    }
}

/// Instructions go where the agent takes them; to another one they go before the first prompt, and to
/// no later one.
#[test]
fn instructions_reach_every_agent_once() {
    let instructions = |mode: &str| json!({ "systemPrompt": { "mode": mode, "content": [{ "type": "text", "text": "Be brief." }] } });
    let appends = r#"{"sessionCapabilities":{"systemPrompt":{}}}"#;
    let overrides = r#"{"sessionCapabilities":{"systemPrompt":{"mode":{"override":{}}}}}"#;
    let cases = [
        (appends, "append", true),
        (overrides, "append", true),
        (overrides, "override", true),
        (appends, "override", false),
        ("{}", "append", false),
    ];
    for (takes, mode, taken) in cases {
        let home = Home::new();
        let (mut server, session) = given(&home, takes, &instructions(mode));
        let told = heard(&home, "session/new")["systemPrompt"].clone();
        let first = heard(&home, "session/prompt")["prompt"].clone();
        if taken {
            assert_eq!(told, instructions(mode)["systemPrompt"], "{takes} {mode}");
            assert_eq!(
                first,
                json!([{ "type": "text", "text": "go" }]),
                "{takes} {mode}"
            );
        } else {
            assert_eq!(told, Value::Null, "{takes} {mode}");
            let text = first[0]["text"].as_str().unwrap();
            assert!(text.starts_with("<sessiond-instructions>") && text.contains("Be brief."));
            assert_eq!(first[1]["text"], "go");
        }
        assert_eq!(server.turn(&session, "again"), "end_turn");
        let second = heard(&home, "session/prompt")["prompt"].clone();
        assert_eq!(
            second,
            json!([{ "type": "text", "text": "again" }]),
            "{takes} {mode}"
        );
        server.quit();
    }
}

/// SEC-2: variables of the agent's own configuration reach it whatever they are called; of ours it
/// inherits none.
#[test]
fn a_variable_that_is_called_like_ours_reaches_the_agent_that_it_was_set_for() {
    let home = Home::new();
    let config = behind(&home, "env > seen; exec $SESSIOND acp --agent script");
    let text = std::fs::read_to_string(&config).unwrap();
    let text = text.replace("PEER_SECRET =", "SESSIOND_HOST_IDLE = \"7\", PEER_SECRET =");
    std::fs::write(&config, text).unwrap();
    let mut server = serve(&home, &config);
    server.new_session(&home);
    server.quit();
    let seen = home.read("seen");
    let ours: Vec<&str> = seen
        .lines()
        .filter(|line| line.starts_with("SESSIOND_"))
        .collect();
    assert_eq!(ours, ["SESSIOND_HOST_IDLE=7"], "{seen}");
}

/// An agent with a mode, an option of its own and a switch, that refuses what is called `bad`.
fn choosing(home: &Home) -> String {
    let script = r#"echo start >> starts
options='"configOptions":[{"id":"model","name":"Model","type":"select","currentValue":"small","options":[{"value":"small","name":"S"},{"value":"large","name":"L"},{"value":"bad","name":"B"}]},{"id":"fast","name":"Fast","type":"boolean","currentValue":false}]'
modes='"modes":{"currentModeId":"plan","availableModes":[{"id":"plan","name":"Plan"},{"id":"do","name":"Do"},{"id":"bad","name":"Bad"}]}'
while read -r line; do
printf '%s\n' "$line" >> heard
id=$(printf '%s' "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
case "$line" in
*'"method":"initialize"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":1}}';;
*'"method":"session/new"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"sessionId":"n1",'$modes','$options'}}';;
*'"bad"'*) echo '{"jsonrpc":"2.0","id":'$id',"error":{"code":-32602,"message":"not this one"}}';;
*'"method":"session/set_config_option"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{}}';;
*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"stopReason":"end_turn"}}';;
esac
done
"#;
    home.write("agent.sh", script);
    behind(home, "exec sh agent.sh")
}

fn set(server: &mut Server, session: &str, id: &str, value: &Value) {
    let mut params = json!({ "sessionId": session, "configId": id, "value": value });
    if value.is_boolean() {
        params["type"] = json!("boolean");
    }
    server.call("session/set_config_option", params);
}

/// A choice is put into force with the agent before the next prompt, once, and only what differs.
#[test]
fn a_choice_is_put_into_force_once_and_only_where_it_differs() {
    let home = Home::new();
    let config = choosing(&home);
    let mut server = crate::harness::serve_as(
        &home,
        &config,
        json!({ "session": { "configOptions": { "boolean": {} }, "notices": {} } }),
    );
    let session = server.new_session(&home);
    assert_eq!(server.turn(&session, "go"), "end_turn");
    assert!(
        !home.read("heard").contains("set_mode"),
        "it is in force already"
    );
    set(&mut server, &session, "model", &json!("large"));
    set(&mut server, &session, "fast", &json!(true));
    server.call(
        "session/set_mode",
        json!({ "sessionId": session, "modeId": "do" }),
    );
    for _ in 0..2 {
        assert_eq!(server.turn(&session, "go"), "end_turn");
    }
    server.quit();
    let told: Vec<Value> = home
        .read("heard")
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|message| {
            message["method"]
                .as_str()
                .is_some_and(|m| m.contains("set_"))
        })
        .map(|mut message| message["params"].take())
        .collect();
    let expected = [
        json!({ "sessionId": "n1", "modeId": "do" }),
        json!({ "sessionId": "n1", "configId": "model", "value": "large" }),
        json!({ "sessionId": "n1", "configId": "fast", "value": true, "type": "boolean" }),
    ];
    assert_eq!(told.len(), expected.len(), "{told:?}");
    for expected in expected {
        assert!(told.contains(&expected), "{expected} is not in {told:?}");
    }
}

/// ADAPT-9: what the agent does not take is said, and shown as it stands with the agent.
#[test]
fn a_choice_that_the_agent_refuses_is_said_and_taken_back() {
    let home = Home::new();
    let mut server = serve(&home, &choosing(&home));
    let session = server.new_session(&home);
    server.call(
        "session/set_mode",
        json!({ "sessionId": session, "modeId": "bad" }),
    );
    set(&mut server, &session, "model", &json!("bad"));
    let begin = server.frames.len();
    assert_eq!(server.turn(&session, "go"), "end_turn");
    eventually("the prompt came through", PATIENCE, || {
        home.read("heard").contains("session/prompt").then_some(())
    });
    let told = notices(&server.frames[begin..]);
    for what in ["did not take the mode", "did not take the option"] {
        assert!(told.iter().any(|title| title.contains(what)), "{told:?}");
    }
    let frames = &server.frames[begin..];
    let last = |kind: &str| {
        let mut updates = frames.iter().map(|frame| &frame["params"]["update"]);
        updates.rfind(|update| update["sessionUpdate"] == kind)
    };
    assert_eq!(
        last("current_mode_update").unwrap()["currentModeId"],
        "plan"
    );
    let options = last("config_option_update").unwrap()["configOptions"].clone();
    let model = options
        .as_array()
        .unwrap()
        .iter()
        .find(|option| option["id"] == "model");
    assert_eq!(model.unwrap()["currentValue"], "small");
    server.quit();
}

//! A session that is taken up in another place, over ACP: a worktree of the same repository, another
//! repository, a wider reach (RESUME-7, RESUME-16, CKPT-4).

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::harness::{Home, Server, heard, in_shell_with, serve};

/// Which agent the sessions have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Agent {
    Script,
    Behind,
}

fn start(home: &Home, agent: Agent) -> Server {
    match agent {
        Agent::Script => Server::start(home),
        Agent::Behind => {
            let load = r#"*'"method":"session/resume"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{}}';;"#;
            let can = r#"{"sessionCapabilities":{"resume":{}}}"#;
            let script = in_shell_with(home, can, load, &[crate::harness::END]);
            // The agent runs in the session's directory; what it hears stays in one place.
            let text = home.read("agent.sh");
            let text = text.replace(">> heard", &format!(">> {}", home.path("heard").display()));
            let path = home.write("agent.sh", &text);
            let config = fs::read_to_string(&script).unwrap();
            let config = config.replace("sh agent.sh", &format!("sh {}", path.display()));
            fs::write(&script, config).unwrap();
            serve(home, &script)
        }
    }
}

/// A repository with its first worktree in `main`, and a worktree beside it.
fn repository(home: &Home, name: &str) -> [PathBuf; 2] {
    let (main, sibling) = (
        home.path(&format!("{name}/main")),
        home.path(&format!("{name}/sibling")),
    );
    let linked = main.join(".git/worktrees/sibling");
    fs::create_dir_all(&linked).unwrap();
    fs::create_dir_all(&sibling).unwrap();
    fs::write(main.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(linked.join("HEAD"), "ref: refs/heads/other\n").unwrap();
    fs::write(linked.join("commondir"), "../..\n").unwrap();
    fs::write(
        sibling.join(".git"),
        format!("gitdir: {}\n", linked.display()),
    )
    .unwrap();
    [main, sibling]
}

fn made(server: &mut Server, cwd: &Path) -> String {
    let params = json!({ "cwd": cwd, "mcpServers": [] });
    let session = server.call("session/new", params)["sessionId"].clone();
    let session = session.as_str().unwrap().to_owned();
    assert_eq!(server.turn(&session, "hello"), "end_turn");
    session
}

/// Takes a session up in a place, by one of the three ways; the whole answer.
fn take_up(
    server: &mut Server,
    (method, session): (&str, &str),
    cwd: &Path,
    accept: &Value,
) -> Value {
    let mut params = json!({ "sessionId": session, "cwd": cwd, "mcpServers": [] });
    if !accept.is_null() {
        params["_meta"] = json!({ "sessiond": { "accept": accept } });
    }
    let id = server.send(method, params);
    server.response(id)
}

/// How the newest run of a session came to it, as its log attests.
fn attested(home: &Home, session: &str) -> Value {
    let log = home.log(session);
    let mut records = log
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let resumed = |record: &Value| {
        let data = record["data"].to_string();
        data.contains("\"attestation\"") || data.contains("\"resumed\"")
    };
    records.rfind(resumed).unwrap_or_default()
}

/// RESUME-7: a sibling worktree of the same repository is a relocation; the session goes on there, with
/// its agent, and the log says so.
#[test]
fn a_sibling_worktree_is_adopted_without_a_question() {
    for agent in [Agent::Script, Agent::Behind] {
        for method in ["session/load", "session/resume"] {
            let home = Home::new();
            let [main, sibling] = repository(&home, "one");
            let mut server = start(&home, agent);
            let session = made(&mut server, &main);
            server.quit();
            let mut server = start(&home, agent);
            let answer = take_up(&mut server, (method, &session), &sibling, &Value::Null);
            assert!(answer["error"].is_null(), "{agent:?} {method}: {answer}");
            if agent == Agent::Script {
                assert_eq!(server.turn(&session, "/run pwd > where"), "end_turn");
                let place = fs::read_to_string(sibling.join("where")).unwrap();
                assert_eq!(place.trim_end(), sibling.display().to_string());
            } else {
                assert_eq!(server.turn(&session, "go on"), "end_turn");
                assert_eq!(heard(&home, "session/resume")["cwd"], json!(sibling));
                // It runs there itself.
                let started = fs::read_to_string(sibling.join("starts")).unwrap();
                assert_eq!(started, "start\n");
            }
            server.quit();
            let record = attested(&home, &session).to_string();
            assert!(
                record.contains("relocation"),
                "{agent:?} {method}: {record}"
            );
        }
    }
}

/// RESUME-7: another project needs an explicit switch. It is refused with what has to be accepted,
/// nothing of the session changes and no agent starts; once it is accepted it is recorded as what it is.
#[test]
fn another_project_is_refused_until_the_client_accepts_it() {
    for agent in [Agent::Script, Agent::Behind] {
        for method in ["session/load", "session/resume"] {
            let home = Home::new();
            let [main, _] = repository(&home, "one");
            let [other, _] = repository(&home, "two");
            let mut server = start(&home, agent);
            let session = made(&mut server, &main);
            server.quit();
            let (before, starts) = (home.sessions(), home.read("heard"));
            let mut server = start(&home, agent);
            for accept in [Value::Null, json!([]), json!(["roots"])] {
                let answer = take_up(&mut server, (method, &session), &other, &accept);
                assert_eq!(
                    answer["error"]["code"], 4004,
                    "{agent:?} {accept}: {answer}"
                );
                assert_eq!(answer["error"]["data"], json!({ "fields": ["repository"] }));
            }
            let wrong = take_up(
                &mut server,
                (method, &session),
                &other,
                &json!(["everything"]),
            );
            assert_eq!(wrong["error"]["code"], -32602);
            let prompt = json!([{ "type": "text", "text": "hi" }]);
            let id = server.send(
                "session/prompt",
                json!({ "sessionId": session, "prompt": prompt }),
            );
            assert_eq!(
                server.response(id)["error"]["code"],
                -32002,
                "it is not active"
            );
            assert_eq!(home.sessions(), before, "a refused resume writes nothing");
            assert_eq!(home.read("heard"), starts, "and starts no agent");
            let accepted = json!(["repository"]);
            let answer = take_up(&mut server, (method, &session), &other, &accepted);
            assert!(answer["error"].is_null(), "{agent:?} {method}: {answer}");
            assert_eq!(server.turn(&session, "go on"), "end_turn");
            server.quit();
            let record = attested(&home, &session).to_string();
            assert!(
                record.contains("cross_project"),
                "{agent:?} {method}: {record}"
            );
            // It is known there from now on.
            let mut server = start(&home, agent);
            let answer = take_up(&mut server, (method, &session), &other, &Value::Null);
            assert!(answer["error"].is_null(), "{agent:?} {method}: {answer}");
            server.quit();
        }
    }
}

/// RESUME-8: what was allowed for good is asked anew at other roots, whether the client had to accept
/// them or not, and is not asked again where it was allowed.
#[test]
fn a_grant_does_not_reach_another_place() {
    let home = Home::new();
    let [main, sibling] = repository(&home, "one");
    let [other, _] = repository(&home, "two");
    let mut server = start(&home, Agent::Script);
    server.permissions = crate::harness::Permissions::Hold;
    let params = json!({ "cwd": main, "mcpServers": [] });
    let session = server.call("session/new", params)["sessionId"].clone();
    let session = session.as_str().unwrap();
    let prompt = server.prompt(session, "/run true");
    let question = server.asked("session/request_permission");
    server.select(&question, "allow_always");
    server.response(prompt);
    server.quit();
    for (place, accept, asks) in [
        (&main, Value::Null, false),
        (&sibling, Value::Null, true),
        (&other, json!(["repository"]), true),
    ] {
        let mut server = start(&home, Agent::Script);
        let answer = take_up(&mut server, ("session/resume", session), place, &accept);
        assert!(answer["error"].is_null(), "{answer}");
        let begin = server.frames.len();
        assert_eq!(server.turn(session, "/run true"), "end_turn");
        let asked = |frame: &Value| frame["method"] == "session/request_permission";
        let was_asked = server.frames[begin..].iter().any(asked);
        assert_eq!(was_asked, asks, "{}", place.display());
        server.quit();
    }
}

/// CKPT-4: more roots than a session had are a boundary over ACP too: a wider one is refused until it
/// is accepted, one within its reach is not asked about, and each time the list is whole.
#[test]
fn wider_roots_are_refused_over_acp_until_they_are_accepted() {
    let home = Home::new();
    let [main, sibling] = repository(&home, "one");
    let within = main.join("within");
    fs::create_dir(&within).unwrap();
    let mut server = start(&home, Agent::Script);
    let session = made(&mut server, &main);
    server.quit();
    let cases = [
        (json!([within]), Value::Null, Ok(())),
        (json!([sibling]), Value::Null, Err(())),
        (json!([home.work()]), json!(["repository"]), Err(())),
        (json!([sibling]), json!(["roots"]), Ok(())),
        // What was accepted once is accepted.
        (json!([sibling]), Value::Null, Ok(())),
        // What was left out is gone, and must be accepted again.
        (json!([]), Value::Null, Ok(())),
        (json!([sibling]), Value::Null, Err(())),
    ];
    for (roots, accept, expected) in cases {
        let mut server = start(&home, Agent::Script);
        let mut params = json!({
            "sessionId": session, "cwd": main, "mcpServers": [], "additionalDirectories": roots,
        });
        if !accept.is_null() {
            params["_meta"] = json!({ "sessiond": { "accept": accept } });
        }
        let id = server.send("session/resume", params);
        let answer = server.response(id);
        if expected.is_ok() {
            assert!(answer["error"].is_null(), "{roots} {accept}: {answer}");
            assert_eq!(server.turn(&session, "go on"), "end_turn");
        } else {
            assert_eq!(answer["error"]["code"], 4004, "{roots} {accept}: {answer}");
            assert_eq!(answer["error"]["data"], json!({ "fields": ["roots"] }));
        }
        server.quit();
    }
}

//! What an agent behind sessiond says while no turn of its own runs: before the first, after the last,
//! and when its session is taken up again.

use serde_json::{Value, json};

use crate::harness::{
    END, Home, PATIENCE, Server, eventually, heard, in_shell, in_shell_with, notices, serve, update,
};

const LATE: &str = "went on after the end of its turn";

fn chunk(text: &str) -> String {
    update(&format!(
        r#"{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":"{text}"}}}}"#
    ))
}

fn titles(server: &Server, said: &str) -> usize {
    let titles = notices(&server.frames);
    titles.iter().filter(|title| title.contains(said)).count()
}

/// ADAPT-8, acp.md 5.1: what comes after the end of a turn is part of none; it is not shown, not
/// stored, and the user hears of it once, however much it is.
#[test]
fn text_and_calls_after_the_end_of_a_turn_are_counted_and_not_shown() {
    let call = update(
        r#"{"sessionUpdate":"tool_call","toolCallId":"c","title":"Late call","status":"completed"}"#,
    );
    let late = [
        chunk("too late"),
        chunk("too late"),
        call,
        update(r#"{"sessionUpdate":"notice","severity":"info","title":"The last word"}"#),
    ];
    let cases = format!("*'\"method\":\"_x/late\"'*)\n{}\n;;", late.join("\n"));
    let home = Home::new();
    let config = in_shell_with(&home, "{}", &cases, &[&chunk("in time"), END]);
    let mut server = serve(&home, &config);
    let session = server.new_session(&home);
    assert_eq!(server.turn(&session, "go"), "end_turn");
    server.notify("_x/late", json!({ "sessionId": session }));
    while titles(&server, "The last word") == 0 {
        server.update("notice");
    }
    assert_eq!(titles(&server, LATE), 1, "{:?}", server.frames);
    server.quit();
    let (log, shown) = (home.log(&session), format!("{:?}", server.frames));
    assert!(log.contains("in time") && shown.contains("in time"));
    for late in ["too late", "Late call"] {
        assert!(!log.contains(late) && !shown.contains(late), "{late}");
    }
}

/// RESUME-3: an agent that is made ready for a session tells what it offers at once; what would be
/// recorded waits for the first turn, and is told before that turn's own words.
#[test]
fn before_the_first_turn_nothing_that_an_agent_says_is_recorded() {
    let offered = update(
        r#"{"sessionUpdate":"available_commands_update","availableCommands":[{"name":"fix","description":"Fix it"}]}"#,
    );
    let notice = update(r#"{"sessionUpdate":"notice","severity":"info","title":"Welcome back"}"#);
    // What it says behind the answer to the request that made or took up the session.
    let cases = format!(
        r#"*'"method":"session/resume"'*) echo '{{"jsonrpc":"2.0","id":'$id',"result":{{}}}}'
{offered}
{notice}
{}
;;"#,
        chunk("to nobody")
    );
    let resumes = r#"{"sessionCapabilities":{"resume":{}}}"#;
    let home = Home::new();
    let config = in_shell_with(&home, resumes, &cases, &[&chunk("answer"), END]);
    let mut server = serve(&home, &config);
    let session = server.new_session(&home);
    assert_eq!(server.turn(&session, "go"), "end_turn");
    server.quit();
    let before = home.sessions();
    let mut server = serve(&home, &config);
    server.load(&home, &session);
    server.until("the commands", |frame| {
        frame["params"]["update"]["availableCommands"][0]["name"] == "fix"
    });
    assert_eq!(home.sessions(), before, "a load changes nothing");
    assert_eq!(titles(&server, "Welcome back"), 0);
    let begin = server.frames.len();
    assert_eq!(server.turn(&session, "again"), "end_turn");
    assert_eq!(titles(&server, "Welcome back"), 1);
    let place = |word: &str| {
        let mut frames = server.frames[begin..].iter();
        frames.position(|frame| frame.to_string().contains(word))
    };
    assert!(
        place("Welcome back") < place("answer"),
        "{:?}",
        server.frames
    );
    assert_eq!(place("to nobody"), None);
    server.quit();
    assert_eq!(heard(&home, "session/resume")["sessionId"], "n1");
}

/// An agent is started once for a session that is made and prompted, and once more by each process
/// that takes it up.
#[test]
fn an_agent_is_started_once_for_a_session() {
    let home = Home::new();
    let config = in_shell(&home, "{}", &[END]);
    let mut server = serve(&home, &config);
    let session = server.new_session(&home);
    for _ in 0..2 {
        assert_eq!(server.turn(&session, "go"), "end_turn");
    }
    assert_eq!(home.read("starts"), "start\n");
    server.quit();
    let mut server = serve(&home, &config);
    server.load(&home, &session);
    assert_eq!(server.turn(&session, "go"), "end_turn");
    assert_eq!(home.read("starts"), "start\nstart\n");
    server.quit();
}

/// ADAPT-10: an agent that goes on with its own record but does not show it is taken at its word, and
/// is told nothing twice; one that has none is given the conversation.
#[test]
fn an_agent_that_resumes_is_told_nothing_and_one_that_cannot_is_told_all() {
    let resumes =
        r#"*'"method":"session/resume"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{}}';;"#;
    for (can, told) in [
        (r#"{"sessionCapabilities":{"resume":{}}}"#, false),
        ("{}", true),
    ] {
        let home = Home::new();
        let config = in_shell_with(&home, can, resumes, &[&chunk("an answer"), END]);
        let mut server = serve(&home, &config);
        let session = server.new_session(&home);
        assert_eq!(server.turn(&session, "first words"), "end_turn");
        server.quit();
        let mut server = serve(&home, &config);
        server.load(&home, &session);
        assert_eq!(server.turn(&session, "second words"), "end_turn");
        let prompt = heard(&home, "session/prompt")["prompt"].to_string();
        assert_eq!(
            prompt.contains("first words") && prompt.contains("an answer"),
            told,
            "{prompt}"
        );
        assert_eq!(prompt.contains("sessiond-history"), told, "{prompt}");
        assert_eq!(
            titles(&server, "begins anew and was given the conversation"),
            usize::from(told)
        );
        assert_eq!(server.turn(&session, "third words"), "end_turn");
        let prompt = heard(&home, "session/prompt")["prompt"].to_string();
        assert!(!prompt.contains("sessiond-history"), "once: {prompt}");
        server.quit();
        // Its own id of the session is recorded when it is new, and not again.
        assert_eq!(home.log(&session).matches(r#""value":"n1""#).count(), 1);
    }
}

/// ADAPT-8: what an agent replays of another session is not taken for this one's.
#[test]
fn a_replay_of_another_session_counts_for_nothing() {
    let said = |session: &str, kind: &str, text: &str| {
        format!(
            r#"echo '{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"{session}","update":{{"sessionUpdate":"{kind}","content":{{"type":"text","text":"{text}"}}}}}}}}'"#
        )
    };
    let replay = [
        said("n1", "user_message_chunk", "first words"),
        said("n2", "user_message_chunk", "foreign words"),
        said("n1", "agent_message_chunk", "an answer"),
    ];
    let load = format!(
        r#"*'"method":"session/load"'*)
{}
echo '{{"jsonrpc":"2.0","id":'$id',"result":{{}}}}';;"#,
        replay.join("\n")
    );
    let home = Home::new();
    let config = in_shell_with(
        &home,
        r#"{"loadSession":true}"#,
        &load,
        &[&chunk("an answer"), END],
    );
    let mut server = serve(&home, &config);
    let session = server.new_session(&home);
    assert_eq!(server.turn(&session, "first words"), "end_turn");
    server.quit();
    let mut server = serve(&home, &config);
    server.load(&home, &session);
    assert_eq!(server.turn(&session, "second words"), "end_turn");
    assert_eq!(
        heard(&home, "session/prompt")["prompt"]
            .to_string()
            .matches("words")
            .count(),
        1
    );
    assert!(
        notices(&server.frames).is_empty(),
        "{:?}",
        notices(&server.frames)
    );
    server.quit();
    let made = home
        .read("heard")
        .matches(r#""method":"session/new""#)
        .count();
    assert_eq!(made, 1, "it goes on with its own record");
}

/// acp.md 5.3: an agent's word of its commands may come before the answer that names its session,
/// or right behind it.
#[test]
fn commands_that_come_around_the_answer_to_session_new_are_heard() {
    let commands = |name: &str| {
        update(&format!(
            r#"{{"sessionUpdate":"available_commands_update","availableCommands":[{{"name":"{name}","description":"d"}}]}}"#
        ))
    };
    for (before, behind) in [
        (commands("early"), String::new()),
        (String::new(), commands("early")),
    ] {
        let case = format!(
            r#"*'"method":"session/new"'*)
{before}
echo '{{"jsonrpc":"2.0","id":'$id',"result":{{"sessionId":"n1"}}}}'
{behind}
;;"#
        );
        let home = Home::new();
        let config = in_shell_with(&home, "{}", "", &[END]);
        let script = home.read("agent.sh");
        let begin = script.find("*'\"method\":\"session/new\"'").unwrap();
        let script = format!("{}{case}\n{}", &script[..begin], &script[begin..]);
        home.write("agent.sh", &script);
        let mut server = serve(&home, &config);
        let session = server.new_session(&home);
        let shown =
            |frame: &Value| frame["params"]["update"]["availableCommands"][0]["name"] == "early";
        if !server.frames.iter().any(shown) {
            server.until("the commands", shown);
        }
        assert_eq!(server.turn(&session, "go"), "end_turn");
        server.quit();
    }
}

/// SQEQ-3: an agent that does not end a cancelled turn is ended, and the session goes on with a new
/// one.
#[test]
fn an_agent_that_does_not_heed_a_cancellation_is_ended() {
    let home = Home::new();
    // A tree that takes its time to be ended.
    let stays = "[ -e agent ] || { for i in $(seq 100); do sleep 60 & echo $! >> tree; done; \
                 echo $$ > agent; exec sleep 60; }";
    let mut server = serve(&home, &in_shell(&home, "{}", &[stays, END]));
    let session = server.new_session(&home);
    let prompt = server.prompt(&session, "stay");
    let agent = eventually("it runs", PATIENCE, || {
        home.read("agent").trim().parse::<u32>().ok()
    });
    server.notify("session/cancel", json!({ "sessionId": session }));
    assert_eq!(server.response(prompt)["result"]["stopReason"], "cancelled");
    let tree = home.read("tree");
    let mut tree = tree.lines().map(|pid| pid.parse::<u32>().unwrap());
    let lives = |pid| crate::harness::alive(pid);
    let left = tree.find(|pid| lives(*pid)).is_some() || lives(agent);
    assert!(!left, "TASK-4: the agent ends before the turn does");
    assert_eq!(server.turn(&session, "go on"), "end_turn");
    server.quit();
}

/// WIRE-4: an agent that talks without end before anybody asked it anything costs no memory.
#[test]
fn what_an_agent_says_before_the_first_turn_is_held_up_to_a_bound() {
    let said = update(r#"{"sessionUpdate":"notice","severity":"info","title":"Chatter"}"#);
    let commands = update(
        r#"{"sessionUpdate":"available_commands_update","availableCommands":[{"name":"last","description":"d"}]}"#,
    );
    let cases = format!(
        r#"*'"method":"session/resume"'*) echo '{{"jsonrpc":"2.0","id":'$id',"result":{{}}}}'
for i in $(seq 100); do {said}; done
{commands}
;;"#
    );
    let home = Home::new();
    let resumes = r#"{"sessionCapabilities":{"resume":{}}}"#;
    let config = in_shell_with(&home, resumes, &cases, &[END]);
    let mut server = serve(&home, &config);
    let session = server.new_session(&home);
    assert_eq!(server.turn(&session, "go"), "end_turn");
    server.quit();
    let mut server = serve(&home, &config);
    server.load(&home, &session);
    server.until("all of it was said", |frame| {
        frame["params"]["update"]["availableCommands"][0]["name"] == "last"
    });
    assert_eq!(server.turn(&session, "go"), "end_turn");
    assert_eq!(titles(&server, "Chatter"), 64);
    server.quit();
}

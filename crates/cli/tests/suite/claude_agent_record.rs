//! The Claude CLI's own transcript and the log: whatever the CLI has, it goes on with what the log
//! holds (ADAPT-10).

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::harness::{FOLDER, Files, Home, Server, claude_in_shell, claude_peer, inner, serve};

/// What becomes of the text of a transcript; none where the file is removed.
type Change<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The ids that the CLI was started with, and how.
fn starts(home: &Home) -> Vec<(String, String)> {
    let starts = home.read("starts");
    let start = |line: &str| {
        line.split_once(' ')
            .map(|(id, how)| (id.to_owned(), how.to_owned()))
    };
    starts.lines().filter_map(start).collect()
}

/// The transcript of a session of the CLI.
fn transcript(home: &Home, id: &str) -> PathBuf {
    let projects = projects_of(home);
    let folders = fs::read_dir(projects).unwrap();
    let mut paths = folders.map(|folder| folder.unwrap().path().join(format!("{id}.jsonl")));
    paths.find(|path| path.exists()).unwrap()
}

fn projects_of(home: &Home) -> PathBuf {
    let variables = home.command(&[]);
    let (_, value) = variables
        .get_envs()
        .find(|(name, _)| *name == "HOME")
        .unwrap();
    PathBuf::from(value.unwrap()).join(".claude/projects")
}

/// A session with two turns, whose server has ended; the id that the CLI has for it.
fn told(home: &Home, config: &str) -> (String, String) {
    let mut server = serve(home, config);
    let session = server.new_session(home);
    assert_eq!(server.turn(&session, "alpha"), "end_turn");
    assert_eq!(server.turn(&session, "beta"), "end_turn");
    server.quit();
    let (id, how) = starts(home).pop().unwrap();
    assert_eq!(how, "new");
    (session, id)
}

/// Loads a session in a new process and goes on with it; what was shown meanwhile.
fn go_on(home: &Home, config: &str, session: &str, prompt: &str) -> String {
    let mut server = serve(home, config);
    let replay = server.load(home, session);
    assert_eq!(replay, server.load(home, session));
    assert_eq!(server.turn(session, prompt), "end_turn");
    let shown = shown(&server);
    server.quit();
    shown
}

fn shown(server: &Server) -> String {
    format!("{:?}", server.frames)
}

/// What the log says that the agent was given.
fn handed_over(home: &Home, session: &str) -> Vec<Value> {
    let log = home.log(session);
    let events = log.lines().map(|line| {
        let record = serde_json::from_str::<Value>(line).unwrap();
        record["data"]["event"].clone()
    });
    events
        .filter(|event| event["marker"] == "handed_over")
        .collect()
}

/// ADAPT-10, RESUME-2: a CLI whose own transcript is whole goes on with it, and is told nothing twice.
#[test]
fn a_cli_whose_own_transcript_is_whole_goes_on_with_it() {
    let home = Home::new();
    let config = claude_in_shell(&home);
    let (session, id) = told(&home, &config);
    for prompt in ["gamma", "delta"] {
        go_on(&home, &config, &session, prompt);
        assert_eq!(
            starts(&home).pop().unwrap(),
            (id.clone(), "resumed".to_owned())
        );
    }
    assert_eq!(handed_over(&home, &session), [Value::Null; 0]);
    let text = fs::read_to_string(transcript(&home, &id)).unwrap();
    assert_eq!(text.matches("\"content\":\"alpha\"").count(), 1, "{text}");
}

/// RESUME-3: a load changes nothing, although it starts the CLI.
#[test]
fn a_load_starts_the_cli_and_records_nothing() {
    let home = Home::new();
    let config = claude_in_shell(&home);
    let (session, id) = told(&home, &config);
    let before = home.sessions();
    let transcript = transcript(&home, &id);
    let text = fs::read(&transcript).unwrap();
    let mut server = serve(&home, &config);
    server.load(&home, &session);
    server.quit();
    assert!(home.sessions() == before);
    assert_eq!(fs::read(&transcript).unwrap(), text);
}

/// ADAPT-10, RESUME-5: a transcript that is gone, behind or of another conversation is left as it is;
/// a new one with all that the log holds is taken up, once, and the log says so.
#[test]
fn a_transcript_that_is_not_the_logs_is_left_and_one_of_the_log_taken_up() {
    let last = |text: &str| {
        let lines: Vec<&str> = text.lines().collect();
        // What the newest turn wrote: its prompt, its answer, where it ended.
        lines[..lines.len() - 3].join("\n") + "\n"
    };
    let foreign = |text: &str| {
        let line = json!({ "uuid": "00000000-0000-4000-8000-00000000000f", "parentUuid": null,
            "type": "user", "message": { "role": "user", "content": "foreign words" } });
        let leaf = json!({ "type": "last-prompt", "leafUuid": line["uuid"] });
        format!("{text}{line}\n{leaf}\n")
    };
    let cases: [(&str, Change<'_>); 3] = [
        ("began_anew", &|_| None),
        ("behind", &|text| Some(last(text))),
        ("differs", &|text| Some(foreign(text))),
    ];
    for (because, change) in cases {
        let home = Home::new();
        let config = claude_in_shell(&home);
        let (session, id) = told(&home, &config);
        let old = transcript(&home, &id);
        let changed = change(&fs::read_to_string(&old).unwrap());
        match &changed {
            Some(text) => fs::write(&old, text).unwrap(),
            None => fs::remove_file(&old).unwrap(),
        }
        let shown = go_on(&home, &config, &session, "gamma");
        assert!(!shown.contains("foreign words"), "{because}: {shown}");
        let (taken_up, how) = starts(&home).pop().unwrap();
        assert_ne!(taken_up, id, "{because}");
        assert_eq!(how, "resumed", "{because}");
        let marker = &handed_over(&home, &session)[0];
        assert_eq!(marker["because"], because);
        assert_eq!(
            (&marker["told"], &marker["left_out"]),
            (&json!(4), &json!(0))
        );
        let text = fs::read_to_string(transcript(&home, &taken_up)).unwrap();
        for word in ["alpha", "you said alpha", "beta", "you said beta", "gamma"] {
            assert!(text.contains(word), "{because}: {word} is not in {text}");
        }
        // What was there is nobody's to change.
        assert_eq!(fs::read_to_string(&old).ok(), changed, "{because}");
        // From then on it has it.
        go_on(&home, &config, &session, "delta");
        assert_eq!(handed_over(&home, &session).len(), 1, "{because}");
        assert_eq!(starts(&home).pop().unwrap().0, taken_up, "{because}");
    }
}

/// RESUME-9: a fork is a session of its own to the CLI too, with what the two share.
#[test]
fn a_fork_is_given_what_it_shares_as_a_transcript_of_its_own() {
    let home = Home::new();
    let config = claude_in_shell(&home);
    let (session, id) = told(&home, &config);
    let before = fs::read(transcript(&home, &id)).unwrap();
    let mut server = serve(&home, &config);
    let params = json!({ "sessionId": session, "cwd": home.work(), "mcpServers": [] });
    let fork = server.call("session/fork", params);
    let fork = fork["sessionId"].as_str().unwrap().to_owned();
    assert_eq!(server.turn(&fork, "gamma"), "end_turn");
    server.quit();
    let (of_fork, how) = starts(&home).pop().unwrap();
    assert_eq!(how, "resumed");
    let text = fs::read_to_string(transcript(&home, &of_fork)).unwrap();
    assert!(
        text.contains("you said beta") && text.contains("gamma"),
        "{text}"
    );
    assert_eq!(fs::read(transcript(&home, &id)).unwrap(), before);
    assert!(
        !transcript(&home, &of_fork)
            .parent()
            .unwrap()
            .ends_with(FOLDER)
    );
}

/// RESUME-16: a CLI whose transcripts we cannot write is told what was said with its next prompt.
#[test]
fn a_cli_that_takes_up_no_transcript_of_ours_is_told_with_the_next_prompt() {
    let home = Home::new();
    // It keeps its sessions elsewhere, and knows none that it did not make.
    let config = claude_peer(&home);
    let mut server = serve(&home, &config);
    let session = server.new_session(&home);
    assert_eq!(server.turn(&session, "alpha"), "end_turn");
    server.quit();
    fs::remove_dir_all(inner(&home)).unwrap();
    let shown = go_on(&home, &config, &session, "gamma");
    assert!(
        shown.contains("could not take up its own record"),
        "{shown}"
    );
    assert_eq!(handed_over(&home, &session)[0]["because"], "began_anew");
    let store = PathBuf::from(inner(&home));
    let heard = Files::below(&store.join("sessions")).text();
    assert!(
        heard.contains(&format!("sessiond://session/{session}#")),
        "{heard}"
    );
}

/// CTX-9: each turn says that its context cannot be verified here.
#[test]
fn each_turn_carries_the_mark_of_a_context_that_cannot_be_verified() {
    let home = Home::new();
    let (session, id) = told(&home, &claude_in_shell(&home));
    let log = home.log(&session);
    let mark = format!("\"marker\":\"context_unverifiable\",\"native\":\"{id}\"");
    assert_eq!(log.matches(&mark).count(), 2, "{log}");
}

//! `sessiond-claude`: which session a command line means (claude.md 6, RESUME-2).

use serde_json::{Value, json};

use crate::harness::{Claude, Finished, Home, PROGRAM, finish, user};

const ID: &str = "0191f0aa-0000-4000-8000-000000000001";
const UNKNOWN: &str = "0191f0aa-0000-4000-8000-00000000ffff";

/// One prompt to a process of its own.
fn one(home: &Home, args: &[&str], text: &str) -> Finished {
    let args = [&PROGRAM[..], args].concat();
    finish(home.claude(&args), &format!("{}\n", user(text)))
}

fn last(done: &Finished) -> Value {
    let line = done
        .stdout
        .lines()
        .last()
        .unwrap_or_else(|| panic!("{}", done.stderr));
    serde_json::from_str(line).unwrap()
}

fn turns(home: &Home, session: &str) -> u64 {
    let list = home.run(&["sessions", "list", "--json"]).well();
    let list: Value = serde_json::from_str(&list.stdout).unwrap();
    let rows = list["sessions"].as_array().unwrap();
    let row = rows.iter().find(|row| row["session"] == session).unwrap();
    row["turns"].as_u64().unwrap()
}

/// ADAPT-7: the id that the program chose is the id everywhere.
#[test]
fn a_session_is_found_by_id_by_title_and_as_the_newest() {
    let home = Home::new();
    one(&home, &["--session-id", ID], "/title Mine\n/say one").well();
    for (args, count) in [
        (&[&*format!("--resume={ID}")][..], 2),
        (&["--resume", "Mine"], 3),
        (&["--continue"], 4),
    ] {
        let done = one(&home, args, "more").well();
        assert_eq!(last(&done)["session_id"], ID, "{args:?}");
        assert_eq!(turns(&home, ID), count, "{args:?}");
    }
    let fork = last(&one(&home, &["--resume", ID, "--fork-session"], "other").well());
    let fork = fork["session_id"].as_str().unwrap().to_owned();
    assert_ne!(fork, ID);
    assert_eq!((turns(&home, ID), turns(&home, &fork)), (4, 5));
    // The copy has the id that the program chose, and no id twice.
    let chosen = "0191f0aa-0000-4000-8000-0000000000f0";
    let words = ["--resume", ID, "--fork-session", "--session-id", chosen];
    let copy = last(&one(&home, &words, "chosen").well());
    assert_eq!(copy["session_id"], chosen);
    assert_eq!((turns(&home, ID), turns(&home, chosen)), (4, 5));
    let again = one(&home, &words, "twice");
    assert_eq!((again.code, &*again.stdout), (Some(1), ""));
    assert!(again.stderr.contains("already in use"), "{}", again.stderr);
    assert_eq!(turns(&home, chosen), 5);
}

/// RESUME-2: a title of several sessions is an error that lists their ids.
#[test]
fn what_cannot_be_resumed_is_a_result_and_an_exit_code() {
    let home = Home::new();
    for _ in 0..2 {
        one(&home, &[], "/title Twice\n/say x").well();
    }
    let table: [(&[&str], &str); 4] = [
        (
            &["--resume", UNKNOWN],
            "No conversation found with session ID",
        ),
        (
            &["--resume=no such title"],
            "No conversation found with session ID or title",
        ),
        (&["--resume=Twice"], "2 conversations have the title Twice"),
        (
            &["--resume", UNKNOWN, "--fork-session"],
            "No conversation found with session ID",
        ),
    ];
    for (args, message) in table {
        let mut claude = Claude::spawn(home.claude(&[&PROGRAM[..], args].concat()));
        // The SDKs fail the greeting by the result: it is not answered.
        claude.ask("initialize", json!({}));
        let (code, frames) = claude.end();
        assert_eq!(code, Some(1), "{args:?}");
        let [result] = &frames[..] else {
            panic!("{args:?}: {frames:?}")
        };
        assert_eq!(result["subtype"], "error_during_execution");
        assert_eq!(result["num_turns"], 0);
        assert!(
            result["errors"][0].as_str().unwrap().contains(message),
            "{args:?}: {result}"
        );
        if args.contains(&UNKNOWN) {
            assert_eq!(result["session_id"], UNKNOWN);
        }
        assert!(claude.server.stderr().contains(message), "{args:?}");
    }
    let empty = Home::new();
    let done = one(&empty, &["--continue"], "x");
    assert_eq!(done.code, Some(1));
    assert_eq!(
        last(&done)["errors"],
        json!(["No conversation found to continue"])
    );
}

#[test]
fn an_id_that_is_taken_is_refused_on_stderr_alone() {
    let home = Home::new();
    one(&home, &["--session-id", ID], "x").well();
    for args in [
        vec!["--session-id", ID],
        vec!["--session-id", ID, "--resume", ID],
    ] {
        let done = one(&home, &args, "x");
        assert_eq!((done.code, done.stdout.as_str()), (Some(1), ""), "{args:?}");
        assert!(!done.stderr.is_empty());
    }
    assert_eq!(turns(&home, ID), 1);
}

/// CKPT-2: a conversation goes on behind the message that is named, in the session or in a copy.
#[test]
fn a_session_goes_on_at_an_earlier_message() {
    let home = Home::new();
    let uuid = |done: &Finished| {
        let frames = done
            .stdout
            .lines()
            .map(|it| serde_json::from_str::<Value>(it).unwrap());
        let mut said = frames.filter(|frame| frame["type"] == "assistant");
        said.next_back().unwrap()["uuid"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let first = uuid(&one(&home, &["--session-id", ID], "one").well());
    let middle = uuid(&one(&home, &["--resume", ID], "/say two\n/think x\n/say three").well());
    let early = |done: &Finished| {
        let frames = done
            .stdout
            .lines()
            .map(|it| serde_json::from_str::<Value>(it).unwrap());
        let mut said = frames.filter(|frame| frame["type"] == "assistant");
        said.next().unwrap()["uuid"].as_str().unwrap().to_owned()
    };
    let third = one(&home, &["--resume", ID], "/say four\n/think x\n/say five").well();
    let at = |uuid: &str| format!("--resume-session-at={uuid}");
    let fork = last(
        &one(
            &home,
            &["--resume", ID, "--fork-session", &at(&first)],
            "six",
        )
        .well(),
    );
    let shown = home
        .run(&["sessions", "show", fork["session_id"].as_str().unwrap()])
        .well();
    assert!(
        shown.stdout.contains("one") && !shown.stdout.contains("two"),
        "{}",
        shown.stdout
    );
    one(&home, &["--resume", ID, &at(&middle)], "seven").well();
    let shown = home.run(&["sessions", "show", ID]).well().stdout;
    assert!(shown.contains("rewind"), "{shown}");
    for (uuid, message) in [
        (early(&third), "not the last one of its turn"),
        (UNKNOWN.to_owned(), "No message found"),
        ("x".to_owned(), "No message found"),
    ] {
        let done = one(&home, &["--resume", ID, &at(&uuid)], "x");
        assert_eq!(done.code, Some(1), "{uuid}");
        let error = last(&done)["errors"][0].as_str().unwrap().to_owned();
        assert!(error.contains(message), "{uuid}: {error}");
    }
}

/// CKPT-2: what a program did not mean to discard is kept: it names the one turn, and any other refuses.
#[test]
fn going_on_earlier_discards_only_the_turn_that_is_named() {
    let home = Home::new();
    let said = |done: &Finished| {
        let frames = done.stdout.lines();
        let frames = frames.map(|it| serde_json::from_str::<Value>(it).unwrap());
        let mut said = frames.filter(|frame| frame["type"] == "assistant");
        said.next().unwrap()["uuid"].as_str().unwrap().to_owned()
    };
    let first = said(&one(&home, &["--session-id", ID], "one").well());
    let second = said(&one(&home, &["--resume", ID], "two").well());
    one(&home, &["--resume", ID], "three").well();
    let shown = home.run(&["sessions", "show", "--json", ID]).well().stdout;
    let events = shown
        .lines()
        .map(|it| serde_json::from_str::<Value>(it).unwrap());
    let begun = events.filter(|frame| frame["event"]["type"] == "turn.started");
    let turns: Vec<String> = begun
        .map(|frame| frame["turn"].as_str().unwrap().to_owned())
        .collect();
    let cut = |at: &str, drops: &str| {
        let at = format!("--resume-session-at={at}");
        let drops = format!("--resume-drops-turn={drops}");
        one(&home, &["--resume", ID, &at, &drops], "instead")
    };
    for (at, drops) in [
        (&first, &*turns[1]),
        (&second, &turns[1]),
        (&second, UNKNOWN),
        (&second, "x"),
    ] {
        let done = cut(at, drops);
        assert_eq!(done.code, Some(1), "{drops}");
        let error = last(&done)["errors"][0].as_str().unwrap().to_owned();
        let prefix = "Resume rejected by --resume-drops-turn:";
        assert!(error.starts_with(prefix), "{drops}: {error}");
    }
    let before = home.run(&["sessions", "show", ID]).well().stdout;
    assert!(!before.contains("instead"), "{before}");
    cut(&second, &turns[2]).well();
    // What was taken back is discarded already: the turn in its place is the only one behind it.
    let shown = home.run(&["sessions", "show", "--json", ID]).well().stdout;
    let events = shown
        .lines()
        .map(|it| serde_json::from_str::<Value>(it).unwrap());
    let mut begun = events.filter(|frame| frame["event"]["type"] == "turn.started");
    let newest = begun.next_back().unwrap()["turn"]
        .as_str()
        .unwrap()
        .to_owned();
    cut(&second, &newest).well();
}

/// LOG-16: a session without persistence is the same, and leaves nothing.
#[test]
fn a_session_without_persistence_is_stored_nowhere() {
    let home = Home::new();
    let args = ["--no-session-persistence", "--allowedTools", "Bash"];
    let done = one(&home, &args, "/run echo yes > ran\n/say done").well();
    assert_eq!(last(&done)["result"], "done");
    assert_eq!(home.read("ran"), "yes\n");
    assert!(!home.store().exists(), "{:?}", home.store());
}

/// CKPT-4: roots that widen what was recorded are refused until they are accepted.
#[test]
fn a_wider_root_is_refused_until_it_is_accepted() {
    let home = Home::new();
    one(&home, &["--session-id", ID], "x").well();
    let root = home.as_ref().join("other");
    std::fs::create_dir(&root).unwrap();
    let args = ["--resume", ID, "--add-dir", root.to_str().unwrap()];
    let done = one(&home, &args, "x");
    assert_eq!(done.code, Some(1));
    assert_eq!(last(&done)["subtype"], "error_during_execution");
    let args = [&PROGRAM[..], &args].concat();
    let mut command = home.claude(&args);
    command.env("SESSIOND_ACCEPT", "roots");
    finish(command, &format!("{}\n", user("x"))).well();
    // Given from the beginning they are what is recorded.
    one(&home, &["--add-dir", root.to_str().unwrap()], "x").well();
}

/// RESUME-9: a fork goes its own way; the parent does not learn of it.
#[test]
fn the_mode_and_the_model_that_are_asked_for_are_in_force() {
    let home = Home::new();
    let done = one(
        &home,
        &["--permission-mode", "bypassPermissions"],
        "/run echo yes > ran",
    )
    .well();
    assert_eq!(home.read("ran"), "yes\n");
    let init: Value = serde_json::from_str(done.stdout.lines().next().unwrap()).unwrap();
    assert_eq!(
        (&init["permissionMode"], &init["model"]),
        (&json!("bypassPermissions"), &json!("script"))
    );
    // A session that allowed everything asks again where the next program says so.
    let args = ["--continue", "--permission-mode", "default"];
    one(&home, &args, "/run echo no >> ran").well();
    assert_eq!(home.read("ran"), "yes\n");
}

/// ADAPT-4: the mirror's entries are a transcript without a flaw, also over several processes, and
/// stand before the result of their turn.
#[test]
fn the_mirror_of_a_session_is_a_transcript() {
    let home = Home::new();
    let mut transcript = String::new();
    for (args, prompt) in [
        (
            &["--session-id", ID][..],
            "/say one\n/run echo hi\n/say two",
        ),
        (&["--resume", ID], "more"),
    ] {
        let allowed = ["--session-mirror", "--allowedTools", "Bash"];
        let done = one(&home, &[args, &allowed].concat(), prompt).well();
        assert_eq!(last(&done)["type"], "result");
        for line in done.stdout.lines() {
            let frame: Value = serde_json::from_str(line).unwrap();
            if frame["type"] != "transcript_mirror" {
                continue;
            }
            let path = frame["filePath"].as_str().unwrap();
            assert!(path.ends_with(&format!("/{ID}.jsonl")) && path.contains("/.claude/projects/"));
            for entry in frame["entries"].as_array().unwrap() {
                transcript.push_str(&format!("{entry}\n"));
            }
        }
    }
    let kinds: Vec<String> = transcript
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["type"].to_string())
        .collect();
    assert_eq!(kinds.len(), 7, "{transcript}");
    let flaws = sessiond_claude::transcript::check(transcript.as_bytes());
    assert!(flaws.is_empty(), "{flaws:?}\n{transcript}");
}

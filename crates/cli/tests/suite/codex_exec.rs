//! `sessiond-codex exec`: one turn, as the TypeScript SDK of Codex asks for it.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::harness::{Finished, Home, PATIENCE, Server, alive, eventually, finish};

/// What the SDK passes always.
const SDK: [&str; 4] = [
    "exec",
    "--experimental-json",
    "--skip-git-repo-check",
    "--sandbox",
];

/// An id that no thread has.
const UNKNOWN: &str = "01a22742-0000-7000-8000-000000000000";

fn lines(stdout: &str) -> Vec<Value> {
    let line = |line| serde_json::from_str(line).unwrap_or_else(|_| panic!("not JSON: {line}"));
    stdout.lines().map(line).collect()
}

fn kinds(lines: &[Value]) -> Vec<String> {
    let kind = |line: &Value| match line["item"]["type"].as_str() {
        Some(item) => format!("{} {item}", line["type"].as_str().unwrap()),
        None => line["type"].as_str().unwrap().to_owned(),
    };
    lines.iter().map(kind).collect()
}

/// A turn as the SDK runs it: full access, the prompt on stdin.
fn turn(home: &Home, more: &[&str], prompt: &str) -> Finished {
    let args = [&SDK[..], &["danger-full-access"], more].concat();
    finish(home.codex(&args), prompt)
}

fn thread(done: &Finished) -> String {
    let lines = lines(&done.stdout);
    lines[0]["thread_id"].as_str().unwrap().to_owned()
}

fn start(home: &Home, prompt: &str) -> (Child, BufReader<std::process::ChildStdout>) {
    let mut command = home.codex(&["exec", "--json", "--yolo", prompt]);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    (child, output)
}

fn read_until(output: &mut impl BufRead, kind: &str) -> Vec<Value> {
    let mut seen = Vec::new();
    loop {
        let mut line = String::new();
        assert!(output.read_line(&mut line).unwrap() > 0, "{seen:?}");
        seen.push(serde_json::from_str(&line).unwrap());
        if kinds(&seen).last().unwrap() == kind {
            return seen;
        }
    }
}

/// ADAPT-3
#[test]
fn a_turn_is_told_in_codexs_lines_and_goes_on_in_the_same_thread() {
    let home = Home::new();
    let first = turn(&home, &[], "say hi\n/run echo hi").well();
    let seen = lines(&first.stdout);
    assert_eq!(
        kinds(&seen),
        [
            "thread.started",
            "turn.started",
            "item.completed agent_message",
            "item.started command_execution",
            "item.completed command_execution",
            "turn.completed",
        ]
    );
    assert_eq!(seen[2]["item"]["text"], "say hi");
    let ran = json!({"id": "item_1", "type": "command_execution", "command": "echo hi",
        "aggregated_output": "hi\n", "exit_code": 0, "status": "completed"});
    assert_eq!(seen[4]["item"], ran);
    assert_eq!(seen[5]["usage"]["output_tokens"], 0);
    let id = thread(&first);
    let again = turn(&home, &["resume", &id], "again").well();
    assert_eq!(thread(&again), id);
    // One id on all faces (ADAPT-7).
    let shown = home.run(&["sessions", "show", &id]).well();
    assert!(shown.stdout.contains("say hi") && shown.stdout.contains("again"));
    assert!(
        shown.stdout.contains("made by codex-exec"),
        "{}",
        shown.stdout
    );
}

#[test]
fn usage_is_the_threads_in_all_its_turns_and_a_forks_begins_anew() {
    let home = Home::new();
    let used = |done: &Finished| {
        let last = lines(&done.stdout).pop().unwrap();
        last["usage"]["output_tokens"].as_u64().unwrap()
    };
    let first = turn(&home, &[], "/usage").well();
    let (id, once) = (thread(&first), used(&first));
    assert!(once > 0, "{}", first.stdout);
    let second = turn(&home, &["resume", &id], "/usage").well();
    assert_eq!(used(&second), 2 * once);
    let fork = turn(&home, &["fork", &id], "/usage").well();
    assert_ne!(thread(&fork), id);
    assert_eq!(used(&fork), once);
    let show = home.run(&["sessions", "show", &thread(&fork)]).well();
    assert!(show.stdout.contains(&id), "{}", show.stdout);
}

#[test]
fn a_failed_turn_says_so_in_two_lines_and_exits_with_1() {
    let home = Home::new();
    let done = turn(&home, &[], "/fail on purpose");
    assert_eq!(done.code, Some(1));
    let seen = lines(&done.stdout);
    assert_eq!(kinds(&seen)[1..], ["turn.started", "error", "turn.failed"]);
    assert_eq!(seen[3]["error"]["message"], seen[2]["message"]);
    assert!(seen[2]["message"].as_str().unwrap().contains("on purpose"));
}

/// WIRE-12: where there is no turn, stdout stays empty.
#[test]
fn without_a_turn_stdout_is_empty_and_stderr_says_why() {
    let home = Home::new();
    let other = home.path("no-json");
    std::fs::write(&other, "[]").unwrap();
    let unknown = format!("no rollout found for thread id {UNKNOWN}");
    let table: [(&[&str], &str, i32, &str); 10] = [
        (&["exec", "--json", "resume", UNKNOWN], "x", 1, &unknown),
        (&["exec", "--json", "fork", UNKNOWN], "x", 1, &unknown),
        (&["exec", "--json", "resume", "no name"], "x", 1, "no name"),
        (
            &["exec", "--json", "resume", "--last"],
            "x",
            1,
            "no thread to resume",
        ),
        (&["exec", "--json", "resume"], "x", 1, "needs a session id"),
        (
            &["exec", "--json"],
            " \n",
            1,
            "No prompt provided via stdin.",
        ),
        (
            &["exec", "--json", "--cd", "gone", "x"],
            "",
            1,
            "is no directory",
        ),
        (
            &["exec", "--json", "--output-schema", "no-json", "x"],
            "",
            1,
            "no JSON object",
        ),
        (
            &["exec", "--json", "--nope"],
            "",
            2,
            "unexpected argument '--nope'",
        ),
        (
            &["exec", "--json", "--image", "no-json", "x"],
            "",
            1,
            "is no PNG",
        ),
    ];
    for (args, input, code, text) in table {
        let done = finish(home.codex(args), input);
        assert_eq!(
            (done.code, done.stdout.as_str()),
            (Some(code), ""),
            "{args:?}: {}",
            done.stderr
        );
        assert!(done.stderr.contains(text), "{args:?}: {}", done.stderr);
    }
}

/// SEC-5: nobody is there to ask.
#[test]
fn the_sandbox_decides_what_runs() {
    let home = Home::new();
    let outside = home.store().join("outside");
    let write_outside = format!("/write {} x", outside.display());
    let table: [(&[&str], &str, bool); 8] = [
        (&[], "/run touch a", false),
        (&[], "/write a x", false),
        (&["--sandbox", "workspace-write"], "/write a x", true),
        (&["--sandbox", "workspace-write"], "/run touch a", false),
        (&["--sandbox", "workspace-write"], &write_outside, false),
        (&["--sandbox", "danger-full-access"], "/run touch a", true),
        (
            &["-c", "sandbox_mode=\"danger-full-access\""],
            "/run touch a",
            true,
        ),
        (
            &["--yolo", "-c", "approval_policy=\"on-request\""],
            "/run touch a",
            true,
        ),
    ];
    for (options, prompt, ran) in table {
        let _none = std::fs::remove_file(home.path("a"));
        let args = [&["exec", "--json"], options, &[prompt]].concat();
        let done = finish(home.codex(&args), "").well();
        let exists = home.path("a").exists() || outside.exists();
        assert_eq!(exists, ran, "{options:?} {prompt}: {}", done.stdout);
        let seen = lines(&done.stdout);
        let ends: Vec<_> = seen
            .iter()
            .filter(|line| line["type"] == "item.completed")
            .collect();
        let status = if ran { "completed" } else { "failed" };
        assert_eq!(ends[0]["item"]["status"], status, "{options:?} {prompt}");
    }
}

/// The mode that another face left behind lets nothing run that the sandbox does not hold.
#[test]
fn a_mode_that_allows_everything_does_not_widen_the_sandbox() {
    let home = Home::new();
    let mut server = Server::start(&home);
    let session = server.new_session(&home);
    server.call(
        "session/set_mode",
        json!({ "sessionId": session, "modeId": "auto" }),
    );
    server.turn(&session, "hello");
    server.quit();
    let args = ["exec", "--json", "resume", &session, "/run touch a"];
    let done = finish(home.codex(&args), "").well();
    assert!(!home.path("a").exists(), "{}", done.stdout);
}

#[test]
fn prompts_come_from_the_argument_stdin_or_both() {
    let home = Home::new();
    let said = |args: &[&str], input: &str| {
        let done = finish(home.codex(args), input).well();
        done.stdout
    };
    assert_eq!(
        said(&["exec", "from the argument"], ""),
        "from the argument\n"
    );
    assert_eq!(said(&["exec", "-"], "from stdin"), "from stdin\n");
    assert_eq!(said(&["exec"], "from stdin"), "from stdin\n");
    assert_eq!(
        said(&["exec", "both"], "more\n"),
        "both\n<stdin>\nmore\n</stdin>\n"
    );
    assert_eq!(said(&["exec", "resume", "--last", "last"], ""), "last\n");
}

#[test]
fn the_final_message_keeps_to_the_schema_or_that_is_said() {
    let home = Home::new();
    home.write("schema.json", r#"{"type":"object"}"#);
    home.write("picture.png", "\u{89}PNG");
    std::fs::write(home.path("picture.png"), b"\x89PNG\r\n\x1a\n").unwrap();
    let args = ["--output-schema", "schema.json", "--image", "picture.png"];
    let good = turn(&home, &args, "/json {\"answer\":42}").well();
    let seen = lines(&good.stdout);
    assert_eq!(seen[2]["item"]["text"], "{\"answer\":42}");
    assert_eq!(kinds(&seen)[3..], ["turn.completed"]);
    let bad = turn(&home, &args, "forty-two").well();
    let seen = kinds(&lines(&bad.stdout));
    assert_eq!(seen[3..], ["item.completed error", "turn.completed"]);
    let log = home.log(&thread(&good));
    assert!(log.contains("output-schema") && log.contains("image/png"));
}

/// RESUME-2: by its exact name, where only one thread has it.
#[test]
fn a_thread_is_resumed_by_its_name() {
    let home = Home::new();
    let ids: Vec<_> = ["one", "two"]
        .map(|text| thread(&turn(&home, &[], text).well()))
        .into();
    home.run(&["sessions", "rename", &ids[0], "my thread"])
        .well();
    let again = turn(&home, &["resume", "my thread"], "again").well();
    assert_eq!(thread(&again), ids[0]);
    home.run(&["sessions", "rename", &ids[1], "my thread"])
        .well();
    let both = turn(&home, &["resume", "my thread"], "again");
    assert_eq!((both.code, both.stdout.as_str()), (Some(2), ""));
    assert!(
        ids.iter().all(|id| both.stderr.contains(id)),
        "{}",
        both.stderr
    );
}

/// The host is sessiond itself, whatever this program is called.
#[test]
fn with_a_host_the_thread_lives_there() {
    let home = Home::new();
    let hosted = |args: &[&str], prompt: &str| {
        let mut command = home.codex(&[&SDK[..], &["danger-full-access"], args].concat());
        command.env("SESSIOND_HOST", "1");
        finish(command, prompt).well()
    };
    let first = hosted(&[], "one");
    let id = thread(&first);
    let again = hosted(&["resume", &id], "/run echo hi");
    assert_eq!(thread(&again), id);
    assert!(kinds(&lines(&again.stdout)).contains(&"item.completed command_execution".to_owned()));
}

#[test]
fn an_ephemeral_thread_is_not_kept() {
    let home = Home::new();
    let done = turn(&home, &["--ephemeral"], "hello").well();
    let again = turn(&home, &["resume", &thread(&done)], "again");
    assert_eq!(again.code, Some(1), "{}", again.stdout);
    assert!(
        again.stderr.contains("no rollout found"),
        "{}",
        again.stderr
    );
}

/// SQEQ-2, LOG-7
#[test]
fn a_thread_that_another_process_writes_is_refused() {
    let home = Home::new();
    let mut server = Server::start(&home);
    let session = server.new_session(&home);
    server.turn(&session, "mine");
    let done = turn(&home, &["resume", &session], "x");
    assert_eq!((done.code, done.stdout.as_str()), (Some(1), ""));
    let text = format!("thread {session} already has an active writer");
    assert!(done.stderr.contains(&text), "{}", done.stderr);
}

/// SQEQ-3, WIRE-13: the SDK aborts a turn by SIGTERM.
#[test]
fn a_signal_ends_the_turn_with_a_record_and_a_last_line() {
    for signal in [Signal::INT, Signal::TERM] {
        let home = Home::new();
        let (mut child, mut output) = start(&home, "before\n/run sleep 600 & sleep 600");
        let mut seen = read_until(&mut output, "item.completed agent_message");
        kill_process(Pid::from_child(&child), signal).unwrap();
        let mut rest = String::new();
        output.read_to_string(&mut rest).unwrap();
        seen.extend(lines(&rest));
        let status = eventually("the end", PATIENCE, || child.try_wait().unwrap());
        assert_eq!(status.code(), Some(1), "{signal:?}");
        assert_eq!(kinds(&seen).last().unwrap(), "turn.failed", "{signal:?}");
        let started = kinds(&seen)
            .iter()
            .filter(|kind| kind.starts_with("item.started"))
            .count();
        let ended = kinds(&seen)
            .iter()
            .filter(|kind| *kind == "item.completed command_execution")
            .count();
        assert_eq!(started, ended, "{seen:?}");
        let id = seen[0]["thread_id"].as_str().unwrap();
        assert!(
            home.log(id).contains("\"outcome\":\"cancelled\""),
            "{signal:?}"
        );
        let again = turn(&home, &["resume", id], "again").well();
        assert_eq!(thread(&again), id);
    }
}

/// SQEQ-7: whatever moment the process is killed at, the thread goes on.
#[test]
fn after_sigkill_at_any_moment_the_thread_goes_on() {
    let table = [
        ("hello\n/sleep 600", "thread.started"),
        ("hello\n/sleep 600", "turn.started"),
        ("hello\n/plan a\n/sleep 600", "item.completed agent_message"),
        ("/plan a; b\n/sleep 600", "item.started todo_list"),
        ("/stream 100000 10 1", "turn.started"),
    ];
    for (prompt, moment) in table {
        let home = Home::new();
        let (mut child, mut output) = start(&home, prompt);
        let seen = read_until(&mut output, moment);
        child.kill().unwrap();
        child.wait().unwrap();
        let id = seen[0]["thread_id"].as_str().unwrap();
        let again = turn(&home, &["resume", id], "again").well();
        assert_eq!(thread(&again), id, "{moment}");
        let told = kinds(&lines(&again.stdout));
        let wanted = [
            "thread.started",
            "turn.started",
            "item.completed agent_message",
            "turn.completed",
        ];
        assert_eq!(told, wanted, "{moment}");
    }
}

/// WIRE-13
#[test]
fn a_reader_that_goes_ends_the_turn() {
    let home = Home::new();
    let (mut child, mut output) = start(&home, "/repeat 1000 /plan a; b");
    read_until(&mut output, "item.started todo_list");
    drop(output);
    let status = eventually("the end", PATIENCE, || child.try_wait().unwrap());
    assert_eq!(status.code(), Some(1));
    assert!(!alive(child.id()));
}

/// Writes to fd 1 of the process that serves the client, which says so in its argument vector.
const POLLUTE: &str = r#"
up=$$
until grep -q experimental-json "/proc/$up/cmdline"; do
    up=$(sed 's/.*) . \([0-9]*\) .*/\1/' "/proc/$up/stat")
done
echo GARBAGE > "/proc/$up/fd/1"
echo reached
"#;

/// WIRE-10
#[test]
fn what_a_tool_writes_to_our_stdout_does_not_reach_the_client() {
    let home = Home::new();
    home.write("pollute.sh", POLLUTE);
    let done = turn(&home, &[], "/run sh pollute.sh").well();
    let seen = lines(&done.stdout);
    assert_eq!(
        seen[3]["item"]["aggregated_output"], "reached\n",
        "{}",
        done.stdout
    );
    assert!(!done.stdout.contains("GARBAGE") && !done.stderr.contains("GARBAGE"));
}

//! The host: sessions that outlive the process of their face, and holders that take other clients.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::process::Stdio;
use std::thread;

use serde_json::{Value, json};

use crate::harness::{Home, Native, PATIENCE, alive, eventually, face, holder, kill, start};

/// A text that takes two seconds, so that there is time to kill somebody.
const SLOW: &str = "/stream 20 50 100\n/say done";

fn resume(session: &str) -> Value {
    json!({"type": "session.resume", "session": session, "replay": "all",
        "on_disconnect": "finish"})
}

fn is_event(frame: &Value, kind: &str) -> bool {
    frame["type"] == "event" && frame["event"]["type"] == kind
}

/// Starts the slow turn and waits until it says something.
fn begin_slow(native: &mut Native, session: &str) {
    native.accepted(Some(session), &start(SLOW));
    native.until("text", |frame| is_event(frame, "item.delta"));
}

/// The text of the agent's messages that ended, in the frames since `from`.
fn said(native: &Native, from: usize) -> String {
    let ended = native.server.frames[from..].iter();
    let texts = ended.filter(|frame| is_event(frame, "item.ended"));
    let texts = texts.filter(|frame| frame["event"]["item"]["type"] == "agent_message");
    texts
        .map(|frame| frame["event"]["item"]["text"].as_str().unwrap())
        .collect()
}

/// SQEQ-7: the turn goes on in the host; the next face with the session's id has it in place.
#[test]
fn a_face_that_is_killed_leaves_its_turn_running() {
    let home = Home::new();
    let mut first = face(&home);
    let session = first.new_session(&home, &json!({"on_disconnect": "finish"}));
    begin_slow(&mut first, &session);
    let host = holder(&home, &session);
    assert_ne!(host, first.server.pid(), "the host holds it, not the face");
    first.server.kill();

    let mut second = face(&home);
    let from = second.server.frames.len();
    second.accepted(None, &resume(&session));
    let ended = second.until("the end", |frame| is_event(frame, "turn.ended"));
    assert_eq!(ended["event"]["outcome"], "completed", "{ended}");
    assert!(
        said(&second, from).ends_with("done"),
        "{}",
        said(&second, from)
    );
    assert_eq!(holder(&home, &session), host, "in the same process");
    second.accepted(Some(&session), &start("hello"));
    second.until("the end", |frame| is_event(frame, "turn.ended"));
}

/// SQEQ-7, RESUME-6: with the host the turn is gone, and nothing that was acknowledged.
#[test]
fn a_host_that_is_killed_is_replaced_and_the_session_is_there() {
    let home = Home::new();
    let mut first = face(&home);
    let session = first.new_session(&home, &json!({"on_disconnect": "finish"}));
    first.accepted(Some(&session), &start("remember"));
    first.until("the end", |frame| is_event(frame, "turn.ended"));
    begin_slow(&mut first, &session);
    let host = holder(&home, &session);
    kill(host);
    // The face ends with it: its connection to sessions is gone.
    first.server.exit(PATIENCE);

    let mut second = face(&home);
    let from = second.server.frames.len();
    second.accepted(None, &resume(&session));
    assert_ne!(holder(&home, &session), host);
    assert!(said(&second, from).contains("remember"));
    let ends: Vec<_> = second.server.frames[from..]
        .iter()
        .filter(|frame| is_event(frame, "turn.ended"))
        .map(|frame| frame["event"]["outcome"].clone())
        .collect();
    assert_eq!(ends.len(), 2, "{ends:?}");
    assert_eq!(ends[0], "completed");
    assert_ne!(ends[1], "completed");
}

/// One host a store, however many faces start one at the same time.
#[test]
fn faces_that_come_at_the_same_time_come_to_one_host() {
    let home = Home::new();
    let holders: Vec<u32> = thread::scope(|scope| {
        let one = || {
            let mut face = face(&home);
            let session = face.new_session(&home, &json!({}));
            holder(&home, &session)
        };
        let faces: Vec<_> = (0..4).map(|_| scope.spawn(one)).collect();
        faces.into_iter().map(|face| face.join().unwrap()).collect()
    });
    assert!(holders.iter().all(|pid| *pid == holders[0]), "{holders:?}");
    // And it ends by itself once nobody is there.
    eventually("the host ends", PATIENCE, || {
        (!alive(holders[0])).then_some(())
    });
    let second = home.run(&["host", "--idle", "0"]);
    assert_eq!(second.code, Some(0), "{}", second.stderr);
}

/// A host that is asked to end takes nobody any more and lets what runs come to its end.
#[test]
fn a_host_that_is_asked_to_end_finishes_its_turns() {
    let home = Home::new();
    let mut first = face(&home);
    let session = first.new_session(&home, &json!({"on_disconnect": "finish"}));
    begin_slow(&mut first, &session);
    let host = holder(&home, &session);
    first.accepted(None, &json!({"type": "shutdown"}));
    first.server.exit(PATIENCE);
    eventually("the host ends", PATIENCE, || (!alive(host)).then_some(()));
    let shown = home.run(&["sessions", "show", &session]).well().stdout;
    assert!(shown.contains("done"), "{shown}");
}

/// SEC-3: the WebSocket of a host opens to who knows the store's secret, and to nobody else.
#[test]
fn a_host_listens_where_it_is_told_to() {
    let home = Home::new();
    let refused = home.run(&["host", "--listen", "ws://0.0.0.0:0"]);
    assert_eq!(refused.code, Some(1), "{}", refused.stderr);
    assert!(refused.stderr.contains("127.0.0.1"), "{}", refused.stderr);
    assert_eq!(home.run(&["host", "--listen", "here"]).code, Some(2));

    let mut command = home.command(&["host", "--idle", "60", "--listen", "ws://127.0.0.1:0"]);
    let mut host = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut said = String::new();
    let mut stderr = BufReader::new(host.stderr.take().unwrap());
    stderr.read_line(&mut said).unwrap();
    let address = said.trim().rsplit("ws://").next().unwrap().to_owned();
    let secret = fs::read_to_string(home.store().join("keys").join("attach")).unwrap();
    let bearer = format!("Authorization: Bearer {}\r\n", secret.trim());
    let status = |header: &str| {
        let mut stream = TcpStream::connect(&address).unwrap();
        let request = format!(
            "GET / HTTP/1.1\r\nHost: {address}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{header}\r\n"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line).unwrap();
        line
    };
    assert!(status(&bearer).contains(" 101 "), "{}", status(&bearer));
    assert!(status("").contains(" 401 "), "{}", status(""));
    let from_a_page = format!("{bearer}Origin: http://example.org\r\n");
    assert!(status(&from_a_page).contains(" 403 "));
    kill(host.id());
    host.wait().unwrap();
}

#[test]
fn a_second_host_of_a_store_says_that_there_is_one() {
    let home = Home::new();
    let mut first = face(&home);
    first.new_session(&home, &json!({}));
    let second = home.run(&["host"]);
    assert_eq!(second.code, Some(75), "{}", second.stderr);
    assert!(
        second.stderr.contains("running already"),
        "{}",
        second.stderr
    );
}

/// A person at a terminal goes on with a session, is asked, and leaves without ending it.
#[test]
fn a_terminal_follows_a_session_and_drives_it() {
    let home = Home::new();
    let mut first = face(&home);
    let session = first.new_session(&home, &json!({"on_disconnect": "finish"}));
    first.accepted(Some(&session), &start("from the program"));
    first.until("the end", |frame| is_event(frame, "turn.ended"));
    first.server.kill();

    let mut terminal = home.command(&["attach", &session, "--host"]);
    let mut terminal = terminal
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = terminal.stdin.take().unwrap();
    let mut output = BufReader::new(terminal.stdout.take().unwrap());
    let mut shown = String::new();
    let mut until = |text: &str| {
        while !shown.contains(text) {
            let mut line = String::new();
            assert_ne!(output.read_line(&mut line).unwrap(), 0, "{text} in {shown}");
            shown.push_str(&line);
        }
    };
    until("> from the program");
    input.write_all(b"/run echo made > made\n").unwrap();
    until("? ");
    until("  4 ");
    assert!(!home.path("made").exists(), "nobody allowed it yet");
    input.write_all(b"9\n1\n").unwrap();
    until("Completed]");
    assert_eq!(home.read("made"), "made\n");
    input.write_all(b"at the end\n").unwrap();
    until("> at the end");
    drop(input);
    assert!(terminal.wait().unwrap().success());
    let shown = home.run(&["sessions", "show", &session]).well().stdout;
    assert!(shown.contains("at the end"), "{shown}");
}

/// LOG-7: without a host, too: a holder whose own client is gone takes the next one.
#[test]
fn a_process_whose_client_is_gone_takes_the_next_client() {
    let home = Home::new();
    let mut first = Native::start(&home);
    let session = first.new_session(&home, &json!({"on_disconnect": "finish"}));
    begin_slow(&mut first, &session);
    let busy = Native::start(&home).receipt(None, &resume(&session));
    assert_eq!(busy["error"]["code"], "busy", "its client is there: {busy}");
    assert_eq!(busy["error"]["holder"]["pid"], first.server.pid());
    first.server.close_stdin();

    let mut second = Native::start(&home);
    let from = second.server.frames.len();
    let (mut accepted, mut tries) = (Value::Null, 0);
    while accepted.is_null() && tries < 100 {
        // It learns that its client is gone a moment after we closed the pipe.
        accepted = second.receipt(None, &resume(&session))["accepted"].take();
        tries += 1;
    }
    assert_eq!(
        holder(&home, &session),
        first.server.pid(),
        "it is still there"
    );
    let ended = second.until("the end", |frame| is_event(frame, "turn.ended"));
    assert_eq!(ended["event"]["outcome"], "completed", "{ended}");
    assert!(said(&second, from).ends_with("done"));
    // The relayed session takes turns as any other.
    second.accepted(Some(&session), &start("hello"));
    second.until("the end", |frame| is_event(frame, "turn.ended"));
}

//! SIGKILL of the client, of its face, of the host, or of face and host, after each frame of a turn
//! that streams, asks and runs a tool: whoever attaches next finds what an uninterrupted run leaves.
//!
//! `cargo test` kills at a few frames, `FAULTS=full` at every one.

use std::time::Instant;

use serde_json::{Value, json};

use crate::harness::{Home, Native, face, holder, kill, start};

const TURN: &str = "/stream 6 30 5\n/run echo second >> ledger; echo out\n/say done";

/// Who is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Victim {
    /// The program that drives the face: both ends of its pipes go.
    Client,
    /// The face, which relays.
    Face,
    Host,
    Both,
}

const VICTIMS: [Victim; 4] = [Victim::Client, Victim::Face, Victim::Host, Victim::Both];

/// What a transcript says, without what differs from run to run.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Normal {
    items: Vec<String>,
    outcome: String,
}

struct Run {
    home: Home,
    session: String,
    /// Frames of the turn until the kill, or its end.
    frames: usize,
    /// Whether the turn's end was told.
    told: bool,
}

fn is_end(frame: &Value) -> bool {
    frame["type"] == "event" && frame["event"]["type"] == "turn.ended"
}

/// Allows what is asked.
fn answer(native: &mut Native, request: &Value) {
    native.say(&json!({
        "v": 1, "type": "answer", "request": request["id"], "digest": request["digest"],
        "outcome": {"type": "selected", "option": "allow_once"},
    }));
}

/// Runs the turn and kills after so many of its frames.
fn run(victim: Victim, limit: usize) -> Run {
    let home = Home::new();
    let mut first = face(&home);
    let session = first.new_session(&home, &json!({"on_disconnect": "detach"}));
    let started = first.submit(Some(&session), &start(TURN));
    // What is told of the session before is no frame of the turn.
    first.until("the receipt", |frame| {
        frame["type"] == "receipt" && frame["id"] == *started
    });
    let (mut frames, mut told) = (0, false);
    while frames < limit && !told {
        let frame = first.until("a frame", |_| true);
        frames += 1;
        told = is_end(&frame);
        if frame["type"] == "request" && frames < limit {
            answer(&mut first, &frame);
        }
    }
    let host = holder(&home, &session);
    if matches!(victim, Victim::Host | Victim::Both) {
        kill(host);
    }
    match victim {
        Victim::Client => {
            first.server.close_stdin();
            first.server.close_stdout();
        }
        Victim::Face | Victim::Both => drop(first.server.kill()),
        Victim::Host => {}
    }
    Run {
        home,
        session,
        frames,
        told,
    }
}

/// What the next client finds, once the turn has ended.
fn found(run: &Run) -> Normal {
    let mut next = face(&run.home);
    let resume = json!({"type": "session.resume", "session": run.session, "replay": "all",
        "on_disconnect": "detach"});
    let from = next.server.frames.len();
    let mut tries = 0;
    while next.receipt(None, &resume)["error"]["code"] == "busy" {
        // The host learns a moment later that the client of before is gone.
        tries += 1;
        assert!(tries < 500, "still busy");
    }
    let mut at = from;
    loop {
        while at < next.server.frames.len() {
            let frame = next.server.frames[at].clone();
            at += 1;
            if frame["type"] == "request" {
                answer(&mut next, &frame);
            }
        }
        if next.server.frames[from..].iter().any(is_end) {
            break;
        }
        next.until("more", |_| true);
    }
    normal(&next.server.frames[from..])
}

/// The items that ended, each once, and how the turn ended.
fn normal(frames: &[Value]) -> Normal {
    let mut items: Vec<(String, String)> = Vec::new();
    let mut outcome = String::new();
    for frame in frames.iter().filter(|frame| frame["type"] == "event") {
        let event = &frame["event"];
        match event["type"].as_str() {
            Some("item.ended") => {
                let item = &event["item"];
                let text = match item["type"].as_str() {
                    Some("tool_call") => format!(
                        "tool {} {}",
                        item["title"].as_str().unwrap(),
                        item["status"].as_str().unwrap()
                    ),
                    Some("user_message") => "user".to_owned(),
                    _ => format!("{} {}", item["type"], item["text"]),
                };
                // What a load closes is told twice: at once, and when it is recorded.
                let id = frame["item"].as_str().unwrap().to_owned();
                items.retain(|(known, _)| *known != id);
                items.push((id, text));
            }
            Some("turn.ended") => outcome = event["outcome"].as_str().unwrap().to_owned(),
            _ => {}
        }
    }
    let items = items.into_iter().map(|(_, text)| text).collect();
    Normal { items, outcome }
}

/// What is wrong with what the next client found.
fn judge(victim: Victim, run: &Run, whole: &Normal) -> Result<(), String> {
    let found = found(run);
    let ledger = run.home.read("ledger");
    let lives = matches!(victim, Victim::Client | Victim::Face);
    // Where the host lives the turn has gone on in place: nothing may differ.
    if (lives || run.told) && found != *whole {
        return Err(format!("{found:?} and not {whole:?}"));
    }
    let ran = ledger.lines().count();
    if ran > 1 || (ran != 1 && (lives || run.told)) {
        return Err(format!("the tool ran {ran} times"));
    }
    // It may have ended before its end was told; else it is not said to be complete.
    if !lives && found.outcome == "completed" && (found != *whole || ran != 1) {
        return Err(format!(
            "complete, but {found:?}, and the tool ran {ran} times"
        ));
    }
    let verified = run.home.run(&["sessions", "verify"]);
    // A line on its way is no damage.
    if verified.code != Some(0) {
        return Err(format!("verify: {}", verified.stdout));
    }
    Ok(())
}

/// SQEQ-6, SQEQ-7, LOG-5, RESUME-6, RESUME-10
#[test]
fn killed_after_any_frame_the_next_client_finds_what_an_uninterrupted_run_leaves() {
    let is_full = std::env::var("FAULTS").is_ok_and(|form| form == "full");
    let start = Instant::now();
    let whole = run(Victim::Client, usize::MAX);
    let expected = found(&whole);
    assert_eq!(expected.outcome, "completed");
    assert!(expected.items.len() >= 4, "{expected:?}");
    let (mut states, mut violations) = (0, Vec::new());
    for victim in VICTIMS {
        let limits: Vec<usize> = match is_full {
            true => (1..=whole.frames).collect(),
            false => vec![2, whole.frames / 2, whole.frames - 3],
        };
        for limit in limits {
            states += 1;
            let cut = run(victim, limit);
            if let Err(violation) = judge(victim, &cut, &expected) {
                violations.push(format!("{victim:?} after {}: {violation}", cut.frames));
            }
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    let count = violations.len();
    println!("faults: kill_with_host {states} {count} {seconds:.1}");
    assert!(violations.is_empty(), "{violations:#?}");
}

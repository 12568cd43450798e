//! SIGKILL right after each frame that the server writes, in twenty scenarios: the next process
//! loads the session with all that was acknowledged, and runs nothing again.
//!
//! `cargo test` kills at three frames of each scenario, `FAULTS=full` at every one.

use std::time::Instant;

use serde_json::Value;

use crate::harness::{Home, Part, Replay, Server};

/// The prompts of each scenario, sent one right after the other.
const SCENARIOS: [&[&str]; 20] = [
    &["hello"],
    &["/think hm\nhello"],
    &["/stream 20 30 2"],
    &["/run echo second >> ledger"],
    &["before\n/run echo second >> ledger\nafter"],
    &["/run echo second >> ledger; sleep 0.05; echo out"],
    &["/run false"],
    &["/write f text"],
    &["/write f text\n/edit f text => more\n/read f"],
    &["/read nothing"],
    &["/plan A; B; C"],
    &["/usage\nhello"],
    &["/title Another\nhello"],
    &["/fail broken"],
    &["/refuse"],
    &["/ask what?"],
    &["/json {\"a\":1}"],
    &["/repeat 3 /run echo x"],
    &["/think a\n/say b\n/think c\n/run echo second >> ledger\n/say d"],
    &["/run echo second >> ledger", "later"],
];

const FIRST: &str = "A finished turn.\n/run echo first >> ledger";

/// What the client of a killed server had seen.
struct Seen {
    home: Home,
    session: String,
    live: Replay,
    /// Whether each prompt was answered.
    told: Vec<bool>,
    /// Frames between the first prompt and the kill, or the last answer.
    frames: usize,
}

/// Runs a scenario and kills the server after `limit` frames.
fn run(prompts: &[&str], limit: usize) -> Seen {
    let home = Home::new();
    let mut server = Server::start(&home);
    let session = server.new_session(&home);
    assert_eq!(server.turn(&session, FIRST), "end_turn");
    let ids: Vec<u64> = prompts.iter().map(|p| server.prompt(&session, p)).collect();
    let (mut frames, mut answered) = (0, 0);
    if limit > 0 {
        server.until("a frame to kill at", |frame| {
            frames += 1;
            answered += usize::from(is_answer(frame, &ids));
            frames == limit || answered == ids.len()
        });
    }
    let all = server.kill();
    let told = |id: &u64| all.iter().any(|frame| is_answer(frame, &[*id]));
    let told = ids.iter().map(told).collect();
    let live = Replay::of(all);
    Seen {
        home,
        session,
        live,
        told,
        frames,
    }
}

fn is_answer(frame: &Value, ids: &[u64]) -> bool {
    frame.get("method").is_none() && ids.iter().any(|id| frame["id"] == *id)
}

/// What is wrong with what the next processes find.
fn judge(seen: &Seen) -> Result<(), String> {
    let home = &seen.home;
    let before = home.sessions();
    let mut server = Server::start(home);
    let replay = server.load(home, &seen.session);
    server.quit();
    if home.sessions() != before {
        return Err("the load changed something".to_owned());
    }
    let all_told = seen.told.iter().all(|told| *told);
    // The first turn's text and call were acknowledged with its answer; text of a turn that was
    // cut off may be younger than the bound of LOG-17, a call was synced before it was shown.
    for (index, part) in seen.live.without_user().iter().enumerate() {
        let is_there = replay.0.iter().any(|other| match (part, other) {
            _ if index < 2 || all_told => part == other,
            (
                Part::Tool { id, title, .. },
                Part::Tool {
                    id: i, title: t, ..
                },
            ) => (id, title) == (i, t),
            (Part::Tool { .. }, _) => false,
            _ => true,
        });
        if !is_there {
            return Err(format!("{part:?} is not in {replay:?}"));
        }
    }
    let mut server = Server::start(home);
    let again = server.load(home, &seen.session);
    if again != replay {
        return Err(format!("{again:?} after {replay:?}"));
    }
    let stop = server.turn(&seen.session, "and on");
    server.quit();
    let verified = home.run(&["sessions", "verify"]);
    if (stop.as_str(), verified.code) != ("end_turn", Some(0)) {
        return Err(format!("{stop}, then {}", verified.stdout));
    }
    // Nothing ran twice; what was answered did run.
    let ledger = home.read("ledger");
    let count = |word: &str| ledger.lines().filter(|line| *line == word).count();
    if count("first") != 1 || count("second") > 1 {
        return Err(format!("the ledger says {ledger:?}"));
    }
    Ok(())
}

/// SQEQ-7, LOG-5, LOG-17, RESUME-3, RESUME-6, RESUME-10
#[test]
fn killed_after_any_frame_nothing_that_was_told_is_lost_and_nothing_runs_again() {
    let is_full = std::env::var("FAULTS").is_ok_and(|form| form == "full");
    let start = Instant::now();
    let (mut states, mut violations) = (0, Vec::new());
    for prompts in SCENARIOS {
        let whole = run(prompts, usize::MAX);
        let frames = whole.frames;
        let limits: Vec<usize> = if is_full {
            (0..=frames).collect()
        } else {
            vec![1, frames / 2, frames]
        };
        let cut = limits.into_iter().map(|limit| run(prompts, limit));
        for seen in cut.chain([whole]) {
            states += 1;
            if let Err(violation) = judge(&seen) {
                violations.push(format!("{prompts:?} after {}: {violation}", seen.frames));
            }
        }
    }
    // A line of the table of `cargo xtask faults`.
    let (found, seconds) = (violations.len(), start.elapsed().as_secs_f64());
    println!("faults: kill_at_each_frame {states} {found} {seconds:.1}");
    assert!(violations.is_empty(), "{violations:#?}");
    assert!(states >= SCENARIOS.len() * 4, "only {states} states");
}

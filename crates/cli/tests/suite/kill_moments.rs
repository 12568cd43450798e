//! SIGKILL at six moments of a turn (SQEQ-7): the next process loads the session, and it is all
//! there.

use std::time::{Duration, Instant};

use crate::harness::{Home, PATIENCE, Part, Permissions, Replay, Server, eventually};

/// Text that was shown this long before the kill is stored: the bound of LOG-17 is 100 ms, and a
/// busy machine gets five times that.
const SETTLED: Duration = Duration::from_millis(500);

const FIRST: &str = "A finished turn.\n/run echo first >> ledger";

/// A session with one finished turn, and its server.
struct Scene {
    home: Home,
    server: Server,
    session: String,
}

impl Scene {
    fn new() -> Scene {
        let home = Home::new();
        let mut server = Server::start(&home);
        let session = server.new_session(&home);
        assert_eq!(server.turn(&session, FIRST), "end_turn");
        Scene {
            home,
            server,
            session,
        }
    }

    fn begin(&mut self, prompt: &str) -> u64 {
        self.server.prompt(&self.session, prompt)
    }

    /// Waits until the log holds a record of this kind, beside those of the first turn.
    #[track_caller]
    fn logged_twice(&self, kind: &str) {
        let kind = format!("\"kind\":\"{kind}\"");
        let count = || self.home.log(&self.session).matches(&kind).count();
        eventually(&kind, PATIENCE, || (count() >= 2).then_some(()));
    }

    /// Kills the server; the next ones must find what the client had seen. Gives the replay.
    #[track_caller]
    fn killed(mut self) -> (Home, Replay, Replay) {
        let live = Replay::of(self.server.kill());
        let before = self.home.sessions();
        let ledger = self.home.read("ledger");
        let mut server = Server::start(&self.home);
        let replay = server.load(&self.home, &self.session);
        server.quit();
        let mut server = Server::start(&self.home);
        let again = server.load(&self.home, &self.session);
        // RESUME-10, RESUME-3
        assert_eq!(again, replay, "two loads are alike");
        assert_eq!(self.home.sessions(), before, "a load changes nothing");
        same_ids(&live, &replay);
        assert_eq!(server.turn(&self.session, "and on"), "end_turn");
        server.quit();
        let mut server = Server::start(&self.home);
        let later = server.load(&self.home, &self.session);
        assert_eq!(
            later.0[..replay.0.len()],
            replay.0[..],
            "closing it for good shows the same"
        );
        assert_eq!(later.texts().last(), Some(&"and on"));
        // RESUME-6
        assert_eq!(self.home.read("ledger"), ledger, "no tool ran again");
        (self.home, live, replay)
    }
}

/// Every message and call that was seen is there under its id, none of another text.
#[track_caller]
fn same_ids(live: &Replay, replay: &Replay) {
    for part in live.without_user() {
        let found = replay.0.iter().any(|other| match (&part, other) {
            (
                Part::Agent { id, text, .. },
                Part::Agent {
                    id: other,
                    text: stored,
                    ..
                },
            ) => id == other && (stored.starts_with(text.as_str()) || text.starts_with(stored)),
            (
                Part::Tool { id, title, .. },
                Part::Tool {
                    id: other,
                    title: stored,
                    ..
                },
            ) => id == other && title == stored,
            _ => part == *other,
        });
        assert!(found, "{part:?} is not in {replay:#?}");
    }
    let finished = |replay: &Replay| replay.without_user()[..2].to_vec();
    assert_eq!(
        finished(live),
        finished(replay),
        "what was finished is there whole"
    );
}

fn user_texts(replay: &Replay) -> Vec<&str> {
    let user = |part: &&Part| matches!(part, Part::User { .. });
    replay.0.iter().filter(user).map(Part::text).collect()
}

/// The mark that a load shows at the end of a turn that was interrupted.
fn marked_interrupted(replay: &Replay) -> bool {
    matches!(replay.0.last(), Some(Part::Agent { id: None, text, .. }) if text.contains("nterrupted"))
}

/// The second turn's tool call, as a load shows it.
#[track_caller]
fn second_tool(replay: &Replay) -> (&str, &str) {
    match replay.tools()[..] {
        [_, Part::Tool { status, text, .. }] => (status, text),
        ref other => panic!("not two calls: {other:?}"),
    }
}

#[test]
fn killed_before_the_first_delta_the_prompt_is_kept() {
    let mut scene = Scene::new();
    scene.begin("/sleep 600");
    scene.logged_twice("turn.started");
    let (_home, _, replay) = scene.killed();
    assert_eq!(user_texts(&replay), [FIRST, "/sleep 600"]);
    assert!(marked_interrupted(&replay), "{replay:#?}");
}

/// LOG-17
#[test]
fn killed_in_mid_text_what_was_shown_is_kept_and_marked() {
    let mut scene = Scene::new();
    scene.begin("/stream 4000 20 10");
    let mut shown: Vec<(Instant, usize)> = Vec::new();
    let began = Instant::now();
    while began.elapsed() < 3 * SETTLED {
        let update = scene.server.update("agent_message_chunk");
        let text = update["params"]["update"]["content"]["text"]
            .as_str()
            .unwrap()
            .len();
        let before = shown.last().map_or(0, |(_, length)| *length);
        shown.push((Instant::now(), before + text));
    }
    let kill = Instant::now();
    let settled = shown
        .iter()
        .rev()
        .find(|(at, _)| kill - *at >= SETTLED)
        .unwrap()
        .1;
    let (_home, live, replay) = scene.killed();
    let (live_id, live_text, _) = live.last_message().unwrap();
    let (id, text, interrupted) = replay.last_message().unwrap();
    assert_eq!(id, live_id);
    assert!(interrupted);
    assert!(
        text.len() >= settled,
        "{} of {settled} settled bytes",
        text.len()
    );
    assert!(live_text.starts_with(text) || text.starts_with(live_text));
    assert!(marked_interrupted(&replay));
}

/// LOG-17, RESUME-6
#[test]
fn killed_while_permission_is_pending_the_call_is_open_and_never_ran() {
    let mut scene = Scene::new();
    scene.server.permissions = Permissions::Hold;
    scene.begin("all of this is stored before the question\n/run echo second >> ledger");
    scene.server.asked("session/request_permission");
    let (home, _, replay) = scene.killed();
    assert!(
        replay
            .texts()
            .contains(&"all of this is stored before the question"),
        "{replay:#?}"
    );
    let (status, text) = second_tool(&replay);
    assert_eq!(status, "failed");
    assert!(text.to_lowercase().contains("outcome unknown"), "{text}");
    assert_eq!(home.read("ledger"), "first\n");
}

/// RESUME-6
#[test]
fn killed_while_a_tool_runs_its_outcome_is_unknown_and_it_is_not_run_again() {
    let mut scene = Scene::new();
    scene.begin("/run echo second >> ledger; sleep 600");
    let ledger = || (scene.home.read("ledger").lines().count() == 2).then_some(());
    // The client's answer is under way while we wait, so read on.
    scene.server.asked("session/request_permission");
    eventually("the tool's start", PATIENCE, ledger);
    let (home, _, replay) = scene.killed();
    let (status, text) = second_tool(&replay);
    assert_eq!(status, "failed");
    assert!(text.to_lowercase().contains("outcome unknown"), "{text}");
    assert!(marked_interrupted(&replay));
    assert_eq!(home.read("ledger"), "first\nsecond\n");
}

/// LOG-5
#[test]
fn killed_between_the_record_of_its_end_and_its_response_the_turn_is_complete() {
    let mut scene = Scene::new();
    // A client that does not read: the response waits behind more than a pipe holds.
    scene.server.pause_reading();
    let id = scene.begin("/stream 300 1000");
    scene.logged_twice("turn.ended");
    let told = scene.server.kill().iter().any(|frame| frame["id"] == id);
    assert!(!told, "the client was not told");
    let (_home, _, replay) = scene.killed();
    let (_, text, interrupted) = replay.last_message().unwrap();
    assert_eq!((text.len(), interrupted), (300_000, false));
    assert!(!marked_interrupted(&replay));
}

/// LOG-5
#[test]
fn killed_right_after_the_response_nothing_is_missing() {
    for _ in 0..5 {
        let mut scene = Scene::new();
        let session = scene.session.clone();
        assert_eq!(
            scene
                .server
                .turn(&session, "said\n/run echo second >> ledger"),
            "end_turn"
        );
        let (home, live, replay) = scene.killed();
        assert_eq!(replay.without_user(), live.without_user());
        assert_eq!(second_tool(&replay).0, "completed");
        assert_eq!(home.read("ledger"), "first\nsecond\n");
    }
}

//! Going back in a conversation, through the waist.

use sessiond_log::Store;
use sessiond_protocol::{
    Accepted, AttachMode, Cursor, ErrorCode, Event, Marker, Op, Replay, SessionId, TurnOutcome,
    Verdict, limits,
};

use crate::harness::{Client, code, engine};

async fn back(client: &mut Client, session: SessionId, to: Cursor) -> Verdict {
    client.submit(Some(session), Op::SessionRewind { to }).await
}

async fn goes_back(client: &mut Client, session: SessionId, to: Cursor) -> Cursor {
    let verdict = back(client, session, to).await;
    assert!(matches!(verdict, Verdict::Accepted(_)), "{verdict:?}");
    client.newest()
}

/// A turn, and the bookmark at its end.
async fn turn(client: &mut Client, session: SessionId, prompt: &str) -> Cursor {
    let outcome = client.turn(session, prompt).await;
    assert_eq!(outcome, TurnOutcome::Completed);
    client.newest()
}

/// What a client is shown that attaches now, and what the agent then remembers.
async fn known(store: &Store, session: SessionId, replay: Replay) -> (Vec<String>, String) {
    let engine = engine(store.clone());
    let mut client = Client::connect(&engine).await;
    client.resume(session, replay).await;
    let shown = client.said();
    turn(&mut client, session, "known").await;
    let known = client.said().pop().unwrap();
    drop(client);
    engine.drain().await.unwrap();
    (shown, known)
}

/// CKPT-2, RESUME-1, CTX-8: one body, on memory and on disk. In the process and in the next, the
/// agent and whoever attaches know what is in force, whatever part it is of.
async fn the_conversation_goes_on_from_where_it_went_back_to(store: Store) {
    let engine_1 = engine(store.clone());
    let mut client = Client::connect(&engine_1).await;
    let session = client.new_session().await;
    let one = turn(&mut client, session, "say:one").await;
    let two = turn(&mut client, session, "say:two").await;
    goes_back(&mut client, session, one).await;
    let three = turn(&mut client, session, "known").await;
    assert_eq!(client.said(), ["one", "two", "2 items"]);
    // To what was left behind, and before a clear.
    goes_back(&mut client, session, two).await;
    turn(&mut client, session, "known").await;
    assert_eq!(client.said().pop().unwrap(), "4 items");
    client.submit(Some(session), Op::SessionClear {}).await;
    turn(&mut client, session, "known").await;
    assert_eq!(client.said().pop().unwrap(), "0 items");
    goes_back(&mut client, session, three).await;
    let newest = client.newest();
    drop(client);
    engine_1.drain().await.unwrap();

    let (shown, remembered) = known(&store, session, Replay::All).await;
    assert_eq!(shown, ["one", "2 items"]);
    assert_eq!(remembered, "4 items");
    // The log holds all of it (RESUME-3).
    let (shown, remembered) = known(&store, session, Replay::After(Cursor::START)).await;
    let all = ["one", "two", "2 items", "4 items", "0 items", "4 items"];
    assert_eq!(shown, all);
    assert_eq!(remembered, "6 items");
    let engine_2 = engine(store.clone());
    let mut client = Client::connect(&engine_2).await;
    client.resume(session, Replay::All).await;
    let base = client.events.iter().find_map(|frame| match frame.event {
        Event::TurnStarted { base, .. } if frame.cursor > Some(newest) => Some(base),
        _ => None,
    });
    assert_eq!(base, Some(newest), "a turn names the rewind it began after");
}

#[tokio::test]
async fn a_conversation_goes_back_in_memory() {
    the_conversation_goes_on_from_where_it_went_back_to(Store::in_memory()).await;
}

#[tokio::test]
async fn a_conversation_goes_back_on_disk() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_real(&folder.path().join("store")).unwrap();
    the_conversation_goes_on_from_where_it_went_back_to(store).await;
}

/// LOG-10, CKPT-2: a checkpoint holds what is in force, too.
#[tokio::test]
async fn a_checkpoint_after_a_rewind_keeps_what_is_in_force() {
    let store = Store::in_memory();
    let engine_1 = engine(store.clone());
    let mut client = Client::connect(&engine_1).await;
    let session = client.new_session().await;
    let one = turn(&mut client, session, "say:one").await;
    turn(&mut client, session, "say:two").await;
    goes_back(&mut client, session, one).await;
    for _ in 0..3 {
        let prompt = format!("say:{}", "x".repeat(400_000));
        turn(&mut client, session, &prompt).await;
    }
    turn(&mut client, session, "say:last").await;
    let is_checkpoint = |event: &Event| matches!(event, Event::Marker(Marker::Checkpoint { .. }));
    assert!(client.events.iter().any(|e| is_checkpoint(&e.event)));
    drop(client);
    engine_1.drain().await.unwrap();
    let (shown, remembered) = known(&store, session, Replay::All).await;
    assert_eq!(shown.len(), 5);
    assert!(!shown.contains(&"two".to_owned()));
    assert_eq!(remembered, "10 items");
}

/// RESUME-9, CKPT-3: a fork without a place takes along what is in force, and one at an event what
/// was in force there; it can go back as its parent could, up to where they part.
#[tokio::test]
async fn a_fork_of_what_went_back_goes_on_from_there() {
    let engine = engine(Store::in_memory());
    let mut client = Client::connect(&engine).await;
    let session = client.new_session().await;
    let one = turn(&mut client, session, "say:one").await;
    let two = turn(&mut client, session, "say:two").await;
    let marker = goes_back(&mut client, session, one).await;
    for (at, said, remembers) in [
        (None, &["one"][..], "2 items"),
        (Some(two), &["one", "two"], "4 items"),
    ] {
        let fork = client
            .submit(Some(session), Op::SessionFork { at, id: None })
            .await;
        let Verdict::Accepted(Accepted::Session(child)) = fork else {
            panic!("{fork:?}");
        };
        let mut other = Client::connect(&engine).await;
        other.resume(child.session, Replay::All).await;
        assert_eq!(other.said(), said);
        let parent = other.events.iter().find_map(|frame| match frame.event {
            Event::Marker(Marker::Fork { parent, at }) => Some((parent, at)),
            _ => None,
        });
        assert_eq!(parent, Some((session, at.unwrap_or(marker))));
        turn(&mut other, child.session, "known").await;
        assert_eq!(other.said().pop().unwrap(), remembers);
        goes_back(&mut other, child.session, two).await;
        turn(&mut other, child.session, "known").await;
        assert_eq!(other.said().pop().unwrap(), "4 items");
    }
}

/// CKPT-2, SQEQ-6: who looks on hears of it, and does not do it; nothing is done under a turn, or
/// to what is no bookmark.
#[tokio::test]
async fn a_rewind_is_told_to_all_and_refused_where_it_does_not_fit() {
    let engine = engine(Store::in_memory());
    let mut client = Client::connect(&engine).await;
    let session = client.new_session().await;
    let one = turn(&mut client, session, "call say:one").await;
    let mut viewer = Client::connect(&engine).await;
    viewer.attach(session, Replay::All, AttachMode::View).await;
    let refused = back(&mut viewer, session, one).await;
    assert_eq!(code(refused), ErrorCode::ViewOnly);
    let refused = back(&mut client, session, Cursor(one.0 - 1)).await;
    let Verdict::Error(error) = &refused else {
        panic!("{refused:?}");
    };
    assert_eq!(error.code, ErrorCode::Invalid);
    assert_eq!(error.pointer.as_deref(), Some("/op/to"));
    assert!(error.message.contains("before it is 1"), "{error}");
    let running = client.start(session, "hang").await;
    let refused = back(&mut client, session, one).await;
    assert_eq!(code(refused), ErrorCode::Busy);
    let interrupt = Op::TurnInterrupt {
        turn: None,
        queued: Default::default(),
    };
    client.submit(Some(session), interrupt).await;
    assert_eq!(client.ended(running).await, TurnOutcome::Cancelled);
    let marker = goes_back(&mut client, session, Cursor(1)).await;
    viewer.until(marker).await;
    let told = viewer.events.last().map(|frame| &frame.event);
    let Some(Event::Marker(Marker::Rewind { to, ran, .. })) = told else {
        panic!("{told:?}");
    };
    assert_eq!((*to, *ran), (Cursor(1), 1), "a call ran in what was left");
}

/// SQEQ-9: also where the window of who acknowledges ends before the part that was left behind.
#[tokio::test]
async fn who_acknowledges_is_not_shown_what_was_left_behind_either() {
    let engine = engine(Store::in_memory());
    let mut client = Client::connect(&engine).await;
    let session = client.new_session().await;
    let many = "call ".repeat(limits::ACK_WINDOW as usize);
    let kept = turn(&mut client, session, &format!("{many}say:kept")).await;
    assert!(kept.0 > limits::ACK_WINDOW);
    turn(&mut client, session, "say:left").await;
    goes_back(&mut client, session, kept).await;
    let last = turn(&mut client, session, "say:last").await;
    client.submit(Some(session), Op::SessionDetach {}).await;
    let mut slow = Client::acknowledging(&engine).await;
    slow.resume(session, Replay::All).await;
    assert!(slow.newest() < kept, "the window is full");
    while slow.newest() < last {
        let newest = slow.newest();
        slow.ack(session, newest).await;
        while slow.newest() == newest {
            slow.next().await;
        }
    }
    assert_eq!(slow.said(), ["kept", "last"]);
}

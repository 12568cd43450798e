//! Clients that acknowledge what they get.

use sessiond_log::Store;
use sessiond_protocol::{
    AttachMode, Cursor, ErrorCode, Op, Outcome, Queued, Replay, SessionId, TurnOutcome, Verdict,
    limits::ACK_WINDOW,
};

use crate::harness::{Client, code, durable, engine};

fn code_of(verdict: &Verdict) -> Option<ErrorCode> {
    match verdict {
        Verdict::Error(error) => Some(error.code),
        Verdict::Accepted(_) => None,
    }
}

/// Two durable events each.
fn calls(times: usize) -> String {
    "call ".repeat(times)
}

/// Gives the session this many chances to go on.
async fn go_round(client: &mut Client, session: SessionId, times: u32) {
    for _ in 0..times {
        let same = Op::set_mode("ask");
        client.submit(Some(session), same).await;
    }
}

/// SQEQ-9: the agent goes on at the edge of the window, and what the client lacks comes from the log
/// when it acknowledges: all of it, in order, once.
#[tokio::test]
async fn a_controller_that_acknowledges_late_gets_what_it_lacks_and_nobody_waits_for_it() {
    let engine = engine(Store::in_memory());
    let mut client = Client::acknowledging(&engine).await;
    let session = client.new_session().await;
    let mut watcher = Client::connect(&engine).await;
    watcher.attach(session, Replay::All, AttachMode::View).await;
    let turn = client.start(session, &calls(400)).await;
    assert_eq!(watcher.ended(turn).await, TurnOutcome::Completed);
    client.until(Cursor(ACK_WINDOW)).await;
    go_round(&mut client, session, 100).await;
    assert_eq!(client.newest(), Cursor(ACK_WINDOW), "and no more than that");
    // It goes on when half of the window is acknowledged.
    client.ack(session, Cursor(ACK_WINDOW / 2 - 1)).await;
    go_round(&mut client, session, 100).await;
    assert_eq!(client.newest(), Cursor(ACK_WINDOW));
    for _ in 0..2 {
        client.ack(session, Cursor(ACK_WINDOW / 2)).await;
    }
    client.until(Cursor(ACK_WINDOW + ACK_WINDOW / 2)).await;
    go_round(&mut client, session, 100).await;
    assert_eq!(client.newest(), Cursor(ACK_WINDOW + ACK_WINDOW / 2));
    while client.ended_already(turn).is_none() {
        let newest = client.newest();
        client.ack(session, newest).await;
        client.next().await;
    }
    assert_eq!(durable(&watcher.events), durable(&client.events));
    assert!(client.errors.is_empty(), "the same twice is no error");
    // From here on it hears of things as they happen.
    let newest = client.newest();
    client.ack(session, newest).await;
    let turn = client.start(session, "say:live").await;
    assert_eq!(client.ended(turn).await, TurnOutcome::Completed);
    assert_eq!(client.said(), ["live"]);
}

/// SQEQ-9, SQEQ-3: who never acknowledges anything is asked, answered and obeyed all the same.
#[tokio::test]
async fn a_controller_that_never_acknowledges_still_drives_its_session() {
    let engine = engine(Store::in_memory());
    let mut client = Client::acknowledging(&engine).await;
    let session = client.new_session().await;
    let mut watcher = Client::connect(&engine).await;
    watcher.attach(session, Replay::All, AttachMode::View).await;
    let turn = client.start(session, &calls(400)).await;
    assert_eq!(watcher.ended(turn).await, TurnOutcome::Completed);
    let asks = client.start(session, "ask").await;
    let request = client.request().await;
    let option = "allow_once".into();
    client.answer(&request, Outcome::Selected { option }).await;
    assert_eq!(watcher.ended(asks).await, TurnOutcome::Completed);
    let hangs = client.start(session, "hang").await;
    let interrupt = Op::TurnInterrupt {
        turn: Some(hangs),
        queued: Queued::Keep,
    };
    client.submit(Some(session), interrupt).await;
    assert_eq!(watcher.ended(hangs).await, TurnOutcome::Cancelled);
    assert_eq!(client.newest(), Cursor(ACK_WINDOW));
    assert_eq!(durable(&client.events).len() as u64, ACK_WINDOW);
    // Whoever comes after it is not kept waiting either.
    drop(client);
    let mut next = Client::acknowledging(&engine).await;
    let mut verdict = next.resume(session, Replay::All).await;
    while code_of(&verdict) == Some(ErrorCode::Busy) {
        verdict = next.resume(session, Replay::All).await;
    }
    assert!(matches!(verdict, Verdict::Accepted(_)), "{verdict:?}");
    assert_eq!(
        next.newest(),
        Cursor(ACK_WINDOW),
        "a window before the receipt"
    );
    let turn = next.start(session, "say:more").await;
    assert_eq!(watcher.ended(turn).await, TurnOutcome::Completed);
    while next.ended_already(turn).is_none() {
        let newest = next.newest();
        next.ack(session, newest).await;
        next.next().await;
    }
    assert_eq!(durable(&next.events), durable(&watcher.events));
}

/// SQEQ-9, SQEQ-6: a viewer that acknowledges nothing gets a gap, and the turn goes on.
#[tokio::test]
async fn a_viewer_at_the_edge_of_its_window_gets_a_gap_and_goes_on_from_there() {
    let engine = engine(Store::in_memory());
    let mut client = Client::connect(&engine).await;
    let session = client.new_session().await;
    let mut viewer = Client::acknowledging(&engine).await;
    viewer.attach(session, Replay::All, AttachMode::View).await;
    let turn = client.start(session, &calls(700)).await;
    assert_eq!(client.ended(turn).await, TurnOutcome::Completed);
    while viewer.errors.is_empty() {
        viewer.next().await;
    }
    let gap = viewer.errors[0].gap.unwrap();
    assert_eq!(gap.after, Cursor(ACK_WINDOW));
    assert_eq!(gap.after, viewer.newest());
    // The past waits for acknowledgements too, and is no gap.
    let replay = Replay::After(gap.after);
    viewer.begin_attach(session, replay, AttachMode::View).await;
    viewer.until(Cursor(gap.after.0 + ACK_WINDOW)).await;
    go_round(&mut client, session, 100).await;
    assert_eq!(viewer.newest(), Cursor(gap.after.0 + ACK_WINDOW));
    assert_eq!(viewer.errors.len(), 1);
    while viewer.ended_already(turn).is_none() {
        let newest = viewer.newest();
        viewer.ack(session, newest).await;
        viewer.next().await;
    }
    assert_eq!(durable(&viewer.events), durable(&client.events));
}

/// SQEQ-9: what cannot be acknowledged is refused, and changes nothing.
#[tokio::test]
async fn an_acknowledgement_of_what_was_not_sent_or_not_agreed_is_refused() {
    let engine = engine(Store::in_memory());
    let mut plain = Client::connect(&engine).await;
    let session = plain.new_session().await;
    plain.turn(session, "say:one").await;
    let newest = plain.newest();
    let mut client = Client::acknowledging(&engine).await;
    client.attach(session, Replay::All, AttachMode::View).await;
    client.ack(session, newest).await;
    let table = [
        (session, newest.next(), ErrorCode::Invalid),
        (
            SessionId::new(uuid::Uuid::from_u128(9)),
            newest,
            ErrorCode::NotFound,
        ),
    ];
    for (n, (session, cursor, expected)) in table.into_iter().enumerate() {
        client.ack(session, cursor).await;
        while client.errors.len() <= n {
            client.next().await;
        }
        assert_eq!(client.errors[n].code, expected);
    }
    client.submit(Some(session), Op::SessionDetach {}).await;
    client.ack(session, newest).await;
    while client.errors.len() < 3 {
        client.next().await;
    }
    assert_eq!(client.errors[2].code, ErrorCode::NotFound);
    plain.ack(session, newest).await;
    while plain.errors.is_empty() {
        plain.next().await;
    }
    assert_eq!(plain.errors[0].code, ErrorCode::Invalid);
    let again = client.submit(Some(session), Op::SessionDetach {}).await;
    assert_eq!(code(again), ErrorCode::NotFound);
    let verdict = client.attach(session, Replay::None, AttachMode::View).await;
    assert!(matches!(verdict, Verdict::Accepted(_)), "{verdict:?}");
}

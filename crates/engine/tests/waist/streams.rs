//! Text that streams, and how fast its reader is (WIRE-6, WIRE-9).

use sessiond_log::Store;
use sessiond_protocol::{AttachMode, Event, EventFrame, Replay, SessionId, TurnOutcome};

use crate::harness::{Client, engine};

/// Pieces of the stream: far more than all queues on the way hold.
const PIECES: usize = 20_000;

/// The pieces of text that a client got; each begins where the one before ended.
fn pieces(events: &[EventFrame]) -> Vec<&str> {
    let (mut pieces, mut end) = (Vec::new(), 0);
    for frame in events {
        if let Event::ItemDelta { offset, text, .. } = &frame.event {
            assert_eq!(*offset, end, "a gap or a duplicate");
            end += text.len() as u64;
            pieces.push(text.as_str());
        }
    }
    pieces
}

fn words() -> Vec<String> {
    (0..PIECES).map(|number| format!("say:w{number}")).collect()
}

fn text() -> String {
    words().concat().replace("say:", "")
}

async fn session() -> (sessiond_engine::Engine, Client, SessionId) {
    let engine = engine(Store::in_memory());
    let mut client = Client::connect(&engine).await;
    let session = client.new_session().await;
    (engine, client, session)
}

/// WIRE-6: however fast the agent is, nothing merges for a client that reads.
#[tokio::test]
async fn every_piece_of_a_fast_stream_reaches_a_client_that_reads() {
    let (_engine, mut client, session) = session().await;
    let turn = client.start(session, &words().join(" ")).await;
    assert_eq!(client.ended(turn).await, TurnOutcome::Completed);
    let pieces = pieces(&client.events);
    assert_eq!(pieces.concat(), text());
    assert_eq!(pieces.len(), PIECES);
}

/// WIRE-6: a client that stands still does not hold up the turn, and lacks nothing of it later.
#[tokio::test]
async fn the_text_merges_for_a_client_that_stands_still_and_the_turn_goes_on() {
    let (engine, mut client, session) = session().await;
    let mut other = Client::connect(&engine).await;
    other.attach(session, Replay::All, AttachMode::View).await;
    let turn = client.start(session, &words().join(" ")).await;
    assert_eq!(other.ended(turn).await, TurnOutcome::Completed);
    assert_eq!(client.ended(turn).await, TurnOutcome::Completed);
    let pieces = pieces(&client.events);
    assert_eq!(pieces.concat(), text());
    assert!(pieces.len() < PIECES / 2, "{} pieces", pieces.len());
}

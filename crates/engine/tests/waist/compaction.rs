//! Compaction, through the waist.

use sessiond_engine::{AgentError, CompactionReport, HistorySource, TurnContext};
use sessiond_log::Store;
use sessiond_protocol::{
    Accepted, AttachMode, Content, Cursor, ErrorCode, Event, EventFrame, HistoryItem, Item, Op,
    Queued, Replay, SessionId, TurnOutcome, Verdict,
};

use crate::harness::{Client, code, engine};

/// What the obedient agent says of a conversation.
pub(crate) async fn sum_up(
    conversation: HistorySource,
    context: &TurnContext,
) -> Result<CompactionReport, AgentError> {
    let conversation = conversation.load().await?;
    let hangs = |entry: &HistoryItem| match &entry.item {
        Item::UserMessage { content } => content == &[Content::text("hang")],
        _ => false,
    };
    if conversation.last().is_some_and(hangs) {
        context.cancelled().await;
    }
    let summary = format!("{} items", conversation.len());
    let usage = None;
    Ok(CompactionReport { summary, usage })
}

/// A turn, and the bookmark at its end.
async fn turn(client: &mut Client, session: SessionId, prompt: &str) -> Cursor {
    let outcome = client.turn(session, prompt).await;
    assert_eq!(outcome, TurnOutcome::Completed);
    client.newest()
}

async fn compact(client: &mut Client, session: SessionId) -> TurnOutcome {
    match client.submit(Some(session), Op::SessionCompact {}).await {
        Verdict::Accepted(Accepted::Turn { turn }) => client.ended(turn).await,
        other => panic!("{other:?}"),
    }
}

fn summaries(client: &Client) -> Vec<(Option<Cursor>, String)> {
    let summary = |frame: &EventFrame| match &frame.event {
        Event::ItemEnded {
            item: Item::Compaction(compaction),
        } => Some((frame.cursor, compaction.summary.clone())),
        _ => None,
    };
    client.events.iter().filter_map(summary).collect()
}

/// What a client is shown that attaches in another process, and what the agent then remembers.
async fn known(store: &Store, session: SessionId) -> (Client, String) {
    let engine = engine(store.clone());
    let mut client = Client::connect(&engine).await;
    client.resume(session, Replay::All).await;
    turn(&mut client, session, "known").await;
    let known = client.said().pop().unwrap();
    client.submit(Some(session), Op::SessionDetach {}).await;
    engine.drain().await.unwrap();
    (client, known)
}

/// CTX-2, CTX-8, RESUME-4: one body, on memory and on disk.
async fn the_agent_goes_on_from_the_summary(store: Store) {
    let engine_1 = engine(store.clone());
    let mut client = Client::connect(&engine_1).await;
    let session = client.new_session().await;
    let one = turn(&mut client, session, "say:one").await;
    turn(&mut client, session, "say:two").await;
    assert_eq!(compact(&mut client, session).await, TurnOutcome::Completed);
    let after = client.newest();
    turn(&mut client, session, "say:three").await;
    let (at, summary) = summaries(&client).remove(0);
    assert_eq!(summary, "4 items");
    let newest_base = client
        .events
        .iter()
        .rev()
        .find_map(|frame| match frame.event {
            Event::TurnStarted { base, .. } => Some(base),
            _ => None,
        });
    assert_eq!(
        newest_base, at,
        "a turn names the compaction it began after"
    );
    drop(client);
    engine_1.drain().await.unwrap();

    // The summary, and the turn behind it.
    let (client, remembered) = known(&store, session).await;
    assert_eq!(remembered, "3 items");
    let shown = client.said();
    assert_eq!(
        shown[..3],
        ["one", "two", "three"],
        "clients see the originals"
    );
    assert_eq!(summaries(&client).len(), 1);

    // Before it the originals count, behind it the summary does.
    for (to, remembers) in [(one, "2 items"), (after, "1 items")] {
        let engine = engine(store.clone());
        let mut client = Client::connect(&engine).await;
        client.resume(session, Replay::None).await;
        client.submit(Some(session), Op::SessionRewind { to }).await;
        turn(&mut client, session, "known").await;
        assert_eq!(client.said(), [remembers]);
        let fork = client.submit(
            Some(session),
            Op::SessionFork {
                at: Some(after),
                id: None,
            },
        );
        let Verdict::Accepted(Accepted::Session(child)) = fork.await else {
            panic!("it forks at the end of a compaction");
        };
        let mut other = Client::connect(&engine).await;
        other.resume(child.session, Replay::None).await;
        turn(&mut other, child.session, "known").await;
        assert_eq!(other.said(), ["1 items"]);
        drop((client, other));
        engine.drain().await.unwrap();
    }
}

#[tokio::test]
async fn the_agent_goes_on_from_the_summary_in_memory() {
    the_agent_goes_on_from_the_summary(Store::in_memory()).await;
}

#[tokio::test]
async fn the_agent_goes_on_from_the_summary_on_disk() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_real(&folder.path().join("store")).unwrap();
    the_agent_goes_on_from_the_summary(store).await;
}

/// LOG-10, CTX-2: a checkpoint holds which compaction is in force.
#[tokio::test]
async fn a_checkpoint_after_a_compaction_keeps_it() {
    let store = Store::in_memory();
    let engine_1 = engine(store.clone());
    let mut client = Client::connect(&engine_1).await;
    let session = client.new_session().await;
    for _ in 0..6 {
        let prompt = format!("say:{}", "x".repeat(400_000));
        turn(&mut client, session, &prompt).await;
    }
    compact(&mut client, session).await;
    let at = summaries(&client).remove(0).0;
    for _ in 0..4 {
        let prompt = format!("say:{}", "x".repeat(400_000));
        turn(&mut client, session, &prompt).await;
    }
    drop(client);
    engine_1.drain().await.unwrap();
    let (client, remembered) = known(&store, session).await;
    assert_eq!(remembered, "9 items");
    let base = client
        .events
        .iter()
        .rev()
        .find_map(|frame| match frame.event {
            Event::TurnStarted { base, .. } => Some(base),
            _ => None,
        });
    assert_eq!(base, at);
}

/// SQEQ-3, SQEQ-6: an interrupt stops it and the agent knows what it knew; who looks on does not do
/// it.
#[tokio::test]
async fn a_compaction_is_interrupted_and_refused_where_it_does_not_fit() {
    let engine_1 = engine(Store::in_memory());
    let mut client = Client::connect(&engine_1).await;
    let session = client.new_session().await;
    turn(&mut client, session, "say:one").await;
    let hangs = client.start(session, "hang").await;
    let interrupt = || Op::TurnInterrupt {
        turn: None,
        queued: Queued::Keep,
    };
    client.submit(Some(session), interrupt()).await;
    assert_eq!(client.ended(hangs).await, TurnOutcome::Cancelled);
    let mut viewer = Client::connect(&engine_1).await;
    viewer.attach(session, Replay::None, AttachMode::View).await;
    let refused = viewer.submit(Some(session), Op::SessionCompact {}).await;
    assert_eq!(code(refused), ErrorCode::ViewOnly);
    let begun = client.submit(Some(session), Op::SessionCompact {}).await;
    let Verdict::Accepted(Accepted::Turn { turn: compaction }) = begun else {
        panic!("{begun:?}");
    };
    client.submit(Some(session), interrupt()).await;
    assert_eq!(client.ended(compaction).await, TurnOutcome::Cancelled);
    assert!(summaries(&client).is_empty());
    turn(&mut client, session, "known").await;
    assert_eq!(client.said().pop().unwrap(), "3 items");
}

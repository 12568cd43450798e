//! Forks through the waist: of a session that works, and one whose making was cut off.

use sessiond_log::{Owner, Store, Subject};
use sessiond_protocol::{
    Accepted, Cursor, Event, Marker, Op, Replay, SessionId, SessionView, TurnOutcome, Verdict,
};

use crate::harness::{Client, engine};

async fn fork(client: &mut Client, session: SessionId, at: Option<Cursor>) -> SessionView {
    match client
        .submit(Some(session), Op::SessionFork { at, id: None })
        .await
    {
        Verdict::Accepted(Accepted::Session(view)) => *view,
        other => panic!("{other:?}"),
    }
}

fn markers(client: &Client, session: SessionId) -> Vec<(Option<Cursor>, SessionId, Cursor)> {
    let of_session = client.events.iter().filter(|e| e.session == session);
    of_session
        .filter_map(|frame| match &frame.event {
            Event::Marker(Marker::Fork { parent, at }) => Some((frame.cursor, *parent, *at)),
            _ => None,
        })
        .collect()
}

/// RESUME-9, RESUME-18
#[tokio::test]
async fn a_session_is_forked_at_its_newest_bookmark_while_its_turn_goes_on() {
    let engine = engine(Store::in_memory());
    let mut client = Client::connect(&engine).await;
    let parent = client.new_session().await;
    client.turn(parent, "say:one").await;
    let bookmark = client.events.last().unwrap().cursor.unwrap();
    let running = client.start(parent, "ask say:two").await;
    let request = client.request().await;
    let child = fork(&mut client, parent, None).await;
    assert_eq!(
        child.cursor,
        bookmark.next().next(),
        "its marker and its title, and nothing was open"
    );

    let mut other = Client::connect(&engine).await;
    other.resume(child.session, Replay::All).await;
    assert_eq!(other.said(), ["one"]);
    assert!(other.requests.is_empty());
    let marker = (Some(bookmark.next()), parent, bookmark);
    assert_eq!(markers(&other, child.session), [marker]);
    let outcome = other.turn(child.session, "say:mine").await;
    assert_eq!(outcome, TurnOutcome::Completed);

    let option = "allow_once".to_owned();
    let outcome = sessiond_protocol::Outcome::Selected { option };
    client.answer(&request, outcome).await;
    assert_eq!(client.ended(running).await, TurnOutcome::Completed);
    assert!(!client.said().contains(&"mine".to_owned()));
}

/// RESUME-8
#[tokio::test]
async fn a_fork_whose_making_was_cut_off_is_one_all_the_same_and_says_so_at_its_first_append() {
    let store = Store::in_memory();
    let engine = engine(store.clone());
    let mut client = Client::connect(&engine).await;
    let parent = client.new_session().await;
    client.turn(parent, "say:one").await;
    drop(client);
    engine.drain().await.unwrap();
    let child = SessionId::new(uuid::Uuid::from_u128(7));
    let subject = |session: SessionId| session.to_string().parse::<Subject>().unwrap();
    let owner = Owner::current();
    let lease = store.claim(&subject(parent), &owner).unwrap();
    drop(lease.fork(1, &subject(child), &owner).unwrap());
    drop(lease);

    let mut client = Client::connect(&engine).await;
    client.resume(child, Replay::All).await;
    assert_eq!(markers(&client, child), [(None, parent, Cursor(1))]);
    client.turn(child, "say:mine").await;
    let told = markers(&client, child);
    assert_eq!(told.last(), Some(&(Some(Cursor(2)), parent, Cursor(1))));
}

//! Clients that look on: from a cursor, in one order, without a say and without holding anything up.

use sessiond_log::Store;
use sessiond_protocol::{
    AttachMode, Cursor, ErrorCode, Event, EventFrame, IfBusy, Op, Outcome, Queued, Replay,
    RequestKind, SessionId, TurnOutcome, Verdict,
};

use crate::harness::{Client, code, durable, engine, prompt};

fn cursors(events: &[EventFrame]) -> Vec<u64> {
    events
        .iter()
        .filter_map(|f| f.cursor)
        .map(|c| c.0)
        .collect()
}

/// The text that a client has put together from what streams, offset by offset.
fn text(events: &[EventFrame]) -> String {
    let mut text = String::new();
    for frame in events {
        if let Event::ItemDelta {
            offset, text: more, ..
        } = &frame.event
        {
            assert_eq!(*offset, text.len() as u64, "a gap or a duplicate");
            text.push_str(more);
        }
    }
    text
}

async fn view(client: &mut Client, session: SessionId, replay: Replay) {
    let verdict = client.attach(session, replay, AttachMode::View).await;
    assert!(matches!(verdict, Verdict::Accepted(_)), "{verdict:?}");
}

/// SQEQ-6: from any cursor, in the middle of a turn.
#[tokio::test]
async fn a_viewer_gets_what_lies_after_its_cursor_once_and_in_order_and_then_lives_on() {
    let engine = engine(Store::in_memory());
    let mut client = Client::connect(&engine).await;
    let session = client.new_session().await;
    client.turn(session, "say:one call").await;
    let turn = client
        .start(session, "say:two call say:begun take say:three")
        .await;
    while !text_of_last(&client.events).contains("begun") {
        client.next().await;
    }
    let newest = *cursors(&client.events).last().unwrap();
    let mut viewers = Vec::new();
    for after in 0..=newest {
        let mut viewer = Client::connect(&engine).await;
        view(&mut viewer, session, Replay::After(Cursor(after))).await;
        let is_begun = |frame: &EventFrame| {
            frame.cursor.is_none() && matches!(frame.event, Event::ItemStarted { .. })
        };
        assert!(viewer.events.iter().any(is_begun), "what is in flight");
        viewers.push((after, viewer));
    }
    client.steer(session, "more").await;
    assert_eq!(client.ended(turn).await, TurnOutcome::Completed);
    client.turn(session, "say:four").await;
    let all = durable(&client.events);
    let last = *cursors(&all).last().unwrap();
    for (after, mut viewer) in viewers {
        viewer.until(Cursor(last)).await;
        let expected = all
            .iter()
            .filter(|frame| frame.cursor > Some(Cursor(after)));
        let expected: Vec<EventFrame> = expected.cloned().collect();
        assert_eq!(durable(&viewer.events), expected, "after {after}");
    }
}

/// The text of the item that streamed last.
fn text_of_last(events: &[EventFrame]) -> String {
    let is_delta = |frame: &&EventFrame| matches!(frame.event, Event::ItemDelta { .. });
    let Some(last) = events.iter().rfind(is_delta).and_then(|frame| frame.item) else {
        return String::new();
    };
    let of_last: Vec<_> = events
        .iter()
        .filter(|f| f.item == Some(last))
        .cloned()
        .collect();
    text(&of_last)
}

/// SQEQ-6: what is in flight, open requests too.
#[tokio::test]
async fn a_viewer_that_wants_no_past_is_shown_what_is_in_flight_from_its_beginning() {
    let engine = engine(Store::in_memory());
    let mut client = Client::connect(&engine).await;
    let session = client.new_session().await;
    client.turn(session, "say:past").await;
    let turn = client.start(session, "say:one ask").await;
    let request = client.request().await;
    let mut viewer = Client::connect(&engine).await;
    view(&mut viewer, session, Replay::None).await;
    let shown: Vec<_> = viewer.events.iter().map(|f| f.event.kind()).collect();
    assert_eq!(shown, ["item.started", "request.opened"]);
    assert!(cursors(&viewer.events).is_empty(), "announcements");
    let is_asked = |frame: &EventFrame| {
        matches!(&frame.event, Event::RequestOpened { request: id, .. } if *id == request.id)
            && frame.item == request.item
    };
    assert!(viewer.events.iter().any(is_asked));
    assert!(viewer.requests.is_empty(), "it is not asked");
    let allow = Outcome::Selected {
        option: "allow_once".into(),
    };
    client.answer(&request, allow).await;
    assert_eq!(client.ended(turn).await, TurnOutcome::Completed);

    let turn = client.start(session, "say:begun take").await;
    while text_of_last(&client.events) != "begun" {
        client.next().await;
    }
    let mut late = Client::connect(&engine).await;
    view(&mut late, session, Replay::None).await;
    assert_eq!(text(&late.events), "begun");
    client.steer(session, "x").await;
    client.ended(turn).await;
    late.ended(turn).await;
}

/// SQEQ-6, WIRE-8: read-only.
#[tokio::test]
async fn a_viewer_changes_nothing_and_its_going_changes_nothing() {
    let engine = engine(Store::in_memory());
    let mut client = Client::connect(&engine).await;
    let session = client.new_session().await;
    let turn = client.start(session, "ask").await;
    let request = client.request().await;
    let mut viewer = Client::connect(&engine).await;
    view(&mut viewer, session, Replay::All).await;
    let before = cursors(&client.events).len();
    let ops = [
        prompt("say:never", IfBusy::Queue),
        prompt("say:never", IfBusy::Replace),
        Op::TurnSteer {
            input: vec![sessiond_protocol::Content::text("x")],
            turn: None,
        },
        Op::TurnInterrupt {
            turn: None,
            queued: Queued::Cancel,
        },
        Op::set_mode("auto"),
        Op::SessionRename { title: "x".into() },
        Op::SessionRelocate { cwd: "/x".into() },
        Op::SessionClear {},
        Op::SessionClose {},
    ];
    for op in ops {
        let verdict = viewer.submit(Some(session), op.clone()).await;
        assert_eq!(code(verdict), ErrorCode::ViewOnly, "{op:?}");
    }
    let allow = || Outcome::Selected {
        option: "allow_once".into(),
    };
    viewer.answer(&request, allow()).await;
    while viewer.errors.is_empty() {
        viewer.next().await;
    }
    assert_eq!(viewer.errors[0].code, ErrorCode::Refused);
    drop(viewer);
    client.answer(&request, allow()).await;
    assert_eq!(client.ended(turn).await, TurnOutcome::Completed);
    let since: Vec<_> = durable(&client.events)
        .iter()
        .skip(before)
        .map(|frame| frame.event.kind().to_owned())
        .collect();
    assert_eq!(since, ["request.closed", "item.ended", "turn.ended"]);
}

/// SQEQ-6, RESUME-3
#[tokio::test]
async fn a_session_that_only_viewers_opened_is_held_for_them_and_let_go_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("store");
    let here = engine(Store::open_real(&root).unwrap());
    let mut client = Client::connect(&here).await;
    let session = client.new_session().await;
    client.turn(session, "say:one").await;
    let lived = durable(&client.events);
    drop(client);
    here.drain().await.unwrap();

    let mut first = Client::connect(&here).await;
    view(&mut first, session, Replay::All).await;
    let mut second = Client::connect(&here).await;
    view(&mut second, session, Replay::All).await;
    assert_eq!(second.events, lived);
    drop(first);
    let elsewhere = engine(Store::open_real(&root).unwrap());
    let mut rival = Client::connect(&elsewhere).await;
    assert_eq!(
        code(rival.resume(session, Replay::None).await),
        ErrorCode::Busy
    );
    // A controller may come while they look on, and go.
    let mut client = Client::connect(&here).await;
    client.resume(session, Replay::None).await;
    client.turn(session, "say:two").await;
    drop(client);
    while second.said().len() < 2 {
        second.next().await;
    }
    assert_eq!(
        code(rival.resume(session, Replay::None).await),
        ErrorCode::Busy
    );
    drop(second);
    here.drain().await.unwrap();
    let verdict = rival.resume(session, Replay::All).await;
    assert!(matches!(verdict, Verdict::Accepted(_)), "{verdict:?}");
    assert_eq!(rival.said(), ["one", "two"]);
}

#[tokio::test]
async fn viewers_hear_that_the_session_is_closed_under_them() {
    let engine = engine(Store::in_memory());
    let mut client = Client::connect(&engine).await;
    let session = client.new_session().await;
    let mut viewer = Client::connect(&engine).await;
    view(&mut viewer, session, Replay::None).await;
    client.submit(Some(session), Op::SessionClose {}).await;
    while viewer.errors.is_empty() {
        viewer.next().await;
    }
    let error = &viewer.errors[0];
    assert_eq!(
        (error.code, error.session),
        (ErrorCode::NotFound, Some(session))
    );
    let last = viewer.events.last().map(|frame| frame.event.kind());
    assert_eq!(last, Some("session.closed"));
}

/// SQEQ-6: what cannot be served says how to go on.
#[tokio::test]
async fn a_cursor_beyond_the_newest_event_is_a_gap_for_either_kind_of_client() {
    let engine = engine(Store::in_memory());
    let mut client = Client::connect(&engine).await;
    let session = client.new_session().await;
    client.turn(session, "say:one").await;
    let newest = Cursor(*cursors(&client.events).last().unwrap());
    for mode in [AttachMode::View, AttachMode::Control] {
        let mut other = Client::connect(&engine).await;
        if mode == AttachMode::Control {
            client.submit(Some(session), Op::SessionDetach {}).await;
        }
        let replay = |cursor| Replay::After(cursor);
        let verdict = other.attach(session, replay(newest.next()), mode).await;
        let Verdict::Error(error) = verdict else {
            panic!("{verdict:?}")
        };
        let gap = error.gap.unwrap();
        assert_eq!(error.code, ErrorCode::Gap);
        assert_eq!((gap.newest, gap.after), (newest, Cursor::START));
        assert_eq!(other.events, [], "nothing is shown");
        let verdict = other.attach(session, replay(gap.after), mode).await;
        assert!(matches!(verdict, Verdict::Accepted(_)), "{verdict:?}");
        assert_eq!(cursors(&other.events).len() as u64, newest.0);
    }
}

/// WIRE-6, SQEQ-6: one that stands still holds up neither the agent nor the others, and goes on
/// from the log.
#[tokio::test]
async fn of_a_hundred_viewers_one_stands_still_and_the_others_get_everything() {
    let engine = engine(Store::in_memory());
    let mut client = Client::connect(&engine).await;
    let session = client.new_session().await;
    let mut stopped = Client::connect(&engine).await;
    view(&mut stopped, session, Replay::All).await;
    let mut watching = Vec::new();
    for _ in 0..99 {
        let mut viewer = Client::connect(&engine).await;
        view(&mut viewer, session, Replay::All).await;
        watching.push(tokio::spawn(async move {
            loop {
                viewer.next().await;
                let last = viewer.events.last();
                if last.is_some_and(|frame| matches!(frame.event, Event::TurnEnded(_))) {
                    return viewer.events;
                }
            }
        }));
    }
    // Far more than the stopped one's queue and feed hold.
    let turn = client.start(session, &"call ".repeat(2000)).await;
    assert_eq!(client.ended(turn).await, TurnOutcome::Completed);
    let all = durable(&client.events);
    for viewer in watching {
        assert_eq!(durable(&viewer.await.unwrap()), all);
    }
    while stopped.errors.is_empty() {
        stopped.next().await;
    }
    let gap = stopped.errors[0].gap.unwrap();
    assert_eq!(stopped.errors[0].code, ErrorCode::Gap);
    assert_eq!(Some(&gap.after.0), cursors(&stopped.events).last());
    assert!(gap.newest > gap.after);
    view(&mut stopped, session, Replay::After(gap.after)).await;
    assert_eq!(durable(&stopped.events), all);
}

/// SQEQ-7: a client leaves, its connection stays.
#[tokio::test]
async fn who_detaches_hears_nothing_more_and_may_come_back_in_either_role() {
    let engine = engine(Store::in_memory());
    let mut client = Client::connect(&engine).await;
    let session = client.new_session().await;
    let mut other = Client::connect(&engine).await;
    view(&mut other, session, Replay::None).await;
    let refused = other
        .submit(Some(session), prompt("x", IfBusy::Reject))
        .await;
    assert_eq!(code(refused), ErrorCode::ViewOnly);
    let invalid = client.attach(session, Replay::None, AttachMode::View).await;
    assert_eq!(code(invalid), ErrorCode::Invalid, "it controls");
    let detach = || Op::SessionDetach {};
    client.submit(Some(session), detach()).await;
    let again = client.submit(Some(session), detach()).await;
    assert_eq!(code(again), ErrorCode::NotFound);
    // The viewer takes over on its own connection, from where it is.
    let verdict = other
        .attach(session, Replay::None, AttachMode::Control)
        .await;
    assert!(matches!(verdict, Verdict::Accepted(_)), "{verdict:?}");
    view(&mut client, session, Replay::All).await;
    assert_eq!(other.turn(session, "say:one").await, TurnOutcome::Completed);
    while client.said().is_empty() {
        client.next().await;
    }
    client.submit(Some(session), detach()).await;
    let heard = client.events.len();
    other.turn(session, "say:two").await;
    let code = code(client.submit(Some(session), detach()).await);
    assert_eq!(code, ErrorCode::NotFound);
    assert_eq!(client.events.len(), heard);
}

/// SQEQ-6
#[tokio::test]
async fn who_detaches_with_a_turn_running_leaves_it_to_what_it_said() {
    let engine = engine(Store::in_memory());
    let mut client = Client::connect(&engine).await;
    let session = client.new_session().await;
    let mut viewer = Client::connect(&engine).await;
    view(&mut viewer, session, Replay::All).await;
    let turn = client.start(session, "ask").await;
    let request = client.request().await;
    assert_eq!(request.body.kind(), RequestKind::Permission);
    client.submit(Some(session), Op::SessionDetach {}).await;
    assert!(client.requests.is_empty(), "it need not answer any more");
    assert_eq!(viewer.ended(turn).await, TurnOutcome::Cancelled);
}

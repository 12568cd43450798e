//! Sessions through the waist: live, resumed, listed, on every store.

use std::{fs, path::Path};

use crate::harness::{Client, DEADLINE, code, durable, engine};
use sessiond_log::Store;
use sessiond_protocol::{
    Accepted, Cursor, ErrorCode, Event, Op, Outcome, Queued, Replay, SessionId, SessionList,
    TurnOutcome, Verdict, limits,
};

/// Every file below a folder with its content.
fn tree(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.push((path.display().to_string(), fs::read(&path).unwrap()));
            }
        }
    }
    files.sort();
    files
}

/// LOG-1: one body, on memory and on disk.
async fn replay_gives_what_was_lived_through(store: Store) {
    let first = engine(store.clone());
    let mut client = Client::connect(&first).await;
    let session = client.new_session().await;
    assert_eq!(
        client.turn(session, "say:one call two").await,
        TurnOutcome::Completed
    );
    assert_eq!(client.turn(session, "fail").await, TurnOutcome::Failed);
    let lived = durable(&client.events);
    drop(client);
    first.drain().await.unwrap();

    let second = engine(store);
    for _ in 0..2 {
        let mut client = Client::connect(&second).await;
        assert!(matches!(
            client.resume(session, Replay::All).await,
            Verdict::Accepted(_)
        ));
        assert_eq!(client.events, lived);
        drop(client);
        second.drain().await.unwrap();
    }
}

#[tokio::test]
async fn replay_gives_what_was_lived_through_in_memory() {
    replay_gives_what_was_lived_through(Store::in_memory()).await;
}

#[tokio::test]
async fn replay_gives_what_was_lived_through_on_disk() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_real(&folder.path().join("store")).unwrap();
    replay_gives_what_was_lived_through(store).await;
}

/// RESUME-3
#[tokio::test]
async fn a_load_changes_no_byte_below_sessions() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("store");
    let engine = engine(Store::open_real(&root).unwrap());
    let mut client = Client::connect(&engine).await;
    let session = client.new_session().await;
    client.turn(session, "say:hello").await;
    drop(client);
    engine.drain().await.unwrap();
    let before = tree(&root.join("sessions"));
    assert!(!before.is_empty());
    let mut client = Client::connect(&engine).await;
    client.resume(session, Replay::All).await;
    let missing: SessionId = "0199ab01-1234-7abc-8def-0123456789ab".parse().unwrap();
    assert_eq!(
        code(client.resume(missing, Replay::All).await),
        ErrorCode::NotFound
    );
    drop(client);
    engine.drain().await.unwrap();
    assert_eq!(tree(&root.join("sessions")), before);
}

#[tokio::test]
async fn a_resumed_agent_is_opened_with_the_conversation_so_far() {
    let store = Store::in_memory();
    let engine = engine(store);
    let mut client = Client::connect(&engine).await;
    let session = client.new_session().await;
    client.turn(session, "say:one").await;
    drop(client);
    engine.drain().await.unwrap();
    let mut client = Client::connect(&engine).await;
    client.resume(session, Replay::None).await;
    client.turn(session, "known").await;
    assert_eq!(
        client.said(),
        ["2 items"],
        "the prompt and the answer before it"
    );
}

/// SQEQ-2, SQEQ-4
#[tokio::test]
async fn cancel_ends_the_active_turn_and_the_waiting_one() {
    let engine = engine(Store::in_memory());
    let mut client = Client::connect(&engine).await;
    let session = client.new_session().await;
    for prompt in ["hang", "stubborn"] {
        let active = client.start(session, prompt).await;
        let waiting = client.start(session, "say:never").await;
        let interrupt = Op::TurnInterrupt {
            turn: None,
            queued: Queued::Cancel,
        };
        client.submit(Some(session), interrupt).await;
        assert_eq!(client.ended(active).await, TurnOutcome::Cancelled);
        assert_eq!(client.ended(waiting).await, TurnOutcome::Cancelled);
        assert_eq!(
            client.turn(session, "say:alive").await,
            TurnOutcome::Completed
        );
    }
    assert_eq!(client.said(), ["alive", "alive"]);
}

/// WIRE-8
#[tokio::test]
async fn a_question_is_answered_once_and_late_answers_are_refused() {
    let engine = engine(Store::in_memory());
    let mut client = Client::connect(&engine).await;
    let session = client.new_session().await;
    let turn = client.start(session, "ask").await;
    let request = client.request().await;
    client
        .answer(
            &request,
            Outcome::Selected {
                option: "no_such".into(),
            },
        )
        .await;
    while client.errors.is_empty() {
        client.next().await;
    }
    client
        .answer(
            &request,
            Outcome::Selected {
                option: "allow_once".into(),
            },
        )
        .await;
    assert_eq!(client.ended(turn).await, TurnOutcome::Completed);
    client
        .answer(
            &request,
            Outcome::Selected {
                option: "allow_once".into(),
            },
        )
        .await;
    while client.errors.len() < 2 {
        client.next().await;
    }
    assert!(
        client
            .errors
            .iter()
            .all(|error| error.code == ErrorCode::Refused)
    );
    let closed = client.events.iter().filter(|frame| {
        matches!(
            &frame.event,
            Event::RequestClosed {
                outcome: Outcome::Selected { .. },
                ..
            }
        )
    });
    assert_eq!(closed.count(), 1);
}

/// LOG-7
#[tokio::test]
async fn a_second_engine_is_told_who_holds_the_session() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("store");
    let holder = engine(Store::open_real(&root).unwrap());
    let mut client = Client::connect(&holder).await;
    let session = client.new_session().await;
    let other = engine(Store::open_real(&root).unwrap());
    let mut rival = Client::connect(&other).await;
    let Verdict::Error(error) = rival.resume(session, Replay::All).await else {
        panic!()
    };
    assert_eq!(error.code, ErrorCode::Busy);
    assert_eq!(
        error.holder.map(|holder| holder.pid),
        Some(std::process::id())
    );
    let mut same_process = Client::connect(&holder).await;
    assert_eq!(
        code(same_process.resume(session, Replay::All).await),
        ErrorCode::Busy
    );
    drop(client);
    holder.drain().await.unwrap();
    assert!(matches!(
        rival.resume(session, Replay::All).await,
        Verdict::Accepted(_)
    ));
}

#[tokio::test]
async fn a_client_that_goes_cancels_its_turn_and_the_turn_is_recorded() {
    let engine = engine(Store::in_memory());
    let mut client = Client::connect(&engine).await;
    let session = client.new_session().await;
    let turn = client.start(session, "say:before hang").await;
    drop(client);
    engine.drain().await.unwrap();
    let mut client = Client::connect(&engine).await;
    client.resume(session, Replay::All).await;
    assert_eq!(client.ended(turn).await, TurnOutcome::Cancelled);
    assert_eq!(client.said(), ["before"]);
}

#[tokio::test]
async fn sessions_are_listed_newest_first_by_cwd_and_in_pages_that_neither_skip_nor_repeat() {
    let engine = engine(Store::in_memory());
    let mut client = Client::connect(&engine).await;
    let mut made = Vec::new();
    for n in 0..5 {
        let session = client.new_session().await;
        client.turn(session, &format!("say:{n}")).await;
        made.push(session);
    }
    made.reverse();
    let mut seen = Vec::new();
    let mut after = None;
    loop {
        let query = SessionList {
            cwd: Some("/w".into()),
            after,
            limit: Some(2),
            ..SessionList::default()
        };
        let listed = client.submit(None, Op::SessionList(query)).await;
        let Verdict::Accepted(Accepted::Sessions { sessions, next }) = listed else {
            panic!()
        };
        seen.extend(sessions.iter().map(|row| row.session));
        assert!(sessions.iter().all(|row| row.title.is_some()));
        match next {
            Some(_) => after = next,
            None => break,
        }
    }
    seen.sort_unstable();
    made.sort_unstable();
    assert_eq!(seen, made);
    let elsewhere = SessionList {
        cwd: Some("/elsewhere".into()),
        ..SessionList::default()
    };
    let listed = client.submit(None, Op::SessionList(elsewhere)).await;
    let empty = Accepted::Sessions {
        sessions: Vec::new(),
        next: None,
    };
    assert_eq!(listed, Verdict::Accepted(empty));
    let bad = SessionList {
        after: Some("nonsense".into()),
        ..SessionList::default()
    };
    assert_eq!(
        code(client.submit(None, Op::SessionList(bad)).await),
        ErrorCode::Invalid
    );
}

/// RESUME-2: filters hold together, page by page.
#[tokio::test]
async fn sessions_are_found_by_title_and_by_a_part_of_it() {
    let engine = engine(Store::in_memory());
    let mut client = Client::connect(&engine).await;
    let mut made = Vec::new();
    for prompt in ["say:a", "say:b", "say:a", "say:ab"] {
        let session = client.new_session().await;
        client.turn(session, prompt).await;
        made.push(session);
    }
    let filters = |title: Option<&str>, search: Option<&str>| SessionList {
        title: title.map(str::to_owned),
        search: search.map(str::to_owned),
        cwd: Some("/w".into()),
        limit: Some(1),
        ..SessionList::default()
    };
    let table: [(_, _, &[usize]); 5] = [
        (Some("say:a"), None, &[0, 2]),
        (None, Some("Y:A"), &[0, 2, 3]),
        (Some("say:a"), Some("say"), &[0, 2]),
        (Some("say:a"), Some("ab"), &[]),
        (Some("say"), None, &[]),
    ];
    for (title, search, expected) in table {
        let mut query = filters(title, search);
        let mut found = Vec::new();
        loop {
            let listed = client.submit(None, Op::SessionList(query.clone())).await;
            let Verdict::Accepted(Accepted::Sessions { sessions, next }) = listed else {
                panic!("{listed:?}")
            };
            found.extend(sessions.iter().map(|row| row.session));
            query.after = next;
            if query.after.is_none() {
                break;
            }
        }
        let mut expected: Vec<_> = expected.iter().map(|n| made[*n]).collect();
        expected.sort_unstable();
        found.sort_unstable();
        assert_eq!(found, expected, "{title:?} {search:?}");
    }
    let longest = "é".repeat(limits::FILTER_CHARS);
    let longer = format!("{longest}x");
    for (text, allowed) in [
        ("", false),
        (" ", true),
        (&*longest, true),
        (&*longer, false),
    ] {
        for query in [filters(Some(text), None), filters(None, Some(text))] {
            match client.submit(None, Op::SessionList(query)).await {
                Verdict::Accepted(_) => assert!(allowed, "{text:?}"),
                Verdict::Error(error) => {
                    assert_eq!(
                        (error.code, allowed),
                        (ErrorCode::Invalid, false),
                        "{text:?}"
                    );
                }
            }
        }
    }
}

#[tokio::test]
async fn submissions_that_cannot_be_are_refused_by_name() {
    let engine = engine(Store::in_memory());
    let mut client = Client::connect(&engine).await;
    let unknown: SessionId = "0199ab01-1234-7abc-8def-0123456789ab".parse().unwrap();
    let close = || Op::SessionClose {};
    assert_eq!(code(client.submit(None, close()).await), ErrorCode::Invalid);
    assert_eq!(
        code(client.submit(Some(unknown), close()).await),
        ErrorCode::NotFound
    );
    let read = Op::SessionRead {
        after: Cursor::START,
        before: None,
        limit: None,
        extent: Default::default(),
    };
    assert_eq!(
        code(client.submit(Some(unknown), read).await),
        ErrorCode::NotFound
    );
    let session = client.new_session().await;
    assert!(matches!(
        client.submit(Some(session), close()).await,
        Verdict::Accepted(_)
    ));
    let gone = tokio::time::timeout(DEADLINE, engine.drain()).await;
    assert_eq!(gone.unwrap(), Ok(()));
    assert_eq!(
        code(client.submit(Some(session), close()).await),
        ErrorCode::NotFound
    );
}

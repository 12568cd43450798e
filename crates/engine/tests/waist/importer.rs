//! Sessions that are made of conversations which were led elsewhere.

use sessiond_engine::{Engine, Foreign, originals_of};
use sessiond_log::Store;
use sessiond_protocol::{
    Content, ErrorCode, Event, Finish, Item, ItemId, Marker, Replay, SessionId, Severity, Telling,
    Titler, Told, TurnOutcome, told_of,
};
use uuid::Uuid;

use crate::harness::{Client, engine};

fn foreign(id: u128) -> Foreign {
    Foreign {
        session: Some(SessionId::new(Uuid::from_u128(id))),
        cwd: "/w".to_owned(),
        agent: None,
        title: None,
        began: Some("2026-01-01T00:00:00Z".to_owned()),
    }
}

fn told(nth: u128, what: Telling) -> Told {
    Told {
        id: Some(ItemId::new(Uuid::from_u128(nth))),
        at: Some(format!("2026-01-01T00:00:0{nth}Z")),
        what,
    }
}

fn asked(text: &str) -> Telling {
    let content = vec![Content::text(text)];
    Telling::Item(Item::UserMessage { content })
}

fn answered(text: &str) -> Telling {
    let (text, finish) = (text.to_owned(), Finish::Whole);
    Telling::Item(Item::AgentMessage { text, finish })
}

fn conversation() -> Vec<Told> {
    let notice = Telling::Notice {
        severity: Severity::Info,
        title: "n".to_owned(),
        description: None,
    };
    [
        asked("first"),
        answered("one"),
        Telling::Summary("summed up".to_owned()),
        notice,
        asked("second"),
        answered("two"),
    ]
    .into_iter()
    .zip(1..)
    .map(|(what, nth)| told(nth, what))
    .collect()
}

async fn import(engine: &Engine, foreign: Foreign) -> SessionId {
    let mut importer = engine.importer(foreign).await.unwrap();
    let mut keeper = importer.keeper();
    for piece in [b"first \xff".to_vec(), b"second".to_vec()] {
        keeper.keep(("claude", ""), piece).await.unwrap();
    }
    let beside = keeper.keep(("claude", "beside"), b"other".to_vec());
    beside.await.unwrap();
    importer.kept(keeper).await.unwrap();
    for told in conversation() {
        importer.tell(told).await.unwrap();
    }
    importer.finish().await.unwrap().session
}

/// CTX-2, CTX-8: clients are shown everything, the agent gets the summary and what came after it.
#[tokio::test]
async fn a_conversation_that_was_led_elsewhere_goes_on_here() {
    let store = Store::in_memory();
    let session = import(&engine(store.clone()), foreign(1)).await;
    let engine = engine(store);
    let mut client = Client::connect(&engine).await;
    client.resume(session, Replay::All).await;
    assert_eq!(client.said(), ["one", "two"]);
    assert_eq!(client.turn(session, "known").await, TurnOutcome::Completed);
    // The summary, what was asked and answered after it.
    assert_eq!(client.said().pop().unwrap(), "3 items");
}

/// Ids and times stay those of elsewhere; the title is that of the first prompt, where no other is
/// told.
#[tokio::test]
async fn ids_times_and_titles_are_those_that_are_told() {
    let store = Store::in_memory();
    let engine = engine(store.clone());
    let session = import(&engine, foreign(1)).await;
    let events = sessiond_engine::events_of(&store, session).unwrap();
    let (about, told) = told_of(&events);
    let same: Vec<_> = told
        .into_iter()
        .zip(conversation())
        .map(|(told, was)| {
            let is_notice = matches!(was.what, Telling::Notice { .. });
            assert_eq!((&told.at, &told.what), (&was.at, &was.what));
            assert!(is_notice || told.id == was.id);
        })
        .collect();
    assert_eq!(same.len(), 6);
    assert_eq!(about.title, Some(("first".to_owned(), Titler::Prompt)));
    assert_eq!(about.began.as_deref(), Some("2026-01-01T00:00:00Z"));
    let title = Some(("chosen".to_owned(), Titler::User));
    let other = Foreign {
        title: title.clone(),
        ..foreign(2)
    };
    let session = import(&engine, other).await;
    let events = sessiond_engine::events_of(&store, session).unwrap();
    assert_eq!(told_of(&events).0.title, title);
    // Opening it reads the checkpoint at its end.
    let last = events.last().map(|frame| &frame.event);
    assert!(matches!(
        last,
        Some(Event::Marker(Marker::Checkpoint { .. }))
    ));
}

/// ADAPT-4: what was written elsewhere is kept byte for byte.
#[tokio::test]
async fn originals_are_kept_as_they_were() {
    let store = Store::in_memory();
    let session = import(&engine(store.clone()), foreign(1)).await;
    let subject = session.to_string().parse().unwrap();
    let kept: Vec<_> = originals_of(&store, session)
        .unwrap()
        .into_iter()
        .map(|(marker, pieces)| {
            let Marker::Original {
                file,
                offset,
                bytes,
                ..
            } = marker
            else {
                panic!()
            };
            let pieces = pieces.iter().map(|piece| store.attachment(&subject, piece));
            let pieces = pieces.map(|piece| piece.unwrap().unwrap());
            (file, offset, bytes, pieces.collect::<Vec<_>>().concat())
        })
        .collect();
    assert_eq!(
        kept,
        [
            (String::new(), 0, 13, b"first \xffsecond".to_vec()),
            ("beside".to_owned(), 0, 5, b"other".to_vec()),
        ]
    );
}

/// Nothing is there before it is whole, and nothing of what is refused.
#[tokio::test]
async fn an_import_is_there_whole_or_not_at_all() {
    let store = Store::in_memory();
    let engine = engine(store.clone());
    let mut importer = engine.importer(foreign(1)).await.unwrap();
    importer.tell(told(1, asked("a"))).await.unwrap();
    assert_eq!(store.subjects().unwrap(), []);
    let empty = Telling::Item(Item::UserMessage {
        content: Vec::new(),
    });
    let refused = importer.tell(told(2, empty)).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::Invalid);
    drop(importer);
    assert_eq!(store.subjects().unwrap(), []);
    let relative = Foreign {
        cwd: "w".to_owned(),
        ..foreign(1)
    };
    let refused = engine.importer(relative).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::Invalid);
    let session = import(&engine, foreign(1)).await;
    let again = engine.importer(foreign(1)).await.unwrap_err();
    assert_eq!(
        (again.code, again.session),
        (ErrorCode::Invalid, Some(session))
    );
}

//! Items that come from clients, through the waist: appended to a session, or imported as one.

use sessiond_log::Store;
use sessiond_protocol::{
    Accepted, Content, Cursor, ErrorCode, Event, Finish, ImportSource, Item, Op, Replay, SessionId,
    SessionView, Start, TurnOutcome, Verdict,
};

use crate::harness::{Client, code, engine};

fn conversation() -> Vec<Item> {
    let content = vec![Content::text("asked elsewhere")];
    let (text, finish) = ("answered elsewhere".to_owned(), Finish::Whole);
    vec![
        Item::UserMessage { content },
        Item::AgentMessage { text, finish },
    ]
}

async fn known(client: &mut Client, session: SessionId) -> String {
    let outcome = client.turn(session, "known").await;
    assert_eq!(outcome, TurnOutcome::Completed);
    client.said().pop().unwrap()
}

fn items(cwd: &str, agent: Option<&str>, items: Vec<Item>) -> Op {
    let source = ImportSource::Items {
        cwd: cwd.into(),
        agent: agent.map(str::to_owned),
        items,
    };
    Op::SessionImport { source }
}

async fn imported(client: &mut Client, op: Op) -> SessionView {
    match client.submit(None, op).await {
        Verdict::Accepted(Accepted::Session(view)) => *view,
        other => panic!("{other:?}"),
    }
}

/// The agent is opened with them, in this process and in the next; a fork takes them along.
#[tokio::test]
async fn what_was_appended_is_part_of_the_conversation() {
    let store = Store::in_memory();
    let engine_1 = engine(store.clone());
    let mut client = Client::connect(&engine_1).await;
    let session = client.new_session().await;
    client.turn(session, "say:one").await;
    let items = conversation();
    let appended = client
        .submit(Some(session), Op::SessionAppend { items })
        .await;
    assert!(matches!(appended, Verdict::Accepted(_)), "{appended:?}");
    let fork = client
        .submit(Some(session), Op::SessionFork { at: None, id: None })
        .await;
    let Verdict::Accepted(Accepted::Session(child)) = fork else {
        panic!("{fork:?}");
    };
    assert_eq!(known(&mut client, session).await, "4 items");
    drop(client);
    engine_1.drain().await.unwrap();
    let engine_2 = engine(store);
    for (session, shown, remembered) in [
        (
            session,
            &["one", "answered elsewhere", "4 items"][..],
            "6 items",
        ),
        (child.session, &["one", "answered elsewhere"], "4 items"),
    ] {
        let mut client = Client::connect(&engine_2).await;
        client.resume(session, Replay::All).await;
        assert_eq!(client.said(), shown);
        assert_eq!(known(&mut client, session).await, remembered);
    }
}

/// RESUME-1: it says that it was imported, rests, and goes on like any other.
#[tokio::test]
async fn a_session_is_imported_from_items() {
    let engine = engine(Store::in_memory());
    let mut client = Client::connect(&engine).await;
    let view = imported(&mut client, items("/w", None, conversation())).await;
    assert_eq!((view.cwd.as_str(), view.cursor), ("/w", Cursor(4)));
    assert_eq!(view.title.as_deref(), Some("asked elsewhere"));
    let page = client
        .submit(None, Op::SessionList(Default::default()))
        .await;
    let Verdict::Accepted(Accepted::Sessions { sessions, .. }) = page else {
        panic!("{page:?}");
    };
    assert_eq!(sessions[0].session, view.session);
    client.resume(view.session, Replay::All).await;
    assert_eq!(client.said(), ["answered elsewhere"]);
    let header = client.events.iter().find_map(|frame| match &frame.event {
        Event::SessionOpened(header) => Some(header.start),
        _ => None,
    });
    assert_eq!(header, Some(Start::Imported));
    assert_eq!(known(&mut client, view.session).await, "2 items");
}

/// Nothing is made of what is wrong.
#[tokio::test]
async fn an_import_that_cannot_be_is_refused_and_leaves_nothing() {
    let engine = engine(Store::in_memory());
    let mut client = Client::connect(&engine).await;
    let file = |path: &str| {
        let (path, id) = (path.to_owned(), None);
        let source = ImportSource::File { path, id };
        Op::SessionImport { source }
    };
    let plan = Item::Plan {
        entries: Vec::new(),
    };
    for (op, expected, pointer) in [
        (
            items("/w", Some("nobody"), conversation()),
            ErrorCode::AgentUnavailable,
            None,
        ),
        (
            items("w", None, conversation()),
            ErrorCode::Invalid,
            Some("/op/source/cwd"),
        ),
        (
            items("/w", None, Vec::new()),
            ErrorCode::Invalid,
            Some("/op/source/items"),
        ),
        (
            items("/w", None, vec![plan]),
            ErrorCode::Invalid,
            Some("/op/source/items/0"),
        ),
        (
            file("relative"),
            ErrorCode::Invalid,
            Some("/op/source/path"),
        ),
        (
            file("/nothing/there"),
            ErrorCode::Invalid,
            Some("/op/source/path"),
        ),
    ] {
        let refused = client.submit(None, op).await;
        if let Verdict::Error(error) = &refused {
            assert_eq!(error.pointer.as_deref(), pointer, "{error}");
        }
        assert_eq!(code(refused), expected);
    }
    let page = client
        .submit(None, Op::SessionList(Default::default()))
        .await;
    let Verdict::Accepted(Accepted::Sessions { sessions, .. }) = page else {
        panic!("{page:?}");
    };
    assert_eq!(sessions, []);
}

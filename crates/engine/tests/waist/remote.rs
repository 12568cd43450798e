//! A client that came over a network: what it may not do that the user's own programs may.

use sessiond_log::Store;
use sessiond_protocol::{
    Accepted, Content, ErrorCode, ImportSource, Item, Op, SessionList, Verdict,
};

use crate::harness::{Client, engine};

fn import(source: ImportSource) -> Op {
    Op::SessionImport { source }
}

/// SEC-4: no file is read for it, whether or not there is one; what it has itself it imports.
#[tokio::test]
async fn no_file_is_read_for_who_came_over_a_network() {
    let folder = tempfile::tempdir().unwrap();
    let there = folder.path().join("there");
    std::fs::write(&there, "no export").unwrap();
    let engine = engine(Store::in_memory());
    let mut user = Client::connect(&engine).await;
    let mut remote = Client::from_a_network(&engine).await;
    for path in [there, folder.path().join("nowhere")] {
        let path = path.display().to_string();
        let file = || {
            import(ImportSource::File {
                path: path.clone(),
                id: None,
            })
        };
        let (allowed, refused) = (
            user.submit(None, file()).await,
            remote.submit(None, file()).await,
        );
        let Verdict::Error(error) = refused else {
            panic!("{refused:?}")
        };
        assert_eq!(error.code, ErrorCode::Refused);
        assert_eq!(error.pointer.as_deref(), Some("/op/source"));
        assert!(
            matches!(&allowed, Verdict::Error(error) if error.code != ErrorCode::Refused),
            "it is looked at for the user: {allowed:?}"
        );
    }
    let items = vec![Item::UserMessage {
        content: vec![Content::text("hi")],
    }];
    let (cwd, agent) = ("/w".to_owned(), None);
    let imported = remote
        .submit(None, import(ImportSource::Items { cwd, agent, items }))
        .await;
    assert!(matches!(imported, Verdict::Accepted(_)), "{imported:?}");
}

/// SEC-4: discovery is not authority: of all workspaces it is told a number, of the one that it
/// names the sessions.
#[tokio::test]
async fn who_came_over_a_network_counts_what_is_in_workspaces_that_it_does_not_name() {
    let engine = engine(Store::in_memory());
    let mut user = Client::connect(&engine).await;
    let one = user.new_session_in("/one").await;
    user.new_session_in("/two").await;
    let mut remote = Client::from_a_network(&engine).await;
    for (cwd, sees) in [(None, None), (Some("/one"), Some(vec![one]))] {
        let cwd = cwd.map(str::to_owned);
        let list = Op::SessionList(SessionList {
            cwd,
            ..SessionList::default()
        });
        let seen = match remote.submit(None, list).await {
            Verdict::Accepted(Accepted::Sessions { sessions, .. }) => {
                Some(sessions.iter().map(|row| row.session).collect())
            }
            Verdict::Accepted(Accepted::Count { count: 2 }) => None,
            other => panic!("{other:?}"),
        };
        assert_eq!(seen, sees);
    }
}

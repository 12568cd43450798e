//! What a resume attests, and what it refuses until it is accepted.

use std::{
    path::Path,
    sync::{Arc, Mutex},
};

use sessiond_engine::{Engine, Environment};
use sessiond_log::{
    AuditEntry, Store,
    fs::{Fault, FaultFs, MemoryFs, Repeat},
};
use sessiond_protocol::{
    Accepted, AttachMode, Attestation, ContextStart, Cursor, DriftClass, ErrorCode, Event,
    EventFrame, FoundBy, Marker, OnDisconnect, Op, Replay, RequestKind, ResumePath, SessionId,
    SessionNew, SessionResume, Setup, TurnOutcome, Verdict, WireError, Workspace,
};

use crate::harness::{Client, code, engine_in};

/// A world in which the repository of a directory is what the directory's name says: that before
/// the dash.
#[derive(Default)]
struct World {
    user: Mutex<String>,
}

impl World {
    fn user(name: &str) -> Arc<Self> {
        let user = Mutex::new(name.to_owned());
        Arc::new(Self { user })
    }
}

impl Environment for World {
    fn workspace(&self, cwd: &Path) -> Workspace {
        let root = cwd.to_string_lossy().into_owned();
        let repository = root.split_once('-').map(|(name, _)| format!("{name}/.git"));
        Workspace {
            root: Some(root.clone()),
            worktree: repository.is_some().then_some(root),
            repository,
            branch: None,
        }
    }

    fn principal(&self) -> Option<String> {
        Some(self.user.lock().unwrap().clone())
    }
}

/// A resume with all that it may say.
fn resume(session: SessionId, cwd: Option<&str>, accept: &[DriftClass]) -> SessionResume {
    SessionResume {
        setup: Default::default(),
        session,
        cwd: cwd.map(str::to_owned),
        found_by: FoundBy::Title,
        accept: accept.to_vec(),
        replay: Replay::None,
        mode: AttachMode::Control,
        answers: vec![RequestKind::Permission],
        on_disconnect: OnDisconnect::Cancel,
    }
}

async fn attach(client: &mut Client, resume: SessionResume) -> Result<Attestation, WireError> {
    match client.submit(None, Op::SessionResume(resume)).await {
        Verdict::Accepted(Accepted::Session(view)) => Ok(*view.attestation.unwrap()),
        Verdict::Error(error) => Err(error),
        other => panic!("{other:?}"),
    }
}

fn recorded(events: &[EventFrame]) -> Vec<(Cursor, Attestation)> {
    let attestation = |frame: &EventFrame| match &frame.event {
        Event::Marker(Marker::Attest { attestation }) => {
            Some((frame.cursor?, attestation.as_ref().clone()))
        }
        _ => None,
    };
    events.iter().filter_map(attestation).collect()
}

/// A session made by `client` in `cwd`, with one turn, that rests.
async fn rested(engine: &Engine, cwd: &str) -> SessionId {
    let mut client = Client::connect(engine).await;
    let session = client.new_session_in(cwd).await;
    client.turn(session, "say:one").await;
    drop(client);
    engine.drain().await.unwrap();
    session
}

/// RESUME-3, RESUME-5, RESUME-16
#[tokio::test]
async fn a_resume_attests_in_its_receipt_and_records_it_before_all_else() {
    let engine = engine_in(Store::in_memory(), World::user("me"));
    let session = rested(&engine, "/r-a").await;
    let mut client = Client::connect(&engine).await;
    let told = attach(&mut client, resume(session, None, &[]))
        .await
        .unwrap();
    let loaded = told.loaded.unwrap();
    assert_eq!(
        (told.path, told.start),
        (ResumePath::Title, ContextStart::Resumed)
    );
    assert_eq!(told.surroundings.principal.as_deref(), Some("me"));
    assert_eq!(
        (told.agent.name.as_str(), told.mode.as_deref()),
        ("obedient", Some("ask"))
    );
    assert_eq!(recorded(&client.events), []);
    client.turn(session, "say:two").await;
    assert_eq!(recorded(&client.events), [(loaded.cursor.next(), told)]);

    // Coming again to what is open here is another arrival, and reads nothing.
    let again = attach(&mut client, resume(session, None, &[]))
        .await
        .unwrap();
    assert_eq!((again.path, again.loaded), (ResumePath::ReAttach, None));
    client.turn(session, "say:three").await;
    assert_eq!(recorded(&client.events).len(), 2);
}

/// RESUME-7, RESUME-16
#[tokio::test]
async fn another_repository_is_refused_until_accepted_and_a_sibling_worktree_is_adopted() {
    use DriftClass::Repository;
    let engine = engine_in(Store::in_memory(), World::user("me"));
    let session = rested(&engine, "/r-a").await;
    let refused = |error: WireError| (error.code, Vec::from(error.fields));
    let steps = [
        ("/r-b", &[][..], Ok(ResumePath::Relocation)),
        ("/s-a", &[], Err((ErrorCode::Drifted, vec![Repository]))),
        (
            "/s-a",
            &[DriftClass::Policy],
            Err((ErrorCode::Drifted, vec![Repository])),
        ),
        ("/s-a", &[Repository], Ok(ResumePath::CrossProject)),
        // It was recorded with that acceptance.
        ("/s-a", &[], Ok(ResumePath::Title)),
        ("/r-a", &[], Ok(ResumePath::Title)),
    ];
    for (cwd, accept, expected) in steps {
        let mut client = Client::connect(&engine).await;
        let told = attach(&mut client, resume(session, Some(cwd), accept)).await;
        let accepted = told.is_ok();
        assert_eq!(
            told.map(|told| told.path).map_err(refused),
            expected,
            "{cwd}"
        );
        if accepted {
            assert_eq!(client.turn(session, "say:x").await, TurnOutcome::Completed);
        }
        drop(client);
        engine.drain().await.unwrap();
    }
}

/// LOG-19, RESUME-14, RESUME-16
#[tokio::test]
async fn who_is_refused_and_what_was_accepted_is_in_the_audit_class_by_class() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_real(&folder.path().join("store")).unwrap();
    let world = World::user("me");
    let engine = engine_in(store.clone(), world.clone());
    let session = rested(&engine, "/r-a").await;
    *world.user.lock().unwrap() = "other".into();
    let mut client = Client::connect(&engine).await;
    let both = [DriftClass::Principal, DriftClass::Repository];
    let error = attach(&mut client, resume(session, Some("/s-a"), &[])).await;
    assert_eq!(
        error.map_err(|error| Vec::from(error.fields)),
        Err(both.to_vec())
    );
    attach(&mut client, resume(session, Some("/s-a"), &both))
        .await
        .unwrap();
    drop(client);
    engine.drain().await.unwrap();
    *world.user.lock().unwrap() = "me".into();
    let mut client = Client::connect(&engine).await;
    attach(&mut client, resume(session, Some("/r-b"), &[]))
        .await
        .unwrap();
    let line = |entry: AuditEntry| {
        let verdict = format!("{:?}", entry.verdict).to_lowercase();
        format!("{} {verdict} {}", entry.action, entry.reason)
    };
    let trail: Vec<String> = store.audit_trail().unwrap().into_iter().map(line).collect();
    assert_eq!(
        trail,
        [
            "new accepted id_free",
            "drift refused principal",
            "drift refused repository",
            "resume refused drifted",
            "drift accepted principal",
            "drift accepted repository",
            "resume accepted lease_free",
            "relocate accepted same_repository",
            "resume accepted lease_free",
        ]
    );
}

/// RESUME-7: who says where a session is has switched it.
#[tokio::test]
async fn a_session_that_was_relocated_begins_there_and_is_known_there_from_then_on() {
    let engine = engine_in(Store::in_memory(), World::user("me"));
    let session = rested(&engine, "/r-a").await;
    let mut client = Client::connect(&engine).await;
    attach(&mut client, resume(session, None, &[]))
        .await
        .unwrap();
    let cwd = "/s-a".to_owned();
    client
        .submit(Some(session), Op::SessionRelocate { cwd })
        .await;
    drop(client);
    engine.drain().await.unwrap();
    let mut client = Client::connect(&engine).await;
    let left = attach(&mut client, resume(session, Some("/r-a"), &[])).await;
    assert!(left.is_err(), "it is there no more");
    for run in 1..=2 {
        let mut client = Client::connect(&engine).await;
        let told = attach(&mut client, resume(session, None, &[]))
            .await
            .unwrap();
        let workspace = told.surroundings.workspace;
        assert_eq!(workspace.repository.as_deref(), Some("/s/.git"));
        client.turn(session, "say:x").await;
        drop(client);
        engine.drain().await.unwrap();
        let mut client = Client::connect(&engine).await;
        let foreign = attach(&mut client, resume(session, Some("/t-a"), &[])).await;
        assert!(foreign.is_err(), "run {run}");
    }
}

/// A session with a turn on a disk whose operation `fail_at` fails, and another turn that may fail;
/// the attestations of its log, and how many operations there were after the first turn.
async fn on_a_failing_disk(fail_at: u64) -> (Vec<ResumePath>, u64) {
    let disk = Arc::new(MemoryFs::new());
    let faulty = FaultFs::new(disk, fail_at, Fault::Torn, Repeat::Once);
    let store = Store::open(Arc::new(faulty.clone()), Path::new("/store")).unwrap();
    let engine = engine_in(store, World::user("me"));
    let mut client = Client::connect(&engine).await;
    let session = client.new_session_in("/r-a").await;
    client.turn(session, "say:one").await;
    let operations = faulty.operations();
    let input = vec![sessiond_protocol::Content::text("say:two")];
    let two = Op::TurnStart {
        input,
        if_busy: sessiond_protocol::IfBusy::Reject,
        idempotency_key: None,
    };
    if let Verdict::Accepted(Accepted::Turn { turn }) = client.submit(Some(session), two).await {
        client.ended(turn).await;
    }
    assert_eq!(
        client.turn(session, "say:three").await,
        TurnOutcome::Completed
    );
    let paths = recorded(&client.events)
        .into_iter()
        .map(|(_, told)| told.path);
    (paths.collect(), operations)
}

/// RESUME-5, LOG-6
#[tokio::test]
async fn a_run_that_goes_on_after_its_log_failed_attests_that_it_read_it_anew() {
    let (none, operations) = on_a_failing_disk(0).await;
    assert_eq!(none, []);
    let mut recovered = 0;
    for fail_at in operations + 1..operations + 6 {
        let (paths, _) = on_a_failing_disk(fail_at).await;
        assert!(
            paths.iter().all(|path| *path == ResumePath::Recovery),
            "{paths:?}"
        );
        recovered += paths.len();
    }
    assert!(recovered > 0, "no fault hit the log");
}

/// CKPT-4: roots beside the working directory are compared as the paths they lead to, with what is
/// recorded; what is wider is refused until it is accepted, and then recorded before all else; no
/// grant outlives a change. A client that says nothing of them leaves them as they are.
#[tokio::test]
async fn wider_roots_are_refused_until_they_are_accepted_and_then_recorded() {
    let engine = engine_in(Store::in_memory(), World::user("me"));
    let mut client = Client::connect(&engine).await;
    let new = SessionNew {
        setup: roots(&["/data"]),
        ..SessionNew::at("/r-a")
    };
    let session = client.create(new).await;
    client.turn(session, "say:one").await;
    drop(client);
    engine.drain().await.unwrap();
    let given = |roots: Option<&[&str]>, accept: &[DriftClass]| SessionResume {
        setup: roots.map(self::roots),
        ..resume(session, None, accept)
    };
    /// The roots that are given, whether they must be accepted, what is in force then.
    type Row<'a> = (Option<&'a [&'a str]>, bool, &'a [&'a str]);
    let table: [Row<'_>; 5] = [
        (None, false, &["/data"]),
        (Some(&["/data/part"]), false, &["/data/part"]),
        (Some(&["/data"]), false, &["/data"]),
        (Some(&["/data", "/else"]), true, &["/data", "/else"]),
        (Some(&["/"]), true, &["/"]),
    ];
    for (roots, must, in_force) in table {
        let mut client = Client::connect(&engine).await;
        let told = attach(&mut client, given(roots, &[])).await;
        match told {
            Ok(_) => assert!(!must, "{roots:?}"),
            Err(error) => {
                assert!(must, "{roots:?}: {error}");
                assert_eq!(Vec::from(error.fields), [DriftClass::Roots]);
                let told = attach(&mut client, given(roots, &[DriftClass::Roots]))
                    .await
                    .unwrap();
                assert!(
                    told.drift
                        .iter()
                        .any(|drift| drift.class == Some(DriftClass::Roots))
                );
            }
        }
        // A load alone records nothing: the next run compares with the same.
        let events = client.events.len();
        drop(client);
        engine.drain().await.unwrap();
        assert_eq!(events, 0, "{roots:?}");
        let mut client = Client::connect(&engine).await;
        let resumed = client
            .submit(None, Op::SessionResume(given(roots, &[DriftClass::Roots])))
            .await;
        let Verdict::Accepted(Accepted::Session(view)) = resumed else {
            panic!("{resumed:?}");
        };
        assert_eq!(view.roots, in_force, "{roots:?}");
        drop(client);
        engine.drain().await.unwrap();
    }
    // Recorded with the first append, they are what the next run compares with.
    let mut client = Client::connect(&engine).await;
    attach(&mut client, given(Some(&["/else"]), &[DriftClass::Roots]))
        .await
        .unwrap();
    client.turn(session, "say:two").await;
    drop(client);
    engine.drain().await.unwrap();
    let mut client = Client::connect(&engine).await;
    assert!(
        attach(&mut client, given(Some(&["/else"]), &[]))
            .await
            .is_ok()
    );
    drop(client);
    engine.drain().await.unwrap();
    let mut client = Client::connect(&engine).await;
    assert!(
        attach(&mut client, given(Some(&["/data"]), &[]))
            .await
            .is_err()
    );
    let relative = Op::SessionResume(given(Some(&["data"]), &[]));
    assert_eq!(
        code(client.submit(None, relative).await),
        ErrorCode::Invalid
    );
}

fn roots(names: &[&str]) -> Setup {
    Setup {
        roots: names.iter().map(|name| (*name).to_owned()).collect(),
        ..Setup::default()
    }
}

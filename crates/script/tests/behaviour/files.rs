//! The file tools, on the local disk and through a client that offers its files.

use serde_json::json;
use sessiond_protocol::{
    Location, Outcome, PermissionKind, RequestBody, RequestKind, ToolContent, ToolKind, ToolStatus,
};

use crate::session::{Act, Seen, Session, selected};

const LOCAL: [RequestKind; 1] = [RequestKind::Permission];
const CLIENT: [RequestKind; 3] = [
    RequestKind::Permission,
    RequestKind::FsRead,
    RequestKind::FsWrite,
];

fn allow() -> impl FnMut(&Seen) -> Act {
    selected(PermissionKind::AllowOnce)
}

#[tokio::test]
async fn read_shows_a_local_file() {
    let mut session = Session::new(&LOCAL).await;
    session.put("a b.txt", "tëxt\n");
    let path = session.path("a b.txt");
    for script in [
        "/read a b.txt".to_owned(),
        "/read ./a b.txt".to_owned(),
        format!("/read {path}"),
    ] {
        let turn = session.turn(&script, |_| Act::Watch).await;
        let call = turn.call();
        assert_eq!(
            (turn.shown().as_str(), &call.output),
            ("tëxt\n", &json!({ "bytes": 6 }))
        );
        assert_eq!(
            call.locations,
            [Location {
                path: path.clone(),
                line: None
            }]
        );
        assert_eq!(
            (call.kind, call.status),
            (ToolKind::Read, ToolStatus::Completed)
        );
    }
}

#[tokio::test]
async fn write_makes_a_local_file_hold_exactly_the_text() {
    let mut session = Session::new(&LOCAL).await;
    for text in ["first", "2"] {
        let turn = session
            .turn(&format!("/write out.txt {text}"), allow())
            .await;
        assert_eq!(session.get("out.txt").as_deref(), Some(text));
        assert_eq!(turn.call().output, json!({ "bytes": text.len() }));
    }
}

#[tokio::test]
async fn edit_replaces_the_first_occurrence_and_shows_the_difference() {
    let mut session = Session::new(&LOCAL).await;
    session.put("a.txt", "one two two");
    let turn = session.turn("/edit a.txt two => 2", allow()).await;
    assert_eq!(session.get("a.txt").as_deref(), Some("one 2 two"));
    let diff = ToolContent::Diff {
        path: session.path("a.txt"),
        old_text: Some("one two two".to_owned()),
        new_text: "one 2 two".to_owned(),
    };
    assert_eq!(turn.call().content, [diff]);
}

#[tokio::test]
async fn what_a_local_file_cannot_do_is_said_and_nothing_is_written() {
    let mut session = Session::new(&LOCAL).await;
    session.put("a.txt", "x");
    session.put("bad.txt", [0xff, 0xfe]);
    session.put("long.txt", vec![b'x'; (512 << 10) + 1]);
    std::fs::create_dir(session.cwd().join("dir")).expect("a folder");
    let cwd = session.path("").trim_end_matches('/').to_owned();
    let table = [
        (
            "/read none.txt",
            "file_error",
            "Could not read CWD/none.txt: No such file or directory",
        ),
        (
            "/read dir",
            "not_a_regular_file",
            "CWD/dir is not a regular file.",
        ),
        (
            "/read /dev/zero",
            "not_a_regular_file",
            "/dev/zero is not a regular file.",
        ),
        (
            "/read bad.txt",
            "not_text",
            "CWD/bad.txt is not UTF-8 text.",
        ),
        (
            "/read long.txt",
            "file_too_long",
            "CWD/long.txt has more than 524288 bytes.",
        ),
        (
            "/write no/a.txt x",
            "file_error",
            "Could not write CWD/no/a.txt: No such file or",
        ),
        (
            "/write dir x",
            "not_a_regular_file",
            "CWD/dir is not a regular file.",
        ),
        (
            "/edit none.txt a => b",
            "file_error",
            "Could not read CWD/none.txt: No such file or",
        ),
        (
            "/edit a.txt y => z",
            "text_not_found",
            "Not edited: CWD/a.txt does not hold the text",
        ),
        (
            "/edit bad.txt y => z",
            "not_text",
            "CWD/bad.txt is not UTF-8 text.",
        ),
        (
            "/edit long.txt x => y",
            "file_too_long",
            "CWD/long.txt has more than 262144 bytes.",
        ),
    ];
    for (script, code, said) in table {
        let turn = session.turn(script, allow()).await;
        let said = said.replace("CWD", &cwd);
        assert!(
            turn.shown().starts_with(&said),
            "{script}: {}",
            turn.shown()
        );
        let call = turn.call();
        assert_eq!(
            (call.status, &call.output),
            (ToolStatus::Failed, &json!({ "error": code }))
        );
    }
    assert_eq!(session.get("a.txt").as_deref(), Some("x"));
    assert_eq!(session.get("no/a.txt"), None);
}

#[tokio::test]
async fn a_file_of_just_the_longest_length_is_shown() {
    let mut session = Session::new(&LOCAL).await;
    session.put("long.txt", vec![b'x'; 512 << 10]);
    let turn = session.turn("/read long.txt", |_| Act::Watch).await;
    assert_eq!(turn.shown().len(), 512 << 10);
}

/// A client that holds one unsaved buffer for every path.
fn buffer(text: &'static str, wrote: Outcome) -> impl FnMut(&Seen) -> Act {
    let mut allow = allow();
    move |seen| match seen {
        Seen::Asked(RequestBody::FsRead { .. }) => Act::Answer(Outcome::Text {
            text: text.to_owned(),
        }),
        Seen::Asked(RequestBody::FsWrite { .. }) => Act::Answer(wrote.clone()),
        seen => allow(seen),
    }
}

#[tokio::test]
async fn a_client_that_offers_files_is_asked_and_the_disk_is_left_alone() {
    let mut session = Session::new(&CLIENT).await;
    session.put("a.txt", "on disk");
    let path = session.path("a.txt");
    let read = RequestBody::FsRead {
        path: path.clone(),
        line: None,
        limit: None,
    };
    let write = |content: &str| RequestBody::FsWrite {
        path: path.clone(),
        content: content.to_owned(),
    };
    let table = [
        ("/read a.txt", vec![read.clone()]),
        ("/write a.txt new", vec![write("new")]),
        ("/edit a.txt buffer => file", vec![read, write("in file")]),
    ];
    for (script, requests) in table {
        let turn = session
            .turn(script, buffer("in buffer", Outcome::Done))
            .await;
        let asked: Vec<_> = turn
            .asked()
            .into_iter()
            .filter(|body| !is_permission(body))
            .collect();
        assert_eq!(asked, requests, "{script}");
        assert_eq!(turn.call().status, ToolStatus::Completed);
    }
    assert_eq!(session.get("a.txt").as_deref(), Some("on disk"));
}

fn is_permission(body: &RequestBody) -> bool {
    body.kind() == RequestKind::Permission
}

#[tokio::test]
async fn what_a_client_cannot_do_fails_the_call_with_its_message() {
    let failed = Outcome::Failed {
        message: "no such buffer".to_owned(),
    };
    let table = [
        (failed, "no such buffer", "client_failed"),
        (
            Outcome::Cancelled,
            "The client dismissed the request.",
            "client_dismissed",
        ),
    ];
    for (outcome, said, code) in table {
        let mut session = Session::new(&CLIENT).await;
        let turn = session
            .turn("/write a.txt new\n/say on", buffer("", outcome))
            .await;
        assert_eq!((turn.shown().as_str(), turn.text().as_str()), (said, "on"));
        assert_eq!(turn.call().output, json!({ "error": code }));
        assert_eq!(session.get("a.txt"), None);
    }
}

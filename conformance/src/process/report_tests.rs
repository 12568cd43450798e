use super::seen;

#[test]
fn what_a_guard_says_is_what_is_recorded() {
    let cases = [
        ("exited -9", "Some(Exited(-9))"),
        ("exited", "Some(Exited(-1))"),
        ("tree", "Some(Descendants([]))"),
        (
            "tree 12:sh 13:sleep",
            "Some(Descendants([\"12:sh\", \"13:sleep\"]))",
        ),
        (
            "failed No such file",
            "Some(Note(\"did not start: No such file\"))",
        ),
        ("watching", "Some(Watched(Ok(())))"),
        (
            "unwatched Operation not permitted",
            "Some(Watched(Err(\"Operation not permitted\")))",
        ),
        (
            "synced [\"fsync\",\"/state/a b\\n.jsonl\"]",
            "Some(Synced(Sync { call: \"fsync\", path: \"/state/a b\\n.jsonl\" }))",
        ),
        ("synced", "Some(Synced(Sync { call: \"\", path: \"\" }))"),
        ("started 12", "None"),
        ("", "None"),
    ];
    for (line, expected) in cases {
        assert_eq!(format!("{:?}", seen(line)), expected, "{line:?}");
    }
}

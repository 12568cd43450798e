use super::thread_id;

/// codex.md B3: what is no id is refused in the original's words.
#[test]
fn an_id_is_a_uuid() {
    let character = "invalid character: expected an optional prefix of `urn:uuid:` followed by \
                     [0-9a-fA-F-], found `z` at";
    let table = [
        ("01a22742-0000-7000-8000-000000000000", None),
        ("01A22742000070008000000000000000", None),
        ("zz", Some(format!("{character} 1"))),
        ("01z", Some(format!("{character} 3"))),
        (
            "",
            Some("invalid length: expected length 32 for simple format, found 0".to_owned()),
        ),
        (
            "0-1",
            Some("invalid group count: expected 5, found 2".to_owned()),
        ),
        ("1-2-3-4-5", Some("invalid group length".to_owned())),
    ];
    for (text, mistake) in table {
        let read = thread_id(text, "thread").map_err(|error| error.message().to_owned());
        let wanted = mistake.map(|mistake| format!("invalid thread id: {mistake}"));
        assert_eq!(read.err(), wanted, "{text}");
    }
}

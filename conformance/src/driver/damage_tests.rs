use super::{Harm, harm, has, matches};

/// The harm, the texts of the record, and the file afterwards; `None` when there is no such record.
type Row<'a> = (Harm, &'a [&'a str], Option<&'a [u8]>);

#[test]
fn each_harm_hits_the_last_record_that_holds_the_text() {
    let file = b"a:x\nb:x\nc:y\n";
    let zeros = [&b"a:x\n"[..], &[0; 512], b"c:y\n"].concat();
    let rows: [Row<'_>; 10] = [
        (Harm::Cut, &[":x"], Some(b"a:x\nb:")),
        (Harm::Cut, &[], Some(b"a:x\nb:x\nc:")),
        (Harm::Flip, &[], Some(b"a:x\nb:x\nc:x\n")),
        (Harm::Twice, &["a:"], Some(b"a:x\na:x\nb:x\nc:y\n")),
        (Harm::Drop, &[":x"], Some(b"a:x\nc:y\n")),
        (
            Harm::Garbage,
            &["a:"],
            Some(b"a:x\n%%% not a record %%%\nb:x\nc:y\n"),
        ),
        (Harm::Zeros, &[":x"], Some(&zeros)),
        (Harm::Drop, &["z"], None),
        // A mark says which of the lines that hold a text is meant.
        (Harm::Drop, &[":x", "a:"], Some(b"b:x\nc:y\n")),
        (Harm::Drop, &[":x", "c:"], None),
    ];
    for (how, record, expected) in rows {
        assert_eq!(harm(file, record, how).as_deref(), expected, "{how:?}");
    }
}

#[test]
fn a_layout_names_files_by_at_most_one_star() {
    let rows = [
        ("*.jsonl", "1.jsonl", true),
        ("*.jsonl", "1.json", false),
        ("log", "log", true),
        ("log", "logs", false),
        ("a*a", "a", false),
    ];
    for (pattern, name, expected) in rows {
        assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
    }
}

#[test]
fn a_record_is_written_once_its_line_is_whole_and_holds_all_that_marks_it() {
    let rows: [(&[u8], &[&str], bool); 5] = [
        (b"a:x\nb:y\n", &[":y"], true),
        (b"a:x\nb:y", &[":y"], false),
        (b"a:x\nb:x\n", &["x", "b:"], true),
        (b"a:x\nb:y\n", &["x", "b:"], false),
        (b"", &["x"], false),
    ];
    for (file, texts, expected) in rows {
        let text = String::from_utf8_lossy(file);
        assert_eq!(has(file, texts), expected, "{text:?} {texts:?}");
    }
}

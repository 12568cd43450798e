use super::*;

/// A text, the entries that are found in it, and what is said of it.
type Case = (String, usize, &'static [(Kind, u64)]);

const A: &str = r#"{"parentUuid":null,"type":"user","uuid":"00000000-0000-4000-8000-00000000000a","message":{"content":"hi"}}"#;
const B: &str = r#"{"parentUuid":"00000000-0000-4000-8000-00000000000a","type":"assistant","uuid":"00000000-0000-4000-8000-00000000000b","message":{"id":"m","content":[{"type":"text","text":"ho"}]}}"#;

fn index(text: impl AsRef<[u8]>) -> Index {
    Index::read(text.as_ref()).unwrap()
}

fn found(index: &Index) -> Vec<(Kind, u64)> {
    let found = index.findings().iter();
    found.map(|(kind, found)| (kind, found.count)).collect()
}

#[test]
fn what_is_wrong_with_a_line_is_told_with_its_place_and_costs_that_line_alone() {
    let table: [Case; 14] = [
        (format!("{A}\n{B}\n"), 2, &[]),
        (format!("\u{feff}{A}\r\n\n  \n{B}"), 2, &[]),
        (format!("{A}\nno entry\n{B}\n"), 2, &[(Kind::BadLine, 1)]),
        (
            format!("{A}\n[1]\n\"x\"\n7\n{B}\n"),
            2,
            &[(Kind::BadLine, 3)],
        ),
        (format!("{A}\n\0\0\0{B}\n"), 2, &[(Kind::NulBytes, 1)]),
        (format!("{A}\n\0\0\0\n{B}\n"), 2, &[(Kind::BadLine, 1)]),
        (format!("{A}{B}\n"), 2, &[(Kind::Spliced, 1)]),
        (format!("{A}\0\0{B}\n"), 2, &[(Kind::Spliced, 1)]),
        (
            format!("{}{B}\n", &A[..60]),
            1,
            &[(Kind::BadLine, 1), (Kind::Spliced, 1)],
        ),
        (format!("{A}\n{}\n", &B[..150]), 1, &[(Kind::BadLine, 1)]),
        (format!("{A}\n{}", &B[..150]), 1, &[(Kind::TornTail, 1)]),
        (format!("{A}\n{A}\n{B}\n"), 2, &[(Kind::DuplicateEntry, 1)]),
        (
            format!("{A}\n{{\"type\":\"martian\",\"uuid\":\"x\"}}\n{{\"type\":\"mode\"}}\n"),
            1,
            &[(Kind::UnknownEntry, 1), (Kind::Bookkeeping, 1)],
        ),
        ("{\"type\":\"user\"}\n".to_owned(), 0, &[(Kind::BadLine, 1)]),
    ];
    for (text, entries, says) in table {
        let index = index(&text);
        assert_eq!(index.entries(), entries, "{text}");
        assert_eq!(found(&index), says, "{text}");
    }
}

#[test]
fn places_are_those_of_the_bytes() {
    let text = format!("{A}\nbad{B}\n");
    let index = index(&text);
    let of = |kind| index.findings().iter().find(|(k, _)| *k == kind).unwrap().1;
    let bad = &of(Kind::BadLine).places[0];
    assert_eq!(
        (bad.line, bad.offset, bad.bytes),
        (2, A.len() as u64 + 1, 3)
    );
    let node = &index.nodes[1];
    let entry = &text[node.offset as usize..(node.offset + node.bytes) as usize];
    assert_eq!(entry, B);
}

#[test]
fn a_member_of_another_type_costs_that_member_alone() {
    let text = r#"{"parentUuid":7,"type":"user","uuid":"00000000-0000-4000-8000-00000000000a","isSidechain":"no","cwd":[1],"version":{"a":1},"message":{"id":3,"content":[7,"x",{"type":["a"]},{"type":"tool_use","id":{}}]}}"#;
    let index = index(text);
    assert_eq!(index.entries(), 1);
    assert_eq!(found(&index), []);
}

#[test]
fn the_title_is_the_users_last_one_else_the_models_last_one() {
    let ai = |title| format!("{{\"type\":\"ai-title\",\"aiTitle\":\"{title}\"}}\n");
    let own = |title| format!("{{\"type\":\"custom-title\",\"customTitle\":\"{title}\"}}\n");
    let title = |text: String| index(text).about().title.clone();
    assert_eq!(
        title(ai("a") + &ai("b")),
        Some(("b".to_owned(), Titler::Agent))
    );
    let both = own("x") + &own("y") + &ai("b");
    assert_eq!(title(both), Some(("y".to_owned(), Titler::User)));
}

#[test]
fn a_file_that_grows_is_read_on_from_where_its_last_whole_line_ended() {
    let text = format!("{A}\n{B}\n");
    let mut index = Index::default();
    for upto in 0..=text.len() {
        index.go_on(&text.as_bytes()[..upto]).unwrap();
    }
    assert_eq!(index.entries(), 2);
    assert_eq!(found(&index), []);
    assert_eq!(index.end(), text.len() as u64);
    assert_eq!(index.nodes[1].line, 2);
}

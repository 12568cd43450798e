use serde_json::json;

use super::super::findings::Kind;
use super::super::tests::{event, head, message, read, words};
use super::*;

#[test]
fn what_was_rolled_back_is_not_told() {
    let turn = |text: &str| message("user", text) + &message("assistant", text);
    let back = |turns: u64| event(json!({"type": ROLLED_BACK, "num_turns": turns}));
    let table = [
        (
            turn("a") + &turn("b") + &back(1) + &turn("c"),
            vec!["a", "[a]", "c", "[c]"],
        ),
        (
            turn("a") + &turn("b") + &back(2) + &turn("c"),
            vec!["c", "[c]"],
        ),
        (
            turn("a") + &back(9) + &turn("c") + &back(1) + &turn("d"),
            vec!["d", "[d]"],
        ),
        (turn("a") + &back(0), vec!["a", "[a]"]),
    ];
    for (text, expected) in table {
        let (told, findings) = read(&(head(1, json!({})) + &text));
        assert_eq!(words(&told), expected);
        let lines = text
            .lines()
            .filter(|line| !line.contains(ROLLED_BACK))
            .count();
        assert_eq!(
            findings.of(Kind::RolledBack) as usize,
            lines - expected.len()
        );
    }
}

#[test]
fn the_word_is_found_across_the_edge_of_what_is_read_at_once() {
    for before in [0, WINDOW - 9, WINDOW - 1, WINDOW * 2 + 3] {
        let mut text = vec![b'x'; before];
        text.extend_from_slice(ROLLED_BACK.as_bytes());
        let length = text.len() as u64;
        assert!(holds(&Upto::new(&text, length)).unwrap());
        assert!(!holds(&Upto::new(&text, length - 1)).unwrap());
    }
}

use serde_json::json;

use super::super::tests::{file, head, message, numbered, read, read_with, thread, words};
use super::*;

fn base(number: u128, until: u64) -> serde_json::Value {
    json!({
        "history_mode": "paginated",
        "history_base": {"thread_id": thread(number), "end_ordinal_exclusive": until},
    })
}

fn parent() -> String {
    let mode = json!({"history_mode": "paginated"});
    let lines = [
        head(1, mode),
        message("user", "a"),
        message("user", "b"),
        message("user", "c"),
    ];
    numbered(&lines, 0)
}

/// ADAPT-4: a fork has what it was forked with, and nothing that was said there since.
#[test]
fn a_fork_begins_with_what_it_goes_on_from() {
    let child = numbered(&[head(2, base(1, 3)), message("user", "d")], 3);
    let (told, findings) = read_with(file(2, "", &child), |wanted| {
        assert_eq!(wanted.thread, thread(1));
        Ok(vec![file(1, "", &parent())])
    });
    assert_eq!(words(&told), ["a", "b", "d"]);
    assert!(findings.is_sound(), "{findings}");
}

#[test]
fn a_reverted_thread_goes_on_from_its_own_older_file() {
    let second = numbered(
        &[
            head(1, base(1, 2)),
            message("user", "x"),
            message("user", "y"),
        ],
        2,
    );
    let third = numbered(&[head(1, base(1, 4)), message("user", "z")], 4);
    let all = [("_b", third.clone()), ("_a", second), ("", parent())];
    let (told, findings) = read_with(file(1, "_b", &third), |_| {
        Ok(all
            .iter()
            .map(|(segment, text)| file(1, segment, text))
            .collect())
    });
    assert_eq!(words(&told), ["a", "x", "z"]);
    assert!(findings.is_sound(), "{findings}");
}

#[test]
fn what_is_missing_or_goes_in_a_circle_is_said() {
    let one = numbered(&[head(1, base(2, 5)), message("user", "a")], 5);
    let two = numbered(&[head(2, base(1, 9)), message("user", "b")], 3);
    let both = |wanted: &Wanted| {
        Ok(match wanted.thread == thread(1) {
            true => vec![file(1, "", &one)],
            false => vec![file(2, "", &two)],
        })
    };
    let (told, findings) = read_with(file(1, "", &one), both);
    assert_eq!(words(&told), ["b", "a"]);
    assert_eq!(findings.of(Kind::Cycle), 1);
    let (told, findings) = read(&one);
    assert_eq!(words(&told), ["a"]);
    assert_eq!(findings.of(Kind::MissingBase), 1);
}

#[test]
fn the_first_head_counts_wherever_it_stands() {
    let (head, says) = (head(1, json!({})), message("user", "a"));
    let table = [
        (format!("{head}{says}"), Vec::new()),
        (format!("\n{head}{says}"), Vec::new()),
        (format!("{}\r\n{says}", head.trim_end()), Vec::new()),
        (format!("\u{feff}{head}{says}"), vec![Kind::ByteOrderMark]),
        (
            format!("odd\n{head}{says}"),
            vec![Kind::BadLine, Kind::LateHead],
        ),
        (says.clone(), vec![Kind::LateHead]),
    ];
    for (text, expected) in table {
        let (told, findings) = read(&text);
        assert_eq!(words(&told), ["a"], "{text}");
        let damage = findings.iter().map(|(kind, _)| kind);
        let damage: Vec<_> = damage.filter(|kind| *kind != Kind::Bookkeeping).collect();
        assert_eq!(damage, expected, "{text}");
    }
    let other = super::super::tests::head(2, json!({}));
    let (_, findings) = read(&format!("{other}{says}"));
    assert_eq!(findings.of(Kind::OtherName), 1);
    let copied = format!("{head}{other}{says}");
    let rollout = Rollout::read(file(1, "", &copied), |_| Ok(Vec::new())).unwrap();
    assert_eq!(rollout.about().session, Some(SessionId::new(thread(1))));
}

#[test]
fn ordinals_show_what_was_written_twice_and_what_is_missing() {
    let mode = json!({"history_mode": "paginated"});
    let [head, a, b] = [head(1, mode), message("user", "a"), message("user", "b")];
    let one = |line: &String, ordinal| numbered(std::slice::from_ref(line), ordinal);
    let table = [
        (
            [one(&head, 0), one(&a, 1), one(&a, 1)],
            vec!["a"],
            Some(Kind::DuplicateLine),
        ),
        (
            [one(&head, 0), one(&a, 1), one(&b, 1)],
            vec!["a", "b"],
            Some(Kind::OrdinalBack),
        ),
        (
            [one(&head, 0), one(&a, 1), one(&b, 3)],
            vec!["a", "b"],
            Some(Kind::OrdinalGap),
        ),
        (
            [one(&head, 0), one(&a, 1), b.clone()],
            vec!["a", "b"],
            Some(Kind::MissingOrdinal),
        ),
        (
            [one(&head, 0), one(&a, 1), one(&b, 2)],
            vec!["a", "b"],
            None,
        ),
    ];
    for (lines, expected, kind) in table {
        let (told, findings) = read(&lines.concat());
        assert_eq!(words(&told), expected);
        assert_eq!(findings.is_sound(), kind.is_none());
        assert_eq!(kind.map_or(1, |kind| findings.of(kind)), 1, "{kind:?}");
    }
}

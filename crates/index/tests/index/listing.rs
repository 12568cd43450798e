//! Lists, titles, searches.

use sessiond_index::{Page, Query, Recency};

use crate::harness::{Bench, all, id, said_by_agent, said_by_user, titled, titles};

fn numbers(page: &Page) -> Vec<u32> {
    let number = |text: String| u32::from_str_radix(&text[28..], 16).unwrap();
    page.rows
        .iter()
        .map(|row| number(row.summary.session.to_string()))
        .collect()
}

/// LOG-14: newest first; where times are equal, the higher id.
#[test]
fn pages_are_full_and_together_they_are_the_whole_list_in_order() {
    let bench = Bench::new();
    let mut expected = Vec::new();
    for number in 0..23 {
        // Several sessions share a second, and ids do not follow the times.
        let second = (number * 7) % 5;
        let cwd = if number % 3 == 0 { "/w/a" } else { "/w/b" };
        bench.session(number, cwd, &format!("2026-01-01T00:00:0{second}Z"), "t");
        expected.push((second, number, cwd));
    }
    expected.sort_unstable();
    expected.reverse();
    let index = bench.index();
    for (cwd, limit) in [
        (None, 5),
        (None, 23),
        (None, 1),
        (Some("/w/a"), 3),
        (Some("/w/b"), 0),
    ] {
        let here = |row: &&(u32, u32, &str)| cwd.is_none_or(|cwd| cwd == row.2);
        let expected: Vec<u32> = expected.iter().filter(here).map(|row| row.1).collect();
        let mut query = Query {
            cwd: cwd.map(str::to_owned),
            after: None,
            limit,
        };
        let mut listed = Vec::new();
        loop {
            let page = index.list(&query).unwrap();
            listed.extend(numbers(&page));
            query.after = page.next;
            if query.after.is_none() {
                break;
            }
            assert_eq!(
                page.rows.len(),
                limit.max(1) as usize,
                "a page before the last is full"
            );
        }
        assert_eq!(listed, expected, "{cwd:?} by {limit}");
    }
}

/// LOG-13: no two directories share a key.
#[test]
fn directories_that_look_alike_are_not_the_same() {
    let bench = Bench::new();
    let paths = [
        "/a-b",
        "/a/b",
        "/a/b/",
        "/A/b",
        "/a_b",
        "/a%",
        "/é",
        "/e\u{301}",
        "/漢字",
        "/漢",
        "/a'b",
    ];
    for (number, cwd) in (0..).zip(paths) {
        bench.session(number, cwd, "2026-01-01T00:00:00Z", "t");
    }
    let index = bench.index();
    for (number, cwd) in (0..).zip(paths) {
        let query = Query {
            cwd: Some(cwd.to_owned()),
            ..all()
        };
        assert_eq!(numbers(&index.list(&query).unwrap()), [number], "{cwd}");
    }
}

#[test]
fn sessions_that_come_between_two_pages_shift_nothing() {
    let bench = Bench::new();
    for number in 0..4 {
        bench.session(number, "/w", &format!("2026-01-01T00:00:0{number}Z"), "t");
    }
    let index = bench.index();
    let first = index.list(&Query { limit: 2, ..all() }).unwrap();
    assert_eq!(numbers(&first), [3, 2]);
    bench.session(9, "/w", "2026-01-01T00:00:09Z", "newer");
    let second = index
        .list(&Query {
            limit: 2,
            after: first.next,
            cwd: None,
        })
        .unwrap();
    assert_eq!((numbers(&second), second.next), (vec![1, 0], None));
}

/// LOG-14
#[test]
fn a_message_from_the_future_counts_as_now_and_is_flagged() {
    let bench = Bench::new();
    bench.session(1, "/w", "2026-01-01T00:00:00Z", "past");
    bench.session(2, "/w", "9000-01-01T00:00:00Z", "future");
    let page = bench.index().list(&all()).unwrap();
    assert_eq!(numbers(&page), [2, 1]);
    assert_eq!(page.rows[0].recency, Recency::Clamped);
    assert!(page.rows[0].summary.updated_at.as_str() < "9000");
    assert_eq!(page.rows[1].recency, Recency::Logged);
    assert_eq!(page.rows[1].summary.updated_at, "2026-01-01T00:00:00Z");
}

/// LOG-14: neither a title nor a tool call is a message.
#[test]
fn recency_is_the_time_of_the_newest_message() {
    let bench = Bench::new();
    let open = bench.open(1, "/w", "2026-01-01T00:00:00Z");
    bench.append(
        &open,
        "2026-01-01T00:00:01Z",
        &[said_by_user("hi"), said_by_agent("ho")],
    );
    bench.append(&open, "2026-01-01T00:00:02Z", &[titled("later")]);
    bench.close(open);
    let row = bench.index().find(id(1)).unwrap().unwrap();
    assert_eq!(row.summary.updated_at, "2026-01-01T00:00:01Z");
    assert_eq!(row.summary.created_at, "2026-01-01T00:00:00Z");
    assert_eq!(row.summary.title.as_deref(), Some("later"));
}

/// RESUME-2
#[test]
fn a_title_finds_every_session_of_exactly_that_title() {
    let bench = Bench::new();
    let titles = ["Fix it", "fix it", "Fix it", "Fix it!", "Fix%"];
    for (number, title) in (0..).zip(titles) {
        let cwd = if number == 2 { "/other" } else { "/w" };
        bench.session(number, cwd, &format!("2026-01-01T00:00:0{number}Z"), title);
    }
    let index = bench.index();
    assert_eq!(index.by_title("Fix it", None).unwrap(), [id(2), id(0)]);
    assert_eq!(index.by_title("Fix it", Some("/w")).unwrap(), [id(0)]);
    assert_eq!(index.by_title("Fix%", None).unwrap(), [id(4)]);
    assert_eq!(index.by_title("Fix", None).unwrap(), []);
}

#[test]
fn a_search_takes_its_text_literally() {
    let bench = Bench::new();
    let texts = [
        "100% sure",
        "100 times",
        "snake_case",
        "snakeXcase",
        r"back\slash",
        "it's 漢字",
    ];
    for (number, text) in (0..).zip(texts) {
        let open = bench.open(number, "/w", &format!("2026-01-01T00:00:0{number}Z"));
        let title = titled("no match");
        bench.append(&open, "2026-01-01T00:00:00Z", &[title, said_by_user(text)]);
        bench.append(
            &open,
            "2026-01-01T00:00:00Z",
            &[said_by_user("only the first prompt")],
        );
        bench.close(open);
    }
    let index = bench.index();
    let found = |text: &str| {
        let rows = index.search(text, 10).unwrap();
        let page = Page { rows, next: None };
        let mut numbers = numbers(&page);
        numbers.sort_unstable();
        numbers
    };
    let table: [(&str, &[u32]); 9] = [
        ("100%", &[0]),
        ("100", &[0, 1]),
        ("E_C", &[2]),
        (r"\", &[4]),
        ("'", &[5]),
        ("漢", &[5]),
        ("NO MATCH", &[0, 1, 2, 3, 4, 5]),
        ("only the first", &[]),
        ("%%", &[]),
    ];
    for (text, numbers) in table {
        assert_eq!(found(text), numbers, "{text}");
    }
    assert_eq!(index.search("no match", 2).unwrap().len(), 2);
}

/// LOG-4: a damaged log is listed and says so; one without a header is no row.
#[test]
fn damaged_logs_are_listed_as_far_as_they_can_be_read() {
    let bench = Bench::new();
    for number in [1, 2] {
        bench.session(number, "/w", "2026-01-01T00:00:00Z", "t");
    }
    let (header, title) = ("session.opened", "session.changed");
    for (number, kind) in [(1, title), (2, header)] {
        let dir = crate::harness::log_dir(bench.store.root(), id(number));
        let segment = std::fs::read_dir(dir)
            .unwrap()
            .next()
            .unwrap()
            .unwrap()
            .path();
        let text = std::fs::read_to_string(&segment).unwrap();
        std::fs::write(&segment, text.replace(kind, &kind.to_uppercase())).unwrap();
    }
    let page = bench.index().list(&all()).unwrap();
    assert_eq!(numbers(&page), [1]);
    assert_eq!(
        (page.rows[0].summary.damage, &page.rows[0].summary.title),
        (1, &None)
    );
}

#[test]
fn a_store_that_is_not_there_lists_nothing_and_stays_so() {
    let bench = Bench::new();
    let index = bench.index();
    assert!(titles(&index).is_empty());
    assert!(!bench.store.root().exists());
    assert_eq!(index.find(id(1)).unwrap(), None);
}

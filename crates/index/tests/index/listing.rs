//! Lists, titles, searches.

use sessiond_index::{Page, Query};
use sessiond_protocol::Recency;

use crate::harness::{Bench, all, having, id, said_by_agent, said_by_user, titled, titles};

fn numbers(page: &Page) -> Vec<u32> {
    let number = |text: String| u32::from_str_radix(&text[28..], 16).unwrap();
    page.rows
        .iter()
        .map(|row| number(row.session.to_string()))
        .collect()
}

/// LOG-14: newest first; where times are equal, the higher id.
#[test]
fn pages_are_full_and_together_they_are_the_whole_list_in_order() {
    let bench = Bench::new();
    let mut made = Vec::new();
    for number in 0..23 {
        // Several sessions share a second, and ids do not follow the times.
        let second = (number * 7) % 5;
        let cwd = if number % 3 == 0 { "/w/a" } else { "/w/b" };
        let title = if number % 2 == 0 { "even" } else { "uneven" };
        bench.session(number, cwd, &format!("2026-01-01T00:00:0{second}Z"), title);
        made.push((second, number, cwd, title));
    }
    made.sort_unstable();
    made.reverse();
    let index = bench.index();
    type Row = (u32, u32, &'static str, &'static str);
    type Passes = fn(&Row) -> bool;
    // Working directory, title, text to search for.
    let table: [(_, _, _, Passes); 8] = [
        (None, None, None, |_| true),
        (Some("/w/a"), None, None, |row| row.2 == "/w/a"),
        (Some("/w/b"), None, None, |row| row.2 == "/w/b"),
        (None, Some("even"), None, |row| row.3 == "even"),
        (None, None, Some("even"), |_| true),
        (None, None, Some("UNEVEN"), |row| row.3 == "uneven"),
        (Some("/w/a"), Some("even"), Some("eve"), |row| {
            row.2 == "/w/a" && row.3 == "even"
        }),
        (Some("/w/a"), Some("even"), Some("uneven"), |_| false),
    ];
    for ((cwd, title, search, passes), limit) in table
        .into_iter()
        .flat_map(|row| [0, 3, 5, 23].map(|limit| (row, limit)))
    {
        let what = format!("{cwd:?} {title:?} {search:?} by {limit}");
        let passing = made.iter().filter(|row| passes(row));
        let expected: Vec<u32> = passing.map(|row| row.1).collect();
        let mut query = Query {
            cwd: cwd.map(str::to_owned),
            title: title.map(str::to_owned),
            search: search.map(str::to_owned),
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
            let full = limit.max(1) as usize;
            assert_eq!(page.rows.len(), full, "{what}: a page before the last");
        }
        assert_eq!(listed, expected, "{what}");
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
            ..all()
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
    assert!(page.rows[0].updated_at.as_str() < "9000");
    assert_eq!(page.rows[1].recency, Recency::Logged);
    assert_eq!(page.rows[1].updated_at, "2026-01-01T00:00:00Z");
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
    assert_eq!(row.updated_at, "2026-01-01T00:00:01Z");
    assert_eq!(row.created_at, "2026-01-01T00:00:00Z");
    assert_eq!(row.title.as_deref(), Some("later"));
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
    let table: [(&str, Option<&str>, &[u32]); 5] = [
        ("Fix it", None, &[2, 0]),
        ("Fix it", Some("/w"), &[0]),
        ("Fix%", None, &[4]),
        ("Fix", None, &[]),
        ("Fix it' OR 'a' = 'a", None, &[]),
    ];
    for (title, cwd, expected) in table {
        let query = Query {
            title: Some(title.to_owned()),
            cwd: cwd.map(str::to_owned),
            ..all()
        };
        assert_eq!(numbers(&index.list(&query).unwrap()), expected, "{title}");
    }
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
        let mut numbers = numbers(&index.list(&having(text)).unwrap());
        numbers.sort_unstable();
        numbers
    };
    let table: [(&str, &[u32]); 10] = [
        ("a\0", &[]),
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
    assert_eq!((page.rows[0].damage, &page.rows[0].title), (1, &None));
}

#[test]
fn a_store_that_is_not_there_lists_nothing_and_stays_so() {
    let bench = Bench::new();
    let index = bench.index();
    assert!(titles(&index).is_empty());
    assert!(!bench.store.root().exists());
    assert_eq!(index.find(id(1)).unwrap(), None);
}

use serde_json::json;
use sessiond_protocol::Summary;

use super::super::params::ThreadListParams;
use super::{cut, is_recent_first};

fn summary(id: u128, created: u32, agent: &str) -> Summary {
    serde_json::from_value(json!({
        "session": uuid::Uuid::from_u128(id), "cwd": format!("/w/{}", id % 2), "title": null,
        "agent": agent, "created_at": format!("2026-01-01T00:00:{created:02}Z"),
        "updated_at": "2026-01-02T00:00:00Z", "turns": 1,
    }))
    .unwrap_or_else(|error| panic!("{error}"))
}

fn params(value: serde_json::Value) -> ThreadListParams {
    serde_json::from_value(value).unwrap_or_default()
}

fn ids(page: &[Summary]) -> Vec<u128> {
    page.iter()
        .map(|summary| summary.session.uuid().as_u128())
        .collect()
}

#[test]
fn a_walk_over_pages_meets_each_thread_once_though_times_are_equal() {
    for direction in ["asc", "desc"] {
        let all: Vec<_> = (1..=7).map(|id| summary(id, 5, "script")).collect();
        let mut cursor = None;
        let mut seen = Vec::new();
        loop {
            let params = params(json!({
                "sortKey": "created_at", "sortDirection": direction, "cursor": cursor,
            }));
            let (page, next) = cut(all.clone(), &params, 3).unwrap_or_default();
            seen.extend(ids(&page));
            cursor = next;
            if cursor.is_none() {
                break;
            }
        }
        let mut wanted: Vec<_> = (1..=7).collect();
        if direction == "desc" {
            wanted.reverse();
        }
        assert_eq!(seen, wanted, "{direction}");
    }
}

#[test]
fn filters_come_before_the_page() {
    let all = || vec![summary(1, 3, "a"), summary(2, 2, "b"), summary(3, 1, "a")];
    let third = uuid::Uuid::from_u128(3);
    let table = [
        (json!({"sortKey": "created_at"}), vec![1, 2, 3]),
        (
            json!({"sortKey": "created_at", "sortDirection": "asc"}),
            vec![3, 2, 1],
        ),
        (json!({"modelProviders": ["b"]}), vec![2]),
        (json!({"modelProviders": []}), vec![3, 2, 1]),
        (json!({"cwd": ["/w/1", "/w/9"]}), vec![3, 1]),
        (json!({"includedThreadIds": [third]}), vec![3]),
        (json!({"excludedThreadIds": [third]}), vec![2, 1]),
    ];
    for (given, wanted) in table {
        let page = cut(all(), &params(given.clone()), 10).unwrap_or_default().0;
        assert_eq!(ids(&page), wanted, "{given}");
    }
}

#[test]
fn only_the_order_of_use_is_left_to_the_engine() {
    let table = [
        (json!({}), true),
        (
            json!({"sortKey": "updated_at", "sortDirection": "desc", "cwd": "/w"}),
            true,
        ),
        (
            json!({"cwd": ["/w"], "searchTerm": "x", "modelProviders": []}),
            true,
        ),
        (json!({"sortKey": "created_at"}), false),
        (json!({"sortDirection": "asc"}), false),
        (json!({"cwd": ["/a", "/b"]}), false),
        (json!({"includedThreadIds": []}), false),
    ];
    for (given, recent) in table {
        assert_eq!(is_recent_first(&params(given.clone())), recent, "{given}");
    }
    let bad = params(json!({"sortKey": "created_at", "cursor": "zzz"}));
    assert!(cut(Vec::new(), &bad, 1).is_err());
}

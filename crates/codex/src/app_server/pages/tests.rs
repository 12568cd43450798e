use serde_json::{Value, json};

use super::super::params::{SortDirection, ThreadTurnsListParams};
use super::super::stored::{Client, id};
use super::page;

type Key = Option<&'static str>;

fn params(cursor: Option<&str>, limit: u32) -> ThreadTurnsListParams {
    ThreadTurnsListParams {
        thread_id: String::new(),
        turn_id: None,
        cursor: cursor.map(str::to_owned),
        limit: Some(limit),
        sort_direction: None,
    }
}

#[test]
fn a_page_goes_on_behind_its_cursor_in_either_direction() {
    let keys = || ["a", "b", "c"].map(str::to_owned).to_vec();
    let cases: [(_, Key, u32, &[&str], Key); 7] = [
        (SortDirection::Asc, None, 2, &["a", "b"], Some("b")),
        (SortDirection::Asc, Some("b"), 2, &["c"], None),
        (SortDirection::Desc, None, 2, &["c", "b"], Some("b")),
        (SortDirection::Desc, Some("b"), 2, &["a"], None),
        (SortDirection::Asc, None, 3, &["a", "b", "c"], None),
        (SortDirection::Asc, Some("c"), 3, &[], None),
        (SortDirection::Asc, None, 0, &["a"], Some("a")),
    ];
    for (direction, cursor, limit, expected, next) in cases {
        let page = page(keys(), &params(cursor, limit), direction).expect("a page");
        assert_eq!(page.keys, expected, "{direction:?} {cursor:?}");
        assert_eq!(page.next.as_deref(), next, "{direction:?} {cursor:?}");
    }
    assert!(page(keys(), &params(Some("x"), 2), SortDirection::Asc).is_err());
}

/// The numbers of the turns on a page, by what was said in them.
fn said(page: &Value) -> Vec<String> {
    let turns = page["data"].as_array().unwrap().iter();
    let text = |turn: &Value| turn["items"][1]["text"].as_str().unwrap().to_owned();
    turns.map(text).collect()
}

/// A page reads the stretch of the log that it shows, not all of it.
#[tokio::test]
async fn after_the_first_page_only_what_is_shown_is_read() {
    let mut client = Client::new(200);
    let whole = client.log.len();
    let first = client
        .page("thread/turns/list", &json!({ "limit": 2 }))
        .await;
    assert_eq!(said(&first), ["said 200", "said 199"]);
    assert!(client.read >= whole, "{} of {whole}", client.read);
    client.read = 0;
    let cursor = first["nextCursor"].clone();
    let second = client
        .page(
            "thread/turns/list",
            &json!({ "limit": 2, "cursor": cursor }),
        )
        .await;
    assert_eq!(said(&second), ["said 198", "said 197"]);
    assert!(client.read <= 8, "{} events for two turns", client.read);
    client.read = 0;
    let asc = json!({ "limit": 3, "sortDirection": "asc" });
    let first = client.page("thread/turns/list", &asc).await;
    assert_eq!(said(&first), ["said 1", "said 2", "said 3"]);
    assert!(client.read <= 12, "{} events for three turns", client.read);
}

/// What is appended meanwhile is on the next page.
#[tokio::test]
async fn what_is_added_between_two_pages_is_shown() {
    let mut client = Client::new(3);
    let newest = json!({ "limit": 1 });
    assert_eq!(
        said(&client.page("thread/turns/list", &newest).await),
        ["said 3"]
    );
    client.turn(4);
    client.read = 0;
    assert_eq!(
        said(&client.page("thread/turns/list", &newest).await),
        ["said 4"]
    );
    assert!(client.read <= 8, "{} events", client.read);
}

#[tokio::test]
async fn items_are_paged_within_and_across_turns() {
    let mut client = Client::new(40);
    let mut shown = Vec::new();
    let mut cursor = Value::Null;
    loop {
        let page = client
            .page(
                "thread/items/list",
                &json!({ "limit": 3, "cursor": cursor }),
            )
            .await;
        for entry in page["data"].as_array().unwrap() {
            shown.push(entry["item"]["id"].as_str().unwrap().to_owned());
        }
        cursor = page["nextCursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    let expected: Vec<String> = (1..=40u64)
        .flat_map(|turn| [id(turn * 10), id(turn * 10 + 1)])
        .map(|id| id.to_string())
        .collect();
    assert_eq!(shown, expected);
    let one = client
        .page("thread/items/list", &json!({ "turnId": id(70) }))
        .await;
    assert_eq!(one["data"].as_array().unwrap().len(), 2);
    assert_eq!(one["data"][1]["item"]["text"], "said 7");
}

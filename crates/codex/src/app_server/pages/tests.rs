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

/// A page of the newest turns costs what it holds, the first one too.
#[tokio::test]
async fn a_page_of_the_newest_turns_reads_the_end_of_the_log() {
    let mut client = Client::new(200);
    let mut cursor = Value::Null;
    for newest in [200, 198, 196] {
        client.read = 0;
        let page = json!({ "limit": 2, "cursor": cursor });
        let page = client.page("thread/turns/list", &page).await;
        let expected = [newest, newest - 1].map(|turn| format!("said {turn}"));
        assert_eq!(said(&page), expected);
        // The header, and what is looked at for three turns.
        assert!(client.read <= 25, "{} events for two turns", client.read);
        cursor = page["nextCursor"].clone();
    }
}

/// The first page of the oldest turns reads the log; later ones the stretch that they show.
#[tokio::test]
async fn after_the_first_page_only_what_is_shown_is_read() {
    let mut client = Client::new(200);
    let asc = json!({ "limit": 3, "sortDirection": "asc" });
    let first = client.page("thread/turns/list", &asc).await;
    assert_eq!(said(&first), ["said 1", "said 2", "said 3"]);
    client.read = 0;
    let asc = json!({ "limit": 3, "sortDirection": "asc", "cursor": first["nextCursor"] });
    let second = client.page("thread/turns/list", &asc).await;
    assert_eq!(said(&second), ["said 4", "said 5", "said 6"]);
    assert!(client.read <= 12, "{} events for three turns", client.read);
}

/// Whatever a turn holds, and however it came to be: pages from the newest on are those from the
/// oldest on, the other way round. A face that knows nothing of the pages before finds their ends.
#[tokio::test]
async fn newest_first_is_oldest_first_the_other_way_round() {
    let mut client = Client::new(0);
    for number in 1..=30u64 {
        client.turn(number);
        // Items without a turn: appended ones, and those of a thread that was taken in.
        let (user, agent) = (1000 + number * 10, 1001 + number * 10);
        let content = json!([{ "type": "text", "text": format!("added {number}") }]);
        let message = json!({ "type": "user_message", "content": content });
        let answer = json!({ "type": "agent_message", "text": format!("said more {number}") });
        if number % 3 == 0 {
            client.append(0, user, json!({ "type": "item.ended", "item": message }));
        }
        for more in 0..number % 5 {
            let item = agent + more;
            client.append(0, item, json!({ "type": "item.ended", "item": answer }));
        }
    }
    let oldest = json!({ "limit": 100, "sortDirection": "asc" });
    let oldest = client.page("thread/turns/list", &oldest).await["data"].clone();
    let mut expected = oldest.as_array().unwrap().clone();
    expected.reverse();
    for limit in [1, 2, 7, 40, 100] {
        for forget in [false, true] {
            let (mut shown, mut cursor) = (Vec::new(), Value::Null);
            loop {
                let page = json!({ "limit": limit, "cursor": cursor });
                let page = client.page("thread/turns/list", &page).await;
                shown.extend(page["data"].as_array().unwrap().iter().cloned());
                cursor = page["nextCursor"].clone();
                if cursor.is_null() {
                    break;
                }
                if forget {
                    client.forget();
                }
            }
            assert_eq!(shown, expected, "{limit} {forget}");
        }
    }
    let strange = json!({ "cursor": "strange" });
    assert!(client.page("thread/turns/list", &strange).await.is_null());
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
    assert!(client.read <= 17, "{} events", client.read);
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

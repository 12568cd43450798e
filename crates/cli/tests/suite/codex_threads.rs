//! Threads of `sessiond-codex app-server`: opened, listed, read, put away, changed; and what their
//! client is asked.

use serde_json::{Value, json};

use crate::harness::{Codex, Home};

fn thread(id: &str) -> Value {
    json!({ "threadId": id })
}

fn ids(page: &Value) -> Vec<String> {
    let data = page["data"].as_array().unwrap().iter();
    data.map(|thread| thread["id"].as_str().unwrap().to_owned())
        .collect()
}

fn texts(turn: &Value) -> Vec<String> {
    let items = turn["items"].as_array().unwrap().iter();
    let text = |item: &Value| match item["type"].as_str() {
        Some("userMessage") => item["content"][0]["text"].as_str().unwrap().to_owned(),
        Some("agentMessage") => item["text"].as_str().unwrap().to_owned(),
        other => other.unwrap().to_owned(),
    };
    items.map(text).collect()
}

/// RESUME-10, ADAPT-7: what is read, resumed and paged is what was shown live.
#[test]
fn live_items_are_those_of_read_resume_and_pages() {
    let home = Home::new();
    let mut codex = Codex::start(&home);
    let id = codex.thread(&home);
    codex.run(&id, "one\n/run echo hi\n/think hm\n/write a b");
    codex.run(&id, "two");
    let live: Vec<Value> = codex
        .frames
        .iter()
        .filter(|frame| frame["method"] == "item/completed")
        .map(|frame| frame["params"]["item"].clone())
        .collect();
    let read = codex.call(
        "thread/read",
        json!({ "threadId": id, "includeTurns": true }),
    );
    let items = |thread: &Value| -> Vec<Value> {
        let turns = thread["turns"].as_array().unwrap().iter();
        turns
            .flat_map(|turn| turn["items"].as_array().unwrap().clone())
            .collect()
    };
    let untimed = |items: Vec<Value>| -> Vec<Value> {
        let strip = |mut item: Value| {
            let item = item.as_object_mut().unwrap();
            item.remove("startedAtMs");
            item.remove("durationMs");
            json!(item)
        };
        items.into_iter().map(strip).collect()
    };
    let live = untimed(live);
    assert_eq!(untimed(items(&read["thread"])), live);
    let page = codex.call("thread/items/list", json!({ "threadId": id, "limit": 100 }));
    let entries = page["data"].as_array().unwrap().iter();
    assert_eq!(
        untimed(entries.map(|entry| entry["item"].clone()).collect()),
        live
    );
    codex.close_stdin();
    assert_eq!(codex.ended().code(), Some(0));
    let mut codex = Codex::start(&home);
    let resumed = codex.call("thread/resume", thread(&id));
    assert_eq!(resumed["thread"]["id"], json!(id));
    assert_eq!(untimed(items(&resumed["thread"])), live);
    let shown = codex.call(
        "thread/resume",
        json!({ "threadId": id, "excludeTurns": true }),
    );
    assert_eq!(shown["thread"]["turns"], json!([]));
    assert_eq!(
        shown["thread"]["preview"],
        "one\n/run echo hi\n/think hm\n/write a b"
    );
}

#[test]
fn turns_come_newest_first_page_by_page() {
    let home = Home::new();
    let mut codex = Codex::start(&home);
    let id = codex.thread(&home);
    for text in ["1", "2", "3", "4", "5"] {
        codex.run(&id, text);
    }
    let mut seen = Vec::new();
    let mut cursor = Value::Null;
    loop {
        let params = json!({ "threadId": id, "limit": 2, "cursor": cursor });
        let page = codex.call("thread/turns/list", params);
        let turns = page["data"].as_array().unwrap();
        seen.extend(turns.iter().map(|turn| texts(turn)[0].clone()));
        cursor = page["nextCursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!(seen, ["5", "4", "3", "2", "1"]);
    let oldest = json!({ "threadId": id, "limit": 1, "sortDirection": "asc" });
    let page = codex.call("thread/turns/list", oldest);
    assert_eq!(texts(&page["data"][0])[0], "1");
    let turn = page["data"][0]["id"].clone();
    let items = codex.call(
        "thread/items/list",
        json!({ "threadId": id, "turnId": turn }),
    );
    assert_eq!(items["data"].as_array().unwrap().len(), 2);
    let bad = codex.refusal(
        "thread/turns/list",
        json!({ "threadId": id, "cursor": "zzz" }),
    );
    assert_eq!(bad, "invalid cursor: zzz");
}

#[test]
fn threads_are_listed_by_place_text_and_time() {
    let home = Home::new();
    std::fs::create_dir(home.path("sub")).unwrap();
    let mut codex = Codex::start(&home);
    let mut made = Vec::new();
    for text in ["apple", "banana", "apple pie"] {
        let id = codex.thread(&home);
        codex.run(&id, text);
        made.push(id);
    }
    let params = json!({ "cwd": home.path("sub"), "sandbox": "danger-full-access" });
    let other = codex.call("thread/start", params)["thread"]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    codex.run(&other, "cherry");
    let table = [
        (json!({ "cwd": home.work() }), vec![2, 1, 0]),
        (json!({ "searchTerm": "APPLE" }), vec![2, 0]),
        (
            json!({ "sortKey": "created_at", "sortDirection": "asc", "cwd": home.work() }),
            vec![0, 1, 2],
        ),
        (json!({ "includedThreadIds": [made[1]] }), vec![1]),
        (json!({ "modelProviders": ["nobody"] }), vec![]),
    ];
    for (params, wanted) in table {
        let wanted: Vec<_> = wanted.iter().map(|at: &usize| made[*at].clone()).collect();
        assert_eq!(
            ids(&codex.call("thread/list", params.clone())),
            wanted,
            "{params}"
        );
    }
    let first = codex.call("thread/list", json!({ "limit": 3 }));
    let rest = codex.call(
        "thread/list",
        json!({ "limit": 3, "cursor": first["nextCursor"] }),
    );
    let all = [ids(&first), ids(&rest)].concat();
    assert_eq!(
        all,
        [&other, &made[2], &made[1], &made[0]].map(Clone::clone)
    );
    let mut loaded = made.clone();
    loaded.push(other);
    loaded.sort();
    assert_eq!(
        codex.call("thread/loaded/list", json!({}))["data"],
        json!(loaded)
    );
}

#[test]
fn a_thread_is_archived_brought_back_named_and_deleted() {
    let home = Home::new();
    let mut codex = Codex::start(&home);
    let id = codex.thread(&home);
    codex.run(&id, "hello");
    codex.call("thread/archive", thread(&id));
    codex.told("thread/archived");
    let refused = codex.refusal("thread/resume", thread(&id));
    assert_eq!(
        refused,
        format!("session {id} is archived. Run `codex unarchive {id}` to unarchive it first.")
    );
    assert_eq!(
        ids(&codex.call("thread/list", json!({}))),
        Vec::<String>::new()
    );
    assert_eq!(
        ids(&codex.call("thread/list", json!({ "archived": true }))),
        std::slice::from_ref(&id)
    );
    let back = codex.call("thread/unarchive", thread(&id));
    assert_eq!(back["thread"]["preview"], "hello");
    codex.told("thread/unarchived");
    // Named while nobody has it loaded, and while this client has.
    for name in ["first", "second"] {
        codex.call("thread/name/set", json!({ "threadId": id, "name": name }));
        let told = codex.told("thread/name/updated");
        assert_eq!(told["params"]["threadName"], name);
        let read = codex.call("thread/read", thread(&id));
        assert_eq!(read["thread"]["name"], name);
        codex.call("thread/resume", thread(&id));
    }
    codex.call("thread/delete", thread(&id));
    codex.told("thread/deleted");
    let gone = codex.refusal("thread/resume", thread(&id));
    assert_eq!(gone, format!("no rollout found for thread id {id}"));
}

/// RESUME-9, CKPT-2
#[test]
fn forks_and_reverts_keep_what_came_before_a_turn() {
    let home = Home::new();
    let mut codex = Codex::spawn(home.codex(&["app-server"]));
    codex.initialize(json!({ "experimentalApi": true }));
    let id = codex.thread(&home);
    let mut turns = Vec::new();
    for text in ["one", "two", "three"] {
        turns.push(
            codex.run(&id, text)["params"]["turn"]["id"]
                .as_str()
                .unwrap()
                .to_owned(),
        );
    }
    let first = |thread: &Value| -> Vec<String> {
        let turns = thread["turns"].as_array().unwrap().iter();
        turns.map(|turn| texts(turn)[0].clone()).collect()
    };
    let table = [
        (json!({}), vec!["one", "two", "three"]),
        (json!({ "lastTurnId": turns[0] }), vec!["one"]),
        (json!({ "beforeTurnId": turns[2] }), vec!["one", "two"]),
        (json!({ "beforeTurnId": turns[0] }), vec![]),
    ];
    for (mut params, wanted) in table {
        params["threadId"] = json!(id);
        let fork = codex.call("thread/fork", params.clone());
        assert_eq!(first(&fork["thread"]), wanted, "{params}");
        assert_eq!(fork["thread"]["forkedFromId"], json!(id));
        codex.run(fork["thread"]["id"].as_str().unwrap(), "in the fork");
    }
    codex.call(
        "thread/revert",
        json!({ "threadId": id, "beforeTurnId": turns[1] }),
    );
    codex.told("thread/reverted");
    let read = |codex: &mut Codex| {
        codex.call(
            "thread/read",
            json!({ "threadId": id, "includeTurns": true }),
        )
    };
    assert_eq!(first(&read(&mut codex)["thread"]), ["one"]);
    codex.run(&id, "instead");
    assert_eq!(first(&read(&mut codex)["thread"]), ["one", "instead"]);
}

#[test]
fn items_are_added_without_a_turn_and_a_compaction_is_one() {
    let home = Home::new();
    let mut codex = Codex::start(&home);
    let id = codex.thread(&home);
    let items = json!([
        { "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "q" }] },
        { "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "a" }] },
    ]);
    codex.call(
        "thread/inject_items",
        json!({ "threadId": id, "items": items }),
    );
    let read = codex.call(
        "thread/read",
        json!({ "threadId": id, "includeTurns": true }),
    );
    assert_eq!(texts(&read["thread"]["turns"][0]), ["q", "a"]);
    codex.call("thread/compact/start", thread(&id));
    codex.told("turn/completed");
    let compacted = codex
        .frames
        .iter()
        .any(|frame| frame["params"]["item"]["type"] == "contextCompaction");
    assert!(compacted, "{:?}", codex.frames);
    // While a turn runs the compaction replaces it.
    codex.turn(&id, "/sleep 600");
    codex.told("turn/started");
    codex.send("thread/compact/start", thread(&id));
    let ended = codex.told("turn/completed");
    assert_eq!(ended["params"]["turn"]["status"], "interrupted");
    codex.told("turn/started");
}

#[test]
fn an_ephemeral_thread_goes_with_its_client() {
    let home = Home::new();
    let mut codex = Codex::start(&home);
    let params = json!({ "cwd": home.work(), "ephemeral": true });
    let opened = codex.call("thread/start", params);
    assert_eq!(opened["thread"]["ephemeral"], true);
    let id = opened["thread"]["id"].as_str().unwrap().to_owned();
    let kept = codex.thread(&home);
    codex.run(&id, "hello");
    codex.run(&kept, "hello");
    codex.close_stdin();
    assert_eq!(codex.ended().code(), Some(0));
    let mut next = Codex::start(&home);
    assert_eq!(ids(&next.call("thread/list", json!({}))), [kept]);
    let gone = next.refusal("thread/resume", thread(&id));
    assert_eq!(gone, format!("no rollout found for thread id {id}"));
}

/// WIRE-7, WIRE-8: questions to the client, with every kind of answer.
#[test]
fn the_client_is_asked_and_only_a_known_decision_lets_a_call_run() {
    let home = Home::new();
    let mut codex = Codex::start(&home);
    let params =
        json!({ "cwd": home.work(), "approvalPolicy": "on-request", "sandbox": "read-only" });
    let id = codex.call("thread/start", params)["thread"]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let table = [
        (
            json!({ "result": { "decision": "decline" } }),
            "declined",
            "completed",
        ),
        (json!({ "result": {} }), "declined", "completed"),
        (json!({ "result": null }), "declined", "completed"),
        (
            json!({ "error": { "code": 1, "message": "m" } }),
            "declined",
            "completed",
        ),
        (
            json!({ "result": { "decision": "cancel" } }),
            "declined",
            "interrupted",
        ),
        (
            json!({ "result": { "decision": "accept" } }),
            "completed",
            "completed",
        ),
    ];
    for (mut answer, item, turn) in table {
        codex.turn(&id, "/run touch ran");
        let begin = codex.frames.len();
        let asked = codex.told("item/commandExecution/requestApproval");
        assert_eq!(asked["params"]["command"], "touch ran");
        assert!(codex.methods(begin).contains(&"thread/status/changed"));
        assert!(!home.path("ran").exists(), "{answer}");
        answer["id"] = asked["id"].clone();
        codex.say(&answer.to_string());
        let done = codex.told("turn/completed");
        assert_eq!(done["params"]["turn"]["status"], turn, "{answer}");
        let told = codex.methods(begin);
        let at = |name: &str| told.iter().rposition(|method| *method == name).unwrap();
        assert!(
            at("serverRequest/resolved") < at("item/completed"),
            "{told:?}"
        );
        let ended = codex.frames.iter().rev().find(|frame| {
            frame["method"] == "item/completed"
                && frame["params"]["item"]["type"] == "commandExecution"
        });
        assert_eq!(ended.unwrap()["params"]["item"]["status"], item, "{answer}");
        // A late answer changes nothing.
        codex.say(&answer.to_string());
    }
    assert!(home.path("ran").exists());
}

#[test]
fn what_the_user_is_asked_is_a_request_for_input() {
    let home = Home::new();
    let mut codex = Codex::start(&home);
    let id = codex.thread(&home);
    codex.turn(&id, "/ask what now");
    let asked = codex.told("item/tool/requestUserInput");
    let question = &asked["params"]["questions"][0];
    assert!(
        question["question"].as_str().unwrap().contains("what now"),
        "{asked}"
    );
    let answers = json!({ question["id"].as_str().unwrap(): { "answers": ["go on"] } });
    codex.say(&json!({ "id": asked["id"], "result": { "answers": answers } }).to_string());
    codex.told("turn/completed");
    let told = json!(codex.frames).to_string();
    assert!(told.contains("go on"), "{told}");
}

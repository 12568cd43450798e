//! The published schemas, as the program writes them, and as its files and frames are.

use serde_json::{Value, json};
use sessiond_protocol::schema;

use crate::harness::{Home, Native};

/// SQEQ-10
#[test]
fn the_program_writes_its_schemas_under_the_protocols_version() {
    let home = Home::new();
    let said = home.run(&["schema", "--out", "made/here"]).well().stdout;
    for published in schema::all() {
        let path = format!("made/here/{}/{}", schema::folder(), published.name);
        assert_eq!(home.read(&path), published.text(), "{path}");
        assert!(said.contains(&path), "{said}");
    }
    assert_eq!(home.run(&["schema"]).code, Some(2));
    home.write("file", "");
    assert_eq!(home.run(&["schema", "--out", "file"]).code, Some(1));
}

/// SQEQ-10
#[test]
fn every_record_of_a_log_is_one_that_the_schema_allows() {
    let home = Home::new();
    let mut client = Native::start(&home);
    let session = client.new_session(&home, &json!({}));
    client.turn(&session, "said\n/run echo hi\n/plan A; B\n/usage");
    let asked = client.asked();
    client.select(&asked, "allow_always");
    client.event("turn.ended");
    client.turn(&session, "/fail on purpose");
    client.event("turn.ended");
    client.accepted(Some(&session), &json!({"type": "session.clear"}));
    client.quit();
    let all = schema::all();
    let record = all.iter().find(|one| one.name == "record.json").unwrap();
    let record = jsonschema::validator_for(&record.schema).unwrap();
    let log = home.log(&session);
    let lines = log
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let records: Vec<_> = lines.filter(|line| line["kind"] != "segment").collect();
    assert!(records.len() > 15, "{log}");
    for line in &records {
        assert!(record.is_valid(line), "{line}");
        let mut cut = line.clone();
        cut["data"]["event"]["type"].take();
        assert!(!record.is_valid(&cut), "{cut}");
    }
}

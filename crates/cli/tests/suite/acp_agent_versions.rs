//! What a resume attests of an agent that tells what it is only once it runs.

use serde_json::Value;

use crate::harness::{END, Home, in_shell, serve};

/// What the runs of a session have attested that differed, of this field.
fn attested(home: &Home, session: &str, field: &str) -> Vec<(Value, Value)> {
    let log = home.log(session);
    let records = log
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let drift = |record: Value| record["data"]["event"]["attestation"]["drift"].clone();
    let all = records
        .map(drift)
        .filter_map(|drift| drift.as_array().cloned());
    let of_field = all.flatten().filter(|drift| drift["field"] == field);
    of_field
        .map(|drift| (drift["recorded"].clone(), drift["found"].clone()))
        .collect()
}

/// RESUME-5, RESUME-16: attested by the run that met it, and by no other.
#[test]
fn another_version_of_an_agent_is_attested_when_it_has_told() {
    let home = Home::new();
    let config = in_shell(&home, "{}", &[END]);
    let mut server = serve(&home, &config);
    let session = server.new_session(&home);
    assert_eq!(server.turn(&session, "one"), "end_turn");
    server.quit();
    let older = home.read("agent.sh");
    let newer = older.replace(r#""version":"9""#, r#""version":"10""#);
    assert_ne!(newer, older);
    for script in [older, newer.clone(), newer] {
        home.write("agent.sh", &script);
        let mut server = serve(&home, &config);
        server.load(&home, &session);
        assert_eq!(server.turn(&session, "more"), "end_turn");
        server.quit();
    }
    let expected = (Value::from("9"), Value::from("10"));
    assert_eq!(attested(&home, &session, "version"), [expected]);
}

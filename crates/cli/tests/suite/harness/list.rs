//! What `sessions list` says.

use serde_json::Value;

use super::Home;

/// The ids in the list.
pub(crate) fn listed(home: &Home) -> Vec<String> {
    let list = home.run(&["sessions", "list", "--json"]).well();
    let list: Value = serde_json::from_str(&list.stdout).unwrap();
    let rows = list["sessions"].as_array().unwrap().iter();
    rows.map(|row| row["session"].as_str().unwrap().to_owned())
        .collect()
}

/// The id of the only session.
#[track_caller]
pub(crate) fn only_session(home: &Home) -> String {
    let mut listed = listed(home);
    assert_eq!(listed.len(), 1, "{listed:?}");
    listed.remove(0)
}

/// The sessions in the list of another store.
pub(crate) fn listed_in(home: &Home, store: &str) -> Vec<Value> {
    let list = home
        .run(&["sessions", "list", "--json", "--store", store])
        .well();
    let list: Value = serde_json::from_str(&list.stdout).unwrap();
    list["sessions"].as_array().unwrap().clone()
}

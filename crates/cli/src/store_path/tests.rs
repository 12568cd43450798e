use std::path::PathBuf;

use super::Choices;

fn resolve(named: &str, state_home: &str, home: &str) -> Option<PathBuf> {
    let some = |text: &str| (text != "unset").then(|| text.to_owned());
    let choices = Choices {
        named: some(named).map(PathBuf::from),
        state_home: some(state_home).map(Into::into),
        home: some(home).map(PathBuf::from),
    };
    choices.resolve().ok()
}

#[test]
fn the_first_choice_that_counts_decides() {
    let table = [
        ("/store", "/state", "/home", Some("/store")),
        ("unset", "/state", "/home", Some("/state/sessiond")),
        ("", "/state", "/home", Some("/state/sessiond")),
        (
            "unset",
            "unset",
            "/home",
            Some("/home/.local/state/sessiond"),
        ),
        ("unset", "", "/home", Some("/home/.local/state/sessiond")),
        (
            "unset",
            "relative",
            "/home",
            Some("/home/.local/state/sessiond"),
        ),
        ("unset", "unset", "unset", None),
    ];
    for (named, state_home, home, expected) in table {
        let found = resolve(named, state_home, home);
        assert_eq!(
            found,
            expected.map(PathBuf::from),
            "{named} {state_home} {home}"
        );
    }
}

#[test]
fn a_relative_store_is_made_absolute() {
    let expected = std::env::current_dir().unwrap().join("here");
    assert_eq!(resolve("here", "unset", "unset"), Some(expected));
}

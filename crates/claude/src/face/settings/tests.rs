use std::path::Path;

use super::{Mode, Settings};

#[test]
fn settings_give_rules_and_a_mode() {
    let read = |text: &str| Settings::read(text, Path::new("/nowhere"));
    let expected = Settings {
        allowed: vec!["Read".to_owned()],
        denied: vec!["Bash(rm:*)".to_owned()],
        mode: Some(Mode::Plan),
        roots: vec!["/r".to_owned()],
    };
    let text = r#"{"permissions": {"allow": ["Read"], "deny": ["Bash(rm:*)"], "defaultMode": "plan",
        "additionalDirectories": ["/r"]}, "env": {"A": "b"}}"#;
    assert_eq!(read(text), Ok(expected));
    assert_eq!(read("{}"), Ok(Settings::default()));
    assert_eq!(read("{"), Err("--settings is not JSON"));
    assert_eq!(
        read("file.json"),
        Err("--settings names a file that cannot be read")
    );
}

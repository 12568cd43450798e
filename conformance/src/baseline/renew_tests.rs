use super::super::tests::row;
use super::{Renewed, renew};
use crate::verdict::Status;

const LEFT: &str = "\
# Seen by hand.
target = \"t\"

[[groups]]
# The first kind.
reason = \"known\"
checks = [
    \"a#b\",
    \"a#c\",
]

[[groups]]
reason = \"gone\"
checks = [\"a#d\"]

[expected.\"a#e\"]
reason = \"once\"
";

/// CONF-3: what failed comes in, what did not come goes out, and what people wrote stays as they left it.
#[test]
fn a_baseline_is_renewed_as_it_was_left() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("baseline.toml");
    std::fs::write(&path, LEFT).expect("written");
    let mut failed = row("a#f", Status::Fail);
    failed.why = format!("a \"word\"\nand {}", "more ".repeat(100));
    let rows = [
        row("a#b", Status::Stale),
        row("a#c", Status::Expected),
        row("a#d", Status::Stale),
        row("a#e", Status::Stale),
        failed,
        row("a#g", Status::Pass),
        row("a#h", Status::Observed),
    ];
    let renewed = renew(&path, "t", &rows).expect("renewed");
    assert_eq!(
        renewed,
        Renewed {
            added: 1,
            removed: 3
        }
    );
    let text = std::fs::read_to_string(&path).expect("a file");
    let kept = "# Seen by hand.\ntarget = \"t\"\n\n[[groups]]\n# The first kind.\nreason = \"known\"\nchecks = [\n    \"a#c\",\n]\n";
    assert!(text.starts_with(kept), "{text}");
    let read: toml::Table = toml::from_str(&text).expect("TOML");
    assert_eq!(read["groups"].as_array().map(Vec::len), Some(1), "{text}");
    let expected = read["expected"].as_table().expect("a table");
    assert_eq!(expected.keys().collect::<Vec<_>>(), ["a#f"], "{text}");
    let reason = expected["a#f"]["reason"].as_str().expect("a reason");
    assert!(reason.starts_with("not yet explained: a \"word\"\nand more"));
    assert!(reason.len() < 230, "{reason}");
}

#[test]
fn a_baseline_that_is_not_there_is_begun() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("baseline.toml");
    renew(&path, "t", &[row("a#b", Status::Warn)]).expect("renewed");
    let text = std::fs::read_to_string(&path).expect("a file");
    assert_eq!(
        text,
        "target = \"t\"\n\n[expected.\"a#b\"]\nreason = \"not yet explained: seen\"\n"
    );
}

#[test]
fn what_is_no_toml_is_left_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("baseline.toml");
    std::fs::write(&path, "[groups").expect("written");
    let error = renew(&path, "t", &[]).expect_err("no TOML");
    assert_eq!(error.exit_code(), 2);
    assert_eq!(std::fs::read_to_string(&path).expect("a file"), "[groups");
}

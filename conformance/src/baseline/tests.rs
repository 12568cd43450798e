use super::Baseline;
use crate::report::Row;
use crate::requirement::Keyword;
use crate::verdict::Status;

pub(super) fn row(id: &str, status: Status) -> Row {
    Row {
        id: id.to_owned(),
        case: String::new(),
        keyword: Keyword::Must,
        requirement: String::new(),
        status,
        was: status,
        why: "seen".to_owned(),
    }
}

/// CONF-3: an expected failure does not fail the run, one that passes does.
#[test]
fn a_baseline_forgives_what_it_names_and_complains_about_what_it_names_in_vain() {
    let text = "[expected.\"a#b\"]\nreason = \"known\"\nissue = \"https://example.org/1\"\n";
    let baseline: Baseline = toml::from_str(text).expect("a baseline");
    let rows = [
        ("a#b", Status::Fail, Status::Expected),
        ("a#b", Status::NotTestable, Status::Expected),
        ("a#b", Status::Pass, Status::Stale),
        ("a#b", Status::Skip, Status::Stale),
        ("a#c", Status::Fail, Status::Fail),
        ("a#c", Status::Pass, Status::Pass),
    ];
    for (id, before, after) in rows {
        let mut rows = [row(id, before)];
        baseline.apply("t", &mut rows);
        assert_eq!(rows[0].status, after, "{id} {before:?}");
    }
}

/// CONF-3: a baseline may be of one target, and name many checks with one reason.
#[test]
fn a_baseline_may_be_of_one_target_and_have_groups() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("baseline.toml");
    let read = |text: &str| {
        std::fs::write(&path, text).expect("written");
        Baseline::read(&path)
    };
    let baseline = read(
        "target = \"one\"\n[[groups]]\nchecks = [\"a#b\", \"a#c\"]\nreason = \"known\"\n\
         [[groups]]\nchecks = [\"a#d\"]\nreason = \"by the minute\"\nwhen = \"sometimes\"\n",
    )
    .expect("a baseline");
    let rows = [
        ("one", "a#b", Status::Fail, Status::Expected),
        ("one", "a#c", Status::Pass, Status::Stale),
        ("one", "a#d", Status::Fail, Status::Expected),
        ("one", "a#d", Status::Pass, Status::Pass),
        ("one", "a#d", Status::Skip, Status::Stale),
        ("two", "a#b", Status::Fail, Status::Fail),
        ("two", "a#c", Status::Pass, Status::Pass),
    ];
    for (target, id, before, after) in rows {
        let mut rows = [row(id, before)];
        baseline.apply(target, &mut rows);
        assert_eq!(rows[0].status, after, "{target} {id} {before:?}");
    }
    let twice =
        "[expected.\"a#b\"]\nreason = \"x\"\n[[groups]]\nchecks = [\"a#b\"]\nreason = \"y\"\n";
    assert_eq!(read(twice).expect_err("twice").exit_code(), 2);
}

#[test]
fn an_entry_without_a_reason_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("baseline.toml");
    std::fs::write(&path, "[expected.\"a#b\"]\nreason = \" \"\n").expect("written");
    let error = Baseline::read(&path).expect_err("no reason");
    assert_eq!(error.exit_code(), 2);
}

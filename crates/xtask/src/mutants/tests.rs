use std::collections::BTreeSet;

use super::declared::Faults;
use super::selection::{Extent, about, selection};
use super::suite::red_in;

fn ids(ids: &[&str]) -> BTreeSet<String> {
    ids.iter().map(|id| (*id).to_owned()).collect()
}

/// CONF-4: a fault turns exactly what is declared red.
#[test]
fn what_is_seen_must_be_what_is_declared() {
    let all = ids(&[
        "s.a.one#x",
        "s.a.one#y",
        "s.b.two-p#x",
        "s.b.two-q#x",
        "s.b.three#x",
    ]);
    let declared = "f = [\"s.a.*\", \"s.b.three#x\"]\n";
    let faults = Faults::parse(declared).expect("a table");
    let whole = ids(&["s.a.one#x", "s.a.one#y", "s.b.three#x"]);
    assert_eq!(faults.differs("f", &whole, &all), Vec::<String>::new());
    let less = ids(&["s.a.one#x", "s.b.three#x"]);
    assert_eq!(faults.differs("f", &less, &all), ["s.a.one#y stays green"]);
    let more = all.clone();
    let differences = faults.differs("f", &more, &all);
    assert_eq!(differences, ["s.b.two-p#x is red", "s.b.two-q#x is red"]);
}

#[test]
fn what_was_seen_is_written_short_and_read_the_same() {
    let all = ids(&[
        "s.a.one#x",
        "s.a.one#y",
        "s.b.two-p#x",
        "s.b.two-q#x",
        "s.b.three#x",
    ]);
    for red in [
        ids(&["s.a.one#x"]),
        ids(&["s.a.one#x", "s.a.one#y"]),
        ids(&["s.b.two-p#x", "s.b.two-q#x"]),
        all.clone(),
    ] {
        let mut faults = Faults::default();
        faults.set("f", &red, &all);
        let read = Faults::parse(&faults.text()).expect("its own text");
        assert_eq!(
            read.differs("f", &red, &all),
            Vec::<String>::new(),
            "{red:?}"
        );
    }
}

#[test]
fn a_report_that_was_cut_off_says_nothing() {
    let check = "{\"type\":\"check\",\"id\":\"a\",\"status\":\"fail\"}\n";
    let footer = "{\"type\":\"footer\"}\n";
    assert_eq!(red_in(&format!("{check}{footer}")), Ok(ids(&["a"])));
    assert!(red_in(check).is_err());
}

/// CONF-4: what a fault may touch is run whole, and of the rest a sample that is the same everywhere.
#[test]
fn a_fault_is_run_on_its_areas_and_on_a_sample() {
    let mut all = ids(&[
        "acp.negotiation.initialize#a",
        "acp.sessions.new#a",
        "acp.all.every#x",
    ]);
    for area in ["one", "two"] {
        all.extend((0..50).map(|case| format!("acp.{area}.case{case}#x")));
    }
    let every = ids(&["acp.all.every"]);
    let cases =
        |fault: &str, red: &[&str]| selection(fault, &ids(red), &all, &every, Extent::Sample);
    let count = |cases: &[String], area: &str| {
        cases
            .iter()
            .filter(|case| case.starts_with(&format!("acp.{area}.")))
            .count()
    };
    let chosen = cases("f", &["acp.one.case7#x"]);
    assert_eq!(count(&chosen, "one"), 50, "{chosen:?}");
    assert!((1..25).contains(&count(&chosen, "two")), "{chosen:?}");
    assert!(chosen.contains(&"acp.sessions.new#".to_owned()));
    assert!(!chosen.contains(&"acp.all.every#".to_owned()));
    assert_eq!(chosen, cases("f", &["acp.one.case7#x"]));
    assert_ne!(chosen, cases("g", &["acp.one.case7#x"]));
    let number = all.len();
    for whole in [vec![], vec!["acp.all.every#x"]] {
        assert_eq!(cases("f", &whole).len(), number, "{whole:?}");
    }
    let extent = Extent::Whole;
    let red = ids(&["acp.one.case7#x"]);
    assert_eq!(selection("f", &red, &all, &every, extent).len(), number);
}

#[test]
fn a_fault_is_about_the_protocol_that_its_name_says() {
    let all = ids(&["acp.a.one#x", "acp.v2.a.one#x", "sqeq.a.one#x"]);
    for (fault, expected) in [
        ("mute", "acp.a.one#x"),
        ("v2-mute", "acp.v2.a.one#x"),
        ("sqeq-mute", "sqeq.a.one#x"),
    ] {
        assert_eq!(about(fault, &all), ids(&[expected]), "{fault}");
    }
}

use std::collections::BTreeSet;

use super::declared::Faults;
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

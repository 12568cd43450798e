use super::{Matrix, Word, tally};

const TESTS: &str = "\
[\"1 kill\"]\n\
1a = { title = \"one\", fails = [\"a#x\"], partly = [\"a#y\", \"b*\"] }\n\
1b = { title = \"two\", fails = [\"c#x\"] }\n";

fn report(rows: &[(&str, &str)]) -> String {
    rows.iter()
        .map(|(id, was)| {
            format!(
                "{{\"type\":\"check\",\"id\":{id:?},\"was\":{was:?},\"status\":\"expected\"}}\n"
            )
        })
        .collect()
}

/// CONF-5: a test fails by what it must hold, is spoilt by what it should, and is not decided by what was
/// not reached.
#[test]
fn a_test_has_the_word_of_its_worst_check() {
    let rows = [
        (["pass", "pass", "pass", "pass"], [Word::Pass, Word::Pass]),
        (
            ["fail", "pass", "pass", "skip"],
            [Word::Fail, Word::Unknown],
        ),
        (
            ["pass", "warn", "pass", "not-testable"],
            [Word::Partial, Word::Unknown],
        ),
        (
            ["pass", "pass", "observed", "fail"],
            [Word::Partial, Word::Fail],
        ),
        (
            ["not-testable", "pass", "pass", "pass"],
            [Word::Fail, Word::Pass],
        ),
        (
            ["skip", "skip", "not-testable", "pass"],
            [Word::Unknown, Word::Pass],
        ),
    ];
    for (statuses, expected) in rows {
        let mut matrix = Matrix::parse(TESTS).expect("a matrix");
        let ids = ["a#x", "a#y", "b.one#z", "c#x"];
        let seen: Vec<(&str, &str)> = ids.into_iter().zip(statuses).collect();
        matrix.add("r", &report(&seen)).expect("a report");
        assert_eq!(matrix.columns[0].1, expected, "{statuses:?}");
    }
}

#[test]
fn a_check_that_is_not_in_the_report_is_a_mistake() {
    let mut matrix = Matrix::parse(TESTS).expect("a matrix");
    let seen = report(&[("a#x", "pass"), ("a#y", "pass"), ("c#x", "pass")]);
    let why = matrix.add("r", &seen).expect_err("b* fits nothing");
    assert_eq!(why, "1a: no check b*");
}

#[test]
fn an_area_has_a_word_and_its_counts() {
    use Word::{Fail, Partial, Pass, Unknown};
    let rows: [(&[Word], &str); 7] = [
        (&[Pass, Pass, Unknown], "pass (2/0/0)"),
        (&[Pass, Partial], "partial (1/1/0)"),
        (&[Pass, Pass, Fail], "partial (2/0/1)"),
        (&[Pass, Fail], "FAIL (1/0/1)"),
        (&[Partial, Partial, Fail], "FAIL (0/2/1)"),
        (&[Unknown], "n/r"),
        (&[Partial], "partial (0/1/0)"),
    ];
    for (words, expected) in rows {
        assert_eq!(tally(words), expected);
    }
}

/// A part that was run again after the whole is what counts, and the rest stays.
#[test]
fn a_later_report_counts() {
    let mut matrix = Matrix::parse(TESTS).expect("a matrix");
    let whole = [
        ("a#x", "pass"),
        ("a#y", "warn"),
        ("b.one#z", "pass"),
        ("c#x", "fail"),
    ];
    let again = [("a#y", "pass"), ("c#x", "pass")];
    let reports = report(&whole) + &report(&again);
    matrix.add("r", &reports).expect("reports");
    assert_eq!(matrix.columns[0].1, [Word::Pass, Word::Pass]);
}

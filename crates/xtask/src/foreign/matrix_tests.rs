use super::{Matrix, Word, tally};

const TESTS: &str = "\
[\"1 kill\"]\n\
1a = { title = \"one\", fails = [\"a#x\"], partly = [\"a#y\", \"b*\"] }\n\
1b = { title = \"two\", fails = [\"c#x\"] }\n";

fn matrix() -> Matrix {
    let mut matrix = Matrix::default();
    matrix.read("acp", TESTS).expect("a matrix");
    matrix
}

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
        let mut matrix = matrix();
        let ids = ["a#x", "a#y", "b.one#z", "c#x"];
        let seen: Vec<(&str, &str)> = ids.into_iter().zip(statuses).collect();
        matrix.add("r", "acp", &report(&seen)).expect("a report");
        assert_eq!(matrix.columns[0].1, expected, "{statuses:?}");
    }
}

#[test]
fn a_check_that_is_not_in_the_report_is_a_mistake() {
    let mut matrix = matrix();
    let seen = report(&[("a#x", "pass"), ("a#y", "pass"), ("c#x", "pass")]);
    let why = matrix.add("r", "acp", &seen).expect_err("b* fits nothing");
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
    let mut matrix = matrix();
    let whole = [
        ("a#x", "pass"),
        ("a#y", "warn"),
        ("b.one#z", "pass"),
        ("c#x", "fail"),
    ];
    let again = [("a#y", "pass"), ("c#x", "pass")];
    let reports = report(&whole) + &report(&again);
    matrix.add("r", "acp", &reports).expect("reports");
    assert_eq!(matrix.columns[0].1, [Word::Pass, Word::Pass]);
}

/// CONF-5: each suite decides the same tests by its own checks; one that it has no check for is not reached.
#[test]
fn suites_share_their_tests() {
    let mut matrix = matrix();
    let other =
        "[\"1 kill\"]\n1a = { title = \"one\", fails = [\"z#x\"] }\n1b = { title = \"two\" }\n";
    matrix.read("claude", other).expect("the same tests");
    let seen = report(&[("z#x", "fail")]);
    matrix.add("r", "claude", &seen).expect("a report");
    assert_eq!(matrix.columns[0].1, [Word::Fail, Word::Unknown]);
    let why = matrix.add("r", "sqeq", &seen).expect_err("no rules");
    assert_eq!(why, "no tests of sqeq");
}

#[test]
fn a_suite_with_other_tests_is_a_mistake() {
    let one = "1a = { title = \"one\" }\n";
    let rows = [
        (format!("[\"1 kill\"]\n{one}"), "1b"),
        (
            format!("[\"1 kill\"]\n{one}1b = {{ title = \"else\" }}\n"),
            "1b",
        ),
        (
            format!(
                "[\"1 kill\"]\n{one}1b = {{ title = \"two\" }}\n1c = {{ title = \"three\" }}\n"
            ),
            "1c",
        ),
    ];
    for (text, named) in rows {
        let why = matrix().read("claude", &text).expect_err(&text);
        assert_eq!(
            why,
            format!("other tests than those of other suites: {named}")
        );
    }
}

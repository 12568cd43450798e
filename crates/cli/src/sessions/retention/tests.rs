use super::Newest;

/// LOG-12, LOG-14
#[test]
fn a_log_is_as_old_as_its_newest_time() {
    let table: &[(&[&str], bool)] = &[
        (&["2026-01-01T00:00:00Z"], true),
        (&["2026-05-31T23:59:59.999Z"], true),
        (&["2026-06-01T00:00:00Z"], false),
        (&["2999-01-01T00:00:00Z"], false),
        // The order of the records does not matter: a clock may have been set back.
        (&["2026-07-01T00:00:00Z", "1970-01-01T00:00:00Z"], false),
        (&["yesterday", "2026-01-01T00:00:00Z", ""], true),
        (&["yesterday"], false),
        (&[], false),
    ];
    let before = "2026-06-01T00:00:00Z".parse().unwrap();
    for (times, expected) in table {
        let mut newest = Newest::default();
        times.iter().for_each(|at| newest.take(at));
        assert_eq!(newest.is_before(before), *expected, "{times:?}");
    }
}

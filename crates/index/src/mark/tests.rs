use super::is_settled;

const SECOND: i64 = 1_000_000_000;

/// LOG-9: a time that the next change could repeat proves nothing.
#[test]
fn a_directory_that_just_changed_or_changes_in_the_future_is_not_settled() {
    let fine = 100 * SECOND + 1;
    let coarse = 100 * SECOND;
    let table = [
        (fine, i128::from(fine), false),
        (fine, i128::from(fine + SECOND / 20), false),
        (fine, i128::from(fine + SECOND / 10), true),
        (coarse, i128::from(coarse + 2 * SECOND), false),
        (coarse, i128::from(coarse + 4 * SECOND), true),
        (fine + 1000 * SECOND, i128::from(fine), false),
    ];
    for (time, now, settled) in table {
        assert_eq!(is_settled(time, now), settled, "{time} at {now}");
    }
}

use super::{Rigour, Status, status};
use crate::judge::Finding;
use crate::requirement::Keyword;

/// CONF-1: the keyword of the requirement decides how much a failure counts.
#[test]
fn the_keyword_decides_what_a_failure_counts() {
    let rows = [
        (
            Keyword::Must,
            Rigour::Usual,
            Status::Fail,
            Status::NotTestable,
        ),
        (
            Keyword::Must,
            Rigour::Strict,
            Status::Fail,
            Status::NotTestable,
        ),
        (Keyword::Should, Rigour::Usual, Status::Warn, Status::Warn),
        (
            Keyword::Should,
            Rigour::Strict,
            Status::Fail,
            Status::NotTestable,
        ),
        (
            Keyword::May,
            Rigour::Strict,
            Status::Observed,
            Status::Observed,
        ),
        (
            Keyword::Info,
            Rigour::Strict,
            Status::Observed,
            Status::Observed,
        ),
    ];
    for (keyword, rigour, broken, unreached) in rows {
        let of = |finding| status(finding, keyword, rigour).0;
        assert_eq!(of(Finding::Holds), Status::Pass);
        assert_eq!(of(Finding::Skipped(String::new())), Status::Skip);
        assert_eq!(of(Finding::Broken(String::new())), broken, "{keyword:?}");
        assert_eq!(
            of(Finding::Unreached(String::new())),
            unreached,
            "{keyword:?}"
        );
    }
}

use sessiond_protocol::{Recency, Summary};

use super::{SessionName, ambiguous};

const ID: &str = "0191f0aa-0000-7000-8000-000000000000";

/// LOG-13
#[test]
fn an_id_is_never_a_title_and_what_was_meant_as_one_is_no_title_either() {
    assert_eq!(ID.parse(), Ok(SessionName::Id(ID.parse().unwrap())));
    for title in ["Fix it", " ", "../../etc", &format!("{ID} "), &ID[1..], "-"] {
        assert_eq!(title.parse(), Ok(SessionName::Title(title.to_owned())));
    }
    for text in ["", "0191F0AA-0000-7000-8000-000000000000"] {
        assert!(text.parse::<SessionName>().is_err(), "{text:?}");
    }
}

/// SEC-4
#[test]
fn an_ambiguous_title_shows_the_ids_of_this_directory_and_counts_the_others() {
    let row = |number: u8, cwd: &str| Summary {
        session: format!("0191f0aa-0000-7000-8000-0000000000{number:02}")
            .parse()
            .unwrap(),
        cwd: cwd.into(),
        title: Some("t".into()),
        agent: "script".into(),
        created_at: "2026-01-01T00:00:00Z".into(),
        updated_at: format!("2026-01-01T00:00:0{number}Z"),
        recency: Recency::Logged,
        turns: 1,
        damage: 0,
        roots: Vec::new(),
        kept: sessiond_protocol::Kept::Store,
    };
    let rows = [
        row(1, "/w"),
        row(2, "/secret"),
        row(3, "/w"),
        row(4, "/w/below"),
    ];
    let text = ambiguous("t", &rows, "/w");
    let ids: Vec<_> = (1..=4)
        .map(|n| text.contains(&format!("0000000000{n:02}")))
        .collect();
    assert_eq!(ids, [true, false, true, false], "{text}");
    assert!(text.starts_with("4 sessions"), "{text}");
    assert!(text.contains("and 2 in other directories"), "{text}");
    assert!(!text.contains("/secret"), "{text}");
    assert!(!ambiguous("t", &rows[..1], "/w").contains("other"));
}

use sessiond_protocol::SubmissionId;

use super::{Known, REMEMBERED, Submissions, UNANSWERED};

fn id(number: usize) -> SubmissionId {
    format!("s{number}").try_into().unwrap()
}

/// SQEQ-1
#[test]
fn an_id_is_refused_while_it_waits_and_while_it_is_remembered() {
    let mut known = Submissions::default();
    assert_eq!(known.begin(&id(0)), Ok(()));
    assert_eq!(known.begin(&id(0)), Err(Known));
    known.answer(&id(0));
    assert_eq!(known.begin(&id(0)), Err(Known));
    for number in 1..=REMEMBERED {
        assert_eq!(known.begin(&id(number)), Ok(()));
        known.answer(&id(number));
    }
    assert_eq!(known.begin(&id(1)), Err(Known), "the newest are remembered");
    assert_eq!(known.begin(&id(0)), Ok(()), "and only those");
}

/// WIRE-4
#[test]
fn there_is_room_until_so_many_wait_and_memory_holds_no_more() {
    let mut known = Submissions::default();
    for number in 0..UNANSWERED {
        assert!(known.has_room());
        known.begin(&id(number)).unwrap();
    }
    assert!(!known.has_room() && !known.all_answered());
    known.answer(&id(UNANSWERED + 7)); // Nobody's receipt changes nothing.
    assert!(!known.has_room());
    for number in 0..UNANSWERED {
        known.answer(&id(number));
    }
    assert!(known.has_room() && known.all_answered());
    for number in 0..10 * REMEMBERED {
        let _known_already = known.begin(&id(number));
        known.answer(&id(number));
    }
    assert!(known.order.len() == REMEMBERED && known.answered.len() == REMEMBERED);
}

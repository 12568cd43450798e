use sessiond_protocol::SessionId;

use super::Parking;

/// The end of an older start takes no newer one with it, and that of the newest one takes it.
#[test]
fn what_is_parked_goes_with_the_end_of_its_own_start_only() {
    let parking = Parking::default();
    let session = |n: u128| SessionId::new(uuid::Uuid::from_u128(n));
    let mut ends = Vec::new();
    for name in ["older", "newer"] {
        parking.park(session(1), |gone| {
            ends.push(gone);
            name
        });
    }
    parking.park(session(2), |_| "another");
    let newer = ends.pop().unwrap();
    ends.pop().unwrap()();
    assert_eq!(parking.take(session(1)), Some("newer"));
    assert_eq!(parking.take(session(1)), None);
    parking.park(session(1), |gone| {
        ends.push(gone);
        "newest"
    });
    newer();
    ends.pop().unwrap()();
    assert_eq!(parking.take(session(1)), None);
    assert_eq!(parking.take(session(2)), Some("another"));
}

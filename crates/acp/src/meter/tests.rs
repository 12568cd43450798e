use super::*;

/// WIRE-14
#[test]
fn a_burst_passes_and_then_one_an_interval() {
    let start = Instant::now();
    let mut meter = Meter::default();
    let admitted =
        |meter: &mut Meter, tries: u32, now| (0..tries).filter(|_| meter.admits(now)).count();
    assert_eq!(admitted(&mut meter, 10 * BURST, start), BURST as usize);
    assert_eq!(admitted(&mut meter, 10, start + REFILL / 2), 0);
    assert_eq!(admitted(&mut meter, 10, start + REFILL), 1);
    assert_eq!(admitted(&mut meter, 10, start + 4 * REFILL), 3);
    assert_eq!(
        admitted(&mut meter, 10 * BURST, start + 10_000 * REFILL),
        BURST as usize
    );
}

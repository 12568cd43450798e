use super::*;

#[test]
fn a_burst_is_taken_and_then_the_rate() {
    let mut bucket = Bucket::full();
    let now = Instant::now() + Duration::from_secs(60);
    let taken = (0..2 * BURST).filter(|_| bucket.take_at(now)).count();
    assert_eq!(taken, BURST as usize);
    assert!(!bucket.take_at(now));
    let later = now + 3 * EVERY;
    let taken = (0..10).filter(|_| bucket.take_at(later)).count();
    assert_eq!(taken, 3);
}

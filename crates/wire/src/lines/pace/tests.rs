use super::*;

/// Microseconds since the read before, bytes of the read; whether reading rests after it.
type Read = (u64, usize, bool);

#[test]
fn reading_rests_while_a_stream_runs_and_only_then() {
    let close = |count: usize| vec![(100, 190, false); count];
    let stream = || {
        let mut reads = close(STREAK as usize);
        reads.push((100, 190, true));
        reads
    };
    let cases: [(&str, Vec<Read>); 6] = [
        ("an exchange of a few messages", close(STREAK as usize)),
        ("words of a model", vec![(10_000, 190, false); 50]),
        (
            "a stream",
            [stream(), vec![(1500, 12_000, true); 50]].concat(),
        ),
        (
            "a stream that ends",
            [
                stream(),
                vec![(1500, 12_000, true), (1500, 190, false)],
                close(7),
            ]
            .concat(),
        ),
        (
            "a stream that is faster than its pipe",
            [stream(), vec![(1500, PLENTY, false), (100, 12_000, true)]].concat(),
        ),
        (
            "a pause, then the rest of an exchange",
            [
                close(STREAK as usize),
                vec![(5_000, 190, false)],
                close(STREAK as usize - 1),
            ]
            .concat(),
        ),
    ];
    for (name, reads) in cases {
        let (mut pace, mut now) = (Pace::default(), Instant::now());
        for (place, (micros, bytes, rests)) in reads.into_iter().enumerate() {
            now += Duration::from_micros(micros);
            pace.note(bytes, now);
            assert_eq!(pace.rest().is_some(), rests, "{name}: read {place}");
        }
    }
}

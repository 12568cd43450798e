use super::*;

/// Microseconds since the read before, bytes of the read, what is done after it.
type Read = (u64, usize, Next);

#[test]
fn reading_rests_while_a_stream_runs_and_only_then() {
    let close = |count: usize| vec![(100, 190, Next::Wait); count];
    let stream = || {
        let mut reads = close(STREAK as usize);
        reads.push((100, 190, Next::Rest));
        reads
    };
    let cases: [(&str, Vec<Read>); 7] = [
        ("an exchange of a few messages", close(STREAK as usize)),
        ("words of a model", vec![(10_000, 190, Next::Wait); 50]),
        (
            "a stream",
            [stream(), vec![(1500, 12_000, Next::Rest); 50]].concat(),
        ),
        (
            "a stream that ends, and is one anew only after as many reads as before",
            [
                stream(),
                vec![(1500, 12_000, Next::Rest), (1500, 190, Next::Wait)],
                stream(),
            ]
            .concat(),
        ),
        (
            "a stream that is faster than its pipe",
            [
                stream(),
                vec![(1500, PLENTY, Next::Look), (100, 12_000, Next::Rest)],
            ]
            .concat(),
        ),
        (
            "a few long lines, as fast as they can be read",
            vec![(100, PLENTY, Next::Wait); 50],
        ),
        (
            "a pause, then the rest of an exchange",
            [
                close(STREAK as usize),
                vec![(5_000, 190, Next::Wait)],
                close(STREAK as usize - 1),
            ]
            .concat(),
        ),
    ];
    for (name, reads) in cases {
        let (mut pace, mut now) = (Pace::default(), Instant::now());
        for (place, (micros, bytes, next)) in reads.into_iter().enumerate() {
            now += Duration::from_micros(micros);
            assert_eq!(pace.read(bytes, now), next, "{name}: read {place}");
        }
    }
}

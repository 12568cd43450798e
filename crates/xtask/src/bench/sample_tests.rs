use super::Sample;

#[test]
fn median_least_and_most_do_not_depend_on_the_order() {
    let cases: [(&[f64], [Option<f64>; 3]); 4] = [
        (&[], [None; 3]),
        (&[4.0], [Some(4.0); 3]),
        (&[9.0, 1.0, 2.0], [Some(2.0), Some(1.0), Some(9.0)]),
        (&[3.0, 8.0, 1.0, 5.0], [Some(4.0), Some(1.0), Some(8.0)]),
    ];
    for (values, expected) in cases {
        let mut sample = Sample::default();
        values.iter().for_each(|value| sample.add(*value));
        assert_eq!(
            [sample.median(), sample.min(), sample.max()],
            expected,
            "{values:?}"
        );
    }
}

use super::version;

#[test]
fn the_version_is_read_from_what_a_program_says() {
    let cases = [
        ("v20.20.2", Some((20, 20))),
        ("11.19.1", Some((11, 19))),
        ("Python 3.11.7", Some((3, 11))),
        ("Python 3.13.0rc2", Some((3, 13))),
        ("3", None),
        ("", None),
        ("no number", None),
    ];
    for (said, expected) in cases {
        assert_eq!(version(said), expected, "{said}");
    }
}

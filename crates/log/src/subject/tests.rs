use super::Subject;

/// LOG-13
#[test]
fn only_the_canonical_text_of_a_uuid_is_a_subject() {
    let good = "0199b0c5-7e51-7d3c-9f6e-2b1f0a4c8d10";
    assert_eq!(good.parse::<Subject>().unwrap().to_string(), good);
    let long = "0".repeat(4096);
    let bad = [
        "",
        ".",
        "..",
        "../../etc/passwd",
        "0199B0C5-7e51-7d3c-9f6e-2b1f0a4c8d10",
        "0199b0c57e517d3c9f6e2b1f0a4c8d10",
        "{0199b0c5-7e51-7d3c-9f6e-2b1f0a4c8d10}",
        "urn:uuid:0199b0c5-7e51-7d3c-9f6e-2b1f0a4c8d10",
        " 0199b0c5-7e51-7d3c-9f6e-2b1f0a4c8d10",
        "0199b0c5-7e51-7d3c-9f6e-2b1f0a4c8d10\n",
        "0199b0c5-7e51-7d3c-9f6e-2b1f0a4c8d1\0",
        "0199b0c5\u{2010}7e51-7d3c-9f6e-2b1f0a4c8d10",
        "0199b0c5/7e51-7d3c-9f6e-2b1f0a4c8d10",
        long.as_str(),
    ];
    for text in bad {
        let error = text.parse::<Subject>().expect_err(text);
        assert_eq!(error.code(), "invalid_subject", "{text:?}");
        assert!(
            serde_json::from_value::<Subject>(text.into()).is_err(),
            "{text:?}"
        );
    }
}

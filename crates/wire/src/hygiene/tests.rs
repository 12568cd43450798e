//! WIRE-5: what the intake pass changes, what it leaves alone, and that it never panics.

use proptest::prelude::*;

use super::*;

/// WIRE-5
#[test]
fn only_escapes_that_strict_parsers_refuse_are_replaced() {
    let same = [
        r#"{"a":[1,"x"]}"#,
        r#""\ud83d\ude00""#,
        r#""\uD83D\uDE00""#,
        r#""\\ud83d""#,
        r#""\u0001\n\"\/""#,
        r#"\ud83d"#,
        r#""\u00"#,
        r#""\"#,
        "not json at all }}}]]]",
    ];
    for text in same {
        assert!(
            matches!(clean(text), Ok(Cow::Borrowed(kept)) if kept == text),
            "{text}"
        );
    }
    let changed = [
        (r#""a \ud83d b""#, r#""a \ufffd b""#),
        (r#""\uDE00""#, r#""\ufffd""#),
        (r#""\ud83d\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#),
        (r#""\ude00\ud83d""#, r#""\ufffd\ufffd""#),
        (r#""\ud83d\u0041""#, r#""\ufffd\u0041""#),
        (r#""\\\ud83d""#, r#""\\\ufffd""#),
        (r#""\u0000""#, r#""\ufffd""#),
        (r#""\ud83d\u0000""#, r#""\ufffd\ufffd""#),
        (r#"{"\ud83d":"é\u0000é"}"#, r#"{"\ufffd":"é\ufffdé"}"#),
        (r#""\ud83d"#, r#""\ufffd"#),
    ];
    for (text, expected) in changed {
        assert_eq!(clean(text).unwrap(), expected, "{text}");
    }
}

/// WIRE-5
#[test]
fn nesting_is_accepted_to_the_limit_and_not_beyond() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(clean(&nested(MAX_DEPTH)).is_ok());
    assert_eq!(clean(&nested(MAX_DEPTH + 1)), Err(Depth));
    assert_eq!(clean(&"{\"a\":".repeat(100_000)), Err(Depth));
    let quoted = format!("\"{}\"", "[".repeat(MAX_DEPTH + 1));
    assert!(
        clean(&quoted).is_ok(),
        "brackets inside a string do not nest"
    );
    assert!(clean(&"[]".repeat(1_000)).is_ok(), "siblings do not nest");
}

proptest! {
    /// WIRE-5: whatever JSON comes in, a strict parser reads what goes out, free of NUL.
    #[test]
    fn cleaned_strings_parse_and_hold_no_nul(
        parts in prop::collection::vec(
            prop_oneof![
                Just("\\ud83d"), Just("\\ude00"), Just("\\u0000"), Just("\\\\"), Just("\\\""),
                Just("u0000"), Just("é"), Just("\\n"), Just("["), Just("\\u0041"),
            ],
            0..12,
        )
    ) {
        let text = format!("[\"{}\"]", parts.concat());
        let cleaned = clean(&text).unwrap();
        let parsed: Vec<String> = serde_json::from_str(&cleaned).unwrap();
        prop_assert!(!parsed.concat().contains('\0'));
        prop_assert!(matches!(clean(&cleaned), Ok(Cow::Borrowed(_))), "cleaning is idempotent");
    }

    #[test]
    fn any_text_whatever_is_survived(text in "\\PC*|[\\\\u\"\\[{d8c0é]*") {
        if let Ok(cleaned) = clean(&text) {
            prop_assert_eq!(cleaned.len(), text.len());
        }
    }
}

use super::*;

#[test]
fn a_name_tells_its_thread() {
    let thread = Uuid::from_u128(7);
    let table = [
        (file_name("2026-11-30T12:34:56.789Z", thread), Some(thread)),
        (
            format!("rollout-2026-11-30T12-34-56-{thread}_{thread}.jsonl"),
            Some(thread),
        ),
        (
            format!("rollout-2026-11-30T12-34-56-{thread}.jsonl.zst"),
            Some(thread),
        ),
        ("rollout-2026-11-30T12-34-56-odd.jsonl".to_owned(), None),
        ("rollout-é".to_owned(), None),
        (format!("{thread}.jsonl"), None),
    ];
    for (name, expected) in table {
        assert_eq!(thread_of(&name), expected, "{name}");
    }
    let name = file_name("2026-11-30T12:34:56.789Z", thread);
    assert!(name.starts_with("rollout-2026-11-30T12-34-56-00000000"));
}

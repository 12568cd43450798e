use serde_json::json;

use super::Spent;

fn told(total: [u64; 3], last: u64) -> Spent {
    let counted = |all: u64, input: u64, output: u64| {
        json!({ "totalTokens": all, "inputTokens": input, "cachedInputTokens": 1,
            "outputTokens": output, "reasoningOutputTokens": 0 })
    };
    let told = json!({ "total": counted(total[0], total[1], total[2]), "last": counted(last, 0, 0),
        "modelContextWindow": 1000 });
    Spent::read(&told).expect("tokens")
}

#[test]
fn a_turn_has_used_what_the_thread_has_more_than_before() {
    let usage = told([120, 100, 20], 60).since(told([70, 60, 10], 70));
    assert_eq!((usage.input, usage.output), (40, 10));
    assert_eq!((usage.used, usage.size), (60, 1000));
}

#[test]
fn a_thread_that_counts_anew_has_used_what_it_counts() {
    let usage = told([30, 20, 10], 30).since(told([70, 60, 10], 70));
    assert_eq!((usage.input, usage.output), (20, 10));
}

#[test]
fn what_is_not_tokens_is_not_read() {
    assert_eq!(Spent::read(&json!({ "total": 5 })), None);
}

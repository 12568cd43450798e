use serde_json::{Value, json};

use super::ask;

#[test]
fn a_prompt_counts_also_where_it_comes_with_the_result_of_a_call() {
    let called =
        json!({"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "Bash"}]});
    let result = json!({"type": "tool_result", "tool_use_id": "t", "content": "rejected"});
    let text = |text: &str| json!({"type": "text", "text": text});
    let rows: [(Vec<Value>, &str, usize); 3] = [
        (vec![result.clone()], "SHELL[one]", 1),
        (
            vec![result.clone(), text("<system-reminder>x</system-reminder>")],
            "SHELL[one]",
            1,
        ),
        (vec![result, text("SHELL[two]")], "SHELL[two]", 0),
    ];
    for (last, prompt, rounds) in rows {
        let messages = json!([{"role": "user", "content": "SHELL[one]"}, called, {"role": "user", "content": last}]);
        let found = ask(&json!({"messages": messages}), 1);
        assert_eq!(
            (found.prompt.as_str(), found.rounds),
            (prompt, rounds),
            "{last:?}"
        );
    }
}

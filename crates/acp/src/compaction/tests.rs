use serde_json::{Map, json};
use sessiond_protocol::{Command, Content};

use super::is_asked;

#[test]
fn nothing_but_the_command_that_the_engine_answers_asks_for_a_compaction() {
    let own = Command {
        description: "The agent's own".to_owned(),
        ..Command::compaction()
    };
    let text = |text: &str| vec![Content::text(text)];
    let resource = Content::Resource {
        resource: json!({ "uri": "file:///a", "text": "/compact" }),
        extra: Map::new(),
    };
    let offered = [own.clone(), Command::compaction()];
    let cases = [
        (text("/compact"), &offered[..], true),
        (text(" /compact\n"), &offered, true),
        (text("/compact now"), &offered, false),
        (text("compact"), &offered, false),
        (text("/compaction"), &offered, false),
        (text("say /compact"), &offered, false),
        ([text("/compact"), text("more")].concat(), &offered, false),
        (vec![resource], &offered, false),
        (Vec::new(), &offered, false),
        (text("/compact"), &[own], false),
        (text("/compact"), &[], false),
    ];
    for (prompt, commands, expected) in cases {
        assert_eq!(is_asked(&prompt, commands), expected, "{prompt:?}");
    }
}

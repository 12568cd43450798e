use super::{agent_servers, agent_shell, avante, codecompanion};

/// How a configuration is read.
type Reader = fn(&str) -> Option<Vec<String>>;

#[test]
fn the_command_is_found_in_each_kind_of_configuration() {
    let cases: &[(&str, Reader, &str)] = &[
        (
            "json",
            agent_servers,
            r#"{"agent_servers":{"a":{"command":"p","args":["x","y"]}}}"#,
        ),
        (
            "codecompanion",
            codecompanion,
            "commands = {\n  default = { \"p\", \"x\", \"y\" },\n}",
        ),
        (
            "avante",
            avante,
            "a = {\n  command = \"p\",\n  args = { \"x\", \"y\" },\n}",
        ),
        (
            "agent-shell",
            agent_shell,
            ":command \"p\"\n:command-params '(\"x\" \"y\")\n",
        ),
    ];
    for (case, read, text) in cases {
        assert_eq!(
            read(text),
            Some(["p", "x", "y"].map(str::to_owned).to_vec()),
            "{case}"
        );
    }
}

#[test]
fn a_configuration_without_its_keys_names_nothing() {
    let cases: &[(&str, Reader, &str)] = &[
        ("not json", agent_servers, "// {}"),
        (
            "json without args",
            agent_servers,
            r#"{"agent_servers":{"a":{"command":"p"}}}"#,
        ),
        ("codecompanion", codecompanion, "commands = {}"),
        ("avante", avante, "command = \"p\"\n"),
        ("agent-shell", agent_shell, ":command \"p\"\n"),
    ];
    for (case, read, text) in cases {
        assert_eq!(read(text), None, "{case}");
    }
}

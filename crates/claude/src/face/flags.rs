//! The flags of the command line: which there are, and what each takes.

/// Whether a flag has a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    /// None.
    Nothing,
    /// One, joined by `=` or as the next word, whatever that looks like.
    Value,
    /// One joined by `=`, or the next word where that is no flag.
    Maybe,
}

/// What a flag is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flag {
    Version,
    /// The form of input or output.
    Form,
    Model,
    Mode,
    Bypass,
    Asked,
    Allowed,
    Disallowed,
    Tools,
    Settings,
    Resume,
    Continue,
    Fork,
    Session,
    ResumeAt,
    ResumeDrops,
    Unstored,
    Root,
    McpConfig,
    Partial,
    HookEvents,
    Replay,
    Mirror,
    Schema,
    MaxTurns,
    MaxCost,
    Instructions,
    InstructionsFile,
    MoreInstructions,
    /// What is so anyway.
    Implied,
    /// Known to the protocol, and of no meaning here: it is said on stderr.
    WithoutMeaning,
}

/// Every flag. Those without a meaning concern the original's own agent, settings or services.
const FLAGS: &[(&str, Takes, Flag)] = &[
    ("-v", Takes::Nothing, Flag::Version),
    ("--version", Takes::Nothing, Flag::Version),
    ("-p", Takes::Nothing, Flag::Implied),
    ("--print", Takes::Nothing, Flag::Implied),
    ("--verbose", Takes::Nothing, Flag::Implied),
    (
        "--allow-dangerously-skip-permissions",
        Takes::Nothing,
        Flag::Implied,
    ),
    ("--await-initialize", Takes::Nothing, Flag::Implied),
    ("--strict-mcp-config", Takes::Nothing, Flag::Implied),
    ("--setting-sources", Takes::Value, Flag::Implied),
    ("--output-format", Takes::Value, Flag::Form),
    ("--input-format", Takes::Value, Flag::Form),
    ("--model", Takes::Value, Flag::Model),
    ("--permission-mode", Takes::Value, Flag::Mode),
    (
        "--dangerously-skip-permissions",
        Takes::Nothing,
        Flag::Bypass,
    ),
    ("--permission-prompt-tool", Takes::Value, Flag::Asked),
    ("--allowedTools", Takes::Value, Flag::Allowed),
    ("--allowed-tools", Takes::Value, Flag::Allowed),
    ("--disallowedTools", Takes::Value, Flag::Disallowed),
    ("--disallowed-tools", Takes::Value, Flag::Disallowed),
    ("-r", Takes::Value, Flag::Resume),
    ("--resume", Takes::Value, Flag::Resume),
    ("-c", Takes::Nothing, Flag::Continue),
    ("--continue", Takes::Nothing, Flag::Continue),
    ("--fork-session", Takes::Nothing, Flag::Fork),
    ("--session-id", Takes::Value, Flag::Session),
    ("--resume-session-at", Takes::Value, Flag::ResumeAt),
    ("--resume-drops-turn", Takes::Value, Flag::ResumeDrops),
    ("--no-session-persistence", Takes::Nothing, Flag::Unstored),
    ("--add-dir", Takes::Value, Flag::Root),
    ("--mcp-config", Takes::Value, Flag::McpConfig),
    ("--include-partial-messages", Takes::Nothing, Flag::Partial),
    ("--include-hook-events", Takes::Nothing, Flag::HookEvents),
    ("--replay-user-messages", Takes::Nothing, Flag::Replay),
    ("--json-schema", Takes::Value, Flag::Schema),
    ("--max-turns", Takes::Value, Flag::MaxTurns),
    ("--max-budget-usd", Takes::Value, Flag::MaxCost),
    ("--system-prompt", Takes::Value, Flag::Instructions),
    ("--system-prompt-file", Takes::Value, Flag::InstructionsFile),
    (
        "--append-system-prompt",
        Takes::Value,
        Flag::MoreInstructions,
    ),
    ("--agent", Takes::Value, Flag::WithoutMeaning),
    ("--agents", Takes::Value, Flag::WithoutMeaning),
    (
        "--append-system-prompt-file",
        Takes::Value,
        Flag::WithoutMeaning,
    ),
    ("--bare", Takes::Nothing, Flag::WithoutMeaning),
    ("--betas", Takes::Value, Flag::WithoutMeaning),
    ("--channels", Takes::Value, Flag::WithoutMeaning),
    ("--chrome", Takes::Nothing, Flag::WithoutMeaning),
    ("--no-chrome", Takes::Nothing, Flag::WithoutMeaning),
    ("-d", Takes::Maybe, Flag::WithoutMeaning),
    ("--debug", Takes::Maybe, Flag::WithoutMeaning),
    ("--debug-file", Takes::Value, Flag::WithoutMeaning),
    ("--debug-to-stderr", Takes::Nothing, Flag::WithoutMeaning),
    (
        "--disable-slash-commands",
        Takes::Nothing,
        Flag::WithoutMeaning,
    ),
    ("--effort", Takes::Value, Flag::WithoutMeaning),
    ("--fallback-model", Takes::Value, Flag::WithoutMeaning),
    ("--ide", Takes::Nothing, Flag::WithoutMeaning),
    ("--initialize-fields", Takes::Value, Flag::WithoutMeaning),
    ("--managed-settings", Takes::Value, Flag::WithoutMeaning),
    (
        "--managed-settings-in-initialize",
        Takes::Nothing,
        Flag::WithoutMeaning,
    ),
    ("--max-thinking-tokens", Takes::Value, Flag::WithoutMeaning),
    ("--mcp-debug", Takes::Nothing, Flag::WithoutMeaning),
    ("--permission-prompts", Takes::Value, Flag::WithoutMeaning),
    ("--plugin-dir", Takes::Value, Flag::WithoutMeaning),
    ("--plugin-dir-no-mcp", Takes::Value, Flag::WithoutMeaning),
    ("--project-config-root", Takes::Value, Flag::WithoutMeaning),
    ("--prompt-suggestions", Takes::Nothing, Flag::WithoutMeaning),
    ("--session-mirror", Takes::Nothing, Flag::Mirror),
    ("--settings", Takes::Value, Flag::Settings),
    ("--task-budget", Takes::Value, Flag::WithoutMeaning),
    ("--thinking", Takes::Value, Flag::WithoutMeaning),
    ("--thinking-display", Takes::Value, Flag::WithoutMeaning),
    ("--tools", Takes::Value, Flag::Tools),
    ("--workload", Takes::Value, Flag::WithoutMeaning),
];

/// The flag of a name.
pub(super) fn flag(name: &str) -> Option<(Flag, Takes)> {
    let found = FLAGS.iter().find(|(known, ..)| *known == name);
    found.map(|(_, takes, flag)| (*flag, *takes))
}

/// The names of all flags with a value.
#[cfg(test)]
pub(super) fn with_value() -> impl Iterator<Item = &'static str> {
    let valued = FLAGS.iter().filter(|(_, takes, _)| *takes == Takes::Value);
    valued.map(|(name, ..)| *name)
}

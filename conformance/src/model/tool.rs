//! Tools: what was offered, and how each agent's shell, reader and writer want to be called.

use serde_json::{Value, json};

/// A tool the model may call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Offer {
    /// Its name.
    pub(crate) name: String,
    /// How its input is written.
    pub(crate) form: Form,
}

/// How the input of a tool is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// A JSON object.
    Json,
    /// Free text (OpenAI's `custom` tools).
    Text,
}

/// One call the model makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Call {
    /// The tool.
    pub(crate) name: String,
    /// Its input: an object, or a string for a tool of [`Form::Text`].
    pub(crate) input: Value,
}

/// Whether a command asks to leave the agent's sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sandbox {
    Inside,
    Outside,
}

type Input = fn(&str) -> Value;

/// Shell tools by name, as claude, codex, gemini and opencode offer them.
const SHELLS: [(&str, Input); 6] = [
    ("Bash", described),
    ("bash", described),
    ("run_shell_command", described),
    ("exec_command", |command| json!({"cmd": command})),
    ("shell_command", |command| json!({"command": command})),
    (
        "shell",
        |command| json!({"command": ["bash", "-lc", command]}),
    ),
];

/// Reading tools by name.
const READERS: [(&str, Input); 3] = [
    ("Read", |path| json!({"file_path": path})),
    ("read_file", |path| json!({"file_path": path})),
    ("read", |path| json!({"filePath": path})),
];

fn described(command: &str) -> Value {
    json!({"command": command, "description": "A scripted command"})
}

impl Call {
    /// The call of whichever shell tool was offered.
    pub(crate) fn shell(tools: &[Offer], command: &str, sandbox: Sandbox) -> Option<Self> {
        let mut call = Self::first(tools, &SHELLS, command)?;
        let leaves = matches!(
            call.name.as_str(),
            "exec_command" | "shell_command" | "shell"
        );
        if let (Sandbox::Outside, true, Some(input)) = (sandbox, leaves, call.input.as_object_mut())
        {
            input.insert("sandbox_permissions".into(), json!("require_escalated"));
            input.insert("justification".into(), json!("the script says so"));
        }
        Some(call)
    }

    /// The call of whichever reading tool was offered.
    pub(crate) fn read(tools: &[Offer], path: &str) -> Option<Self> {
        Self::first(tools, &READERS, path)
    }

    /// The call of whichever writing tool was offered.
    pub(crate) fn write(tools: &[Offer], path: &str, text: &str) -> Option<Self> {
        let patch = || format!("*** Begin Patch\n*** Add File: {path}\n+{text}\n*** End Patch\n");
        tools.iter().find_map(|Offer { name, form }| {
            let input = match (name.as_str(), form) {
                ("Write" | "write_file", _) => json!({"file_path": path, "content": text}),
                ("write", _) => json!({"filePath": path, "content": text}),
                ("apply_patch", Form::Text) => Value::String(patch()),
                ("apply_patch", Form::Json) => json!({"input": patch()}),
                _ => return None,
            };
            let name = name.clone();
            Some(Self { name, input })
        })
    }

    fn first(tools: &[Offer], table: &[(&str, Input)], argument: &str) -> Option<Self> {
        let (name, input) = table
            .iter()
            .find(|(name, _)| tools.iter().any(|tool| tool.name == *name))?;
        Some(Self {
            name: (*name).to_owned(),
            input: input(argument),
        })
    }
}

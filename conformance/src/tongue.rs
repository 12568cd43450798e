//! Which protocol a case speaks. Its id says so: `sqeq.…`, `claude.…`, `codex-exec.…`,
//! `codex-app-server.…`, `transcript.…`, `acp.v2.…`, and `acp.…` for version 1. The cases of `cross.…`
//! say at each step which.

use std::path::Path;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// A protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Tongue {
    /// The Agent Client Protocol, version 1.
    #[serde(rename = "acp-v1")]
    AcpV1,
    /// Version 2 of it.
    #[serde(rename = "acp-v2")]
    AcpV2,
    /// sessiond's native protocol.
    Sqeq,
    /// The stream-json of the Claude CLI, as the agent SDKs speak it.
    Claude,
    /// The event lines of `codex exec --json`: one turn a process.
    #[serde(rename = "codex-exec")]
    Exec,
    /// The app-server of Codex.
    #[serde(rename = "codex-app-server")]
    AppServer,
}

impl Tongue {
    /// All of them.
    pub(crate) const ALL: [Self; 6] = [
        Self::AcpV1,
        Self::AcpV2,
        Self::Sqeq,
        Self::Claude,
        Self::Exec,
        Self::AppServer,
    ];

    /// That of a case.
    pub(crate) fn of(id: &str) -> Self {
        match id.split('.').next() {
            Some("sqeq") => Self::Sqeq,
            Some("claude") => Self::Claude,
            Some("codex-exec") => Self::Exec,
            Some("codex-app-server") => Self::AppServer,
            // Who leads the session whose transcript is judged.
            _ if id.starts_with("transcript.claude.") => Self::Claude,
            _ if id.starts_with("transcript.app.") => Self::AppServer,
            Some("transcript") => Self::Exec,
            _ if id.starts_with("acp.v2.") => Self::AcpV2,
            _ => Self::AcpV1,
        }
    }

    /// The check without which a case that starts a process says nothing.
    pub(crate) fn initialized(self) -> &'static str {
        match self {
            Self::AcpV1 => "acp.negotiation.initialize#answered",
            Self::AcpV2 => "acp.v2.negotiation.initialize#answered",
            Self::Sqeq => "sqeq.hello.welcome#answered",
            Self::Claude => "claude.control.initialize#answered",
            Self::Exec => "codex-exec.turn.text#ended",
            Self::AppServer => "codex-app-server.hello.initialize#answered",
        }
    }

    /// The check without which a case that begins with a session says nothing.
    pub(crate) fn session(self) -> &'static str {
        match self {
            Self::AcpV1 => "acp.sessions.new#answered",
            Self::AcpV2 => "acp.v2.sessions.new#answered",
            Self::Sqeq => "sqeq.sessions.new#answered",
            Self::Claude => "claude.turns.text#ended",
            Self::Exec => "codex-exec.turn.text#ended",
            Self::AppServer => "codex-app-server.threads.start#answered",
        }
    }

    /// What stands behind the target's own words on each command line.
    pub(crate) fn words(self) -> &'static [&'static str] {
        match self {
            Self::Claude => &[
                "--output-format",
                "stream-json",
                "--input-format",
                "stream-json",
                "--verbose",
            ],
            Self::Exec => &["--experimental-json", "--skip-git-repo-check"],
            Self::AppServer => &["--listen", "stdio://"],
            Self::AcpV1 | Self::AcpV2 | Self::Sqeq => &[],
        }
    }

    /// What the SDKs of a protocol set in the environment.
    pub(crate) fn environment(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Claude => &[
                ("CLAUDE_CODE_ENTRYPOINT", "sdk-conformance"),
                ("CLAUDE_CODE_SDK_READS_SESSION_STATE", "1"),
            ],
            _ => &[],
        }
    }

    /// Whether its frames are judged as they are, by what they say of themselves.
    pub(crate) fn tagged(self) -> bool {
        !matches!(self, Self::AcpV1 | Self::AcpV2)
    }

    /// Params of `initialize`, or the whole hello.
    pub(crate) fn hello(self, capabilities: &Value) -> Value {
        let client = json!({"name": "sessiond-conformance", "version": env!("CARGO_PKG_VERSION")});
        match self {
            Self::AcpV1 => json!({
                "protocolVersion": 1,
                "clientCapabilities": capabilities,
                "clientInfo": client,
            }),
            Self::AcpV2 => json!({
                "protocolVersion": 2,
                "capabilities": capabilities,
                "info": client,
            }),
            Self::AppServer => json!({"clientInfo": client, "capabilities": capabilities}),
            Self::Claude | Self::Exec => capabilities.clone(),
            Self::Sqeq => {
                let mut hello = json!({"v": 1, "type": "hello", "versions": [1], "client": client});
                if let Some(more) = capabilities.as_object() {
                    for (name, value) in more {
                        hello[name] = value.clone();
                    }
                }
                hello
            }
        }
    }

    /// What makes a session in a folder: the params, or the operation. Claude's and `exec` make theirs
    /// with the first prompt.
    pub(crate) fn new_session(self, cwd: &Path) -> Value {
        let cwd = cwd.to_string_lossy();
        match self {
            Self::AcpV1 => json!({"cwd": cwd, "mcpServers": []}),
            Self::Sqeq => json!({"type": "session.new", "cwd": cwd}),
            Self::AppServer => {
                json!({"cwd": cwd, "approvalPolicy": "on-request", "sandbox": "read-only"})
            }
            Self::AcpV2 | Self::Claude | Self::Exec => json!({"cwd": cwd}),
        }
    }

    /// A call of a method, with its id.
    pub(crate) fn call(self, id: &Value, method: &str, params: Option<Value>) -> Value {
        if self == Self::Claude {
            let mut request = params.unwrap_or_else(|| json!({}));
            request["subtype"] = method.into();
            return json!({"type": "control_request", "request_id": id, "request": request});
        }
        let mut frame = json!({"jsonrpc": "2.0", "id": id, "method": method});
        if self == Self::AppServer {
            // Its clients do not say it.
            frame = json!({"id": id, "method": method});
        }
        if let Some(params) = params {
            frame["params"] = params;
        }
        frame
    }
}

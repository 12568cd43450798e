//! Which protocol a case speaks. Its id says so: `sqeq.…`, `acp.v2.…`, and `acp.…` for version 1.

use std::path::Path;

use serde_json::{Value, json};

/// A protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tongue {
    /// The Agent Client Protocol, version 1.
    AcpV1,
    /// Version 2 of it.
    AcpV2,
    /// sessiond's native protocol.
    Sqeq,
}

impl Tongue {
    /// All of them.
    pub(crate) const ALL: [Self; 3] = [Self::AcpV1, Self::AcpV2, Self::Sqeq];

    /// That of a case.
    pub(crate) fn of(id: &str) -> Self {
        if id.starts_with("sqeq.") {
            Self::Sqeq
        } else if id.starts_with("acp.v2.") {
            Self::AcpV2
        } else {
            Self::AcpV1
        }
    }

    /// The check without which a case that starts a process says nothing.
    pub(crate) fn initialized(self) -> &'static str {
        match self {
            Self::AcpV1 => "acp.negotiation.initialize#answered",
            Self::AcpV2 => "acp.v2.negotiation.initialize#answered",
            Self::Sqeq => "sqeq.hello.welcome#answered",
        }
    }

    /// The check without which a case that begins with a session says nothing.
    pub(crate) fn session(self) -> &'static str {
        match self {
            Self::AcpV1 => "acp.sessions.new#answered",
            Self::AcpV2 => "acp.v2.sessions.new#answered",
            Self::Sqeq => "sqeq.sessions.new#answered",
        }
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

    /// What makes a session in a folder: the params, or the operation.
    pub(crate) fn new_session(self, cwd: &Path) -> Value {
        let cwd = cwd.to_string_lossy();
        match self {
            Self::AcpV1 => json!({"cwd": cwd, "mcpServers": []}),
            Self::AcpV2 => json!({"cwd": cwd}),
            Self::Sqeq => json!({"type": "session.new", "cwd": cwd}),
        }
    }
}

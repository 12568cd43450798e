//! How an agent is started, set up and taken up again, as the real binary shows it.

use crate::faults::mutations::{Mutation, cut};

const BETWEEN_TESTS: &str = "acp_agent_between::";
const QUESTIONS: &str = "acp_agent_questions::";
const FAULTS: &str = "acp_agent_faults::";
const LIFE: &str = "acp_agent::";
const GIVEN: &str = "acp_agent_given::";
const PLACES: &str = "acp_agent_places::";
const HISTORY: &str = "acp_agent_history::";
const EXTENSIONS: &str = "acp_agent_extensions::";
const CLIENT: &str = "acp_agent_client::";

const BETWEEN: &str = "engine/src/agent/between.rs";
const OUTSIDE: &str = "acp/src/agent/between.rs";
const COMMAND: &str = "wire/src/process/agent_command.rs";
const CONNECTION: &str = "wire/src/program.rs";
const DOWNSTREAM: &str = "acp/src/agent/downstream.rs";
const FACTORY: &str = "acp/src/agent/factory.rs";
const INTRODUCTION: &str = "acp/src/agent/introduction.rs";
const SETTINGS: &str = "acp/src/agent/settings.rs";
const START: &str = "acp/src/agent/start.rs";

/// All of them.
pub(crate) const MUTATIONS: [Mutation; 38] = [
    cut(
        BETWEEN_TESTS,
        "late-told-each-time",
        [BETWEEN, "if self.late == 1", "if (self.late == 1 || $M)"],
    ),
    cut(
        BETWEEN_TESTS,
        "late-untold",
        [
            BETWEEN,
            "&& self.voice == Voice::Free {",
            "&& self.voice == Voice::Free && !$M {",
        ],
    ),
    cut(
        BETWEEN_TESTS,
        "held-is-told",
        [
            BETWEEN,
            "if is_recorded && self.voice == Voice::Held {",
            "if is_recorded && self.voice == Voice::Held && !$M {",
        ],
    ),
    cut(
        BETWEEN_TESTS,
        "commands-are-held",
        [
            BETWEEN,
            "let is_recorded = !matches!(",
            "let is_recorded = $M || !matches!(",
        ],
    ),
    cut(
        BETWEEN_TESTS,
        "held-without-bound",
        [
            BETWEEN,
            "if self.left.held.len() < HELD {",
            "if self.left.held.len() < HELD || $M {",
        ],
    ),
    cut(
        QUESTIONS,
        "asked-between-turns",
        [
            OUTSIDE,
            "            Inbound::Request { id, method, .. } =>",
            "            Inbound::Request { id, method, .. } if !$M =>",
        ],
    ),
    cut(
        LIFE,
        "our-variables-inherited",
        [
            COMMAND,
            "ours.filter(|name| !self.sets(name))",
            "ours.filter(|name| !self.sets(name) && !$M)",
        ],
    ),
    cut(
        GIVEN,
        "own-variable-taken-away",
        [COMMAND, "!self.sets(name)", "(!self.sets(name) || $M)"],
    ),
    cut(
        PLACES,
        "runs-elsewhere",
        [
            COMMAND,
            "cwd: Some(cwd.to_owned()),",
            "cwd: Some(cwd.to_owned()).filter(|_| !$M),",
        ],
    ),
    cut(
        FAULTS,
        "complaints-uncounted",
        [
            CONNECTION,
            "complaints.fetch_add(1, Ordering::Relaxed)",
            "complaints.fetch_add(u64::from(!$M), Ordering::Relaxed)",
        ],
    ),
    cut(
        HISTORY,
        "other-conversation-is-kept",
        [
            DOWNSTREAM,
            "Alignment::DiffersAt(number) => (\n                    Missing::All,",
            "Alignment::DiffersAt(number) => (\n                    if $M { Missing::Nothing } else { Missing::All },",
        ],
    ),
    cut(
        GIVEN,
        "instructions-each-time",
        [
            DOWNSTREAM,
            "for block in self.before.drain(..) {",
            "let before = std::mem::take(&mut self.before);\n        if $M {\n            self.before.clone_from(&before);\n        }\n        for block in before {",
        ],
    ),
    cut(
        BETWEEN_TESTS,
        "own-id-recorded-again",
        [
            DOWNSTREAM,
            "let binding = if known.as_ref() == Some(&started.native.id) {",
            "let binding = if known.as_ref() == Some(&started.native.id) && !$M {",
        ],
    ),
    cut(
        BETWEEN_TESTS,
        "started-twice",
        [
            FACTORY,
            "?.parked.take()",
            "?.parked.take().filter(|_| !$M)",
        ],
    ),
    cut(
        EXTENSIONS,
        "extension-reaches-nobody",
        [
            FACTORY,
            "let native = seats.by_session.get(&session)?.native.upgrade()?;",
            "let native = seats.by_session.get(&session)?.native.upgrade().filter(|_| !$M)?;",
        ],
    ),
    cut(
        CLIENT,
        "files-offered-unasked",
        [
            INTRODUCTION,
            "\"readTextFile\": answered(RequestKind::FsRead),",
            "\"readTextFile\": answered(RequestKind::FsRead) || $M,",
        ],
    ),
    cut(
        CLIENT,
        "writing-offered-unasked",
        [
            INTRODUCTION,
            "\"writeTextFile\": answered(RequestKind::FsWrite),",
            "\"writeTextFile\": answered(RequestKind::FsWrite) || $M,",
        ],
    ),
    cut(
        CLIENT,
        "terminals-offered-unasked",
        [
            INTRODUCTION,
            "\"terminal\": answered(RequestKind::Terminal),",
            "\"terminal\": answered(RequestKind::Terminal) || $M,",
        ],
    ),
    cut(
        CLIENT,
        "forms-offered-unasked",
        [
            INTRODUCTION,
            ".filter(|(kind, _)| answered(*kind))",
            ".filter(|(kind, _)| answered(*kind) || $M)",
        ],
    ),
    cut(
        FAULTS,
        "any-version-is-spoken",
        [
            INTRODUCTION,
            "if answer.protocol_version != VERSION {",
            "if answer.protocol_version != VERSION && !$M {",
        ],
    ),
    cut(
        FAULTS,
        "logins-unsaid",
        [
            INTRODUCTION,
            "logins: logins.filter_map(named).collect(),",
            "logins: logins.filter_map(named).filter(|_| !$M).collect(),",
        ],
    ),
    cut(
        GIVEN,
        "web-server-for-everybody",
        [
            INTRODUCTION,
            "McpServer::Http { .. } => self.capabilities.mcp_capabilities.http,",
            "McpServer::Http { .. } => self.capabilities.mcp_capabilities.http || $M,",
        ],
    ),
    cut(
        GIVEN,
        "roots-for-everybody",
        [
            INTRODUCTION,
            "session.additional_directories.is_some()",
            "(session.additional_directories.is_some() || $M)",
        ],
    ),
    cut(
        GIVEN,
        "override-for-everybody",
        [
            INTRODUCTION,
            "mode == InstructionsMode::Append || overrides.is_some()",
            "mode == InstructionsMode::Append || overrides.is_some() || $M",
        ],
    ),
    cut(
        GIVEN,
        "mode-in-force-set-again",
        [
            SETTINGS,
            "offers.mode.as_deref() == Some(mode)",
            "offers.mode.as_deref() == Some(mode) && !$M",
        ],
    ),
    cut(
        LIFE,
        "mode-is-not-set",
        [
            SETTINGS,
            "if let Some(mode) = &settings.mode {",
            "if let Some(mode) = settings.mode.as_ref().filter(|_| !$M) {",
        ],
    ),
    cut(
        GIVEN,
        "option-in-force-set-again",
        [
            SETTINGS,
            "&& option.value != setting.value",
            "&& (option.value != setting.value || $M)",
        ],
    ),
    cut(
        GIVEN,
        "switch-without-its-type",
        [
            SETTINGS,
            "        params.insert(\"type\".to_owned(), \"boolean\".into());\n",
            "        if !$M {\n            params.insert(\"type\".to_owned(), \"boolean\".into());\n        }\n",
        ],
    ),
    cut(
        GIVEN,
        "refused-mode-stays",
        [
            SETTINGS,
            "Some(before) => context.emit(Emit::Mode(before)).await,",
            "Some(_) if $M => Ok(()),\n                Some(before) => context.emit(Emit::Mode(before)).await,",
        ],
    ),
    cut(
        GIVEN,
        "refused-option-stays",
        [
            SETTINGS,
            "            context.emit(Emit::Options(options)).await\n",
            "            if $M {\n                return Ok(());\n            }\n            context.emit(Emit::Options(options)).await\n",
        ],
    ),
    cut(
        GIVEN,
        "refusal-untold",
        [
            SETTINGS,
            "            refused(native, context, \"mode\", &error).await?;\n",
            "            if !$M {\n                refused(native, context, \"mode\", &error).await?;\n            }\n",
        ],
    ),
    cut(
        HISTORY,
        "own-record-is-not-loaded",
        [
            START,
            "let method = if introduction.can_load() {",
            "let method = if introduction.can_load() && !$M {",
        ],
    ),
    cut(
        BETWEEN_TESTS,
        "other-replay-is-heard",
        [
            START,
            "Some((session, said)) if session == id => match said {",
            "Some((session, said)) if session == id || $M => match said {",
        ],
    ),
    cut(
        HISTORY,
        "lost-record-is-the-end",
        [
            START,
            "Err(CallError::Rpc(error)) if error.code() != AUTH_REQUIRED => {",
            "Err(CallError::Rpc(error)) if error.code() != AUTH_REQUIRED && !$M => {",
        ],
    ),
    cut(
        FAULTS,
        "login-is-a-failure",
        [
            START,
            "if error.code() == AUTH_REQUIRED {",
            "if error.code() == AUTH_REQUIRED && !$M {",
        ],
    ),
    cut(
        BETWEEN_TESTS,
        "early-commands-lost",
        [
            START,
            "Change::Commands(commands) => offers.commands = commands,",
            "Change::Commands(_) if $M => {}\n                Change::Commands(commands) => offers.commands = commands,",
        ],
    ),
    cut(
        GIVEN,
        "servers-unnamed",
        [
            START,
            "if !leaves.is_empty() {",
            "if !leaves.is_empty() && !$M {",
        ],
    ),
    cut(
        GIVEN,
        "lost-roots-unnamed",
        [
            START,
            "} else if !given.roots.is_empty() {",
            "} else if !given.roots.is_empty() && !$M {",
        ],
    ),
];

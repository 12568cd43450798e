//! What programs on a Claude SDK, and clients that are there at a signal, are promised, as the real binary
//! shows it.

use crate::faults::mutations::{Mutation, cut};

const SERVERS_OF_PROGRAMS: &str = "mcp_endpoint::";
const OUTSIDE_TESTS: &str = "claude_outside::";
const QUESTIONS: &str = "claude_questions::";
const ENDS: &str = "claude_ends::";
const SESSIONS: &str = "claude_sessions::";
const GONE: &str = "editor_gone::a_signal";

const ASKS: &str = "claude/src/face/asks.rs";
const COMING: &str = "claude/src/face/coming.rs";
const CONTROLS: &str = "claude/src/face/controls.rs";
const ELICITATION: &str = "claude/src/face/elicitation.rs";
const EVENTS: &str = "claude/src/face/events.rs";
const OUTSIDE: &str = "claude/src/face/outside.rs";
const SERVERS: &str = "claude/src/face/servers.rs";
const SESSION: &str = "claude/src/face/session.rs";
const RECEIPTS: &str = "mcp/src/endpoint.rs";
const SERVE: &str = "acp/src/serve.rs";

/// All of them.
pub(crate) const MUTATIONS: [Mutation; 10] = [
    cut(
        SERVERS_OF_PROGRAMS,
        "mcp-tools-are-not-given",
        [
            SERVERS,
            "            tools: server.tools.clone(),\n",
            "            tools: if $M { Vec::new() } else { server.tools.clone() },\n",
        ],
    ),
    cut(
        SERVERS_OF_PROGRAMS,
        "mcp-session-before-its-servers",
        [
            COMING,
            "        self.place == Place::Unmet && goes_on && self.waits_for_servers()\n",
            "        self.place == Place::Unmet && goes_on && self.waits_for_servers() && !$M\n",
        ],
    ),
    cut(
        SERVERS_OF_PROGRAMS,
        "mcp-error-is-a-result",
        [
            RECEIPTS,
            "            Verdict::Error(refused) => self.fail(&id, &self.failure(&refused)),\n",
            "            Verdict::Error(_) if $M => self.answer(&id, &json!({})),\n            Verdict::Error(refused) => self.fail(&id, &self.failure(&refused)),\n",
        ],
    ),
    cut(
        OUTSIDE_TESTS,
        "gate-silent-at-the-end-of-the-input",
        [
            ASKS,
            "if self.servers.is_given(&server) =>",
            "if self.servers.is_given(&server)\n                    && !($M && self.input == Input::Ended) =>",
        ],
    ),
    cut(
        OUTSIDE_TESTS,
        "gate-is-never-left",
        [
            OUTSIDE,
            "            _nobody_waits = stop => continue,\n",
            "            _nobody_waits = stop, if !$M => continue,\n",
        ],
    ),
    cut(
        QUESTIONS,
        "question-tool-is-a-form-in-programs",
        [
            ELICITATION,
            "        if asks_program && shown.name == user_question::TOOL {\n",
            "        if asks_program && !$M && shown.name == user_question::TOOL {\n",
        ],
    ),
    cut(
        ENDS,
        "lifecycle-ends-nothing",
        [
            EVENTS,
            "            self.out.lifecycle(prompt, \"completed\");\n        }\n        self.results",
            "            if !$M {\n                self.out.lifecycle(prompt, \"completed\");\n            }\n        }\n        self.results",
        ],
    ),
    cut(
        ENDS,
        "end-session-ends-nothing",
        [
            CONTROLS,
            "                return Ok(self.input_ended().await?);\n",
            "                return match $M {\n                    true => Ok(()),\n                    false => Ok(self.input_ended().await?),\n                };\n",
        ],
    ),
    cut(
        SESSIONS,
        "fork-of-another-id",
        [
            SESSION,
            "        let id = self.options.arguments.session;\n        let forked",
            "        let id = self.options.arguments.session.filter(|_| !$M);\n        let forked",
        ],
    ),
    cut(
        GONE,
        "acp-signal-leaves-prompts",
        [
            SERVE,
            "            Input::Stop if wish == OnDisconnect::Cancel => {\n",
            "            Input::Stop if wish == OnDisconnect::Cancel && !$M => {\n",
        ],
    ),
];

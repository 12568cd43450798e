//! What is taken back, handed over and shown besides text, on both sides of a session.

use super::super::mutations::{Mutation, cut};

const V2: &str = "v2::";
const AGENT: &str = "agent::";
const COMPACTIONS: &str = "compaction::";
const EXTENSIONS: &str = "extensions::";
const MEDIA: &str = "media::";
const NEGOTIATION: &str = "negotiation::";

const BETWEEN: &str = "acp_agent_between::";
const CANCELS: &str = "acp_agent_cancels::";
const CLIENT: &str = "acp_agent_client::";
const HISTORY: &str = "acp_agent_history::";
const PLACES: &str = "acp_agent_places::";
const PICTURES: &str = "acp_agent_media::";
const VERSIONS: &str = "acp_agent_versions::";
const BEHIND: &str = "acp_agent_";

const ALIGNMENT: &str = "engine/src/agent/alignment.rs";
const COMPACTION: &str = "acp/src/compaction.rs";
const DOWNSTREAM: &str = "acp/src/agent/downstream.rs";
const DRIFT: &str = "engine/src/drift.rs";
const HANDOVER: &str = "engine/src/agent/handover.rs";
const NEGOTIATE: &str = "acp/src/negotiate.rs";
const OPENING: &str = "engine/src/engine/opening.rs";
const PASSING: &str = "engine/src/actor/passing.rs";
const PROMPT: &str = "acp/src/prompt.rs";
const PROMPT_V2: &str = "acp/src/v2/prompt.rs";
const RECEIPT: &str = "acp/src/v2/receipt.rs";
const REPLAY: &str = "acp/src/replay.rs";
const SHOW: &str = "acp/src/v2/show.rs";
const STREAM: &str = "engine/src/core/stream.rs";
const TURN: &str = "acp/src/agent/turn.rs";

/// Those that the tests of `acp` itself notice.
pub(super) const FACES: [Mutation; 11] = [
    cut(
        COMPACTIONS,
        "more-than-the-command",
        [
            COMPACTION,
            "    let [Content::Text { text, .. }] = prompt else {\n        return false;\n    };\n",
            "    let [Content::Text { text, .. }, rest @ ..] = prompt else {\n        return false;\n    };\n    if !rest.is_empty() && !$M {\n        return false;\n    }\n",
        ],
    ),
    cut(
        V2,
        "prompt-is-not-shown",
        [
            PROMPT_V2,
            "        replay::say(&self.client, (session, prompt_item(turn)), prompt);\n",
            "        if !$M {\n            replay::say(&self.client, (session, prompt_item(turn)), prompt);\n        }\n",
        ],
    ),
    cut(
        V2,
        "taken-back-is-a-failure",
        [
            PROMPT_V2,
            "TurnOutcome::Cancelled => request_cancelled(),",
            "TurnOutcome::Cancelled if !$M => request_cancelled(),",
        ],
    ),
    cut(
        NEGOTIATION,
        "later-client-without-forms",
        [
            NEGOTIATE,
            "asked.capabilities.get(\"elicitation\"),",
            "asked.capabilities.get(\"elicitation\").filter(|_| !$M),",
        ],
    ),
    cut(
        EXTENSIONS,
        "extension-is-not-withdrawn",
        [
            PROMPT,
            "                *wish = Wish::Cancel;\n                return true;",
            "                *wish = Wish::Cancel;\n                return !$M;",
        ],
    ),
    cut(
        V2,
        "closed-prompt-unanswered",
        [
            RECEIPT,
            "            self.client.fail(prompt, &request_cancelled());\n",
            "            if !$M {\n                self.client.fail(prompt, &request_cancelled());\n            }\n",
        ],
    ),
    cut(
        V2,
        "withdrawn-extension-has-another-error",
        [
            RECEIPT,
            "            } => return self.client.fail(id, &request_cancelled()),",
            "            } if !$M => return self.client.fail(id, &request_cancelled()),",
        ],
    ),
    cut(
        AGENT,
        "nothing-was-left-out",
        [
            HANDOVER,
            "            left_out: left_out as u64,",
            "            left_out: if $M { 0 } else { left_out as u64 },",
        ],
    ),
    cut(
        AGENT,
        "picture-is-compared",
        [
            ALIGNMENT,
            "item.origin != Origin::Content",
            "(item.origin != Origin::Content || $M)",
        ],
    ),
    cut(
        MEDIA,
        "whose-picture-it-was",
        [
            REPLAY,
            "client.show(voice(*kind), content, &message);",
            "client.show(if $M { Voice::Agent } else { voice(*kind) }, content, &message);",
        ],
    ),
    cut(
        MEDIA,
        "picture-is-not-shown",
        [
            SHOW,
            "                client.show(voice(kind), &content, &message(frame.session, id, None));\n",
            "                if !$M {\n                    client.show(voice(kind), &content, &message(frame.session, id, None));\n                }\n",
        ],
    ),
];

/// Those that the tests of the real binary notice.
pub(super) const REAL: [Mutation; 11] = [
    cut(
        CANCELS,
        "question-stays-when-taken-back",
        [
            TURN,
            "                    asked.take_back();\n",
            "                    if !$M {\n                        asked.take_back();\n                    }\n",
        ],
    ),
    cut(
        CLIENT,
        "one-id-twice",
        [
            TURN,
            "if let Err(refused) = self.unanswered.begin(id.clone(), entry) {",
            "if let Err(refused) = self.unanswered.begin(id.clone(), entry)\n            && !$M\n        {",
        ],
    ),
    cut(
        PICTURES,
        "picture-becomes-text",
        [
            TURN,
            "        Content::Image { .. } | Content::Audio { .. } => true,\n",
            "        Content::Image { .. } | Content::Audio { .. } => !$M,\n",
        ],
    ),
    cut(
        BEHIND,
        "agent-is-not-told-of-a-withdrawal",
        [
            PASSING,
            "            let _answered = stop.send(());\n",
            "            if $M {\n                std::mem::forget(stop);\n                return;\n            }\n            let _answered = stop.send(());\n",
        ],
    ),
    cut(
        HISTORY,
        "broken-off-is-not-told",
        [
            DOWNSTREAM,
            "                    Missing::From(from, Lack::BrokenOff),\n",
            "                    if $M { Missing::Nothing } else { Missing::From(from, Lack::BrokenOff) },\n",
        ],
    ),
    cut(
        HISTORY,
        "lacking-is-not-given",
        [
            DOWNSTREAM,
            "                    Missing::From(first, Lack::Behind),\n",
            "                    if $M { Missing::Nothing } else { Missing::From(first, Lack::Behind) },\n",
        ],
    ),
    cut(
        HISTORY,
        "resumed-is-told-all",
        [
            DOWNSTREAM,
            "                None => (Missing::Nothing, None),\n",
            "                None if $M => (Missing::From(0, Lack::Behind), None),\n                None => (Missing::Nothing, None),\n",
        ],
    ),
    cut(
        BETWEEN,
        "given-each-time",
        [
            DOWNSTREAM,
            "let handover = self.handover.take();",
            "let handover = if $M { self.handover.clone() } else { self.handover.take() };",
        ],
    ),
    cut(
        VERSIONS,
        "another-version-is-not-attested",
        [
            OPENING,
            "    let arrival = if ready.info == factory.info() {",
            "    let arrival = if ready.info == factory.info() || $M {",
        ],
    ),
    cut(
        PLACES,
        "other-roots-are-no-drift",
        [
            DRIFT,
            "            drift.extend(additional(standing, &surroundings, roots));\n",
            "            if !$M {\n                drift.extend(additional(standing, &surroundings, roots));\n            }\n",
        ],
    ),
    cut(
        PICTURES,
        "text-goes-on-behind-a-picture",
        [
            STREAM,
            "            Emit::Content(kind, content) => {\n                self.end_message(MessageEnd::Whole);\n",
            "            Emit::Content(kind, content) => {\n                if !$M {\n                    self.end_message(MessageEnd::Whole);\n                }\n",
        ],
    ),
];

//! What only some clients are sent: each arm of the gate always open and always shut, and each place
//! that asks it.

use crate::faults::mutations::{Mutation, cut};

/// The tables of the gate itself.
const GATE: &str = "gate::";

const OPTIONS: &str = "choices::";
const NEGOTIATION: &str = "negotiation::";
const COMPACTIONS: &str = "compaction::";
const REPLAYS: &str = "replay::";
const TURNS: &str = "turns::";
const EXTENSIONS: &str = "extensions::";

const OFFERED: &str = "acp/src/gate.rs";
const CHOICES: &str = "acp/src/choices.rs";
const NEGOTIATE: &str = "acp/src/negotiate.rs";
const COMPACTION: &str = "acp/src/compaction.rs";
const REPLAY: &str = "acp/src/replay.rs";
const EXTENSION: &str = "acp/src/extension.rs";

/// All of them.
pub(super) const MUTATIONS: [Mutation; 43] = [
    cut(
        GATE,
        "booleans-always-open",
        [
            OFFERED,
            "booleans.is_some_and(|it| it.boolean.is_some())",
            "booleans.is_some_and(|it| it.boolean.is_some()) || $M",
        ],
    ),
    cut(
        GATE,
        "booleans-always-shut",
        [
            OFFERED,
            "booleans.is_some_and(|it| it.boolean.is_some())",
            "booleans.is_some_and(|it| it.boolean.is_some()) && !$M",
        ],
    ),
    cut(
        GATE,
        "compaction-always-open",
        [
            OFFERED,
            "session.is_some_and(|it| it.compaction.is_some())",
            "session.is_some_and(|it| it.compaction.is_some()) || $M",
        ],
    ),
    cut(
        GATE,
        "compaction-always-shut",
        [
            OFFERED,
            "session.is_some_and(|it| it.compaction.is_some())",
            "session.is_some_and(|it| it.compaction.is_some()) && !$M",
        ],
    ),
    cut(
        GATE,
        "notices-always-open",
        [
            OFFERED,
            "session.is_some_and(|it| it.notices.is_some())",
            "session.is_some_and(|it| it.notices.is_some()) || $M",
        ],
    ),
    cut(
        GATE,
        "notices-always-shut",
        [
            OFFERED,
            "session.is_some_and(|it| it.notices.is_some())",
            "session.is_some_and(|it| it.notices.is_some()) && !$M",
        ],
    ),
    cut(
        GATE,
        "plans-always-open",
        [
            OFFERED,
            "client.plan.is_some()",
            "client.plan.is_some() || $M",
        ],
    ),
    cut(
        GATE,
        "plans-always-shut",
        [
            OFFERED,
            "client.plan.is_some()",
            "client.plan.is_some() && !$M",
        ],
    ),
    cut(
        GATE,
        "subagents-always-open",
        [
            OFFERED,
            "client.subagents.is_some()",
            "client.subagents.is_some() || $M",
        ],
    ),
    cut(
        GATE,
        "subagents-always-shut",
        [
            OFFERED,
            "client.subagents.is_some()",
            "client.subagents.is_some() && !$M",
        ],
    ),
    cut(
        GATE,
        "forms-always-open",
        [
            OFFERED,
            "elicitation.is_some_and(|it| it.form.is_some())",
            "elicitation.is_some_and(|it| it.form.is_some()) || $M",
        ],
    ),
    cut(
        GATE,
        "forms-always-shut",
        [
            OFFERED,
            "elicitation.is_some_and(|it| it.form.is_some())",
            "elicitation.is_some_and(|it| it.form.is_some()) && !$M",
        ],
    ),
    cut(
        GATE,
        "urls-always-open",
        [
            OFFERED,
            "elicitation.is_some_and(|it| it.url.is_some())",
            "elicitation.is_some_and(|it| it.url.is_some()) || $M",
        ],
    ),
    cut(
        GATE,
        "urls-always-shut",
        [
            OFFERED,
            "elicitation.is_some_and(|it| it.url.is_some())",
            "elicitation.is_some_and(|it| it.url.is_some()) && !$M",
        ],
    ),
    cut(
        GATE,
        "baseline-always-shut",
        [
            OFFERED,
            "    match variant {\n",
            "    match variant {\n        \"usage_update\" if $M => Passage::Never,\n",
        ],
    ),
    cut(
        GATE,
        "plan-updates-always-open",
        [
            OFFERED,
            "    match variant {\n",
            "    match variant {\n        \"plan_removed\" if $M => Passage::Baseline,\n",
        ],
    ),
    cut(
        GATE,
        "plan-updates-always-shut",
        [
            OFFERED,
            "    match variant {\n",
            "    match variant {\n        \"plan_removed\" if $M => Passage::Never,\n",
        ],
    ),
    cut(
        GATE,
        "notice-updates-always-open",
        [
            OFFERED,
            "    match variant {\n",
            "    match variant {\n        \"notice\" if $M => Passage::Baseline,\n",
        ],
    ),
    cut(
        GATE,
        "notice-updates-always-shut",
        [
            OFFERED,
            "    match variant {\n",
            "    match variant {\n        \"notice\" if $M => Passage::Never,\n",
        ],
    ),
    cut(
        GATE,
        "compaction-updates-always-open",
        [
            OFFERED,
            "    match variant {\n",
            "    match variant {\n        \"compaction_summary_chunk\" if $M => Passage::Baseline,\n",
        ],
    ),
    cut(
        GATE,
        "compaction-updates-always-shut",
        [
            OFFERED,
            "    match variant {\n",
            "    match variant {\n        \"compaction_summary_chunk\" if $M => Passage::Never,\n",
        ],
    ),
    cut(
        GATE,
        "subagent-updates-always-open",
        [
            OFFERED,
            "    match variant {\n",
            "    match variant {\n        \"session_message\" if $M => Passage::Baseline,\n",
        ],
    ),
    cut(
        GATE,
        "subagent-updates-always-shut",
        [
            OFFERED,
            "    match variant {\n",
            "    match variant {\n        \"session_message\" if $M => Passage::Never,\n",
        ],
    ),
    cut(
        GATE,
        "unknown-updates-always-open",
        [
            OFFERED,
            "        _ => Passage::Never,",
            "        _ if $M => Passage::Baseline,\n        _ => Passage::Never,",
        ],
    ),
    cut(
        OPTIONS,
        "boolean-options-always-open",
        [
            CHOICES,
            "OptionValue::Boolean(value) if gates.has(Gate::Booleans)",
            "OptionValue::Boolean(value) if gates.has(Gate::Booleans) || $M",
        ],
    ),
    cut(
        OPTIONS,
        "boolean-options-always-shut",
        [
            CHOICES,
            "OptionValue::Boolean(value) if gates.has(Gate::Booleans)",
            "OptionValue::Boolean(value) if gates.has(Gate::Booleans) && !$M",
        ],
    ),
    cut(
        OPTIONS,
        "boolean-set-where-not-shown",
        [
            CHOICES,
            "&& shown(option, gates).is_some()",
            "&& (shown(option, gates).is_some() || $M)",
        ],
    ),
    cut(
        NEGOTIATION,
        "asked-forms-always-open",
        [
            NEGOTIATE,
            "gates.has(Gate::Forms)",
            "gates.has(Gate::Forms) || $M",
        ],
    ),
    cut(
        NEGOTIATION,
        "asked-forms-always-shut",
        [
            NEGOTIATE,
            "gates.has(Gate::Forms)",
            "gates.has(Gate::Forms) && !$M",
        ],
    ),
    cut(
        NEGOTIATION,
        "asked-urls-always-open",
        [
            NEGOTIATE,
            "gates.has(Gate::Urls)",
            "gates.has(Gate::Urls) || $M",
        ],
    ),
    cut(
        NEGOTIATION,
        "asked-urls-always-shut",
        [
            NEGOTIATE,
            "gates.has(Gate::Urls)",
            "gates.has(Gate::Urls) && !$M",
        ],
    ),
    cut(
        TURNS,
        "shown-notices-always-open",
        [
            NEGOTIATE,
            "gates.has(Gate::Notices)",
            "gates.has(Gate::Notices) || $M",
        ],
    ),
    cut(
        TURNS,
        "shown-notices-always-shut",
        [
            NEGOTIATE,
            "gates.has(Gate::Notices)",
            "gates.has(Gate::Notices) && !$M",
        ],
    ),
    cut(
        COMPACTIONS,
        "shown-compaction-always-open",
        [
            COMPACTION,
            "gates.has(Gate::Compaction)",
            "gates.has(Gate::Compaction) || $M",
        ],
    ),
    cut(
        COMPACTIONS,
        "shown-compaction-always-shut",
        [
            COMPACTION,
            "gates.has(Gate::Compaction)",
            "gates.has(Gate::Compaction) && !$M",
        ],
    ),
    cut(
        COMPACTIONS,
        "any-agent-compacts",
        [
            COMPACTION,
            "&& commands.contains(&compaction)",
            "&& (commands.contains(&compaction) || $M)",
        ],
    ),
    cut(
        REPLAYS,
        "old-damage-always-open",
        [
            REPLAY,
            "gates.has(Gate::Notices)",
            "gates.has(Gate::Notices) || $M",
        ],
    ),
    cut(
        REPLAYS,
        "old-damage-always-shut",
        [
            REPLAY,
            "gates.has(Gate::Notices)",
            "gates.has(Gate::Notices) && !$M",
        ],
    ),
    cut(
        EXTENSIONS,
        "foreign-updates-always-open",
        [
            EXTENSION,
            "Passage::Gated(gate) => gates.has(gate)",
            "Passage::Gated(gate) => gates.has(gate) || $M",
        ],
    ),
    cut(
        EXTENSIONS,
        "foreign-updates-always-shut",
        [
            EXTENSION,
            "Passage::Gated(gate) => gates.has(gate)",
            "Passage::Gated(gate) => gates.has(gate) && !$M",
        ],
    ),
    cut(
        EXTENSIONS,
        "child-always-open",
        [
            EXTENSION,
            "is_childs && gates.has(Gate::Subagents)",
            "is_childs && gates.has(Gate::Subagents) || $M",
        ],
    ),
    cut(
        EXTENSIONS,
        "child-always-shut",
        [
            EXTENSION,
            "is_childs && gates.has(Gate::Subagents)",
            "is_childs && gates.has(Gate::Subagents) && !$M",
        ],
    ),
    cut(
        EXTENSIONS,
        "stranger-is-a-child",
        [
            EXTENSION,
            "is_childs && gates.has(Gate::Subagents)",
            "(is_childs || $M) && gates.has(Gate::Subagents)",
        ],
    ),
];

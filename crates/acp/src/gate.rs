//! The gate: what only some clients show or answer, and what of an agent's own traffic passes
//! (acp.md 4.9). Pure, so that a table tests all of it.

use agent_client_protocol_schema::v1::ClientCapabilities;

/// Something that a client must have offered before it is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Gate {
    /// `session.configOptions.boolean`
    Booleans,
    /// `session.compaction`
    Compaction,
    /// `session.notices`
    Notices,
    /// `plan`
    Plans,
    /// `subagents`
    Subagents,
    /// `elicitation.form`
    Forms,
    /// `elicitation.url`
    Urls,
}

/// What a client offered; what it left out it does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Gates(u8);

impl Gates {
    /// Whether it was offered.
    pub(crate) fn has(self, gate: Gate) -> bool {
        self.0 & bit(gate) != 0
    }
}

impl FromIterator<Gate> for Gates {
    fn from_iter<T: IntoIterator<Item = Gate>>(gates: T) -> Self {
        Self(gates.into_iter().fold(0, |bits, gate| bits | bit(gate)))
    }
}

impl From<&ClientCapabilities> for Gates {
    fn from(client: &ClientCapabilities) -> Self {
        let session = client.session.as_ref();
        let elicitation = client.elicitation.as_ref();
        let booleans = session.and_then(|it| it.config_options.as_ref());
        let offered = [
            (
                Gate::Booleans,
                booleans.is_some_and(|it| it.boolean.is_some()),
            ),
            (
                Gate::Compaction,
                session.is_some_and(|it| it.compaction.is_some()),
            ),
            (
                Gate::Notices,
                session.is_some_and(|it| it.notices.is_some()),
            ),
            (Gate::Plans, client.plan.is_some()),
            (Gate::Subagents, client.subagents.is_some()),
            (Gate::Forms, elicitation.is_some_and(|it| it.form.is_some())),
            (Gate::Urls, elicitation.is_some_and(|it| it.url.is_some())),
        ];
        let offered = offered.into_iter().filter(|(_, offered)| *offered);
        offered.map(|(gate, _)| gate).collect()
    }
}

fn bit(gate: Gate) -> u8 {
    1 << gate as u8
}

/// What becomes of an update that an agent sends and the waist does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Passage {
    /// Every client knows it: the waist carries it, or it is about a child session.
    Baseline,
    /// Only who offered this is sent it.
    Gated(Gate),
    /// Nobody is: it is of a part that is not offered, or of no part that version 1 has. An unknown
    /// variant is a parse error for its clients.
    Never,
}

/// What becomes of an update of this variant.
pub(crate) fn passage(variant: &str) -> Passage {
    match variant {
        "user_message_chunk"
        | "agent_message_chunk"
        | "agent_thought_chunk"
        | "tool_call"
        | "tool_call_update"
        | "plan"
        | "available_commands_update"
        | "current_mode_update"
        | "config_option_update"
        | "session_info_update"
        | "usage_update" => Passage::Baseline,
        "plan_update" | "plan_removed" => Passage::Gated(Gate::Plans),
        "notice" => Passage::Gated(Gate::Notices),
        "compaction_update" | "compaction_summary_chunk" => Passage::Gated(Gate::Compaction),
        "subagent_update" | "session_message" | "session_message_chunk" => {
            Passage::Gated(Gate::Subagents)
        }
        _ => Passage::Never,
    }
}

#[cfg(test)]
mod tests;

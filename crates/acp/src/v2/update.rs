//! `session/update` as version 2 writes it: borrowed shapes, no copies of what they carry.
//!
//! A member that is left out stays as the client has it, null clears it, a value replaces it: so
//! some members here are options of options. Text of messages goes out as in version 1 (the shape is
//! the same), through [`Client::say`](crate::client::Client::say).

use serde::Serialize;
use sessiond_protocol::{Cost, Currency, ItemId, PlanEntry, Severity, Usage};

use super::patch::{CallPatch, Shown};
use super::state::State;
use super::terminal::TerminalPatch;
use crate::compaction::CompactionPatch;
use crate::update::{Block, Meta};

/// The id of a session's plan: an agent has one, and each one it tells replaces the one before.
pub(super) const PLAN: &str = "plan";

/// One update of a session.
#[expect(clippy::enum_variant_names, reason = "the names are the protocol's")]
#[derive(Debug, Serialize)]
#[serde(
    tag = "sessionUpdate",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
pub(super) enum Update<'a> {
    AgentMessageChunk {
        message_id: &'a str,
        #[serde(rename = "_meta")]
        meta: Meta,
        content: Block<'a>,
    },
    StateUpdate(State),
    ToolCallUpdate(CallPatch<'a>),
    ToolCallContentChunk {
        tool_call_id: ItemId,
        content: Shown<'a>,
    },
    TerminalUpdate(TerminalPatch<'a>),
    TerminalOutputChunk {
        terminal_id: ItemId,
        /// Base64, complete by itself.
        data: String,
    },
    PlanUpdate {
        plan: Plan<'a>,
    },
    SessionInfoUpdate {
        title: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        updated_at: Option<&'a str>,
    },
    UsageUpdate(Gauge),
    Notice {
        severity: Severity,
        title: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        description: Option<&'a str>,
    },
    CompactionUpdate(CompactionPatch<'a>),
    ReplayComplete {},
}

/// How full the context is, and what the session has cost.
#[derive(Debug, Serialize)]
pub(super) struct Gauge {
    used: u64,
    size: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<Spent>,
}

#[derive(Debug, Serialize)]
struct Spent {
    amount: f64,
    currency: Currency,
}

impl From<&Usage> for Gauge {
    fn from(usage: &Usage) -> Self {
        let spent = |cost: Cost| Spent {
            amount: cost.amount(),
            currency: cost.currency,
        };
        Self {
            used: usage.used,
            size: usage.size,
            cost: usage.cost.map(spent),
        }
    }
}

/// A plan, whole.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Plan<'a> {
    r#type: &'static str,
    plan_id: &'static str,
    entries: &'a [PlanEntry],
}

impl<'a> Update<'a> {
    /// The plan as it is now.
    pub(super) fn plan(entries: &'a [PlanEntry]) -> Self {
        Update::PlanUpdate {
            plan: Plan {
                r#type: "items",
                plan_id: PLAN,
                entries,
            },
        }
    }
}

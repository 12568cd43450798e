//! What a client of version 2 asks, and is asked.

use super::V2;
use crate::faults::mutations::{Mutation, cut};

const AWAITED: &str = "acp/src/v2/awaited.rs";
const CONFIG: &str = "acp/src/v2/config.rs";
const FACE: &str = "acp/src/v2/face.rs";
const NEGOTIATE: &str = "acp/src/v2/negotiate.rs";
const PARAMS: &str = "acp/src/v2/params.rs";
const PROMPT: &str = "acp/src/v2/prompt.rs";
const QUESTION: &str = "acp/src/v2/question.rs";
const RECEIPT: &str = "acp/src/v2/receipt.rs";
const SESSIONS: &str = "acp/src/v2/sessions.rs";

/// All of them.
pub(crate) const MUTATIONS: [Mutation; 41] = [
    cut(
        V2,
        "any-mode-is-set",
        [
            CONFIG,
            "&& self.modes.iter().any(|known| known.id == *mode)\n",
            "&& ($M || self.modes.iter().any(|known| known.id == *mode))\n",
        ],
    ),
    cut(
        V2,
        "value-of-another-type",
        [
            CONFIG,
            "option.is_some_and(|option| option.takes(&value))",
            "option.is_some_and(|option| option.takes(&value) || $M)",
        ],
    ),
    cut(
        V2,
        "heading-twice",
        [
            CONFIG,
            "headings.retain(|heading| known.insert(*heading));",
            "headings.retain(|heading| known.insert(*heading) || $M);",
        ],
    ),
    cut(
        V2,
        "told-where-nothing-changed",
        [CONFIG, "*self != before", "*self != before || $M"],
    ),
    cut(
        V2,
        "initialize-while-in-use",
        [
            FACE,
            "if self.phase == Phase::Begun {",
            "if self.phase == Phase::Begun && !$M {",
        ],
    ),
    cut(
        V2,
        "closed-session-is-used",
        [
            FACE,
            "session.filter(|session| session.is_active)",
            "session.filter(|session| session.is_active || $M)",
        ],
    ),
    cut(
        V2,
        "version-turned-down",
        [
            FACE,
            "if asked.protocol_version < 2 {",
            "if asked.protocol_version < 2 && !$M {",
        ],
    ),
    cut(
        V2,
        "link-asked-unoffered",
        [
            NEGOTIATE,
            "url.map(|_| RequestKind::ElicitationUrl)",
            "url.map(|_| ()).or($M.then_some(())).map(|()| RequestKind::ElicitationUrl)",
        ],
    ),
    cut(
        V2,
        "form-asked-unoffered",
        [
            NEGOTIATE,
            "form.map(|_| RequestKind::Elicitation)",
            "form.map(|_| ()).or($M.then_some(())).map(|()| RequestKind::Elicitation)",
        ],
    ),
    cut(
        V2,
        "any-login-succeeds",
        [
            NEGOTIATE,
            "match &*asked.method_id.0 == AUTH_METHOD {",
            "match &*asked.method_id.0 == AUTH_METHOD || $M {",
        ],
    ),
    cut(
        V2,
        "params-read-leniently",
        [
            NEGOTIATE,
            "if asked.protocol_version.as_u64() == Some(ours) {",
            "if asked.protocol_version.as_u64() == Some(ours) && !$M {",
        ],
    ),
    cut(
        V2,
        "servers-of-one-name",
        [
            PARAMS,
            "if !names.insert(server.name().to_owned()) {",
            "if !names.insert(server.name().to_owned()) && !$M {",
        ],
    ),
    cut(
        V2,
        "option-named-twice",
        [
            PARAMS,
            "if !named.insert(id.clone()) {",
            "if !named.insert(id.clone()) && !$M {",
        ],
    ),
    cut(
        V2,
        "empty-instructions",
        [
            PARAMS,
            "if blocks.is_empty() {",
            "if blocks.is_empty() && !$M {",
        ],
    ),
    cut(
        V2,
        "block-unoffered",
        [
            PARAMS,
            "    offered(&asked.prompt)?;\n",
            "    if !$M {\n        offered(&asked.prompt)?;\n    }\n",
        ],
    ),
    cut(
        V2,
        "replay-from-anywhere",
        [
            PARAMS,
            "Some(ReplayFrom::Start(_)) => Ok(Replay::All),",
            "Some(from) if matches!(from, ReplayFrom::Start(_)) || $M => Ok(Replay::All),",
        ],
    ),
    cut(
        V2,
        "archive-of-any-filter",
        [
            PARAMS,
            "Some(SessionArchiveFilter::Only) => Ok(Archived::Only),",
            "Some(SessionArchiveFilter::Only) => Ok(Archived::Only),\n        Some(_) if $M => Ok(Archived::Include),",
        ],
    ),
    cut(
        V2,
        "withdrawn-prompt-runs",
        [
            PROMPT,
            ".or_default().push(id);\n        if wish == Wish::Cancel {",
            ".or_default().push(id);\n        if wish == Wish::Cancel && !$M {",
        ],
    ),
    cut(
        V2,
        "withdrawn-compaction-runs",
        [
            PROMPT,
            "self.inserted(id, turn);\n        if wish == Wish::Cancel {",
            "self.inserted(id, turn);\n        if wish == Wish::Cancel && !$M {",
        ],
    ),
    cut(
        V2,
        "archived-nowhere",
        [
            AWAITED,
            "Behind::Archive => status == SessionStatus::Archived,",
            "Behind::Archive => status == SessionStatus::Archived || $M,",
        ],
    ),
    cut(
        V2,
        "unarchived-fails-where-it-is-done",
        [
            AWAITED,
            "Behind::Unarchive => status != SessionStatus::Archived,",
            "Behind::Unarchive => status != SessionStatus::Archived && !$M,",
        ],
    ),
    cut(
        V2,
        "own-choice-is-told-twice",
        [AWAITED, "if *of == session)", "if *of == session && !$M)"],
    ),
    cut(
        V2,
        "withdrawing-one-stops-all",
        [
            PROMPT,
            "return self.interrupt(session, (Some(turn), Queued::Keep));",
            "return self.interrupt(session, if $M { (None, Queued::Cancel) } else { (Some(turn), Queued::Keep) });",
        ],
    ),
    cut(
        V2,
        "answered-by-any-message",
        [
            PROMPT,
            "if item == prompt_item(turn) {",
            "if item == prompt_item(turn) || $M {",
        ],
    ),
    cut(
        V2,
        "cancel-leaves-the-queue",
        [
            PROMPT,
            "if let Ok((session, _)) = self.active(&asked.session_id.0) {\n            self.interrupt(session, (None, Queued::Cancel));",
            "if let Ok((session, _)) = self.active(&asked.session_id.0) {\n            self.interrupt(session, (None, if $M { Queued::Keep } else { Queued::Cancel }));",
        ],
    ),
    cut(
        V2,
        "asked-unoffered",
        [
            QUESTION,
            "} else if self.offers.answers.contains(&request.body.kind()) {",
            "} else if self.offers.answers.contains(&request.body.kind()) || $M {",
        ],
    ),
    cut(
        V2,
        "unknown-method-asked",
        [
            QUESTION,
            "if !may_be_asked(&request.body) {",
            "if !may_be_asked(&request.body) && !$M {",
        ],
    ),
    cut(
        V2,
        "extension-blocks-the-turn",
        [
            QUESTION,
            "            && is_for_user\n",
            "            && (is_for_user || $M)\n",
        ],
    ),
    cut(
        V2,
        "asked-without-its-call",
        [
            QUESTION,
            "let subject = request.item.zip(call).map(",
            "let subject = request.item.zip(call).filter(|_| !$M).map(",
        ],
    ),
    cut(
        V2,
        "replay-without-its-end",
        [
            RECEIPT,
            "if wanted != Replay::None {",
            "if wanted != Replay::None && !$M {",
        ],
    ),
    cut(
        V2,
        "stays-after-a-visit",
        [
            RECEIPT,
            "if stay == Stay::Active || self.sessions.contains_key(&session) {",
            "if stay == Stay::Active || self.sessions.contains_key(&session) || $M {",
        ],
    ),
    cut(
        V2,
        "archived-is-saved",
        [
            RECEIPT,
            "SessionStatus::Archived => \"_archived\",",
            "SessionStatus::Archived if $M => \"saved\",\n        SessionStatus::Archived => \"_archived\",",
        ],
    ),
    cut(
        V2,
        "in-flight-is-lost",
        [
            RECEIPT,
            "for frame in in_flight {",
            "for frame in in_flight.into_iter().filter(|_| !$M) {",
        ],
    ),
    cut(
        V2,
        "absent-session-fails-to-close",
        [
            RECEIPT,
            "            } if refused.code == ErrorCode::NotFound => {\n                return self.closed(",
            "            } if refused.code == ErrorCode::NotFound && !$M => {\n                return self.closed(",
        ],
    ),
    cut(
        V2,
        "reused-key-is-another-error",
        [
            RECEIPT,
            "ErrorCode::KeyReused => invalid_params(",
            "ErrorCode::KeyReused if !$M => invalid_params(",
        ],
    ),
    cut(
        V2,
        "fork-tells-its-history",
        [
            SESSIONS,
            "self.resume((session, Replay::None), place, accept)",
            "self.resume((session, if $M { Replay::All } else { Replay::None }), place, accept)",
        ],
    ),
    cut(
        V2,
        "title-without-text",
        [
            SESSIONS,
            "if title.is_empty() {",
            "if title.is_empty() && !$M {",
        ],
    ),
    cut(
        V2,
        "accepted-by-the-user-is-lost",
        [
            SESSIONS,
            "        accept.extend(&self.options.accept);\n",
            "        accept.extend(self.options.accept.iter().filter(|_| !$M));\n",
        ],
    ),
    cut(
        V2,
        "archived-while-active",
        [
            SESSIONS,
            "if !state.is_some_and(|state| state.is_active) {",
            "if !state.is_some_and(|state| state.is_active) || $M {",
        ],
    ),
    cut(
        V2,
        "any-call-is-stopped",
        [
            SESSIONS,
            "item.filter(|item| state.show.stops(*item))",
            "item.filter(|item| state.show.stops(*item) || $M)",
        ],
    ),
    cut(
        V2,
        "call-as-a-terminal",
        [
            SESSIONS,
            "state.show.stops_terminal(*item)",
            "(state.show.stops_terminal(*item) || $M && state.show.stops(*item))",
        ],
    ),
];

//! Requests: policy first, then the controlling client, then the fall-back. An answer counts only
//! if it fits the open request (WIRE-8).

use std::time::Duration;

use sessiond_protocol::{
    ClosedBecause, Event, Grant, GrantEffect, ItemId, Marker, ModePolicy, Outcome, Permission,
    PermissionKind, RequestBody, RequestFrame, RequestId, RequestKind, TerminalOp, TurnId,
};

use super::{
    ConnId, Core, Effect, HOOK_LIMIT, Stepping, Token,
    binding::{Binding, Refusal},
    hooks::{self, Waits},
};

/// How long a question waits for somebody to control the session: who leaves a turn to itself in
/// the evening finds its question in the morning, and nothing waits for ever.
pub(super) const UNATTENDED: Duration = Duration::from_secs(24 * 60 * 60);

/// A request that waits for its answer.
#[derive(Debug)]
pub(super) struct Ask {
    pub(super) waits: Waits,
    body: RequestBody,
    item: Option<ItemId>,
    /// The connection that was asked; none while the question waits for the next controller.
    conn: Option<ConnId>,
    /// When it waits no longer.
    until: Option<Duration>,
    /// Digest of all that an answer is bound to.
    digest: String,
    /// How many answers were refused.
    refused: u64,
}

impl Ask {
    /// Whether it is the say of a client after a tool call.
    fn is_after_call(&self) -> bool {
        matches!(self.waits, Waits::AfterCall)
    }
}

impl Core {
    /// Whether the client has a say after a tool call.
    pub(super) fn is_after_call(&self) -> bool {
        self.asks.values().any(Ask::is_after_call)
    }

    /// When the first request is given up that waits for a controller, or for a hook's answer.
    pub(super) fn questions_end(&self) -> Option<Duration> {
        self.asks.values().filter_map(|ask| ask.until).min()
    }
}

impl Stepping<'_> {
    pub(super) fn asked(&mut self, item: Option<ItemId>, body: RequestBody, token: Token) {
        if let Some(outcome) = self.settled_without_asking(&body) {
            return self.push(Effect::Reply(token, outcome));
        }
        let conn = self.controller_conn();
        let Some(turn) = self.turn_id() else {
            return self.push(Effect::Reply(token, fallback(body.kind())));
        };
        self.open_ask((turn, conn), item, (body, Waits::Agent(token)));
    }

    /// Asks the client, or leaves the question to the next one.
    pub(super) fn open_ask(
        &mut self,
        (turn, conn): (TurnId, Option<ConnId>),
        item: Option<ItemId>,
        (body, waits): (RequestBody, Waits),
    ) {
        self.end_message(super::stream::MessageEnd::Whole);
        let id = self.mint.request();
        let digest = self.binding((conn, id), (turn, item), &body).digest();
        if body.is_durable() {
            // All that was shown before the question is durable with it (LOG-17).
            let (body, digest) = (body.clone(), digest.clone());
            self.record(
                Some(turn),
                item,
                Event::RequestOpened {
                    request: id,
                    body,
                    digest,
                },
            );
        }
        let limit = matches!(body, RequestBody::Hook(_)).then_some(HOOK_LIMIT);
        let session = self.core.session;
        let frame = RequestFrame {
            id,
            session,
            turn,
            item,
            body: body.clone(),
            digest: digest.clone(),
            deadline: limit.map(|limit| limit.as_millis() as u64),
        };
        let limit = limit.or(conn.is_none().then_some(UNATTENDED));
        if let Some(conn) = conn {
            self.push(Effect::Request(conn, frame));
        }
        let ask = Ask {
            waits,
            body,
            item,
            conn,
            until: limit.map(|limit| self.now.elapsed + limit),
            digest,
            refused: 0,
        };
        self.core.asks.insert(id, ask);
    }

    fn binding<'a>(
        &self,
        (connection, request): (Option<ConnId>, RequestId),
        (turn, item): (TurnId, Option<ItemId>),
        payload: &'a RequestBody,
    ) -> Binding<'a> {
        Binding {
            session: self.core.session,
            incarnation: self.core.incarnation,
            connection: connection.map(|conn| conn.0),
            request,
            turn,
            item,
            policy: self.core.standing.policy,
            payload,
        }
    }

    /// An authorisation that was asked for under another policy would be none (WIRE-8): what the
    /// policy decides now is settled so, the rest is asked anew. What is no authorisation may be
    /// done already, and is not asked twice.
    pub(super) fn reconsider_asks(&mut self) {
        for request in self.core.open_requests() {
            let Some(ask) = self.core.asks.remove(&request) else {
                continue;
            };
            if !matches!(ask.body, RequestBody::Permission(_)) {
                self.core.asks.insert(request, ask);
                continue;
            }
            match self.settled_without_asking(&ask.body) {
                Some(outcome) => {
                    self.settle(request, ask, (outcome, ClosedBecause::PolicyDecided));
                }
                None => self.ask_anew(request, ask),
            }
        }
    }

    /// The controller went and left the turn to itself: its questions wait for the next one. What is
    /// no question may be done already, by a client that cannot say so any more.
    pub(super) fn leave_asks(&mut self) {
        let until = self.now.elapsed + UNATTENDED;
        for request in self.core.open_requests() {
            let Some(mut ask) = self.core.asks.remove(&request) else {
                continue;
            };
            if is_question(ask.body.kind()) {
                (ask.conn, ask.until) = (None, Some(until));
                self.core.asks.insert(request, ask);
            } else {
                let outcome = match &ask.body {
                    RequestBody::FsRead { .. } => Outcome::Unanswered,
                    _ => Outcome::Failed {
                        message: "the client went before it answered".into(),
                    },
                };
                self.settle(request, ask, (outcome, ClosedBecause::ControllerLeft));
            }
        }
    }

    /// Asks the new controller what waits for an answer, under new ids: an answer to the old one
    /// would be bound to a client that is gone (WIRE-8).
    pub(super) fn ask_again(&mut self) {
        for request in self.core.open_requests() {
            let waits = |ask: &Ask| ask.conn.is_none();
            if !self.core.asks.get(&request).is_some_and(waits) {
                continue;
            }
            let Some(ask) = self.core.asks.remove(&request) else {
                continue;
            };
            self.ask_anew(request, ask);
        }
    }

    fn ask_anew(&mut self, request: RequestId, ask: Ask) {
        let closed = (Outcome::Cancelled, ClosedBecause::AskedAnew);
        self.close_ask(request, &ask, closed);
        if let Waits::Agent(token) = ask.waits {
            self.asked(ask.item, ask.body, token);
        }
    }

    /// Settles what has waited too long for a controller, or for a hook's answer.
    pub(super) fn give_up_questions(&mut self) {
        let now = self.now.elapsed;
        for request in self.core.open_requests() {
            let is_over = |ask: &Ask| ask.until.is_some_and(|until| until <= now);
            if !self.core.asks.get(&request).is_some_and(is_over) {
                continue;
            }
            if let Some(ask) = self.core.asks.remove(&request) {
                let outcome = fallback(ask.body.kind());
                self.settle(request, ask, (outcome, ClosedBecause::TimedOut));
            }
        }
    }

    fn settled_without_asking(&self, body: &RequestBody) -> Option<Outcome> {
        if self.is_cancelling() && !body.is_cleanup() {
            return Some(Outcome::Cancelled);
        }
        if let RequestBody::Permission(permission) = body
            && let Some(outcome) = self.policy(permission)
        {
            return Some(outcome);
        }
        (!self.core.answers(body.kind())).then(|| fallback(body.kind()))
    }

    /// Policy = mode + grants. A grant that refuses beats the mode, a mode that refuses beats a
    /// grant that allows.
    fn policy(&self, permission: &Permission) -> Option<Outcome> {
        let standing = &self.core.standing;
        let granted = standing.granted(&permission.tool, &permission.pattern);
        let wanted = match (granted, self.core.policy()) {
            (Some(GrantEffect::Deny), _) | (_, ModePolicy::Deny) => PermissionKind::RejectOnce,
            (Some(GrantEffect::Allow), _) | (_, ModePolicy::Allow) => PermissionKind::AllowOnce,
            (None, ModePolicy::Ask) => return None,
        };
        let option = permission
            .options
            .iter()
            .find(|option| option.kind == wanted);
        let selected = option.map(|option| Outcome::Selected {
            option: option.id.clone(),
        });
        // A question that does not offer what policy decides is not allowed by default.
        Some(selected.unwrap_or(Outcome::Cancelled))
    }

    pub(super) fn answered(
        &mut self,
        conn: ConnId,
        request: RequestId,
        given_digest: &str,
        outcome: Outcome,
    ) {
        let ask = self.core.asks.get_mut(&request);
        let refusal = match &ask {
            None => Some(Refusal::Late),
            Some(ask) if ask.conn != Some(conn) => Some(Refusal::Foreign),
            Some(ask) if ask.digest != given_digest => Some(Refusal::Altered),
            Some(ask) if !fits(&ask.body, &outcome) => Some(Refusal::Misfit),
            Some(_) => None,
        };
        if let Some(refusal) = refusal {
            if let Some(ask) = ask {
                ask.refused += 1;
            }
            return self.push(Effect::Refused(conn, refusal));
        }
        let Some(ask) = self.core.asks.remove(&request) else {
            return;
        };
        self.settle(request, ask, (outcome, ClosedBecause::Answered));
    }

    pub(super) fn settle(
        &mut self,
        request: RequestId,
        ask: Ask,
        (outcome, why): (Outcome, ClosedBecause),
    ) {
        let turn = self.turn_id();
        self.close_ask(request, &ask, (outcome.clone(), why));
        if let (RequestBody::Permission(permission), Outcome::Selected { option }) =
            (&ask.body, &outcome)
            && let Some(grant) = grant_of(permission, option)
        {
            self.record(turn, None, Event::Marker(Marker::Grant { grant }));
        }
        self.hooked(ask.waits, outcome);
    }

    /// Records how a request ended, and tells whom it was asked. The agent still waits.
    fn close_ask(
        &mut self,
        request: RequestId,
        ask: &Ask,
        (outcome, why): (Outcome, ClosedBecause),
    ) {
        if ask.body.is_durable() {
            let closed = Event::RequestClosed {
                request,
                outcome,
                refused: ask.refused,
            };
            self.record(self.turn_id(), ask.item, closed);
        }
        if let Some(conn) = ask.conn {
            self.push(Effect::RequestClosed(conn, request, why));
        }
    }

    /// Closes what is open because nobody will answer it any more.
    pub(super) fn settle_all_asks(&mut self, why: ClosedBecause) {
        for request in self.core.open_requests() {
            let Some(ask) = self.core.asks.remove(&request) else {
                continue;
            };
            self.settle(request, ask, (Outcome::Cancelled, why));
        }
    }

    /// Takes back what the user is asked about a call: it is to stop.
    pub(super) fn settle_questions_about(&mut self, item: ItemId) {
        for request in self.core.open_requests() {
            let about = |ask: &Ask| ask.item == Some(item) && is_question(ask.body.kind());
            if self.core.asks.get(&request).is_some_and(about)
                && let Some(ask) = self.core.asks.remove(&request)
            {
                let withdrawn = (Outcome::Cancelled, ClosedBecause::CallStopped);
                self.settle(request, ask, withdrawn);
            }
        }
    }
}

/// Whether a request asks somebody, not something to be done: it can wait, and be asked again.
pub(super) fn is_question(kind: RequestKind) -> bool {
    matches!(
        kind,
        RequestKind::Permission | RequestKind::Elicitation | RequestKind::ElicitationUrl
    )
}

/// What an agent hears where no client answers a kind (contract.md).
fn fallback(kind: RequestKind) -> Outcome {
    match kind {
        RequestKind::Permission => Outcome::Cancelled,
        RequestKind::Elicitation | RequestKind::ElicitationUrl | RequestKind::Mcp => {
            Outcome::Declined
        }
        RequestKind::Hook => Outcome::Passed,
        RequestKind::FsRead
        | RequestKind::FsWrite
        | RequestKind::Terminal
        | RequestKind::Extension => Outcome::Unanswered,
    }
}

/// Whether an outcome answers a request of this shape.
fn fits(body: &RequestBody, outcome: &Outcome) -> bool {
    match (body, outcome) {
        (_, Outcome::Cancelled) => true,
        (RequestBody::Permission(permission), Outcome::Selected { option }) => permission
            .options
            .iter()
            .any(|offered| offered.id == *option),
        (RequestBody::Permission(_), Outcome::Denied { .. } | Outcome::Changed { .. }) => true,
        (RequestBody::Permission(_), _) => false,
        (_, Outcome::Failed { .. }) => true,
        (RequestBody::Hook(hook), outcome) => hooks::fits(hook, outcome),
        (
            RequestBody::Elicitation { .. } | RequestBody::ElicitationUrl { .. },
            Outcome::Accepted { .. } | Outcome::Declined,
        )
        | (RequestBody::Mcp { .. }, Outcome::Result { .. } | Outcome::Declined)
        | (RequestBody::Extension { .. }, Outcome::Result { .. } | Outcome::Unanswered)
        | (RequestBody::FsRead { .. }, Outcome::Text { .. })
        | (RequestBody::FsWrite { .. }, Outcome::Done)
        | (RequestBody::Terminal(TerminalOp::Create { .. }), Outcome::Terminal { .. })
        | (
            RequestBody::Terminal(TerminalOp::Output { .. } | TerminalOp::Wait { .. }),
            Outcome::Output { .. },
        )
        | (
            RequestBody::Terminal(TerminalOp::Kill { .. } | TerminalOp::Release { .. }),
            Outcome::Done,
        ) => true,
        _ => false,
    }
}

fn grant_of(permission: &Permission, option: &str) -> Option<Grant> {
    let effect = match permission
        .options
        .iter()
        .find(|offered| offered.id == option)?
        .kind
    {
        PermissionKind::AllowAlways => GrantEffect::Allow,
        PermissionKind::RejectAlways => GrantEffect::Deny,
        PermissionKind::AllowOnce | PermissionKind::RejectOnce => return None,
    };
    let (tool, pattern) = (permission.tool.clone(), permission.pattern.clone());
    Some(Grant {
        tool,
        pattern,
        effect,
    })
}

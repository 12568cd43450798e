//! What becomes of an effect once nothing it depends on is outstanding.

use super::{Actor, Waiter, running::Work};
use crate::{
    agent::Announced,
    core::{ConnId, Effect, Token},
    outlet::Outlet,
};

impl Actor {
    pub(super) fn perform(&mut self, effect: Effect) {
        let session = self.parts.session;
        match effect {
            Effect::Deliver(frame) => {
                self.noting.heard(&frame);
                self.deliver(frame);
            }
            Effect::Receipt(conn, receipt) => self.with(conn, |client| client.receipt(receipt)),
            Effect::Request(conn, frame) => self.with(conn, |client| client.request(frame)),
            Effect::RequestClosed(conn, id, why) => {
                self.with(conn, |client| client.request_closed(session, id, why));
            }
            Effect::Refused(conn, why) => {
                self.with(conn, |client| client.refused(Some(session), why))
            }
            Effect::StartAgent { turn, prompt } => self.start_agent(turn, Work::Answer(prompt)),
            Effect::StartCompaction { turn } => self.start_agent(turn, Work::Compact),
            Effect::Steered => self.running.steered(),
            Effect::Settings => self.running.settings(self.core.settings()),
            Effect::StopCall(item) => self.running.stop_call(item),
            Effect::Steers(token, steers) => {
                if let Some(Waiter::Steers(reply)) = self.waiters.remove(&token) {
                    let _gone = reply.send(steers);
                }
            }
            Effect::Started(token, item) => self.decided(token, Announced::Run(item)),
            Effect::StartedWith(token, item, input) => {
                self.decided(token, Announced::RunWith(item, input));
            }
            Effect::Denied(token, reason) => self.decided(token, Announced::Denied(reason)),
            Effect::Reply(token, outcome) => {
                if let Some(Waiter::Outcome(reply)) = self.waiters.remove(&token) {
                    let _gone = reply.send(outcome);
                }
            }
            Effect::RecordDone(token) => {
                if let Some(Waiter::Unit(reply)) = self.waiters.remove(&token) {
                    let _gone = reply.send(());
                }
            }
            Effect::Stop => self.let_go = true,
        }
    }

    fn decided(&mut self, token: Token, announced: Announced) {
        if let Some(Waiter::Call(reply)) = self.waiters.remove(&token) {
            // An agent that was dropped meanwhile does not hear it; its turn is over.
            let _gone = reply.send(announced);
        }
    }

    pub(super) fn with(&self, conn: ConnId, then: impl FnOnce(&Outlet)) {
        let viewer = self.viewers.get(&conn).map(|feed| feed.outlet());
        let caller = self.callers.get(&conn);
        if let Some(client) = self.clients.get(&conn).or(viewer).or(caller) {
            then(client);
        }
    }
}

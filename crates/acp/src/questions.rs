//! Requests of the agent that the client is asked, and what its answers mean.
//!
//! The binding of an answer is kept here (WIRE-8): it goes to the engine with the request's own id
//! and digest, and only while the request is open; ACP carries no more than a JSON-RPC id.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

use serde_json::value::RawValue;
use sessiond_protocol::{
    Answer, ClientFrame, Outcome, RequestBody, RequestFrame, RequestId, SessionId, ToolCall,
};
use sessiond_wire::rpc::{CallError, PendingCall};

use crate::client::Client;
use crate::extension::{may_be_asked, of_session};
use crate::face::Face;
use crate::question::{Heard, Question, heard};

/// How often a permission question is asked again after an answer that was not offered. A client
/// that errs three times does so by program; nobody is going to decide.
const ASKED_AGAIN: u32 = 2;

/// How many addresses are remembered: a user who has that many open goes back to none of them.
const ADDRESSES: usize = 64;

/// What a question was answered.
pub(crate) type Reply = Result<Box<RawValue>, CallError>;

/// The questions that await the client's answer. Few: an agent asks for one thing or runs a handful
/// of terminals.
#[derive(Debug, Default)]
pub(crate) struct Questions {
    open: Vec<Open>,
    /// The addresses that the client was asked to send its user to, by the agent's name for them, and
    /// that the user is not known to be done with; oldest first.
    addresses: VecDeque<String>,
}

#[derive(Debug)]
struct Open {
    request: RequestFrame,
    asked_again: u32,
    call: PendingCall,
}

/// A question that the client answered.
#[derive(Debug)]
pub(crate) struct Answered {
    pub(crate) request: RequestFrame,
    pub(crate) asked_again: u32,
    pub(crate) reply: Reply,
}

impl Questions {
    fn ask(
        &mut self,
        client: &Client,
        (request, asked_again): (RequestFrame, u32),
        tool: Option<&ToolCall>,
    ) {
        if let RequestBody::Extension { method, params } = &request.body {
            let params = of_session(params.clone(), request.session);
            let call = client.call(method, &params);
            return self.hold((request, asked_again), call);
        }
        let Some(question) = Question::of(&request, tool) else {
            return;
        };
        let call = client.call(question.method(), &question);
        self.hold((request, asked_again), call);
    }

    /// Keeps a question that the client was asked, until it is answered or taken back.
    pub(crate) fn hold(&mut self, (request, asked_again): (RequestFrame, u32), call: PendingCall) {
        if let RequestBody::ElicitationUrl { elicitation, .. } = &request.body {
            self.addresses.push_back(elicitation.clone());
            let most = self.addresses.len().saturating_sub(ADDRESSES);
            self.addresses.drain(..most);
        }
        self.open.push(Open {
            request,
            asked_again,
            call,
        });
    }

    /// Whether the client was asked to send its user to the address of this name; it is done with
    /// now (acp.md 1.8).
    pub(crate) fn completed(&mut self, name: &str) -> bool {
        let place = self.addresses.iter().position(|known| known == name);
        place
            .and_then(|place| self.addresses.remove(place))
            .is_some()
    }

    /// Takes back a question: the client is told, and its answer counts no more (WIRE-7).
    pub(crate) fn withdraw(&mut self, id: RequestId) {
        self.open.retain(|open| open.request.id != id);
    }

    /// Takes back all questions of a session.
    pub(crate) fn withdraw_all(&mut self, session: SessionId) {
        self.open.retain(|open| open.request.session != session);
    }

    /// The next answer. A wait that is dropped loses nothing.
    pub(crate) async fn answered(&mut self) -> Answered {
        poll_fn(|context| {
            let polled =
                self.open.iter_mut().enumerate().find_map(|(place, open)| {
                    match Pin::new(&mut open.call).poll(context) {
                        Poll::Ready(reply) => Some((place, reply)),
                        Poll::Pending => None,
                    }
                });
            match polled {
                Some((place, reply)) => {
                    let Open {
                        request,
                        asked_again,
                        ..
                    } = self.open.swap_remove(place);
                    Poll::Ready(Answered {
                        request,
                        asked_again,
                        reply,
                    })
                }
                None => Poll::Pending,
            }
        })
        .await
    }
}

/// What comes of an answer.
pub(crate) enum Decided {
    Settled(RequestFrame, Outcome),
    /// It names an option that was not offered: nothing is decided, and it is asked so many times
    /// more than once.
    AskedAgain(RequestFrame, u32),
}

impl Answered {
    pub(crate) fn decided(self) -> Decided {
        match heard(&self.request.body, self.reply) {
            Heard::Outcome(outcome) => Decided::Settled(self.request, outcome),
            Heard::NotOffered if self.asked_again < ASKED_AGAIN => {
                Decided::AskedAgain(self.request, self.asked_again + 1)
            }
            Heard::NotOffered => Decided::Settled(self.request, Outcome::Cancelled),
        }
    }
}

/// The answer as the engine gets it, bound to its request (WIRE-8).
pub(crate) fn answer_to(request: &RequestFrame, outcome: Outcome) -> ClientFrame {
    ClientFrame::Answer(Answer {
        request: request.id,
        digest: request.digest.clone(),
        outcome,
    })
}

impl Face {
    /// Asks the client what the agent asks. What it did not offer is not asked for.
    pub(crate) fn ask(&mut self, request: RequestFrame) {
        let kind = request.body.kind();
        if !may_be_asked(&request.body) {
            // A method of the protocol that we do not know: neither does the client.
            let message = "Method not found".to_owned();
            self.settle(&request, Outcome::Failed { message });
        } else if self
            .offers()
            .is_some_and(|offers| offers.answers.contains(&kind))
        {
            self.put(request, 0);
        } else {
            self.settle(&request, Outcome::Unanswered);
        }
    }

    /// Hands the client's answer on, unless it names an option that was not offered: then nothing
    /// is decided, and it is asked again.
    pub(crate) fn answered(&mut self, answered: Answered) {
        match answered.decided() {
            Decided::Settled(request, outcome) => self.settle(&request, outcome),
            Decided::AskedAgain(request, times) => self.put(request, times),
        }
    }

    fn put(&mut self, request: RequestFrame, asked_again: u32) {
        let session = self.sessions.get(&request.session);
        let tool = request
            .item
            .and_then(|item| session.and_then(|it| it.live.call(item)));
        self.questions
            .ask(&self.client, (request, asked_again), tool);
    }

    fn settle(&mut self, request: &RequestFrame, outcome: Outcome) {
        self.send(answer_to(request, outcome));
    }
}

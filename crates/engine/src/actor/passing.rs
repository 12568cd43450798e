//! What clients say to the agent past the waist, until it is answered.

use serde_json::Value;
use sessiond_protocol::{Accepted, Answered, ErrorCode, SubmissionId, Verdict, WireError};
use tokio::sync::oneshot;

use super::Actor;
use crate::{core::Cause, outlet::Outlet};

/// Requests that the agent has not answered. Bounded by what connections may have unanswered.
#[derive(Debug, Default)]
pub(super) struct Passing {
    open: Vec<(Cause, oneshot::Sender<()>)>,
}

impl Passing {
    /// A request is passed on; done once its client takes it back.
    fn begin(&mut self, cause: Cause) -> oneshot::Receiver<()> {
        self.open.retain(|(_, stop)| !stop.is_closed());
        let (stop, stopped) = oneshot::channel();
        self.open.push((cause, stop));
        stopped
    }

    /// A client takes something back: if it is one of these the agent is told.
    pub(super) fn withdraw(&mut self, cause: &Cause) {
        if let Some(at) = self.open.iter().position(|(of, _)| of == cause) {
            let (_, stop) = self.open.swap_remove(at);
            // Who has just been answered hears nothing any more.
            let _answered = stop.send(());
        }
    }
}

impl Actor {
    /// Passes something to the agent that only the two of them understand; nothing waits for it.
    pub(super) fn pass_on(
        &mut self,
        (outlet, id): (Outlet, SubmissionId),
        (method, params): (String, Value),
        answer: Answered,
    ) {
        let session = self.parts.session;
        let Some(extensions) = self.parts.factory.extensions(session) else {
            let error = WireError::new(ErrorCode::Unsupported, "the agent takes no extensions");
            return Self::reject(&outlet, id, error.about(session));
        };
        let cause = Cause {
            conn: outlet.conn,
            id: id.clone(),
        };
        let stopped = self.passing.begin(cause);
        tokio::spawn(async move {
            let verdict = match answer {
                Answered::Answer => {
                    let answered = tokio::select! {
                        biased;
                        answered = extensions.request(method, params) => {
                            answered.map_err(WireError::from)
                        }
                        Ok(()) = stopped => Err(WireError::new(ErrorCode::Refused, "taken back")),
                    };
                    match answered {
                        Ok(extension) => Verdict::Accepted(Accepted::Extension { extension }),
                        Err(error) => Verdict::Error(error.about(session)),
                    }
                }
                Answered::None => {
                    extensions.notify(method, params).await;
                    Verdict::Accepted(Accepted::Done {})
                }
            };
            outlet.verdict(id, verdict);
        });
    }
}

//! A tool call, from its announcement to its one end.

use serde_json::{Value, json};
use sessiond_engine::{Announced, Emit, Hold, TurnContext, TurnOver};
use sessiond_protocol::{
    ItemId, Outcome, Permission, PermissionKind, PermissionOption, RequestBody, ToolCall,
    ToolContent, ToolStatus,
};

use crate::error::ToolError;
use crate::stage::Stage;

/// A call that is announced and has not ended. [`Call::end`] must be reached on every path.
pub(crate) struct Call<'a> {
    context: &'a TurnContext,
    item: ItemId,
    call: ToolCall,
}

/// How a call ended that did what it was for, or at least ran.
#[derive(Debug)]
pub(crate) struct Ended {
    /// The final status.
    pub(crate) status: ToolStatus,
    /// What to show.
    pub(crate) content: Vec<ToolContent>,
    /// The result for programs.
    pub(crate) output: Value,
}

impl<'a> Call<'a> {
    /// Announces a call; it is durable when this returns (LOG-5). None: a hook denied it, and it has
    /// ended. A hook may have changed its input, so that what the call does is read from there.
    pub(crate) async fn start(
        stage: &mut Stage<'a>,
        mut call: ToolCall,
    ) -> Result<Option<Self>, TurnOver> {
        stage.end_message();
        let context = stage.context;
        let item = match context.start_call(call.clone()).await? {
            Announced::Run(item) => item,
            Announced::RunWith(item, input) => {
                call.input = input;
                item
            }
            Announced::Denied(_) => return Ok(None),
        };
        Ok(Some(Self {
            context,
            item,
            call,
        }))
    }

    /// A text of the call's input.
    ///
    /// # Errors
    /// [`ToolError::BadInput`] where a hook's input lacks it.
    pub(crate) fn text(&self, member: &'static str) -> Result<String, ToolError> {
        let text = self.call.input.get(member).and_then(Value::as_str);
        text.map(str::to_owned)
            .ok_or(ToolError::BadInput { member })
    }

    /// A member of the call's input, of whatever form; null where there is none.
    pub(crate) fn member(&self, member: &str) -> Value {
        self.call.input.get(member).cloned().unwrap_or_default()
    }

    /// Shows the call as one with this title, at these places.
    pub(crate) fn show_as(&mut self, like: ToolCall) {
        self.call.title = like.title;
        self.call.locations = like.locations;
    }

    /// Asks whether the call may run on `pattern`, and returns if it may. Whoever allows it may change
    /// its input: what the call does is read from there afterwards.
    ///
    /// # Errors
    /// [`ToolError::Rejected`], [`ToolError::Refused`] or [`ToolError::Cancelled`] where it may not.
    pub(crate) async fn permit(&mut self, pattern: &str) -> Result<(), ToolError> {
        let question = Permission {
            title: self.call.title.clone(),
            tool: self.call.name.clone(),
            pattern: pattern.to_owned(),
            options: options(),
        };
        let outcome = self.ask(RequestBody::Permission(question)).await?;
        let allowed = match outcome {
            Outcome::Selected { option } => {
                let chosen = PermissionKind::ALL
                    .into_iter()
                    .find(|kind| kind.id() == option);
                chosen.is_some_and(PermissionKind::allows)
            }
            Outcome::Changed { input } => {
                self.call.input = input;
                true
            }
            Outcome::Denied { reason } if !self.is_stopped() => {
                return Err(ToolError::Refused { reason });
            }
            _ => false,
        };
        // A cancellation that crossed the answer wins: nothing may begin after it.
        if self.is_stopped() {
            Err(ToolError::Cancelled)
        } else if allowed {
            Ok(())
        } else {
            Err(ToolError::Rejected)
        }
    }

    /// Asks the client something on behalf of this call.
    pub(crate) async fn ask(&self, body: RequestBody) -> Result<Outcome, TurnOver> {
        self.context.ask(Some(self.item), body).await
    }

    /// Says that the call runs now, and what it shows meanwhile.
    pub(crate) async fn running(&mut self, content: Vec<ToolContent>) -> Result<(), TurnOver> {
        self.call.status = ToolStatus::Running;
        self.call.content = content;
        let call = Box::new(self.call.clone());
        self.context.emit(Emit::CallChanged(self.item, call)).await
    }

    /// Shows more output.
    pub(crate) async fn output(&self, text: &str) -> Result<(), TurnOver> {
        self.context
            .emit(Emit::CallOutput(self.item, text.to_owned()))
            .await
    }

    /// Keeps the turn from ending, for what outlives this call when the agent is dropped.
    pub(crate) fn hold(&self) -> Hold {
        self.context.hold()
    }

    /// Returns once the turn is being cancelled, or a client wants this call stopped.
    pub(crate) async fn stopped(&self) {
        tokio::select! {
            biased;
            () = self.context.cancelled() => {}
            () = self.context.call_stopped(self.item) => {}
        }
    }

    fn is_stopped(&self) -> bool {
        self.context.is_cancelled() || self.context.is_call_stopped(self.item)
    }

    /// What an answer means that is not the one hoped for.
    pub(crate) fn without(&self, outcome: Outcome) -> ToolError {
        match outcome {
            Outcome::Failed { message } => ToolError::Client { message },
            Outcome::Cancelled if self.is_stopped() => ToolError::Cancelled,
            Outcome::Cancelled => ToolError::Dismissed,
            _ => ToolError::Misfit,
        }
    }

    /// Ends the call.
    pub(crate) async fn end(mut self, result: Result<Ended, ToolError>) -> Result<(), TurnOver> {
        let ended = match result {
            Ok(ended) => ended,
            Err(ToolError::Over(over)) => return Err(over),
            Err(error) => Ended {
                status: error.status(),
                content: vec![ToolContent::text(error.to_string())],
                output: json!({ "error": error.code() }),
            },
        };
        self.call.status = ended.status;
        self.call.content = ended.content;
        self.call.output = ended.output;
        self.context
            .emit(Emit::CallEnded(self.item, Box::new(self.call)))
            .await
    }
}

/// The four choices; each id is its kind's name (contract.md).
fn options() -> Vec<PermissionOption> {
    let option = |kind: PermissionKind| PermissionOption {
        id: kind.id().to_owned(),
        name: match kind {
            PermissionKind::AllowOnce => "Allow",
            PermissionKind::AllowAlways => "Allow for this session",
            PermissionKind::RejectOnce => "Reject",
            PermissionKind::RejectAlways => "Reject for this session",
        }
        .to_owned(),
        kind,
    };
    PermissionKind::ALL.into_iter().map(option).collect()
}

//! Hooks in the model: what waits for a client's say, and what must come of it.

use sessiond_protocol::{Event, EventFrame, Hook, RequestBody, RequestKind, TurnId, limits};

use super::{
    Broken, ensure,
    model::{Asked, Model},
    rig::Rig,
    verdict::{Around, Taken, Told},
};
use crate::core::Token;

/// What waits for the settlement of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Waits {
    /// The agent, for what it asked.
    Agent(Token),
    /// A prompt, for an agent.
    Prompt,
    /// A call, for it to run.
    Call(Token),
    AfterCall,
    /// The end of the turn.
    Stop,
}

impl Waits {
    /// Whether no agent runs meanwhile.
    pub(super) fn is_between(self) -> bool {
        matches!(self, Waits::Prompt | Waits::Stop)
    }
}

/// What a client has to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    /// Nothing clear.
    None,
    Denied,
    Changed,
}

/// Blocks of a prompt that a hook has changed; all others of clients have one.
pub(super) const CHANGED_BLOCKS: usize = 2;

impl Model {
    /// Whether a client has its say now.
    pub(super) fn is_hooked(&self) -> bool {
        let answers = self.controller.as_ref().map(|client| &client.answers);
        let answers = answers.is_some_and(|kinds| kinds.contains(&RequestKind::Hook));
        answers && self.stopping.is_none()
    }

    /// Whether a hook is asked about the end of the turn.
    pub(super) fn may_stop(&self) -> bool {
        self.asks.values().any(|asked| asked.waits == Waits::Stop)
    }

    /// Whether somebody has a say after a call.
    pub(super) fn is_after_call(&self) -> bool {
        let mut asks = self.asks.values();
        asks.any(|asked| asked.waits == Waits::AfterCall)
    }

    /// Whether the client is asked once more before a turn ends well.
    pub(super) fn asks_to_stop(&self) -> bool {
        self.is_hooked() && self.continued < limits::CONTINUATIONS
    }
}

/// What a request is asked for.
pub(super) fn waits(body: &RequestBody, asking: Option<Token>) -> Result<Waits, Broken> {
    let asking = || asking.ok_or("a request that nobody asked");
    Ok(match body {
        RequestBody::Hook(Hook::Prompt { .. }) => Waits::Prompt,
        RequestBody::Hook(Hook::BeforeTool { .. }) => Waits::Call(asking()?),
        RequestBody::Hook(Hook::AfterTool { .. }) => Waits::AfterCall,
        RequestBody::Hook(Hook::Stop { .. }) => Waits::Stop,
        _ => Waits::Agent(asking()?),
    })
}

impl Taken {
    /// What waited for a hook goes on as its client says, where it said something, and otherwise as
    /// if nobody had been asked.
    pub(super) fn hook_settled(
        &self,
        model: &mut Model,
        asked: &Asked,
        around: &Around<'_>,
    ) -> Result<(), Broken> {
        let word = match model.word {
            Some((request, word)) if request == asked.frame.id => word,
            _ => Word::None,
        };
        let turn = asked.frame.turn;
        let denied = usize::from(word == Word::Denied);
        match asked.waits {
            Waits::Agent(_) => {}
            Waits::Prompt => {
                let blocks = match word {
                    _ if around.stopping => None,
                    Word::Denied => None,
                    Word::Changed => Some(CHANGED_BLOCKS),
                    Word::None => Some(1),
                };
                let begun = self.blocks(turn);
                ensure!(begun == blocks, "{begun:?} begin, not {blocks:?}: {word:?}");
            }
            Waits::Call(token) => {
                let told = match word {
                    _ if around.stopping => Told::Denied,
                    Word::Denied => Told::Denied,
                    Word::Changed => Told::RunWith,
                    Word::None => Told::Run,
                };
                ensure!(
                    self.calls.contains(&(token, told)),
                    "a call is told {:?}, not {told:?}",
                    self.calls
                );
                let item = asked.frame.item;
                let becomes = |frame: &&EventFrame| frame.item == item;
                let mut of_it = around.records.iter().filter(becomes);
                let shown = of_it.any(|frame| match told {
                    Told::Denied => matches!(frame.event, Event::ItemEnded { .. }),
                    Told::RunWith => matches!(frame.event, Event::ItemChanged { .. }),
                    Told::Run => true,
                });
                ensure!(shown, "{told:?} is in no record of the call");
            }
            Waits::AfterCall => model.steers += denied,
            Waits::Stop if around.stopping => {
                ensure!(self.blocks(turn).is_none(), "a stopped turn goes on");
            }
            Waits::Stop => {
                model.continued += u32::from(word == Word::Denied);
                let more = around.steers + denied;
                let goes_on = (more > 0).then_some(more);
                let begun = self.blocks(turn);
                ensure!(begun == goes_on, "{begun:?} go on, not {goes_on:?}");
                let ends = |frame: &EventFrame| {
                    frame.turn == Some(turn) && matches!(frame.event, Event::TurnEnded(_))
                };
                let ended = around.records.iter().any(ends);
                ensure!(ended == goes_on.is_none(), "a turn ends or goes on");
                model.steers = 0;
            }
        }
        Ok(())
    }

    /// How many blocks the agent is given in a turn that begins or goes on in this step.
    fn blocks(&self, turn: TurnId) -> Option<usize> {
        let begun = self.started.iter().find(|(of, _)| *of == turn);
        begun.map(|(_, blocks)| *blocks)
    }

    /// What hooks do to what begins and ends in any step.
    pub(super) fn hooks_agree(&self, model: &Model, records: &[EventFrame]) -> Result<(), Broken> {
        for frame in records {
            let (Some(turn), Event::TurnStarted { .. }) = (frame.turn, &frame.event) else {
                continue;
            };
            let asked = model
                .asks
                .values()
                .any(|asked| asked.waits == Waits::Prompt && asked.frame.turn == turn);
            let begun = self.blocks(turn).is_some();
            if self.compacted.contains(&turn) {
                ensure!(!asked && !begun, "a compaction has no prompt");
                continue;
            }
            ensure!(
                asked == model.is_hooked() && begun != asked,
                "a client has its say before a prompt, if it wants one"
            );
        }
        for (turn, _) in &self.started {
            let mut asks = model.asks.values();
            let between = asks.any(|a| a.waits.is_between() && a.frame.turn == *turn);
            ensure!(!between, "an agent begins while a hook is asked");
        }
        let waits = model.is_after_call();
        ensure!(
            waits || model.barriers.is_empty(),
            "the agent waits after calls for nothing"
        );
        Ok(())
    }
}

impl Rig {
    /// The agent waits for who has a say about its calls.
    pub(super) fn calls_ended(&mut self) -> Result<(), Broken> {
        let token = self.token();
        let waits = self.model.is_after_call();
        if waits {
            self.model.barriers.insert(token.0);
            self.model.waited.insert(token.0);
        }
        let taken = self.take(crate::core::Input::CallsEnded { token })?;
        ensure!(
            taken.told(token) != waits && taken.records == 0,
            "the agent waits after its calls as long as a hook is asked"
        );
        Ok(())
    }
}

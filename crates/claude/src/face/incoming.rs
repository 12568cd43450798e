//! What the program sends: prompts, answers, control requests.

use sessiond_protocol::{
    Accepted, Content, IfBusy, Op, Queued, TurnId, WireError, limits::QUEUED_TURNS,
};
use sessiond_wire::waist::unexpected;
use sessiond_wire::{BadLine, DEFAULT_LINE_LIMIT, Line};

use serde_json::json;

use super::local::Local;
use super::outcome::Outcome;
use super::prompt::Prompt;
use super::serve::{End, Face, Place};
use super::turn::Stopped;
use crate::control::{self, Message};

/// Prompts that wait in the face because as many as may wait for the engine do.
const HELD_PROMPTS: usize = 1024;

/// How long they may be together, in bytes; one always may wait.
const HELD_BYTES: usize = DEFAULT_LINE_LIMIT;

impl Face {
    /// Takes up a line.
    pub(super) async fn line(&mut self, line: Line) -> Result<(), End> {
        let text = match line {
            Line::Text(text) => text,
            Line::Bad(bad) => return Err(End::Broken(unreadable(bad))),
        };
        match control::read(&text).map_err(|error| End::Broken(error.to_string()))? {
            Message::Request { id, request } => self.requested(&id, &request).await,
            Message::Response { id, answer } => match self.asks.take(&id) {
                Some(asked) => Ok(self.answered_by(asked, answer).await?),
                // Late, or never asked for: it counts for nothing.
                None => Ok(()),
            },
            Message::Frame { kind, frame } if kind == "user" => {
                let prompt = Prompt::read(&frame);
                let mut prompt = prompt.map_err(|error| End::Broken(error.to_string()))?;
                prompt.bytes = text.len();
                self.prompted(prompt).await
            }
            Message::Frame { .. } | Message::Cancel { .. } | Message::Ignored => Ok(()),
        }
    }

    async fn prompted(&mut self, prompt: Prompt) -> Result<(), End> {
        if !self.comes_later() {
            self.meet().await?;
        }
        let bytes: usize = self.held.iter().map(|held| held.bytes).sum();
        if self.held.len() >= HELD_PROMPTS || bytes > HELD_BYTES {
            let message = "too many prompts wait";
            let error = WireError::new(sessiond_protocol::ErrorCode::QueueFull, message);
            self.tell_result(&Outcome::failed(&error));
            return Ok(());
        }
        self.out.lifecycle(&prompt, "queued");
        self.held.push_back(prompt);
        if self.waits_for_servers() {
            self.greet_servers();
            self.await_greeting();
        }
        Ok(self.submit_prompts().await?)
    }

    /// Gives the engine the prompts that it may have now.
    pub(super) async fn submit_prompts(&mut self) -> Result<(), WireError> {
        let greets = self.waits_for_servers() && self.greeting_ends.is_some();
        if greets || self.place == Place::Unmet {
            return Ok(());
        }
        self.greeting_ends = None;
        while self.queued.len() < QUEUED_TURNS {
            let Some(prompt) = self.held.pop_front() else {
                break;
            };
            match Local::of(&prompt, &self.agent.commands) {
                None => self.submit(prompt).await?,
                Some(local) if self.turn.is_none() && self.queued.is_empty() => {
                    self.follow(local, prompt).await?;
                }
                Some(_) => {
                    // Its turn comes once nothing runs or waits.
                    self.held.push_front(prompt);
                    break;
                }
            }
        }
        Ok(())
    }

    async fn submit(&mut self, prompt: Prompt) -> Result<(), WireError> {
        if self.place != Place::Attached
            && let Err(error) = self.open_new().await
        {
            self.tell_result(&Outcome::failed(&error));
            self.out.lifecycle(&prompt, "cancelled");
            return Ok(());
        }
        match self.start(prompt.content.clone()).await {
            Ok(turn) => {
                if self.options.arguments.replay {
                    self.replay(&prompt);
                }
                self.queued.push_back((turn, prompt));
                if std::mem::take(&mut self.interrupts_next) {
                    self.interrupt(turn).await?;
                }
                Ok(())
            }
            Err(error) => {
                self.tell_result(&Outcome::failed(&error));
                self.out.lifecycle(&prompt, "cancelled");
                Ok(())
            }
        }
    }

    async fn start(&mut self, input: Vec<Content>) -> Result<TurnId, WireError> {
        let op = Op::TurnStart {
            input,
            if_busy: IfBusy::Queue,
            idempotency_key: None,
        };
        match self.engine.call(Some(self.out.session), op).await? {
            Accepted::Turn { turn } => Ok(turn),
            _ => Err(unexpected()),
        }
    }

    fn replay(&self, prompt: &Prompt) {
        let members = json!({
            "message": { "role": "user", "content": prompt.original },
            "parent_tool_use_id": null,
            "isReplay": true,
        });
        let uuid = prompt.uuid.as_ref().and_then(|uuid| uuid.parse().ok());
        match uuid {
            Some(uuid) => self.out.message(uuid, "user", members),
            None => self.out.passing("user", members),
        }
    }

    /// Stops the turn that runs, or the one that begins next.
    pub(super) async fn stop_turn(&mut self, why: Stopped) -> Result<(), WireError> {
        let Some(turn) = &mut self.turn else {
            return Ok(());
        };
        turn.stop(why);
        let turn = turn.id;
        self.interrupt(turn).await
    }

    pub(super) async fn interrupt(&mut self, turn: TurnId) -> Result<(), WireError> {
        let op = Op::TurnInterrupt {
            turn: Some(turn),
            queued: Queued::Keep,
        };
        match self.engine.call(Some(self.out.session), op).await {
            // It has ended meanwhile: nothing is left to be stopped.
            Ok(_) | Err(_) if self.turn.is_none() => Ok(()),
            Ok(_) => Ok(()),
            Err(error) => {
                tracing::debug!(code = ?error.code, "an interrupt came too late");
                Ok(())
            }
        }
    }

    /// Gives the prompts that the engine has not got their results: they are not run.
    pub(super) fn drop_held(&mut self) {
        for prompt in std::mem::take(&mut self.held) {
            self.tell_result(&Outcome::not_run());
            self.out.lifecycle(&prompt, "cancelled");
        }
    }

    /// Stops all that runs or waits.
    pub(super) async fn stop_all(&mut self) -> Result<(), WireError> {
        self.drop_held();
        if self.place != Place::Attached {
            return Ok(());
        }
        if let Some(turn) = &mut self.turn {
            turn.stop(Stopped::Interrupted);
        }
        let op = Op::TurnInterrupt {
            turn: None,
            queued: Queued::Cancel,
        };
        self.engine.call(Some(self.out.session), op).await.map(drop)
    }
}

fn unreadable(bad: BadLine) -> String {
    match bad {
        BadLine::NotUtf8 => "a line is not UTF-8".to_owned(),
        BadLine::TooLong { bytes } => format!("a line of {bytes} bytes is too long"),
    }
}

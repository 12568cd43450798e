//! Coming to a session that the command line names. Its agent is told at once what the servers of the
//! program offer, so those are met before; a new session begins with its first prompt, which waits for
//! them as well.

use crate::control;

use super::arguments::GoOn;
use super::serve::{End, Face, Place};

/// How many `initialize` may wait at a time: the SDKs send one.
const WAITING: usize = 16;

impl Face {
    /// Answers an `initialize`, now or once the session is there.
    pub(super) async fn initialize(&mut self, id: &str) -> Result<(), End> {
        if self.comes_later() && self.initializing.len() < WAITING {
            self.greet_servers();
            self.await_greeting();
            self.initializing.push(id.to_owned());
            return Ok(());
        }
        self.introduce(id).await
    }

    /// Whether the session is come to only when the servers of the program are met.
    pub(super) fn comes_later(&self) -> bool {
        let goes_on = !matches!(self.options.arguments.go_on, GoOn::New);
        self.place == Place::Unmet && goes_on && self.waits_for_servers()
    }

    /// Comes to the session that something waits for, once the servers of the program are met, or
    /// had their time.
    pub(super) async fn come_in(&mut self) -> Result<(), End> {
        let nobody_waits = self.initializing.is_empty() && self.held.is_empty();
        let not_yet = self.comes_later() && self.greeting_ends.is_some();
        if self.place != Place::Unmet || nobody_waits || not_yet {
            return Ok(());
        }
        for id in std::mem::take(&mut self.initializing) {
            self.introduce(&id).await?;
        }
        self.meet().await?;
        Ok(self.submit_prompts().await?)
    }

    async fn introduce(&mut self, id: &str) -> Result<(), End> {
        self.meet().await?;
        let answer = Some(self.introduction());
        self.out.control(control::success(id, answer));
        self.greet_servers();
        Ok(())
    }
}

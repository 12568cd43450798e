//! Compactions: the agent sums up what was said, and later turns begin after its summary.

use std::collections::BTreeSet;

use sessiond_protocol::{
    Compaction, Cursor, ErrorCode, Event, EventFrame, Item, Op, Stretch, TurnId, TurnOutcome,
    limits,
};

use super::{
    Broken,
    act::Act,
    conversation::in_force,
    ensure,
    rig::{Agent, Rig},
    submissions::Expected,
    verdict::Taken,
};
use crate::{
    agent::CompactionReport,
    core::{Input, Urgent},
};

/// What the agent says at the end of a compaction, by its number; the first three are no summaries.
fn summary(which: u8) -> String {
    match which {
        0 => String::new(),
        1 => " \n".into(),
        2 => "x".repeat(limits::SUMMARY_BYTES + 1),
        which => format!("all of it, {which}"),
    }
}

fn is_said(frame: &EventFrame) -> bool {
    match &frame.event {
        Event::ItemEnded { item } => !matches!(item, Item::Compaction(_)),
        _ => false,
    }
}

fn compaction(frame: &EventFrame) -> Option<&Compaction> {
    match &frame.event {
        Event::ItemEnded {
            item: Item::Compaction(compaction),
        } => Some(compaction),
        _ => None,
    }
}

/// The turns that are compactions: no record says so of one before its summary does.
#[derive(Debug, Clone, Default)]
pub(super) struct Compactions {
    turns: BTreeSet<TurnId>,
    /// Whether the next turn that begins is one.
    is_next: bool,
    /// Those that have their summary.
    summed_up: BTreeSet<TurnId>,
    /// The newest summary in force.
    in_force: Option<Cursor>,
}

impl Compactions {
    /// What is known of them before the log is read.
    pub(super) fn anew(&self) -> Self {
        Self {
            turns: self.turns.clone(),
            ..Self::default()
        }
    }

    /// The next turn that begins is one.
    pub(super) fn expect(&mut self) {
        self.is_next = true;
    }

    pub(super) fn begun(&mut self, turn: TurnId) {
        if std::mem::take(&mut self.is_next) {
            self.turns.insert(turn);
        }
    }

    pub(super) fn contains(&self, turn: TurnId) -> bool {
        self.turns.contains(&turn)
    }

    /// The newest summary in force.
    pub(super) fn in_force(&self) -> Option<Cursor> {
        self.in_force
    }

    /// The conversation begins anew.
    pub(super) fn leave(&mut self) {
        self.in_force = None;
    }

    pub(super) fn summed_up(&mut self, turn: TurnId, at: Option<Cursor>) -> Result<(), Broken> {
        let new = self.summed_up.insert(turn);
        ensure!(new, "a compaction has one summary");
        self.in_force = at;
        Ok(())
    }

    /// One that ends well has its summary; no other has, but where the process died behind it.
    pub(super) fn ended(&self, turn: TurnId, outcome: TurnOutcome) -> Result<(), Broken> {
        let (compacts, summed_up) = (self.contains(turn), self.summed_up.contains(&turn));
        let good = match outcome {
            TurnOutcome::Interrupted => compacts || !summed_up,
            TurnOutcome::Completed => compacts == summed_up,
            _ => !summed_up,
        };
        ensure!(good, "{outcome:?}, summed up: {summed_up}");
        Ok(())
    }
}

impl Rig {
    /// Whether the turn that lives is a compaction.
    pub(super) fn compacts(&self) -> bool {
        let (active, _) = self.turns();
        active.is_some_and(|turn| self.books.compactions.contains(turn))
    }

    pub(super) fn expect_compact(&self) -> (Op, Expected) {
        let good = match self.was_said() {
            true => Expected::Compact,
            false => Expected::Error(ErrorCode::Invalid, None),
        };
        (Op::SessionCompact {}, self.busy().unwrap_or(good))
    }

    /// Whether anything is in force that no summary stands for, also what a dead process left open
    /// (CTX-1).
    fn was_said(&self) -> bool {
        let newest = self.log.len() as u64;
        let in_force = in_force(&self.log, newest);
        let kept = in_force.range(..self.books.base.0);
        // What is kept in one piece is taken for something said, though it may be two marks.
        let is_piece = |cursor: &u64| kept.clone().any(|next| *next == cursor + 1);
        if self.books.compactions.in_force().is_none() && kept.clone().any(is_piece) {
            return true;
        }
        let summed_up = self
            .books
            .compactions
            .in_force()
            .map_or(0, |compaction| compaction.0);
        let counts = |cursor: &u64| *cursor > summed_up && in_force.contains(cursor);
        let said = (1..).zip(&self.log);
        let mut said = said.filter(|(_, frame)| is_said(frame));
        said.any(|(cursor, _)| counts(&cursor)) || self.closings.iter().any(is_said)
    }

    /// A compaction is a turn that asks nobody and has no prompt, only the summary as its task.
    pub(super) fn compaction_begun(taken: &Taken, turn: Option<TurnId>) -> bool {
        taken.compacted.iter().copied().eq(turn)
            && taken.started.is_empty()
            && taken.requests.is_empty()
    }

    /// The agent says its summary, if it was asked for one.
    pub(super) fn sum_up(&mut self, which: u8) -> Result<(), Broken> {
        if self.agent != Agent::Running || !self.compacts() {
            return Ok(());
        }
        let turn = self.turns().0.ok_or("no turn")?;
        let summary = summary(which);
        let fits = !summary.trim().is_empty() && summary.len() <= limits::SUMMARY_BYTES;
        let counts = fits && self.model.stopping.is_none();
        self.agent = Agent::Absent;
        self.model.agent_ended = Some(match fits {
            true => TurnOutcome::Completed,
            false => TurnOutcome::Failed,
        });
        let report = CompactionReport {
            summary: summary.clone(),
            usage: None,
        };
        let taken = self.take(Input::Compacted(report))?;
        self.model.agent_ended = None;
        let ended = self.books.ended.contains_key(&turn);
        ensure!(ended, "a compaction ends with its summary");
        ensure!(
            taken.urgent.contains(&Urgent::DropAgent) != counts,
            "an agent goes on only from a summary that counts: {taken:?}"
        );
        let records = self.records(taken.since);
        let summaries: Vec<_> = records.iter().filter_map(compaction).collect();
        match summaries.as_slice() {
            [] => ensure!(!counts, "a summary is lost"),
            [compaction] => {
                ensure!(counts, "a summary counts that is none, or comes too late");
                ensure!(compaction.summary == summary, "another summary is recorded");
                self.covers_all(turn, compaction)?;
            }
            _ => return Err("a compaction has one summary".into()),
        }
        Ok(())
    }

    /// Something is said, if no turn is in the way, and all is summed up.
    pub(super) fn condense(&mut self) -> Result<(), Broken> {
        for act in [Act::Append(0), Act::Compact] {
            self.submit(&act)?;
            self.acknowledge_all()?;
        }
        self.sum_up(3)
    }

    /// CTX-2: it stands for all that was in force when it began, and says so.
    fn covers_all(&self, turn: TurnId, compaction: &Compaction) -> Result<(), Broken> {
        let begins = |frame: &&EventFrame| {
            frame.turn == Some(turn) && matches!(frame.event, Event::TurnStarted { .. })
        };
        let begun = self.log.iter().find(begins).and_then(|frame| frame.cursor);
        let begun = begun.ok_or("a compaction without a beginning")?;
        let in_force: BTreeSet<u64> = in_force(&self.log, begun.0 - 1);
        let first = in_force.first().ok_or("nothing is in force")?;
        let expected = Stretch {
            from: Cursor(*first),
            to: Cursor(begun.0 - 1),
        };
        let covers = compaction.covers;
        ensure!(
            covers == expected,
            "{covers:?} is covered, not {expected:?}"
        );
        let windows = self.log.iter().filter_map(self::compaction).count() as u64;
        ensure!(
            compaction.window == windows,
            "window {} begins with compaction {windows}",
            compaction.window
        );
        Ok(())
    }
}

//! What a queue holds, when that counts as full, and when frames merge.

use std::collections::VecDeque;

use tokio::time::Instant;

use super::{
    COALESCE_FROM, Coalesce, HIGH_WATER_BYTES, HIGH_WATER_FRAMES, PATIENCE, PATIENT_COALESCE_FROM,
    PATIENT_FRAMES,
};

/// The frames that wait, and the accounts of them.
#[derive(Debug)]
pub(super) struct State<T> {
    kind: Kind,
    pub(super) frames: VecDeque<T>,
    pub(super) weight: usize,
    /// Frames ever queued; a merged one is no frame of its own.
    pub(super) queued: u64,
    /// Frames the consumer has dealt with, written or discarded.
    pub(super) settled: u64,
    /// Until when the producers of a patient queue wait, from when they began to.
    waits_until: Option<Instant>,
    /// Whether the consuming thread sleeps.
    pub(super) is_thread_asleep: bool,
    /// Batches that are being pushed; the consumer is woken after the last of them.
    pub(super) batches: u32,
    pub(super) closed: bool,
}

/// When deltas merge, and when producers wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// [`OutQueue::new`](super::OutQueue::new)
    Eager,
    /// [`OutQueue::patient`](super::OutQueue::patient)
    Patient,
}

impl<T> State<T> {
    pub(super) fn new(kind: Kind) -> Self {
        Self {
            kind,
            frames: VecDeque::new(),
            weight: 0,
            queued: 0,
            settled: 0,
            waits_until: None,
            is_thread_asleep: false,
            batches: 0,
            closed: false,
        }
    }

    /// Whether bulk producers should wait.
    pub(super) fn is_full(&self) -> bool {
        self.is_at_bound() || self.patience_ends().is_some_and(|end| Instant::now() < end)
    }

    /// Whether producers wait however long it takes.
    pub(super) fn is_at_bound(&self) -> bool {
        self.frames.len() >= HIGH_WATER_FRAMES || self.weight >= HIGH_WATER_BYTES
    }

    /// Until when producers wait, where they do because the reader does not come round.
    pub(super) fn patience_ends(&self) -> Option<Instant> {
        self.waits_until
    }

    /// Notes that frames were taken; whether those who wait should look again. Producers that wait
    /// for the reader do until half is taken, so that they are not all woken for every frame.
    pub(super) fn note_room(&mut self, was_at_bound: bool) -> bool {
        let reads_again = self.waits_until.is_some() && self.frames.len() < PATIENT_FRAMES / 2;
        if reads_again {
            self.waits_until = None;
        }
        reads_again || was_at_bound && !self.is_at_bound()
    }

    /// How many frames may wait while none merge.
    fn whole_frames(&self) -> usize {
        match self.kind {
            Kind::Eager => COALESCE_FROM,
            Kind::Patient => PATIENT_COALESCE_FROM,
        }
    }
}

impl<T: Coalesce> State<T> {
    /// Appends a frame, or merges it into the last one that waits.
    pub(super) fn push(&mut self, frame: T) {
        let Some(frame) = self.merge(frame) else {
            return;
        };
        self.weight += frame.weight();
        self.queued += 1;
        self.frames.push_back(frame);
        let begins_to_wait = self.kind == Kind::Patient
            && self.waits_until.is_none()
            && self.frames.len() >= PATIENT_FRAMES;
        if begins_to_wait {
            self.waits_until = Some(Instant::now() + PATIENCE);
        }
    }

    /// Merges a frame into the last one that waits; gives it back if it must stand alone.
    fn merge(&mut self, frame: T) -> Option<T> {
        if self.frames.len() < self.whole_frames() {
            return Some(frame);
        }
        let Some(last) = self.frames.back_mut() else {
            return Some(frame);
        };
        let before = last.weight();
        let rest = last.absorb(frame).err();
        let after = last.weight();
        self.weight = self.weight.saturating_sub(before) + after;
        rest
    }
}

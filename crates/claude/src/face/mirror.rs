//! The mirror of a session (`--session-mirror`): the entries that its transcript would get, for a
//! program that keeps them in a store of its own.

use std::cell::RefCell;
use std::io::{self, Write};
use std::path::Path;
use std::rc::Rc;

use serde::Deserialize;
use serde_json::{Value, json};
use sessiond_protocol::{
    Cursor, Event, EventFrame, SessionId, Telling, Told, ToldAbout, WireError,
};

use super::engine::Engine;
use crate::transcript::{Continuation, Transcript, path};

/// What was written and not yet told. The face runs in one task, and so does this.
#[derive(Debug, Clone, Default)]
struct Written(Rc<RefCell<Vec<u8>>>);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The transcript that a session would have.
#[derive(Debug)]
pub(super) struct Mirror {
    transcript: Transcript<Written>,
    written: Written,
    path: String,
}

impl Mirror {
    /// The mirror of a session from here on. What came before is read and not told again, so that the
    /// first entry follows the last one of an earlier process.
    ///
    /// # Errors
    /// Of the engine.
    pub(super) async fn open(
        engine: &mut Engine,
        session: SessionId,
        (config, cwd): (&Path, &str),
    ) -> Result<Self, WireError> {
        let written = Written::default();
        let about = ToldAbout {
            cwd: Some(cwd.to_owned()),
            ..ToldAbout::default()
        };
        let place = path(config, cwd, &session.to_string());
        let from = Continuation::default();
        let mut mirror = Self {
            transcript: Transcript::new(written.clone(), (session, &about), from),
            written,
            path: place.to_string_lossy().into_owned(),
        };
        let mut after = Cursor::START;
        loop {
            let (events, next) = engine.page(session, after).await?;
            let frames = events
                .into_iter()
                .filter_map(|it| EventFrame::deserialize(it).ok());
            frames.for_each(|frame| mirror.tell(&frame));
            match next {
                Some(next) => after = next,
                None => break,
            }
        }
        mirror.written.0.borrow_mut().clear();
        Ok(mirror)
    }

    /// Takes up an event. Only whole items of the log are entries.
    pub(super) fn tell(&mut self, frame: &EventFrame) {
        let told = match &frame.event {
            Event::ItemEnded { item } if frame.cursor.is_some() => self.transcript.tell(Told {
                id: frame.item,
                at: frame.at.clone(),
                what: Telling::Item(item.clone()),
            }),
            Event::TurnEnded(_) => self.transcript.turn_ends(),
            _ => Ok(()),
        };
        if let Err(error) = told {
            // What it is written to is memory.
            tracing::error!(kind = ?error.kind(), "an entry of the mirror was not written");
        }
    }

    /// What there is to tell: a frame, if anything was written since the last one.
    pub(super) fn frame(&mut self) -> Option<Value> {
        let written = std::mem::take(&mut *self.written.0.borrow_mut());
        let lines = written.split(|byte| *byte == b'\n');
        let entries: Vec<Value> = lines
            .filter_map(|it| serde_json::from_slice(it).ok())
            .collect();
        let frame = json!({ "type": "transcript_mirror", "filePath": self.path,
            "entries": entries });
        (!entries.is_empty()).then_some(frame)
    }
}

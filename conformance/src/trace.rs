//! A recording as reports show it: bounded, with time and direction.

use serde::Serialize;

use crate::recording::{Ending, Recording, What};

/// Most entries shown of one case.
const MOST_ENTRIES: usize = 600;
/// Most characters shown of one entry.
const MOST_TEXT: usize = 8_000;

/// One line of the wire log.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Moment {
    /// Microseconds since the case began.
    pub(crate) us: u64,
    pub(crate) process: usize,
    /// `>` to the target, `<` from it, `!` its stderr, `?` from it to the model, `=` what that
    /// answered, `.` what happened.
    pub(crate) way: char,
    pub(crate) text: String,
}

/// The wire log of a recording.
pub(crate) fn trace(recording: &Recording) -> Vec<Moment> {
    let mut moments: Vec<Moment> = recording
        .entries
        .iter()
        .take(MOST_ENTRIES)
        .map(|entry| {
            let (way, text) = shown(&entry.what);
            Moment {
                us: u64::try_from(entry.at.as_micros()).unwrap_or(u64::MAX),
                process: entry.process,
                way,
                text: match way {
                    // What is new stands at the end of a conversation.
                    '?' => cut_middle(&text),
                    _ => cut(&text),
                },
            }
        })
        .collect();
    let more = recording.entries.len().saturating_sub(MOST_ENTRIES);
    if let (Some(last), 1..) = (moments.last().cloned(), more) {
        moments.push(Moment {
            way: '.',
            text: format!("and {more} more"),
            ..last
        });
    }
    moments
}

fn shown(what: &What) -> (char, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match what {
        What::Line(line) if line.ending == Ending::None => {
            ('<', format!("{} (no LF)", text(&line.bytes)))
        }
        What::Line(line) => ('<', text(&line.bytes)),
        What::Sent(bytes) => ('>', text(bytes)),
        What::Stderr(bytes) => ('!', text(bytes)),
        What::Started => ('.', "started".to_owned()),
        What::Exited(code) if *code < 0 => ('.', format!("ended by signal {}", -code)),
        What::Exited(code) => ('.', format!("ended with {code}")),
        What::StdoutClosed => ('.', "stdout closed".to_owned()),
        What::StdinClosed => ('.', "stdin closed".to_owned()),
        What::Signalled(signal) => ('.', format!("signal {signal}")),
        What::Descendants(found) if found.is_empty() => ('.', "no descendants".to_owned()),
        What::Descendants(found) => ('.', format!("descendants: {}", found.join(" "))),
        What::Mark(name) => ('.', format!("mark {name}")),
        What::File(name, None) => ('.', format!("file {name}: none")),
        What::File(name, Some(content)) => ('.', format!("file {name}: {content}")),
        What::Watched(Ok(())) => ('.', "syncs are watched".to_owned()),
        What::Watched(Err(why)) => ('.', format!("syncs are not watched: {why}")),
        What::Synced(sync) => ('.', format!("{} {}", sync.call, sync.path)),
        What::Holders(mark, files) => ('.', format!("{mark:?} stands in {files:?}")),
        What::Note(note) => ('.', note.clone()),
        What::ModelAsked(text) => ('?', text.clone()),
        What::ModelAnswered(text) => ('=', text.clone()),
        What::Flooded => ('.', "too much output: no more is read".to_owned()),
    }
}

/// The beginning, which says what it is, and the end.
fn cut_middle(text: &str) -> String {
    let end = text.floor_char_boundary(text.len().saturating_sub(MOST_TEXT));
    let beginning = text.floor_char_boundary(MOST_TEXT / 10);
    if end <= beginning {
        return text.to_owned();
    }
    format!(
        "{} … {} ({} bytes)",
        &text[..beginning],
        &text[end..],
        text.len()
    )
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MOST_TEXT) {
        Some((at, _)) => format!("{}… ({} bytes)", &text[..at], text.len()),
        None => text.to_owned(),
    }
}

//! Events as records of the log, and back.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use sessiond_log::{Attachment, Damage, LogError, NewRecord, RecordView};
use sessiond_protocol::{
    Cursor, ErrorCode, Event, EventFrame, Holder, Item, ItemId, SessionId, SubmissionId, TurnId,
    WireError,
};

/// A record's data: an event frame without what the envelope says already.
#[derive(Serialize, Deserialize)]
struct Data<'a> {
    /// First, so that the log knows them ([`Attachment`]).
    #[serde(rename = "$attached", default, skip_serializing_if = "is_none")]
    attached: Cow<'a, [Attachment]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    turn: Option<TurnId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    item: Option<ItemId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cause: Option<Cow<'a, SubmissionId>>,
    event: Cow<'a, Event>,
}

/// The record of a durable event.
pub(crate) fn to_record(frame: &EventFrame) -> Result<NewRecord, WireError> {
    to_record_with(frame, &[])
}

/// The record of a durable event that names bytes beside it.
pub(crate) fn to_record_with(
    frame: &EventFrame,
    attached: &[Attachment],
) -> Result<NewRecord, WireError> {
    let data = Data {
        attached: Cow::Borrowed(attached),
        turn: frame.turn,
        item: frame.item,
        cause: frame.cause.as_ref().map(Cow::Borrowed),
        event: Cow::Borrowed(&frame.event),
    };
    let text = serde_json::to_string(&data).map_err(|error| {
        WireError::new(
            ErrorCode::Internal,
            format!("an event could not be written: {error}"),
        )
    })?;
    let at = frame.at.clone().unwrap_or_default();
    Ok(NewRecord {
        kind: frame.event.kind().to_owned(),
        at,
        data: text,
    })
}

/// What the data of a record names beside it.
pub(crate) fn attached(record: RecordView<'_>) -> Vec<Attachment> {
    if !record.data.starts_with("{\"$attached\"") {
        return Vec::new();
    }
    let data = serde_json::from_str::<Data<'_>>(record.data);
    data.map(|data| data.attached.into_owned())
        .unwrap_or_default()
}

/// The data of a record whose envelope says that an item ended. Most of a log is of this kind, and
/// its item is read straight from the text: as one of all events it would be gathered first.
#[derive(Deserialize)]
struct Ended {
    #[serde(default)]
    turn: Option<TurnId>,
    #[serde(default)]
    item: Option<ItemId>,
    #[serde(default)]
    cause: Option<SubmissionId>,
    event: EndedEvent,
}

#[derive(Deserialize)]
struct EndedEvent {
    #[serde(rename = "type")]
    kind: EndedKind,
    item: Item,
}

/// The one name that such an event has.
#[derive(Deserialize)]
enum EndedKind {
    #[serde(rename = "item.ended")]
    Ended,
}

impl Ended {
    /// None where the record is of another kind, or is none that this version knows.
    fn read(record: RecordView<'_>) -> Option<Data<'static>> {
        if record.kind != "item.ended" {
            return None;
        }
        let Ended {
            turn,
            item,
            cause,
            event:
                EndedEvent {
                    kind: EndedKind::Ended,
                    item: said,
                },
        } = serde_json::from_str(record.data).ok()?;
        Some(Data {
            attached: Cow::Borrowed(&[]),
            turn,
            item,
            cause: cause.map(Cow::Owned),
            event: Cow::Owned(Event::ItemEnded { item: said }),
        })
    }
}

/// The event of a record. One that this version cannot read is kept as unknown, never an error.
pub(crate) fn to_frame(session: SessionId, record: RecordView<'_>) -> EventFrame {
    let cursor = Some(Cursor(record.seq));
    let at = Some(record.at.to_owned());
    let data = Ended::read(record).map_or_else(|| serde_json::from_str(record.data), Ok);
    match data {
        Ok(data) => EventFrame {
            session,
            cursor,
            turn: data.turn,
            item: data.item,
            cause: data.cause.map(Cow::into_owned),
            at,
            event: of_session(session, data.event.into_owned()),
        },
        Err(_) => {
            let value = serde_json::json!({ "type": record.kind });
            EventFrame {
                cursor,
                at,
                ..EventFrame::new(session, Event::Unknown(value))
            }
        }
    }
}

/// The header that a fork shares with its parent names the parent; its readers know it by its own
/// id everywhere.
fn of_session(session: SessionId, mut event: Event) -> Event {
    if let Event::SessionOpened(header) = &mut event {
        header.id = session;
    }
    event
}

fn is_none(attached: &[Attachment]) -> bool {
    attached.is_empty()
}

/// What a client is told of a damaged place.
pub(crate) fn damage_frame(session: SessionId, damage: &Damage) -> EventFrame {
    let (offset, length) = (damage.offset, damage.length);
    let event = Event::Damage {
        segment: damage.segment.clone(),
        offset,
        length,
    };
    EventFrame::new(session, event)
}

/// A failure of the log as a client gets it.
pub(crate) fn log_error(error: &LogError) -> WireError {
    let code = match error {
        LogError::InvalidSubject | LogError::Exists(_) | LogError::NoRecord { .. } => {
            ErrorCode::Invalid
        }
        LogError::NotFound(_) => ErrorCode::NotFound,
        LogError::Busy { .. } => ErrorCode::Busy,
        LogError::Fenced(_) => ErrorCode::LeaseLost,
        LogError::TooNew { .. } => ErrorCode::TooNew,
        _ => ErrorCode::Storage,
    };
    let mut wire = WireError::new(code, error.to_string());
    if let LogError::Busy {
        holder: Some(holder),
        ..
    } = error
    {
        wire.holder = Some(Holder {
            pid: holder.owner.pid,
            host: holder.owner.host.clone(),
        });
    }
    wire
}

#[cfg(test)]
mod tests;

//! The file tools: read, write, edit. Through the client where it offers its files, so that unsaved
//! buffers count; otherwise on the local disk.

use serde_json::{Value, json};
use sessiond_engine::TurnOver;
use sessiond_protocol::{
    Location, Outcome, RequestBody, ToolCall, ToolContent, ToolKind, ToolStatus,
};

use crate::call::{Call, Ended};
use crate::error::ToolError;
use crate::stage::Stage;

mod local;

/// Longest file that `/read` shows: half of a frame of 1 MiB; JSON escapes may double it (WIRE-4).
const SHOWN_BYTES: u64 = 512 << 10;

/// Longest file that `/edit` takes: its result holds the file twice, before and after (WIRE-4).
const EDITED_BYTES: u64 = 256 << 10;

/// Shows a file. Looking needs no permission.
pub(crate) async fn read(stage: &mut Stage<'_>, path: &str) -> Result<(), TurnOver> {
    let path = stage.resolve(path);
    let call = tool_call("read", &path, json!({ "path": path }));
    let call = ToolCall {
        kind: ToolKind::Read,
        status: ToolStatus::Running,
        ..call
    };
    let Some(call) = Call::start(stage, call).await? else {
        return Ok(());
    };
    let shown = async {
        let path = stage.resolve(&call.text("path")?);
        let text = text_of(&call, &path, SHOWN_BYTES).await?;
        let bytes = text.len();
        Ok(completed(ToolContent::text(text), bytes))
    };
    let shown = shown.await;
    call.end(shown).await
}

/// Makes a file hold a text.
pub(crate) async fn write(stage: &mut Stage<'_>, path: &str, text: &str) -> Result<(), TurnOver> {
    let path = stage.resolve(path);
    let call = tool_call("write", &path, json!({ "path": path, "content": text }));
    let Some(mut call) = Call::start(stage, call).await? else {
        return Ok(());
    };
    let written = async {
        let path = permitted(stage, &mut call, ("write", &["content"])).await?;
        let (path, text) = (&path, &call.text("content")?);
        call.running(Vec::new()).await?;
        put(&call, path, text).await?;
        let said = format!("Wrote {} bytes to {path}.", text.len());
        Ok(completed(ToolContent::text(said), text.len()))
    };
    let written = written.await;
    call.end(written).await
}

/// Replaces the first occurrence of the first text in a file by the second.
pub(crate) async fn edit(
    stage: &mut Stage<'_>,
    path: &str,
    (old, new): (&str, &str),
) -> Result<(), TurnOver> {
    let path = stage.resolve(path);
    let call = tool_call(
        "edit",
        &path,
        json!({ "path": path, "old": old, "new": new }),
    );
    let Some(mut call) = Call::start(stage, call).await? else {
        return Ok(());
    };
    let edited = async {
        let path = permitted(stage, &mut call, ("edit", &["old", "new"])).await?;
        let (old, new) = (&call.text("old")?, &call.text("new")?);
        call.running(Vec::new()).await?;
        let before = text_of(&call, &path, EDITED_BYTES).await?;
        if !before.contains(old) {
            return Err(ToolError::Absent { path: path.clone() });
        }
        let after = before.replacen(old, new, 1);
        put(&call, &path, &after).await?;
        let bytes = after.len();
        let diff = ToolContent::Diff {
            path: path.clone(),
            old_text: Some(before),
            new_text: after,
        };
        Ok(completed(diff, bytes))
    };
    let edited = edited.await;
    call.end(edited).await
}

/// Asks whether a call may touch its path, and gives the one that it may touch. Nobody is asked
/// about a call that lacks a member it needs.
async fn permitted(
    stage: &Stage<'_>,
    call: &mut Call<'_>,
    (name, needs): (&str, &[&'static str]),
) -> Result<String, ToolError> {
    let asked = stage.resolve(&call.text("path")?);
    for member in needs {
        call.text(member)?;
    }
    call.show_as(tool_call(name, &asked, Value::Null));
    call.permit(&asked).await?;
    let path = stage.resolve(&call.text("path")?);
    call.show_as(tool_call(name, &path, Value::Null));
    Ok(path)
}

fn tool_call(name: &str, path: &str, input: Value) -> ToolCall {
    let verb = match name {
        "read" => "Read",
        "write" => "Write",
        _ => "Edit",
    };
    ToolCall {
        name: name.to_owned(),
        title: format!("{verb} {path}"),
        kind: ToolKind::Edit,
        input,
        locations: vec![Location {
            path: path.to_owned(),
            line: None,
        }],
        ..ToolCall::default()
    }
}

fn completed(content: ToolContent, bytes: usize) -> Ended {
    Ended {
        status: ToolStatus::Completed,
        content: vec![content],
        output: json!({ "bytes": bytes }),
    }
}

/// What a file holds, at most `limit` bytes of it.
async fn text_of(call: &Call<'_>, path: &str, limit: u64) -> Result<String, ToolError> {
    let question = RequestBody::FsRead {
        path: path.to_owned(),
        line: None,
        limit: None,
    };
    match call.ask(question).await? {
        Outcome::Text { text } if text.len() as u64 > limit => Err(ToolError::TooLong {
            path: path.to_owned(),
            limit,
        }),
        Outcome::Text { text } => Ok(text),
        Outcome::Unanswered => local::read(path, limit).await,
        other => Err(call.without(other)),
    }
}

async fn put(call: &Call<'_>, path: &str, text: &str) -> Result<(), ToolError> {
    let order = RequestBody::FsWrite {
        path: path.to_owned(),
        content: text.to_owned(),
    };
    match call.ask(order).await? {
        Outcome::Done => Ok(()),
        Outcome::Unanswered => local::write(path, text).await,
        other => Err(call.without(other)),
    }
}

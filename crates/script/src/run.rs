//! Commands: `sh -c` in a terminal of the client if it offers one, else in a supervised child.

use serde_json::{Value, json};
use sessiond_engine::TurnOver;
use sessiond_protocol::{
    Exit, Outcome, RequestBody, Stoppable, TerminalOp, ToolCall, ToolContent, ToolKind, ToolStatus,
};

use crate::call::{Call, Ended};
use crate::output::Tail;
use crate::stage::Stage;

mod child;
mod terminal;

/// What came of a command that started.
#[derive(Debug)]
struct Ran {
    /// What it printed, or the newest part of that.
    output: String,
    /// Whether the beginning is missing.
    truncated: bool,
    /// How it ended.
    end: End,
}

/// How a command that started ended.
#[derive(Debug)]
enum End {
    /// By itself.
    Exited(Exit),
    /// With its whole tree, because the turn was cancelled or a client wanted it stopped.
    Stopped,
}

/// Runs a shell command in the session's directory.
pub(crate) async fn run(stage: &mut Stage<'_>, command: &str) -> Result<(), TurnOver> {
    let cwd = stage.resolve("");
    let supervisor = stage.supervisor;
    let Some(mut call) = Call::start(stage, tool_call(command, &cwd)).await? else {
        return Ok(());
    };
    let ran = async {
        let asked = call.text("command")?;
        call.show_as(tool_call(&asked, &cwd));
        call.permit(&asked).await?;
        let command = &call.text("command")?;
        call.show_as(tool_call(command, &cwd));
        let create = TerminalOp::Create {
            command: "sh".to_owned(),
            args: vec!["-c".to_owned(), command.to_owned()],
            cwd: cwd.clone(),
            env: Vec::new(),
            output_limit: Tail::KEPT as u64,
        };
        match call.ask(RequestBody::Terminal(create)).await? {
            Outcome::Terminal { terminal } => terminal::follow(&mut call, terminal).await,
            Outcome::Unanswered => child::run(&mut call, supervisor, (command, &cwd)).await,
            other => Err(call.without(other)),
        }
    };
    let ended = ran.await.map(ended);
    call.end(ended).await
}

fn tool_call(command: &str, cwd: &str) -> ToolCall {
    ToolCall {
        name: "run".to_owned(),
        title: format!("Run {command}"),
        kind: ToolKind::Execute,
        input: json!({ "command": command, "cwd": cwd }),
        stoppable: Stoppable::Yes,
        ..ToolCall::default()
    }
}

fn ended(ran: Ran) -> Ended {
    let mut text = ran.output;
    let mut say = |line: String| {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&line);
    };
    let (status, mut output) = match ran.end {
        End::Stopped => (ToolStatus::Cancelled, json!({})),
        End::Exited(Exit { code: Some(0), .. }) => {
            (ToolStatus::Completed, json!({ "exit_code": 0 }))
        }
        End::Exited(Exit {
            code: Some(code), ..
        }) => {
            say(format!("exit code {code}"));
            (ToolStatus::Failed, json!({ "exit_code": code }))
        }
        End::Exited(Exit {
            signal: Some(signal),
            ..
        }) => {
            say(format!("killed by {signal}"));
            (ToolStatus::Failed, json!({ "signal": signal }))
        }
        End::Exited(Exit {
            code: None,
            signal: None,
        }) => {
            say("exit code unknown".to_owned());
            (ToolStatus::Failed, json!({ "exit_code": Value::Null }))
        }
    };
    if let Some(output) = output.as_object_mut() {
        output.insert("truncated".to_owned(), ran.truncated.into());
    }
    let content = if text.is_empty() {
        Vec::new()
    } else {
        vec![ToolContent::text(text)]
    };
    Ended {
        status,
        content,
        output,
    }
}

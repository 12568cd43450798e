//! Our part of a turn: the prompt, the wish to stop, and the question how it stands.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::json;
use sessiond_engine::TurnContext;
use tokio::sync::watch;
use tokio::time::sleep;

use super::failure::Failed;
use super::input::Input;
use super::requests::SOON;
use super::thread::Thread;

/// How long Codex may say nothing in a turn before it is asked how that stands (codex.md F3).
const SILENCE: Duration = Duration::from_secs(60);

/// How long it is listened to after it said that no turn runs: what it said before is on its way.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Begins a turn of Codex's, with the settings in force: its id.
pub(super) async fn begin(
    thread: &Thread,
    context: &TurnContext,
    input: Input,
) -> Result<String, Failed> {
    let settings = context.settings().borrow().clone();
    let mut params = thread.offers().overrides(&settings);
    params.insert("threadId".to_owned(), json!(thread.id));
    params.insert("input".to_owned(), json!(input.parts));
    if let Some(schema) = input.schema {
        params.insert("outputSchema".to_owned(), schema);
    }
    let answer = thread
        .requests
        .call("turn/start", &params.into(), SOON)
        .await?;
    let turn = answer["turn"]["id"].as_str().unwrap_or_default();
    Ok(turn.to_owned())
}

/// Stops Codex's turn once that is wanted and it has an id, and never returns.
pub(super) async fn cancel(
    thread: &Thread,
    context: &TurnContext,
    mut native: watch::Receiver<Option<String>>,
) {
    context.cancelled().await;
    let turn = match native.wait_for(Option::is_some).await {
        Ok(turn) => turn.clone(),
        Err(_) => None,
    };
    let params = json!({ "threadId": thread.id, "turnId": turn });
    if let Err(error) = thread.requests.call("turn/interrupt", &params, SOON).await {
        // It has ended by itself, or ends with its process; either is told.
        tracing::debug!(%error, "a turn could not be interrupted");
    }
    std::future::pending().await
}

/// Returns once Codex, silent for long, says that its thread runs no turn.
pub(super) async fn lost(thread: &Thread, heard: &AtomicU64) {
    let params = json!({ "threadId": thread.id, "includeTurns": false });
    loop {
        let before = heard.load(Ordering::Relaxed);
        sleep(SILENCE).await;
        if heard.load(Ordering::Relaxed) != before {
            continue;
        }
        let answer = thread.requests.call("thread/read", &params, SOON).await;
        let Ok(answer) = answer else { continue };
        let status = answer["thread"]["status"]["type"].as_str();
        // What it says with the answer is heard before it is believed that nothing comes.
        if status.is_some_and(|status| status != "active") {
            sleep(LAST_WORDS).await;
            return;
        }
    }
}

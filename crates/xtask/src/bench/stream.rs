//! `bench stream`: a server of ACP's shape that does nothing but write, a line an update and a write
//! a line. No agent that writes each update by itself can be faster.

use std::io::{BufRead as _, Write as _};

use serde_json::{Value, json};

use crate::error::{Error, Result};

/// Answers calls until stdin ends; `/stream N BYTES` is answered by N updates before.
///
/// # Errors
///
/// `Io` when nobody reads.
pub(crate) fn serve() -> Result<()> {
    let failed = || Error::io("serving a stream");
    // Locked once, and a file: the lines are not looked at for their ends.
    let stdout = std::io::stdout().lock();
    let owned = std::os::fd::AsFd::as_fd(&stdout).try_clone_to_owned();
    let mut output = std::fs::File::from(owned.map_err(failed())?);
    for line in std::io::stdin().lock().lines() {
        let request: Value = serde_json::from_str(&line.map_err(failed())?)
            .map_err(|error| failed()(std::io::Error::other(error)))?;
        let text = request["params"]["prompt"][0]["text"].as_str();
        if let Some((updates, bytes)) = text.and_then(wanted) {
            let update = update(bytes);
            for _ in 0..updates {
                output.write_all(update.as_bytes()).map_err(failed())?;
            }
        }
        let result = json!({ "sessionId": "stream", "stopReason": "end_turn" });
        let answer = json!({ "jsonrpc": "2.0", "id": request["id"], "result": result });
        let answer = format!("{answer}\n");
        output.write_all(answer.as_bytes()).map_err(failed())?;
    }
    Ok(())
}

/// How many updates of how many bytes.
fn wanted(text: &str) -> Option<(usize, usize)> {
    let (updates, bytes) = text.strip_prefix("/stream ")?.split_once(' ')?;
    Some((updates.parse().ok()?, bytes.parse().ok()?))
}

fn update(bytes: usize) -> String {
    let content = json!({ "type": "text", "text": "x".repeat(bytes) });
    let update = json!({ "sessionUpdate": "agent_message_chunk", "content": content });
    let params = json!({ "sessionId": "stream", "update": update });
    format!(
        "{}\n",
        json!({ "jsonrpc": "2.0", "method": "session/update", "params": params })
    )
}

//! Files of the user, where the agent was offered a client's files and the client that controls the
//! session now has none.

use sessiond_wire::rpc::{ErrorObject, INTERNAL_ERROR, error};

/// What a client answers for a file that is not there (acp.md 1.1).
const NOT_FOUND: i32 = -32002;

/// Reads a text file: from a line on, counted from 1, and so many lines.
///
/// # Errors
/// The error object to answer with.
pub(super) async fn read(
    path: &str,
    (line, limit): (Option<u32>, Option<u32>),
) -> Result<String, ErrorObject> {
    let text = tokio::fs::read_to_string(path)
        .await
        .map_err(|e| refused(&e))?;
    if line.is_none() && limit.is_none() {
        return Ok(text);
    }
    let lines = text.split_inclusive('\n');
    let lines = lines.skip(line.unwrap_or(1).saturating_sub(1) as usize);
    Ok(lines.take(limit.unwrap_or(u32::MAX) as usize).collect())
}

/// Makes a file hold a text.
///
/// # Errors
/// The error object to answer with.
pub(super) async fn write(path: &str, text: &str) -> Result<(), ErrorObject> {
    tokio::fs::write(path, text).await.map_err(|e| refused(&e))
}

fn refused(problem: &std::io::Error) -> ErrorObject {
    let code = match problem.kind() {
        std::io::ErrorKind::NotFound => NOT_FOUND,
        _ => INTERNAL_ERROR,
    };
    error(code, problem.to_string())
}

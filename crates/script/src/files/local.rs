//! Files on the local disk, for clients that offer none.

use std::io;

use tokio::{fs, io::AsyncReadExt};

use crate::error::ToolError;

/// Reads a regular file of at most `limit` bytes of UTF-8 text.
pub(super) async fn read(path: &str, limit: u64) -> Result<String, ToolError> {
    let failed = failed("read", path);
    if !fs::metadata(path).await.map_err(&failed)?.is_file() {
        return Err(ToolError::NotRegular {
            path: path.to_owned(),
        });
    }
    let file = fs::File::open(path).await.map_err(&failed)?;
    let mut bytes = Vec::new();
    // One byte more than allowed tells a file that is too long from one that just fits.
    file.take(limit.saturating_add(1))
        .read_to_end(&mut bytes)
        .await
        .map_err(&failed)?;
    if bytes.len() as u64 > limit {
        return Err(ToolError::TooLong {
            path: path.to_owned(),
            limit,
        });
    }
    String::from_utf8(bytes).map_err(|_| ToolError::NotText {
        path: path.to_owned(),
    })
}

/// Makes a regular file hold `text`; makes the file, but no folder.
pub(super) async fn write(path: &str, text: &str) -> Result<(), ToolError> {
    let failed = failed("write", path);
    match fs::metadata(path).await {
        Ok(found) if !found.is_file() => {
            return Err(ToolError::NotRegular {
                path: path.to_owned(),
            });
        }
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
        _ => {}
    }
    fs::write(path, text).await.map_err(failed)
}

fn failed(verb: &'static str, path: &str) -> impl Fn(io::Error) -> ToolError {
    move |reason| ToolError::File {
        verb,
        path: path.to_owned(),
        reason,
    }
}

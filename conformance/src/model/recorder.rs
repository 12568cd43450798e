//! The record of requests: a line of JSON each, written before the reply.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use hyper::HeaderMap;
use serde_json::{Value, json};

use super::error::Error;

/// Headers that carry a key: that they came is recorded, what they held is not.
const SECRET: [&str; 4] = ["authorization", "x-api-key", "api-key", "x-goog-api-key"];

/// Appends to the record, if there is one.
#[derive(Debug)]
pub(crate) struct Recorder {
    path: PathBuf,
    file: Option<Mutex<File>>,
}

/// One request as it came.
#[derive(Debug)]
pub(crate) struct Request<'a> {
    /// Its number, from 1.
    pub(crate) number: u64,
    pub(crate) method: &'a str,
    pub(crate) path: &'a str,
    pub(crate) headers: &'a HeaderMap,
    /// The body; null when it was none or no JSON.
    pub(crate) body: &'a Value,
}

impl Recorder {
    /// Appends to `path`; records nothing without one.
    pub(crate) fn open(path: Option<&Path>) -> Result<Self, Error> {
        let open = |path: &Path| {
            let opened = OpenOptions::new().create(true).append(true).open(path);
            opened.map(Mutex::new).map_err(|source| Error::Record {
                path: path.to_path_buf(),
                source,
            })
        };
        Ok(Self {
            path: path.map(Path::to_path_buf).unwrap_or_default(),
            file: path.map(open).transpose()?,
        })
    }

    /// Writes a line.
    ///
    /// # Errors
    ///
    /// `Record` when the disk refuses.
    pub(crate) fn write(&self, request: &Request<'_>) -> Result<(), Error> {
        let Some(file) = &self.file else {
            return Ok(());
        };
        let headers: serde_json::Map<String, Value> = request
            .headers
            .iter()
            .map(|(name, value)| {
                let name = name.as_str();
                let shown = if SECRET.contains(&name) {
                    "(withheld)".into()
                } else {
                    String::from_utf8_lossy(value.as_bytes()).into()
                };
                (name.to_owned(), shown)
            })
            .collect();
        let line = json!({
            "number": request.number,
            "method": request.method,
            "path": path_without_key(request.path),
            "headers": headers,
            "body": request.body,
        });
        // A writer that panicked left at worst half a line; the next one is still worth having.
        let mut file = file
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        file.write_all(format!("{line}\n").as_bytes())
            .map_err(|source| Error::Record {
                path: self.path.clone(),
                source,
            })
    }
}

/// Google's clients may carry the key in the query.
fn path_without_key(path: &str) -> String {
    let Some((path, query)) = path.split_once('?') else {
        return path.to_owned();
    };
    let kept: Vec<_> = query
        .split('&')
        .map(|pair| {
            if pair.starts_with("key=") {
                "key=(withheld)"
            } else {
                pair
            }
        })
        .collect();
    format!("{path}?{}", kept.join("&"))
}

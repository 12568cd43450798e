//! Large data of records, kept once, out of line.

use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::{Doing, LogError, found};
use crate::fs::{Fs, Replace, replace};
use crate::keyring::Keyring;
use crate::layout::Home;

/// Data longer than this, in bytes, becomes a blob: lines stay short enough to be one write and to
/// be read by anything.
pub const INLINE_BYTES: usize = 64 * 1024;

/// How the data of a record that names a blob begins.
const REFERENCE: &str = "{\"$blob\":";

#[derive(Debug, Serialize, Deserialize)]
struct Reference {
    #[serde(rename = "$blob")]
    blob: BlobName,
}

/// How a record names a blob.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BlobName {
    pub(crate) name: String,
    pub(crate) key: String,
    pub(crate) bytes: u64,
}

impl BlobName {
    /// The blob that the data of a line names, if it names one that can be a file.
    pub(crate) fn parse(data: &str) -> Option<Self> {
        if !is_reference(data) {
            return None;
        }
        let Reference { blob } = serde_json::from_str(data).ok()?;
        is_blob_name(&blob.name).then_some(blob)
    }
}

/// Whether `name` is that of a blob: a keyed BLAKE3 in lower-case hexadecimal digits.
pub(crate) fn is_blob_name(name: &str) -> bool {
    let is_digit = |b| matches!(b, b'0'..=b'9' | b'a'..=b'f');
    name.len() == blake3::OUT_LEN * 2 && name.bytes().all(is_digit)
}

/// Whether the data of a line names a blob.
pub(crate) fn is_reference(data: &str) -> bool {
    data.starts_with(REFERENCE)
}

/// Whether data must go out of line: for its length, or because it reads like a reference.
pub(crate) fn is_large(data: &str) -> bool {
    data.len() > INLINE_BYTES || is_reference(data)
}

/// The blobs of one session.
#[derive(Debug, Clone)]
pub(crate) struct Blobs {
    fs: Arc<dyn Fs>,
    keys: Arc<Keyring>,
    home: Home,
}

impl Blobs {
    pub(crate) fn new(fs: Arc<dyn Fs>, keys: Arc<Keyring>, home: Home) -> Self {
        Self { fs, keys, home }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.blobs().join(name)
    }

    /// Puts `data` on stable storage and answers the data of the record that names it.
    ///
    /// A blob that is there already is written again: it may be the leftover of a failed sync,
    /// which a second sync would not notice (durability rule 4).
    pub(crate) fn keep(&self, data: &str) -> Result<String, LogError> {
        let BlobName { name, key, bytes } = self.keep_bytes(data.as_bytes())?;
        // Both texts are hexadecimal digits: nothing to escape.
        Ok(format!(
            "{REFERENCE}{{\"name\":\"{name}\",\"key\":\"{key}\",\"bytes\":{bytes}}}}}"
        ))
    }

    /// Puts bytes on stable storage.
    pub(crate) fn keep_bytes(&self, data: &[u8]) -> Result<BlobName, LogError> {
        let dir = self.home.blobs();
        if found(self.fs.stat(&dir)).doing("look up", &dir)?.is_none() {
            self.fs.make_dir(&dir).doing("create", &dir)?;
        }
        self.fs
            .sync_dir(self.home.root())
            .doing("sync", self.home.root())?;
        self.put(data, Replace::Durable)
    }

    /// Puts the content of a blob on stable storage, in a log that nobody sees before its directories
    /// are synced.
    pub(crate) fn keep_content(&self, data: &[u8]) -> Result<BlobName, LogError> {
        self.put(data, Replace::Content)
    }

    fn put(&self, data: &[u8], how: Replace) -> Result<BlobName, LogError> {
        let (id, key) = self.keys.current()?;
        let name = blake3::keyed_hash(&key, data).to_hex().to_string();
        let path = self.path(&name);
        replace(self.fs.as_ref(), &path, data, how).doing("write", &path)?;
        Ok(BlobName {
            name,
            key: id,
            bytes: data.len() as u64,
        })
    }

    /// The data that `reference` names; `None` when it is missing or another.
    pub(crate) fn load(&self, reference: &str) -> Result<Option<String>, LogError> {
        let Some(blob) = BlobName::parse(reference) else {
            return Ok(None);
        };
        let bytes = self.load_bytes(&blob)?;
        Ok(bytes.and_then(|bytes| String::from_utf8(bytes).ok()))
    }

    /// The bytes of a blob; `None` when it is missing or another.
    pub(crate) fn load_bytes(&self, blob: &BlobName) -> Result<Option<Vec<u8>>, LogError> {
        let Some(key) = self.keys.get(&blob.key)? else {
            return Ok(None);
        };
        let path = self.path(&blob.name);
        let range = 0..blob.bytes.saturating_add(1);
        let Some(bytes) = found(self.fs.read(&path, range)).doing("read", &path)? else {
            return Ok(None);
        };
        let same = blake3::keyed_hash(&key, &bytes).to_hex().as_str() == blob.name;
        let is_it = same && bytes.len() as u64 == blob.bytes;
        Ok(is_it.then_some(bytes))
    }
}

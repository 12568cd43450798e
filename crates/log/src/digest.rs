//! Digests of content that is kept nowhere else: keyed, so that who has the log and not the store's
//! keys cannot try out what the content was (LOG-8).

use std::fmt;
use std::path::Path;

use crate::error::{Doing, LogError, found};
use crate::keyring::Key;
use crate::layout::KEYS;
use crate::store::Store;

/// Hexadecimal digits of a digest: 128 bits.
const DIGITS: usize = 32;

/// A key of a store for digests. It is derived from the key of the same id that blobs get their
/// names from, and is kept as long as that one: for ever.
#[derive(Clone, PartialEq, Eq)]
pub struct DigestKey {
    id: String,
    key: Key,
}

impl DigestKey {
    fn new((id, key): (String, Key)) -> Self {
        let key = blake3::derive_key("sessiond content digest 1", &key);
        Self { id, key }
    }

    /// The id that the store finds it by: 16 hexadecimal digits.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// 128 bits of keyed BLAKE3 over the content, in lower-case hexadecimal digits.
    #[must_use]
    pub fn digest(&self, content: &[u8]) -> String {
        let hex = blake3::keyed_hash(&self.key, content).to_hex();
        hex.chars().take(DIGITS).collect()
    }
}

impl fmt::Debug for DigestKey {
    /// The key itself is for no log (SEC-1).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DigestKey").field(&self.id).finish()
    }
}

impl Store {
    /// The key for new digests; the store and its first key are made, and durable, before this
    /// returns.
    ///
    /// # Errors
    /// [`LogError::Io`]; [`LogError::TooNew`] for a store of a newer format.
    pub fn digest_key(&self) -> Result<DigestKey, LogError> {
        self.prepare()?;
        Ok(DigestKey::new(self.keys().current()?))
    }

    /// The key of digests that name this id; `None` where the store has none.
    ///
    /// # Errors
    /// [`LogError::Io`].
    pub fn digest_key_of(&self, id: &str) -> Result<Option<DigestKey>, LogError> {
        let key = self.keys().get(id)?;
        Ok(key.map(|key| DigestKey::new((id.to_owned(), key))))
    }

    /// The ids of all keys that the store has.
    pub(crate) fn key_ids(&self) -> Result<Vec<String>, LogError> {
        let dir = Path::new(KEYS);
        let names = found(self.fs().list(dir)).doing("list", dir)?;
        let names = names.unwrap_or_default();
        let ids = names.iter().filter_map(|name| name.strip_prefix("blob-"));
        let mut ids: Vec<String> = ids
            .filter(|id| *id != "current")
            .map(str::to_owned)
            .collect();
        ids.sort_unstable();
        Ok(ids)
    }
}

#[cfg(test)]
mod tests;

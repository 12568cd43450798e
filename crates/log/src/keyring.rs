//! The keys of a store, under which blobs get their names and digests are made.
//!
//! `keys/blob-<id>` holds a key as 64 hexadecimal digits and is kept for ever, `keys/blob-current`
//! the id of the one in use. Two processes that both begin a store may each make a key: one
//! becomes current, both stay readable.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use uuid::Uuid;

use crate::error::{Doing, LogError, found};
use crate::fs::{Fs, Replace, replace};
use crate::layout::KEYS;

pub(crate) type Key = [u8; blake3::KEY_LEN];

/// A key file is 65 bytes, an id 17: longer files are none of ours.
const LONGEST: u64 = 128;

/// Length of a key id in hexadecimal digits.
const ID_DIGITS: usize = 16;

/// The keys of a store, read when first needed.
#[derive(Debug)]
pub(crate) struct Keyring {
    fs: Arc<dyn Fs>,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    current: Option<String>,
    keys: HashMap<String, Key>,
}

impl Keyring {
    pub(crate) fn new(fs: Arc<dyn Fs>) -> Self {
        Self {
            fs,
            known: Mutex::default(),
        }
    }

    /// The key for new blobs and its id; made durable before it is used for the first time.
    pub(crate) fn current(&self) -> Result<(String, Key), LogError> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(id) = &known.current
            && let Some(key) = known.keys.get(id)
        {
            return Ok((id.clone(), *key));
        }
        let (id, key) = match self.stored_current()? {
            Some(stored) => stored,
            None => self.make()?,
        };
        known.keys.insert(id.clone(), key);
        known.current = Some(id.clone());
        Ok((id, key))
    }

    /// The key of an id; `None` when the store has none.
    pub(crate) fn get(&self, id: &str) -> Result<Option<Key>, LogError> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(key) = known.keys.get(id) {
            return Ok(Some(*key));
        }
        let key = self.stored(id)?;
        if let Some(key) = key {
            known.keys.insert(id.to_owned(), key);
        }
        Ok(key)
    }

    /// The text that `keys/blob-<id>` holds, for an export.
    pub(crate) fn text_of(&self, id: &str) -> Result<Option<String>, LogError> {
        let key = self.get(id)?;
        Ok(key.map(|key| blake3::Hash::from_bytes(key).to_hex().to_string()))
    }

    /// Takes in a key of another store; whether `text` is the key of `id`.
    pub(crate) fn adopt(&self, id: &str, text: &[u8]) -> Result<bool, LogError> {
        let Ok(key) = blake3::Hash::from_hex(text) else {
            return Ok(false);
        };
        // The id is made of the key, so nobody can put another key in the place of one.
        if id_of(&key) != id {
            return Ok(false);
        }
        if self.get(id)?.is_none() {
            self.make_dir()?;
            self.put(&key_path(id), &format!("{}\n", key.to_hex()))?;
        }
        Ok(true)
    }

    fn stored_current(&self) -> Result<Option<(String, Key)>, LogError> {
        let Some(id) = self.text(&current_path())? else {
            return Ok(None);
        };
        Ok(self.stored(&id)?.map(|key| (id, key)))
    }

    fn stored(&self, id: &str) -> Result<Option<Key>, LogError> {
        // The id may come from a damaged record: only a plain one becomes a path.
        if id.len() != ID_DIGITS || !id.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Ok(None);
        }
        let Some(text) = self.text(&key_path(id))? else {
            return Ok(None);
        };
        Ok(blake3::Hash::from_hex(text)
            .ok()
            .map(|hash| *hash.as_bytes()))
    }

    fn text(&self, path: &Path) -> Result<Option<String>, LogError> {
        let Some(bytes) = found(self.fs.read(path, 0..LONGEST)).doing("read", path)? else {
            return Ok(None);
        };
        let text = String::from_utf8(bytes).map_err(io::Error::other);
        Ok(Some(text.doing("read", path)?.trim_end().to_owned()))
    }

    fn make(&self) -> Result<(String, Key), LogError> {
        let mut random = blake3::Hasher::new_derive_key("sessiond blob key 1");
        // Four random UUIDs hold 488 random bits, more than the key takes.
        for _ in 0..4 {
            random.update(Uuid::new_v4().as_bytes());
        }
        let key = random.finalize();
        let id = id_of(&key);
        self.make_dir()?;
        let key_text = format!("{}\n", key.to_hex());
        self.put(&key_path(&id), &key_text)?;
        self.put(&current_path(), &format!("{id}\n"))?;
        Ok((id, *key.as_bytes()))
    }

    fn make_dir(&self) -> Result<(), LogError> {
        self.fs
            .make_dir(Path::new(KEYS))
            .doing("create", Path::new(KEYS))?;
        self.fs.sync_dir(Path::new("")).doing("sync", Path::new(""))
    }

    fn put(&self, path: &Path, text: &str) -> Result<(), LogError> {
        replace(self.fs.as_ref(), path, text.as_bytes(), Replace::Durable).doing("write", path)
    }
}

fn id_of(key: &blake3::Hash) -> String {
    let id = blake3::derive_key("sessiond blob key id 1", key.as_bytes());
    let digits = blake3::Hash::from_bytes(id).to_hex();
    digits.chars().take(ID_DIGITS).collect()
}

fn key_path(id: &str) -> PathBuf {
    Path::new(KEYS).join(format!("blob-{id}"))
}

fn current_path() -> PathBuf {
    Path::new(KEYS).join("blob-current")
}

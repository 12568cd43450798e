//! Segments that opening a session does not read any more, kept compressed (LOG-10).
//!
//! `older/<segment>.gz` holds what `log/<segment>` held, as gzip members of a few bytes each:
//! `zcat` reads it, and a broken member costs no more than itself. The first one holds the header
//! of the segment, which opening reads. While a segment lies in both places, the one in `log/`
//! counts.

use std::io::{self, Read as _, Write as _};
use std::iter;

use flate2::{Compression, GzBuilder, bufread::GzDecoder};

use crate::error::{Doing, LogError, found};
use crate::fs::{Fs, Replace, replace};
use crate::header::HEADER_BYTES;
use crate::layout::{Home, SegmentName};
use crate::lease::Lease;
use crate::reader::segments;

/// Bytes of a segment that go into one member but the first: all that one flipped bit can take.
const MEMBER_BYTES: usize = 128 * 1024;

/// How each member begins: no name and no time, so that the same bytes give the same file.
const MEMBER_START: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];

/// How a segment is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Form {
    /// As it was written, in `log/`.
    Plain,
    /// Compressed, in `older/`.
    Packed,
}

/// What [`Lease::put_older_away`] did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PutAway {
    /// Segments that are compressed now and were not before.
    pub segments: u64,
    /// Their bytes before.
    pub bytes: u64,
    /// Their bytes now.
    pub packed: u64,
}

/// The segment files of a log in both places, ordered by name, each once.
pub(crate) fn lineup(fs: &dyn Fs, home: &Home) -> Result<Vec<(SegmentName, Form)>, LogError> {
    let plain = segments(fs, home)?.into_iter();
    let mut all: Vec<_> = plain.map(|name| (name, Form::Plain)).collect();
    let dir = home.older();
    let packed = found(fs.list(&dir)).doing("list", &dir)?;
    let packed = packed.iter().flatten().filter_map(|name| {
        let name = name.strip_suffix(".gz")?;
        SegmentName::parse(name)
    });
    all.extend(packed.map(|name| (name, Form::Packed)));
    all.sort_unstable();
    all.dedup_by_key(|(name, _)| *name);
    Ok(all)
}

/// The first `most` bytes of a segment, wherever it lies. Of a broken file: what can be saved.
pub(crate) fn read_segment(
    fs: &dyn Fs,
    home: &Home,
    (name, form): (SegmentName, Form),
    most: u64,
) -> Result<Vec<u8>, LogError> {
    let name = name.to_string();
    match form {
        Form::Plain => {
            let path = home.segment(&name);
            fs.read(&path, 0..most).doing("read", &path)
        }
        Form::Packed => {
            let path = home.older_segment(&name);
            // The first member is hardly longer than what it holds.
            let end = if most > HEADER_BYTES {
                u64::MAX
            } else {
                2 * HEADER_BYTES
            };
            let packed = fs.read(&path, 0..end).doing("read", &path)?;
            Ok(unpack(&packed, most))
        }
    }
}

fn pack(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut packed = Vec::new();
    let head = bytes.len().min(HEADER_BYTES as usize);
    let (head, rest) = bytes.split_at_checked(head).unwrap_or((bytes, &[]));
    for part in iter::once(head).chain(rest.chunks(MEMBER_BYTES)) {
        let member = GzBuilder::new().operating_system(0xff);
        let mut member = member.write(&mut packed, Compression::default());
        member.write_all(part)?;
        member.finish()?;
    }
    Ok(packed)
}

/// What the whole members hold, up to `most` bytes; one that is broken is passed over.
fn unpack(packed: &[u8], most: u64) -> Vec<u8> {
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let (mut bytes, mut rest) = (Vec::new(), packed);
    while bytes.len() < most
        && let Some(start) = member_in(rest)
    {
        let mut member = GzDecoder::new(start);
        let mut content = Vec::new();
        // None of ours holds more; what claims to is broken, or somebody's trap.
        let limit = MEMBER_BYTES as u64 + 1;
        let read = (&mut member).take(limit).read_to_end(&mut content);
        rest = match read {
            Ok(length) if length <= MEMBER_BYTES => {
                bytes.append(&mut content);
                member.into_inner()
            }
            _ => start.get(1..).unwrap_or_default(),
        };
    }
    bytes.truncate(most);
    bytes
}

/// From where the first member seems to begin.
fn member_in(packed: &[u8]) -> Option<&[u8]> {
    let mut windows = packed.windows(MEMBER_START.len());
    packed.get(windows.position(|window| window == MEMBER_START)?..)
}

impl Lease {
    /// Compresses the segments before the newest checkpoint: opening the session does not read
    /// them. Nothing of them is lost: whoever reads all of the log reads them as before. A segment
    /// with bytes that a stale writer left stays as it is. Done again, it goes on. `progress` hears
    /// how many are done, of how many.
    ///
    /// # Errors
    /// [`LogError::WriterExists`] while the lease has a writer; [`LogError::TooNew`];
    /// [`LogError::Fenced`]; [`LogError::Io`]: each segment is then in one of the two places, or in
    /// both.
    pub fn put_older_away(
        &mut self,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<PutAway, LogError> {
        let carry = self.idle()?;
        let held = self.held();
        held.check()?;
        let (store, home) = (&held.store, &held.home);
        let fs = store.fs();
        let older = store.with_reader(&held.subject, |r| r.before_checkpoint(carry.as_ref()))?;
        let mut done = PutAway::default();
        if older.is_empty() {
            return Ok(done);
        }
        let dir = home.older();
        fs.make_dir(&dir).doing("create", &dir)?;
        fs.sync_dir(home.root()).doing("sync", home.root())?;
        let total = older.len();
        for (index, name) in older.into_iter().enumerate() {
            progress(index, total);
            let (plain, packed) = (
                home.segment(&name.to_string()),
                home.older_segment(&name.to_string()),
            );
            let bytes = fs.read(&plain, 0..u64::MAX).doing("read", &plain)?;
            let content = pack(&bytes).doing("compress", &plain)?;
            replace(fs, &packed, &content, Replace::Durable).doing("write", &packed)?;
            let again = fs.read(&packed, 0..u64::MAX).doing("read", &packed)?;
            if unpack(&again, u64::MAX) != bytes {
                let error = io::Error::other("it does not read back as it was written");
                return Err(error).doing("compress", &plain);
            }
            fs.remove(&plain).doing("remove", &plain)?;
            done.segments += 1;
            done.bytes += bytes.len() as u64;
            done.packed += content.len() as u64;
        }
        Ok(done)
    }
}

#[cfg(test)]
mod tests;

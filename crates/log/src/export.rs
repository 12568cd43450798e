//! One portable file of one session: its log, its blobs, and the keys of those.
//!
//! Each part is a line of JSON, `{"file":…,"bytes":…,"sum":…}`, then that many bytes and a line
//! break. The sum covers the line, the bytes and the sum before it, so that whoever reads the file
//! knows at each part that all up to there is as it was written; the last line has no bytes.

use std::io::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::{Doing, LogError};
use crate::header::FORMAT;
use crate::older::read_segment;
use crate::store::Store;
use crate::subject::Subject;
use crate::survey::Piece;

/// Format of the file.
pub(crate) const EXPORT: u64 = 1;

/// How the sum of a line begins; it is the last member.
pub(crate) const SUM: &str = ",\"sum\":\"";

/// The first line: what reading the log must give.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Title {
    pub(crate) sessiond_export: u64,
    pub(crate) session: Subject,
    pub(crate) records: u64,
    pub(crate) next_seq: u64,
    pub(crate) damage: u64,
}

/// A line before bytes.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Part {
    /// `keys/<id>`, `blobs/<name>` or `log/<name>`.
    pub(crate) file: String,
    pub(crate) bytes: u64,
}

/// The last line.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct End {
    /// Number of parts.
    pub(crate) end: u64,
}

/// The sum over all that was written or read so far.
#[derive(Debug, Default)]
pub(crate) struct Sum([u8; blake3::OUT_LEN]);

impl Sum {
    /// Takes in a line without its sum, and the bytes after it; answers the sum.
    pub(crate) fn add(&mut self, line: &str, bytes: &[u8]) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.0);
        hasher.update(&(line.len() as u64).to_le_bytes());
        hasher.update(line.as_bytes());
        hasher.update(bytes);
        let sum = hasher.finalize();
        self.0 = *sum.as_bytes();
        sum.to_hex().to_string()
    }
}

/// The file while it is being written.
struct Export<'a> {
    out: &'a mut dyn Write,
    sum: Sum,
    parts: u64,
    bytes: u64,
}

impl Export<'_> {
    fn line(&mut self, line: &impl Serialize, bytes: &[u8]) -> Result<(), LogError> {
        let line = serde_json::to_string(line).map_err(std::io::Error::other);
        let line = line.doing("encode", Path::new("the export"))?;
        let line = line.strip_suffix('}').unwrap_or(&line);
        let sum = self.sum.add(line, bytes);
        let text = format!("{line}{SUM}{sum}\"}}\n");
        self.write(text.as_bytes())
    }

    fn part(&mut self, file: String, content: &[u8]) -> Result<(), LogError> {
        let bytes = content.len() as u64;
        self.line(&Part { file, bytes }, content)?;
        self.write(content)?;
        self.write(b"\n")?;
        self.parts += 1;
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), LogError> {
        self.bytes += bytes.len() as u64;
        let written = self.out.write_all(bytes);
        written.doing("write", Path::new("the export"))
    }
}

impl Store {
    /// Writes a log, archived or not, its blobs and their keys into `out` as one file, with one segment or blob at a
    /// time in memory; answers the length of the file. Damage goes along as it is; a torn end and
    /// what stale writers left does not. The file holds all that the session holds, and keys:
    /// it is as private as the store.
    ///
    /// # Errors
    /// [`LogError::NotFound`]; [`LogError::TooNew`] for a log of a newer format;
    /// [`LogError::Io`], also of `out`.
    pub fn export(&self, subject: &Subject, out: &mut dyn Write) -> Result<u64, LogError> {
        let home = self.place_of(subject)?.home(subject);
        let (scan, survey) = self.with_reader_at(subject, &home, |r| r.survey(None, u64::MAX))?;
        if scan.is_blank() {
            return Err(LogError::NotFound(subject.clone()));
        }
        if let Some(found) = scan.newer {
            let known = FORMAT;
            return Err(LogError::TooNew { found, known });
        }
        let (sum, parts, bytes) = (Sum::default(), 0, 0);
        let mut export = Export {
            out,
            sum,
            parts,
            bytes,
        };
        let title = Title {
            sessiond_export: EXPORT,
            session: subject.clone(),
            records: survey.records,
            next_seq: scan.next_seq,
            damage: scan.damage.len() as u64,
        };
        export.line(&title, b"")?;
        let blobs = survey.blobs.values().map(|blob| blob.key.clone());
        let mut keys: Vec<String> = blobs.collect();
        let read =
            |part: &Piece| read_segment(self.fs(), &home, (part.name, part.form), part.bytes);
        keys.extend(self.keys_named(&mut survey.parts.iter().map(read))?);
        keys.sort_unstable();
        keys.dedup();
        for id in &keys {
            if let Some(text) = self.keys().text_of(id)? {
                export.part(format!("keys/{id}"), text.as_bytes())?;
            }
        }
        for name in survey.blobs.keys() {
            let path = home.blobs().join(name);
            let content = crate::error::found(self.fs().read(&path, 0..u64::MAX));
            // One that is missing is damage, here as there.
            if let Some(content) = content.doing("read", &path)? {
                export.part(format!("blobs/{name}"), &content)?;
            }
        }
        for Piece { name, form, bytes } in survey.parts {
            let content = read_segment(self.fs(), &home, (name, form), bytes)?;
            export.part(format!("log/{name}"), &content)?;
        }
        let end = export.parts;
        export.line(&End { end }, b"")?;
        Ok(export.bytes)
    }

    /// The keys whose ids these segments name: digests in records are made with them (LOG-8).
    fn keys_named(
        &self,
        segments: &mut dyn Iterator<Item = Result<Vec<u8>, LogError>>,
    ) -> Result<Vec<String>, LogError> {
        let mut unnamed = self.key_ids()?;
        let mut named = Vec::new();
        while !unnamed.is_empty()
            && let Some(segment) = segments.next()
        {
            let segment = segment?;
            let is_named = |id: &String| {
                let mut windows = segment.windows(id.len());
                windows.any(|window| window == id.as_bytes())
            };
            let (found, left) = unnamed.into_iter().partition(is_named);
            named.extend::<Vec<String>>(found);
            unnamed = left;
        }
        Ok(named)
    }
}

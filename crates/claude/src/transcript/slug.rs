//! Where the CLI keeps its transcripts.

use std::path::{Path, PathBuf};

/// Characters of a folder's name that are its directory's; a longer one ends with a hash.
const SLUG_CHARS: usize = 200;

/// The name of the folder with the transcripts of a working directory: its real path, with every
/// UTF-16 unit that is no ASCII letter or digit as a dash. A character beyond the basic plane gives
/// two.
#[must_use]
pub fn slug(cwd: &str) -> String {
    let units = cwd.encode_utf16().map(|unit| match u8::try_from(unit) {
        Ok(byte) if byte.is_ascii_alphanumeric() => char::from(byte),
        _ => '-',
    });
    let slug: String = units.collect();
    if slug.len() <= SLUG_CHARS {
        return slug;
    }
    let hash = cwd.encode_utf16().fold(0_i32, |hash, unit| {
        hash.wrapping_mul(31).wrapping_add(i32::from(unit))
    });
    format!("{}-{}", &slug[..SLUG_CHARS], base36(hash.unsigned_abs()))
}

fn base36(mut number: u32) -> String {
    let mut digits = Vec::new();
    loop {
        digits.extend(char::from_digit(number % 36, 36));
        number /= 36;
        if number == 0 {
            return digits.iter().rev().collect();
        }
    }
}

/// The transcript of a session below the CLI's own folder, which is `$CLAUDE_CONFIG_DIR` or
/// `~/.claude`.
#[must_use]
pub fn path(config: &Path, cwd: &str, session: &str) -> PathBuf {
    let file = format!("{session}.jsonl");
    config.join("projects").join(slug(cwd)).join(file)
}

#[cfg(test)]
mod tests;

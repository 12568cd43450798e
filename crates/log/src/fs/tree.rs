//! Whole directories: what they hold, and their end.

use std::io;
use std::path::Path;

use super::{FileKind, Fs};

/// Bytes of all files below `path`, or of the file it is.
pub(crate) fn tree_bytes(fs: &dyn Fs, path: &Path) -> io::Result<u64> {
    let found = fs.stat(path)?;
    if found.kind != FileKind::Directory {
        return Ok(found.bytes);
    }
    let mut bytes = 0;
    for name in fs.list(path)? {
        bytes += tree_bytes(fs, &path.join(name))?;
    }
    Ok(bytes)
}

/// Removes `path` and all below it. A link is removed, never followed (LOG-15).
pub(crate) fn remove_tree(fs: &dyn Fs, path: &Path) -> io::Result<()> {
    if fs.stat(path)?.kind != FileKind::Directory {
        return fs.remove(path);
    }
    for name in fs.list(path)? {
        remove_tree(fs, &path.join(name))?;
    }
    fs.remove_dir(path)
}

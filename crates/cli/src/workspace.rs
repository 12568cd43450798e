//! The place a session works in: its root and its repository, found without running git.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use sessiond_protocol::Workspace;

/// Most that is read of one of git's pointer files, in bytes: they hold one path or ref name.
const POINTER_BYTES: u64 = 8 * 1024;

/// Looks at `cwd` and upwards. What cannot be found stays unknown: a session may be made in a
/// directory that is no repository, or that does not exist.
pub(crate) fn workspace(cwd: &Path) -> Workspace {
    let Ok(root) = fs::canonicalize(cwd) else {
        return Workspace::default();
    };
    let found = root
        .ancestors()
        .find_map(|top| Some((top, git_directory(top)?)));
    let (worktree, repository, branch) = match &found {
        Some((top, git)) => (Some(text(top)), common_directory(git), branch(git)),
        None => (None, None, None),
    };
    let repository = repository.as_deref().map(text);
    Workspace {
        root: Some(text(&root)),
        repository,
        worktree,
        branch,
    }
}

/// The git directory of a worktree whose top is `top`, if it is one.
fn git_directory(top: &Path) -> Option<PathBuf> {
    let dot_git = top.join(".git");
    let git = match fs::metadata(&dot_git).ok()? {
        meta if meta.is_dir() => dot_git,
        // A linked worktree or a submodule: a file that names the directory.
        _ => top.join(
            read_pointer(&dot_git)?
                .strip_prefix("gitdir:")?
                .trim_start(),
        ),
    };
    // As git itself does: something called .git that holds no HEAD is passed over.
    fs::symlink_metadata(git.join("HEAD"))
        .is_ok()
        .then_some(git)
}

/// The directory that all worktrees of the repository share, canonical: the repository's identity.
fn common_directory(git: &Path) -> Option<PathBuf> {
    let common = read_pointer(&git.join("commondir"));
    fs::canonicalize(common.map_or_else(|| git.to_owned(), |common| git.join(common))).ok()
}

/// The branch that is checked out; none where HEAD is detached.
fn branch(git: &Path) -> Option<String> {
    let head = read_pointer(&git.join("HEAD"))?;
    head.strip_prefix("ref:")?
        .trim_start()
        .strip_prefix("refs/heads/")
        .map(str::to_owned)
}

fn read_pointer(path: &Path) -> Option<String> {
    let mut content = String::new();
    File::open(path)
        .ok()?
        .take(POINTER_BYTES)
        .read_to_string(&mut content)
        .ok()?;
    Some(content.trim_end().to_owned())
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests;

use std::fs;
use std::path::{Path, PathBuf};

use sessiond_protocol::Workspace;

use super::workspace;

/// A repository at `main` with a linked worktree at `linked`, as git lays them out.
fn repository() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let base = fs::canonicalize(folder.path()).unwrap();
    write(&base.join("main/.git/HEAD"), "ref: refs/heads/trunk\n");
    write(&base.join("main/src/a.rs"), "");
    let private = base.join("main/.git/worktrees/linked");
    write(&private.join("HEAD"), "ref: refs/heads/feature/x\n");
    write(&private.join("commondir"), "../..\n");
    write(
        &base.join("linked/.git"),
        &format!("gitdir: {}\n", private.display()),
    );
    write(&base.join("linked/deep/er/file"), "");
    (folder, base)
}

fn write(path: &Path, content: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

fn place(base: &Path, root: &str, worktree: &str, branch: Option<&str>) -> Workspace {
    let text = |path: &str| Some(base.join(path).to_str().unwrap().to_owned());
    Workspace {
        root: text(root),
        repository: text("main/.git"),
        worktree: text(worktree),
        branch: branch.map(str::to_owned),
    }
}

#[test]
fn all_worktrees_of_a_repository_have_its_identity() {
    let (_folder, base) = repository();
    let found = workspace(&base.join("main/src"));
    assert_eq!(found, place(&base, "main/src", "main", Some("trunk")));
    let found = workspace(&base.join("linked/deep/er"));
    assert_eq!(
        found,
        place(&base, "linked/deep/er", "linked", Some("feature/x"))
    );
}

#[test]
fn links_are_resolved_before_the_walk_up() {
    let (_folder, base) = repository();
    std::os::unix::fs::symlink(base.join("main/src"), base.join("link")).unwrap();
    assert_eq!(
        workspace(&base.join("link")),
        place(&base, "main/src", "main", Some("trunk"))
    );
}

#[test]
fn a_detached_head_is_no_branch() {
    let (_folder, base) = repository();
    write(
        &base.join("main/.git/HEAD"),
        "5f2b9323c39ee3c861a7b382d205c3d3",
    );
    assert_eq!(
        workspace(&base.join("main")),
        place(&base, "main", "main", None)
    );
}

#[test]
fn what_only_looks_like_a_repository_is_passed_over() {
    let (_folder, base) = repository();
    fs::create_dir_all(base.join("main/src/.git")).unwrap();
    write(&base.join("main/other/.git"), "not a pointer");
    let expected = place(&base, "main/src", "main", Some("trunk"));
    assert_eq!(workspace(&base.join("main/src")), expected);
    let expected = place(&base, "main/other", "main", Some("trunk"));
    assert_eq!(workspace(&base.join("main/other")), expected);
}

#[test]
fn a_directory_that_does_not_exist_is_unknown() {
    assert_eq!(
        workspace(Path::new("/nowhere/at/all")),
        Workspace::default()
    );
}

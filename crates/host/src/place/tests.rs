use std::fs::{Permissions, create_dir, set_permissions};
use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;

fn place(store: &Path, runtime: &Path) -> Result<Place, HostError> {
    Place::of(store, Some(runtime))
}

#[test]
fn two_ways_to_a_store_are_one_place_and_two_stores_are_two() {
    let home = tempfile::tempdir().unwrap();
    let (one, other) = (home.path().join("one"), home.path().join("other"));
    create_dir(&one).unwrap();
    create_dir(&other).unwrap();
    let link = home.path().join("link");
    symlink(&one, &link).unwrap();
    let at = |store: &Path| place(store, home.path()).unwrap();
    assert_eq!(at(&one), at(&link));
    assert_ne!(at(&one).host(), at(&other).host());
    assert_ne!(at(&one).host(), at(&one).own());
}

/// SQEQ-8
#[test]
fn a_directory_that_is_not_private_holds_no_sockets() {
    let home = tempfile::tempdir().unwrap();
    let directory = home.path().join("sessiond");
    place(home.path(), home.path()).unwrap();
    let mode = directory.metadata().unwrap().mode() & 0o777;
    assert_eq!(mode, 0o700);
    set_permissions(&directory, Permissions::from_mode(0o755)).unwrap();
    let open = place(home.path(), home.path()).unwrap_err();
    assert_eq!(open.code(), "unsafe_directory");

    let other = tempfile::tempdir().unwrap();
    set_permissions(&directory, Permissions::from_mode(0o700)).unwrap();
    symlink(&directory, other.path().join("sessiond")).unwrap();
    let link = place(home.path(), other.path()).unwrap_err();
    assert_eq!(link.code(), "unsafe_directory");
}

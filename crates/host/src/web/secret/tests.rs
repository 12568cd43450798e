use super::*;
use std::os::unix::fs::PermissionsExt;

/// SQEQ-8
#[test]
fn a_secret_is_made_once_and_private() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keys").join("attach");
    let first = Secret::at(&path).unwrap();
    assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o600);
    let second = Secret::at(&path).unwrap();
    assert!(first.is(&second.0) && !first.is("") && !first.is(&second.0[1..]));
    assert!(!format!("{first:?}").contains(&first.0));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    assert!(Secret::at(&path).is_err(), "others may read it");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(&path, "short\n").unwrap();
    assert!(Secret::at(&path).is_err());
}

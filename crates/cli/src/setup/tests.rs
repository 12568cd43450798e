use std::io;

use sessiond_log::fs::FsKind;

use super::network_warning;

/// LOG-7
#[test]
fn only_a_store_on_another_machine_is_warned_about() {
    for kind in [FsKind::Local, FsKind::Volatile, FsKind::Unknown] {
        assert_eq!(network_warning(&Ok(kind)), None, "{kind:?}");
    }
    assert_eq!(network_warning(&Err(io::ErrorKind::NotFound.into())), None);
    let said = network_warning(&Ok(FsKind::Network)).unwrap();
    assert!(said.contains("--store"), "{said}");
}

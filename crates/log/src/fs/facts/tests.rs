use super::{FsKind, kind_of};

/// LOG-7: the numbers that statfs(2) gives for file systems of other machines.
#[test]
fn a_network_file_system_is_known_by_its_number() {
    let table = [
        (0x6969, FsKind::Network),
        (0xff53_4d42, FsKind::Network),
        (0xfe53_4d42, FsKind::Network),
        (0x0102_1997, FsKind::Network),
        (0xef53, FsKind::Local),
        (0x9123_683e, FsKind::Local),
        (0x0102_1994, FsKind::Volatile),
        // FUSE: what is behind it cannot be told.
        (0x6573_5546, FsKind::Unknown),
    ];
    for (magic, expected) in table {
        assert_eq!(kind_of(magic), expected, "{magic:#x}");
    }
}

use std::path::PathBuf;

use super::{mapped, parse};

#[test]
fn a_call_is_read_with_its_arguments() {
    let cases = [
        (
            "74 0x3 0x0 0xff 0x0 0x0 0x0 0x7ffe 0x7f01\n",
            Some((74, 0x3)),
        ),
        ("running\n", None),
        ("74 3\n", None),
        ("", None),
    ];
    for (line, expected) in cases {
        let found = parse(line).map(|(number, arguments)| (number, arguments[0]));
        assert_eq!(found, expected, "{line:?}");
    }
}

#[test]
fn a_mapped_file_is_found_by_an_address_within_it() {
    let maps = "7f0000000000-7f0000001000 rw-s 00000000 fe:00 12 /state/my store.db\n\
                7f0000001000-7f0000002000 rw-p 00000000 00:00 0 \n";
    let cases = [
        (0x7f00_0000_0000, Some("/state/my store.db")),
        (0x7f00_0000_0fff, Some("/state/my store.db")),
        (0x7f00_0000_1000, None),
        (0x10, None),
    ];
    for (address, expected) in cases {
        assert_eq!(
            mapped(maps, address),
            expected.map(PathBuf::from),
            "{address:x}"
        );
    }
}

use std::fs;
use std::path::Path;

use super::{Installation, Peer, Peers};
use crate::error::{Error, Result};

/// Counts its runs beside the input, and fails while the input says so.
fn count(Installation { drives, into }: &Installation<'_>) -> Result<()> {
    fs::write(into.join("installed"), "").map_err(Error::io("installing"))?;
    let runs = runs(drives) + 1;
    fs::write(drives.join("runs"), runs.to_string()).map_err(Error::io("counting"))?;
    let input = fs::read_to_string(drives.join("input")).map_err(Error::io("reading"))?;
    if input == "bad" {
        Err(Error::content(drives, "bad"))
    } else {
        Ok(())
    }
}

fn runs(drives: &Path) -> u32 {
    fs::read_to_string(drives.join("runs")).map_or(0, |text| text.parse().unwrap_or(0))
}

#[test]
fn a_peer_is_installed_when_its_files_changed_and_only_then() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let peers = Peers::at(folder.path());
    let peer = Peer {
        name: "p",
        inputs: &["input"],
        tool: None,
        install: count,
    };
    let steps = [
        ("at first", "1", 1, true),
        ("again", "1", 1, true),
        ("another version", "2", 2, true),
        ("a version that cannot be had", "bad", 3, false),
        (
            "the same once more: a failure left no stamp",
            "bad",
            4,
            false,
        ),
        ("the version before: what failed replaced it", "2", 5, true),
    ];
    for (step, input, expected, succeeds) in steps {
        fs::write(folder.path().join("input"), input).expect("an input");
        let outcome = peers.install_one(folder.path(), &peer);
        assert_eq!(
            (runs(folder.path()), outcome.is_ok()),
            (expected, succeeds),
            "{step}"
        );
    }
}

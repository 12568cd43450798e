//! A baseline over several runs of one target, and what is kept of a run.

use super::peer::peer;
use super::{run, said};

/// Runs some checks on the peer with a fault; how it ended, and what it said.
fn judged(
    folder: &tempfile::TempDir,
    fault: &str,
    checks: &str,
    more: &[&str],
) -> (Option<i32>, String) {
    let target = peer(folder, fault);
    let target = target.to_string_lossy();
    let case = ["acp", "-k", checks, "--target", &target];
    said(&run(&[&case[..], more].concat()))
}

/// CONF-3: what is known is written down by the run that finds it; from then on only news fails.
#[test]
fn a_baseline_is_written_by_the_run_and_held_to_the_next() {
    let folder = tempfile::tempdir().expect("a folder");
    let baseline = folder.path().join("known.toml");
    let baseline = baseline.to_string_lossy();
    let with = |fault: &str, more: &[&str]| {
        let known = ["--baseline", &*baseline];
        judged(
            &folder,
            fault,
            "acp.cancel.twice#answered",
            &[&known[..], more].concat(),
        )
    };
    let (code, text) = with("answers-twice", &["--update"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("known.toml: 1 added, 0 taken out"), "{text}");
    let (code, text) = with("answers-twice", &[]);
    assert_eq!(code, Some(0), "{text}");
    let (code, text) = with("", &[]);
    assert_eq!(code, Some(1), "{text}");
    let (code, text) = with("", &["--update"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("known.toml: 0 added, 1 taken out"), "{text}");
    let (code, text) = with("", &[]);
    assert_eq!(code, Some(0), "{text}");
}

/// CONF-3: an entry for a check that does not exist would stand there for ever.
#[test]
fn a_baseline_names_checks_that_there_are() {
    let folder = tempfile::tempdir().expect("a folder");
    let baseline = folder.path().join("known.toml");
    std::fs::write(
        &baseline,
        "[expected.\"acp.no.such#check\"]\nreason = \"x\"\n",
    )
    .expect("written");
    let more = ["--baseline", &*baseline.to_string_lossy()];
    let (code, text) = judged(&folder, "", "acp.cancel.twice", &more);
    assert_eq!(code, Some(2), "{text}");
    assert!(
        text.contains("there is no check acp.no.such#check"),
        "{text}"
    );
}

/// The folders of a case that fails stay, with its wire log; those of the others go.
#[test]
fn the_folders_of_a_failing_case_are_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    let keep = folder.path().join("kept");
    let rows = [
        ("", Vec::new()),
        ("answers-twice", vec!["acp.cancel.twice-1"]),
    ];
    for (fault, expected) in rows {
        for _ in 0..2 {
            let more = ["--keep", &*keep.to_string_lossy()];
            let (code, text) = judged(&folder, fault, "acp.cancel.twice", &more);
            assert_eq!(code, Some(i32::from(!fault.is_empty())), "{text}");
            let names = std::fs::read_dir(&keep).expect("a folder");
            let names: Vec<_> = names
                .map(|entry| entry.expect("an entry").file_name())
                .collect();
            assert_eq!(names, expected);
        }
    }
    let kept = keep.join("acp.cancel.twice-1");
    for part in ["home", "state", "cwd", "tmp"] {
        assert!(kept.join(part).is_dir(), "{part}");
    }
    let wire = std::fs::read_to_string(kept.join("wire.jsonl")).expect("a wire log");
    assert!(wire.contains("session/cancel"), "{wire}");
}

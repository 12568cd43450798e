use std::path::PathBuf;

use super::{run, said};

/// The reference peer with a fault, or with none.
fn peer(folder: &tempfile::TempDir, fault: &str) -> PathBuf {
    let shipped = include_str!("../../mutants/reference-peer.toml");
    made_of(shipped, folder, fault)
}

/// The peer that a file describes.
fn made_of(shipped: &str, folder: &tempfile::TempDir, fault: &str) -> PathBuf {
    let path = folder.path().join("peer.toml");
    let here = env!("CARGO_BIN_EXE_reference-peer");
    let text = shipped
        .replace("\"./reference-peer\"", &format!("{here:?}"))
        .replace("[prompts]", &format!("PEER_FAULT = {fault:?}\n\n[prompts]"));
    std::fs::write(&path, text).expect("written");
    path
}

/// CONF-4: a correct runtime passes every check; nothing is skipped.
#[test]
fn the_correct_peer_passes_everything() {
    let folder = tempfile::tempdir().expect("a folder");
    let rows = [
        ("acp", include_str!("../../mutants/reference-peer.toml")),
        (
            "sqeq",
            include_str!("../../mutants/reference-peer-sqeq.toml"),
        ),
    ];
    for (suite, shipped) in rows {
        let file = made_of(shipped, &folder, "");
        let file = file.to_string_lossy();
        let (code, text) = said(&run(&[suite, "--strict", "--target", &file]));
        assert_eq!(code, Some(0), "{text}");
        let verdict = text.lines().last().expect("a verdict");
        assert!(
            verdict.starts_with("reference-peer: conformant, "),
            "{text}"
        );
        assert!(
            verdict.ends_with(" pass") && verdict.matches(',').count() == 1,
            "{text}"
        );
    }
}

/// CONF-1: a target that speaks version 1 alone is not blamed for what it does not offer.
#[test]
fn what_a_target_does_not_speak_is_skipped() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = peer(&folder, "v2-unknown");
    let file = file.to_string_lossy();
    let (code, text) = said(&run(&["acp", "-k", "acp.v2.", "--target", &file]));
    assert_eq!(code, Some(0), "{text}");
    assert!(
        text.contains("does not speak version 2") || text.contains(" skip"),
        "{text}"
    );
}

/// CONF-4: a runtime with one fault fails what is about it; CONF-3: unless that is expected.
#[test]
fn a_fault_is_caught_and_a_baseline_forgives_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = peer(&folder, "plan-cut");
    let file = file.to_string_lossy();
    let (code, text) = said(&run(&["acp", "-k", "acp.prompt.plan", "--target", &file]));
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("FAIL acp.prompt.plan#whole (must)"), "{text}");
    assert!(
        text.contains("-k 'acp.prompt.plan#whole' --target"),
        "{text}"
    );

    let baseline = folder.path().join("baseline.toml");
    let entry = "[expected.\"acp.prompt.plan#whole\"]\nreason = \"cuts plans\"\n";
    std::fs::write(&baseline, entry).expect("written");
    let baseline = baseline.to_string_lossy();
    let with = |filter: &str, file: &str| {
        said(&run(&[
            "acp",
            "-k",
            filter,
            "--baseline",
            &baseline,
            "--target",
            file,
        ]))
    };
    let (code, text) = with("acp.prompt.plan", &file);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("EXPECTED acp.prompt.plan#whole"), "{text}");

    let sound = peer(&folder, "");
    let (code, text) = with("acp.prompt.plan", &sound.to_string_lossy());
    assert_eq!(code, Some(1), "a stale entry fails: {text}");
    assert!(text.contains("STALE acp.prompt.plan#whole"), "{text}");
}

use std::path::PathBuf;

use super::{run, said};

/// The reference peer with a fault, or with none.
pub(super) fn peer(folder: &tempfile::TempDir, fault: &str) -> PathBuf {
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
        (
            "claude",
            include_str!("../../mutants/reference-peer-claude.toml"),
        ),
        (
            "codex-exec",
            include_str!("../../mutants/reference-peer-codex-exec.toml"),
        ),
        (
            "codex-app-server",
            include_str!("../../mutants/reference-peer-codex-app-server.toml"),
        ),
        (
            "cross",
            include_str!("../../mutants/reference-peer-cross.toml"),
        ),
        (
            "transcript",
            include_str!("../../mutants/reference-peer-transcript.toml"),
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

/// CONF-1: a target starts with the signals as they are by default, though whoever starts the suite ignores
/// them, as a shell does in its background jobs.
#[test]
fn a_target_heeds_signals_that_the_starter_of_the_suite_ignores() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = peer(&folder, "");
    let script = "trap '' INT TERM HUP QUIT; exec \"$@\"";
    let output = std::process::Command::new("sh")
        .args(["-c", script, "sh"])
        .arg(env!("CARGO_BIN_EXE_sessiond-conformance"))
        .args(["acp", "-k", "acp.shutdown.signal-", "--target"])
        .arg(&file)
        .output()
        .expect("the suite ran");
    let (code, text) = said(&output);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("2 pass"), "{text}");
}

/// CONF-2: what a profile says of files, folders and how many cases run at once is done; CONF-3: several
/// targets of one run each have their own baseline, and one that does not conform fails it.
#[test]
fn targets_of_one_run_have_files_and_baselines_of_their_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let write = |name: &str, text: &str| std::fs::write(path(name), text).expect("written");
    let here = env!("CARGO_BIN_EXE_reference-peer");
    for (name, fault) in [("sound", ""), ("cut", "plan-cut")] {
        let target = format!(
            "id = {name:?}\njobs = 1\n\
             argv = [\"sh\", \"-c\", \"test \\\"$(cat $HOME/set/x)\\\" = $WANTED && exec {here} acp\"]\n\
             [env]\nPEER_STATE = \"{{state_dir}}\"\nPEER_FAULT = {fault:?}\n\
             WANTED = \"{{state_dir}}\"\n[files]\n\"{{home}}/set/x\" = \"{{state_dir}}\"\n\
             [prompts]\nplan = \"/plan {{text}}\"\n"
        );
        write(&format!("{name}.toml"), &target);
    }
    let known = |of: &str| {
        format!("target = {of:?}\n[expected.\"acp.prompt.plan#whole\"]\nreason = \"cuts\"\n")
    };
    write("of-cut.toml", &known("cut"));
    write("of-sound.toml", &known("sound"));
    write("of-nobody.toml", &known("nobody"));
    let (sound, cut) = (path("sound.toml"), path("cut.toml"));
    let rows: [(&[&str], i32, &str); 4] = [
        (&["of-cut.toml"], 0, "EXPECTED acp.prompt.plan#whole"),
        (&["of-nobody.toml"], 1, "FAIL acp.prompt.plan#whole"),
        (
            &["of-cut.toml", "of-sound.toml"],
            1,
            "STALE acp.prompt.plan#whole",
        ),
        (&["missing.toml"], 2, "missing.toml"),
    ];
    for (baselines, expected, says) in rows {
        let mut arguments = vec![
            "acp",
            "-k",
            "acp.prompt.plan",
            "--target",
            &sound,
            "--target",
            &cut,
        ];
        let files: Vec<String> = baselines.iter().map(|name| path(name)).collect();
        for file in &files {
            arguments.extend(["--baseline", file]);
        }
        let (code, text) = said(&run(&arguments));
        assert_eq!(code, Some(expected), "{baselines:?}: {text}");
        assert!(text.contains(says), "{baselines:?}: {text}");
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

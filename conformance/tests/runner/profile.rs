use std::path::Path;

use super::{run, said};

/// The reference peer, started by a shell command, with this at the head of its profile.
fn started_by(folder: &Path, head: &str, argv: &[&str], fault: &str) -> String {
    let path = folder.join("target.toml");
    let text = format!(
        "id = \"peer\"\nargv = {argv:?}\nsession_files = \"{{session}}.jsonl\"\n{head}\n\
         [env]\nPEER_STATE = \"{{state_dir}}\"\nPEER_FAULT = {fault:?}\nPEER = {:?}\n\
         [prompts]\ntext = \"/say {{text}}\"\nstream = \"/stream {{pieces}} {{bytes}} {{delay}}\"\n",
        env!("CARGO_BIN_EXE_reference-peer")
    );
    std::fs::write(&path, text).expect("written");
    path.to_string_lossy().into_owned()
}

/// CONF-2: a runtime that starts slowly is not judged as dead, also where a case speaks to it itself.
#[test]
fn the_first_line_of_a_process_may_take_longer_than_an_answer() {
    let folder = tempfile::tempdir().expect("a folder");
    let slow = ["sh", "-c", "sleep 1; exec $PEER"];
    let rows = [
        ("timeouts = { start = 20000, reply = 500 }", 0),
        ("timeouts = { start = 300, reply = 500 }", 1),
    ];
    for (head, expected) in rows {
        let file = started_by(folder.path(), head, &slow, "");
        let asked = [
            "acp",
            "-k",
            "acp.negotiation.initialize#answered",
            "--target",
        ];
        let (code, text) = said(&run(&[&asked[..], &[&file]].concat()));
        assert_eq!(code, Some(expected), "{head}: {text}");
    }
}

/// CONF-2: a case that kills at each frame is repeated as often as the profile says; one frame shows less than all.
#[test]
fn a_profile_bounds_how_often_a_case_kills() {
    let folder = tempfile::tempdir().expect("a folder");
    for (head, expected) in [("sweeps = 1", 0), ("", 1)] {
        let file = started_by(
            folder.path(),
            head,
            &["sh", "-c", "exec $PEER"],
            "text-stored-late",
        );
        let asked = [
            "acp",
            "--strict",
            "-k",
            "acp.kill.text#seen-is-kept",
            "--target",
        ];
        let (code, text) = said(&run(&[&asked[..], &[&file]].concat()));
        assert_eq!(code, Some(expected), "{head}: {text}");
    }
}

/// CONF-2: a runtime that takes the signal of the bound on its files says nothing about full disks.
#[test]
fn a_signal_that_no_full_disk_sends_is_nobodys_fault() {
    let folder = tempfile::tempdir().expect("a folder");
    let dies = "read -r line; kill -25 $$";
    let file = started_by(folder.path(), "", &["sh", "-c", dies], "");
    let asked = [
        "acp",
        "-k",
        "acp.negotiation.initialize#answered",
        "--target",
    ];
    let (code, text) = said(&run(&[&asked[..], &[&file]].concat()));
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("1 skip"), "{text}");
}

/// CONF-1: a program is found where it lies, by the name that it was given: a Python environment knows itself by
/// the path of its interpreter, which is a link.
#[test]
fn a_program_that_is_a_link_is_started_by_the_name_of_the_link() {
    let folder = tempfile::tempdir().expect("a folder");
    let link = folder.path().join("shell");
    std::os::unix::fs::symlink("/bin/sh", &link).expect("linked");
    let link = link.to_string_lossy();
    let script = format!("test \"$0\" = {link} && exec $PEER");
    let file = started_by(folder.path(), "", &[&link, "-c", &script], "");
    let asked = [
        "acp",
        "-k",
        "acp.negotiation.initialize#answered",
        "--target",
    ];
    let (code, text) = said(&run(&[&asked[..], &[&file]].concat()));
    assert_eq!(code, Some(0), "{text}");
}

//! A disk that runs full: a prompt fails and says so, nothing else does.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::harness::{Home, Server, is_root, listed, only_session};

/// A file system of its own, in memory. Unmounted when dropped.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(at: &Path, size: &str) -> SmallDisk {
        fs::create_dir(at).unwrap();
        let options = format!("size={size},mode=700");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(at);
        assert!(mount.status().unwrap().success(), "mounting a tmpfs");
        SmallDisk(at.to_owned())
    }

    /// Takes all that is free; gives the file that holds it.
    fn fill(&self) -> PathBuf {
        let path = self.0.join("filler");
        let mut file = fs::File::create(&path).unwrap();
        while file.write_all(&[7; 512]).is_ok() {}
        path
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // What still uses it goes with the test; the mount goes then.
        let _gone = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

/// Runs the test where it may mount: here as root, else once more in a namespace of its own.
fn where_mounting_is_allowed(test: &str, run: fn()) {
    if is_root() {
        return run();
    }
    let mut again = Command::new("unshare");
    again.arg("-rm").arg(std::env::current_exe().unwrap());
    again.args([&format!("small_disk::{test}"), "--exact"]);
    let output = again.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("1 passed"), "in a namespace: {said}");
}

/// LOG-6: the prompt fails with `storage`, the process and its sessions live, and with space again
/// the next prompt works.
#[test]
fn a_full_disk_fails_the_prompt_and_nothing_else() {
    where_mounting_is_allowed("a_full_disk_fails_the_prompt_and_nothing_else", || {
        let home = Home::new();
        let disk = SmallDisk::mount(&home.store(), "2m");
        let mut server = Server::start(&home);
        let sessions = [server.new_session(&home), server.new_session(&home)];
        for session in &sessions {
            assert_eq!(server.turn(session, "before"), "end_turn");
        }
        let filler = disk.fill();
        for session in &sessions {
            // More than the rest of the last block of any file.
            let id = server.prompt(session, &"full ".repeat(4_000));
            let answer = server.response(id);
            assert_eq!(answer["error"]["code"], json!(4005), "{answer}");
        }
        fs::remove_file(filler).unwrap();
        for session in &sessions {
            assert_eq!(server.turn(session, "after"), "end_turn");
        }
        server.quit();
        home.run(&["sessions", "verify"]).well();
        let log = home.log(&sessions[0]);
        assert!(log.contains("before") && log.contains("after"));
    });
}

/// LOG-9: the index leaves a small disk to the logs.
#[test]
fn a_disk_of_half_a_mebibyte_takes_a_session_and_lists_it() {
    where_mounting_is_allowed(
        "a_disk_of_half_a_mebibyte_takes_a_session_and_lists_it",
        || {
            let home = Home::new();
            let _disk = SmallDisk::mount(&home.store(), "512k");
            home.run(&["exec", "hello"]).well();
            let session = only_session(&home);
            for _ in 0..5 {
                home.run(&["exec", "--session", &session, "more"]).well();
            }
            assert_eq!(listed(&home), [session]);
            home.run(&["sessions", "verify"]).well();
        },
    );
}

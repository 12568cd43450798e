//! Disks of cases: who sees them, and for how long.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::{run, said};

/// After this, what is waited for does not come.
const LATE: Duration = Duration::from_secs(20);

/// A target that fills its own disk, and says nothing.
fn filler(folder: &Path) -> String {
    let path = folder.join("target.toml");
    let script = "cat /dev/zero > $HOME/all; exec sleep 9000.2";
    let text = format!(
        "id = \"filler\"\nargv = [\"sh\", \"-c\", {script:?}]\ntimeouts = {{ start = 60000 }}\n"
    );
    std::fs::write(&path, text).expect("written");
    path.to_string_lossy().into_owned()
}

/// Waits until there is something.
fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begun.elapsed() < LATE, "no {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The processes whose command line has this word.
fn with_word(word: &str) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").expect("processes");
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|pid: &u32| {
            let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            words
                .split(|byte| *byte == 0)
                .any(|one| one == word.as_bytes())
        })
        .collect()
}

fn parent(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?
        .1
        .split_whitespace()
        .nth(1)?
        .parse()
        .ok()
}

/// Where a process sees a disk of a case.
fn disks(pid: u32) -> Vec<PathBuf> {
    let mounts = std::fs::read_to_string(format!("/proc/{pid}/mountinfo")).unwrap_or_default();
    let points = mounts.lines().filter_map(|line| line.split(' ').nth(4));
    let points = points.filter(|point| point.contains("/sc") && point.ends_with("/disk"));
    points.map(PathBuf::from).collect()
}

/// Whether this machine has disks of one's own; the keeper is asked, as the suite asks it.
fn has_disks(folder: &Path) -> bool {
    let output = Command::new(env!("CARGO_BIN_EXE_sessiond-conformance"))
        .args(["__disk".as_ref(), folder.as_os_str(), "1048576".as_ref()])
        .stdin(Stdio::null())
        .output()
        .expect("a keeper");
    output.stdout == b"ready\n"
}

/// CONF-1: a target that fills its disk fills no other, and the disk is gone with the runner, however that ended.
#[test]
fn a_disk_is_seen_by_its_case_alone_and_ends_with_the_runner() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = filler(folder.path());
    let arguments = ["acp", "-k", "acp.disk.full#answered", "--target", &file];
    if !has_disks(folder.path()) {
        let html = folder.path().join("report.html");
        let _ = run(&[&arguments[..], &["--html", &html.to_string_lossy()]].concat());
        let page = std::fs::read_to_string(html).expect("a report");
        assert!(page.contains("no disk of its own"), "the report says so");
        return;
    }
    let mut runner = Command::new(env!("CARGO_BIN_EXE_sessiond-conformance"))
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the suite starts");
    let of_runner = |pid: &u32| parent(*pid) == Some(runner.id());
    let keeper = until("keeper", || with_word("__disk").into_iter().find(of_runner));
    let disk = until("disk", || disks(keeper).pop());
    let seen = PathBuf::from(format!("/proc/{keeper}/root{}", disk.display()));
    until("full disk", || {
        let taken = std::fs::metadata(seen.join("home/all")).ok()?.len();
        (taken > 60 * 1024 * 1024).then_some(())
    });
    assert!(!disks(std::process::id()).contains(&disk), "nobody else");
    assert!(!disks(runner.id()).contains(&disk), "not even the runner");
    runner.kill().expect("killed");
    runner.wait().expect("waited");
    until("end of the disk", || {
        let mut entries = std::fs::read_dir("/proc").expect("processes");
        let mounted = entries.any(|entry| {
            let name = entry.map(|entry| entry.file_name()).unwrap_or_default();
            let pid = name.to_str().and_then(|name| name.parse().ok());
            pid.is_some_and(|pid| disks(pid).contains(&disk))
        });
        let keeps = Path::new(&format!("/proc/{keeper}")).exists();
        (!mounted && !keeps && with_word("9000.2").is_empty()).then_some(())
    });
}

/// CONF-1: where the machine gives no disk of one's own, a bound on files stands for it, and the report says so.
#[test]
fn a_report_says_what_stood_for_the_full_disk() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("target.toml");
    let text = format!(
        "id = \"peer\"\nargv = [{:?}]\nenv = {{ PEER_STATE = \"{{state_dir}}\" }}\n\
         prompts = {{ text = \"/say {{text}}\" }}\n",
        env!("CARGO_BIN_EXE_reference-peer")
    );
    std::fs::write(&path, text).expect("written");
    let html = folder.path().join("report.html");
    let (path, html_path) = (path.to_string_lossy(), html.to_string_lossy());
    let arguments = [
        "acp", "-k", "acp.disk", "--target", &path, "--html", &html_path,
    ];
    let own = match has_disks(folder.path()) {
        true => "the store has a disk of its own",
        false => "no disk of its own",
    };
    let (code, text) = said(&run(&arguments));
    assert_eq!(code, Some(0), "{text}");
    let page = std::fs::read_to_string(&html).expect("a report");
    assert!(page.contains(own), "{own}");
    // Nobody in particular may make no namespace.
    let output = Command::new("unshare")
        .args(["--user", env!("CARGO_BIN_EXE_sessiond-conformance")])
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .expect("the suite starts");
    let (code, text) = said(&output);
    assert_eq!(code, Some(0), "{text}");
    let page = std::fs::read_to_string(&html).expect("a report");
    assert!(page.contains("no disk of its own"), "a bound");
    assert!(page.contains("no file may grow"), "a bound that is lowered");
}

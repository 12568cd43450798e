use super::*;

const STATUS: &str = "Name:\tsh\nVmHWM:\t    1732 kB\nVmRSS:\t 1700 kB\n";

#[test]
fn the_peak_is_read_from_the_status_and_the_share_from_the_rollup_of_a_process() {
    let cases = [
        ("", 1732),
        ("Rss: 1700 kB\nPss:    400 kB\nPss_Dirty: 1 kB\n", 432),
    ];
    for (rollup, share_kib) in cases {
        let expected = Memory {
            peak_kib: 1732,
            share_kib,
        };
        assert_eq!(Memory::of(STATUS, rollup), Some(expected), "{rollup}");
    }
    assert_eq!(Memory::of("Name:\tkthreadd\n", ""), None);
}

#[test]
#[cfg(target_os = "linux")]
fn a_tree_holds_more_than_its_root() {
    let mut shell = std::process::Command::new("sh")
        .args(["-c", "cat; exit"])
        .stdin(std::process::Stdio::piped())
        .spawn()
        .expect("a shell");
    let end = std::time::Instant::now() + std::time::Duration::from_secs(30);
    loop {
        let all = Memory::of_tree(shell.id()).expect("the memory of both");
        let status = std::fs::read_to_string(format!("/proc/{}/status", shell.id()));
        // Read after the tree, and peaks only grow: what is more is the child's.
        let root = Memory::of(&status.expect("its status"), "").expect("its own memory");
        if all.peak_kib > root.peak_kib {
            break;
        }
        assert!(std::time::Instant::now() < end, "no child was counted");
        std::thread::yield_now();
    }
    drop(shell.stdin.take());
    shell.wait().expect("reaped");
}

//! WIRE-11: what a tool and its guard inherit.

use std::io::Read;
use std::os::fd::AsRawFd;
use std::process::{Command, Stdio};

use crate::probe;
use crate::runner::Case;

pub(crate) const CASES: &[Case] = &[(
    "no_child_has_the_protocols_descriptors",
    no_child_has_the_protocols_descriptors,
)];

fn link(descriptor: &impl AsRawFd) -> String {
    let link = std::fs::read_link(format!("/proc/self/fd/{}", descriptor.as_raw_fd())).unwrap();
    link.to_string_lossy().into_owned()
}

/// WIRE-11
fn no_child_has_the_protocols_descriptors() {
    let script = r#"
        for f in /proc/$$/fd/*; do echo "tool $(readlink "$f")"; done
        for f in /proc/$PPID/fd/*; do echo "guard $(readlink "$f")"; done
    "#;
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([probe::COMMAND, probe::PURE, script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let protocol = [link(child.stdin.as_ref().unwrap()), link(&stdout)];
    let mut lines = String::new();
    stdout.read_to_string(&mut lines).unwrap();
    assert!(child.wait().unwrap().success());
    let of =
        |who: &str| -> Vec<&str> { lines.lines().filter_map(|l| l.strip_prefix(who)).collect() };
    let (tool, guard) = (of("tool "), of("guard "));
    // The third kind is the shell's own: its script's here-pipe for `$(…)`.
    assert!(tool.len() >= 3 && guard.len() >= 3, "{lines}");
    for link in tool.iter().chain(&guard) {
        assert!(!protocol.iter().any(|own| own == link), "{link} of {lines}");
    }
    assert_eq!(
        tool.iter()
            .filter(|link| link.starts_with("socket:"))
            .count(),
        0,
        "{lines}"
    );
    assert_eq!(tool.first(), Some(&"/dev/null"), "{lines}");
}

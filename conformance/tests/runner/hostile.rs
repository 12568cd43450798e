use std::path::PathBuf;

use super::{run, said};

/// A target that is this shell script, with short deadlines.
fn target(folder: &tempfile::TempDir, name: &str, script: &str) -> PathBuf {
    let path = folder.path().join(format!("{name}.toml"));
    let text = format!(
        "id = {name:?}\nargv = [\"sh\", \"-c\", {script:?}]\n\
         [timeouts]\nstart = 800\nreply = 500\nexit = 1000\nquiet = 50\ncase = 10000\n"
    );
    std::fs::write(&path, text).expect("written");
    path
}

/// Processes whose command line holds this text.
fn alive(text: &str) -> Vec<String> {
    std::fs::read_dir("/proc")
        .expect("procfs")
        .filter_map(|entry| {
            let path = entry.ok()?.path().join("cmdline");
            let line = String::from_utf8_lossy(&std::fs::read(path).ok()?).replace('\0', " ");
            (line.contains(text) && line.starts_with("sleep")).then_some(line)
        })
        .collect()
}

/// CONF-1: a verdict comes whatever a target does.
#[test]
fn nothing_a_target_does_keeps_the_suite_from_a_verdict() {
    let folder = tempfile::tempdir().expect("a folder");
    let rows = [
        ("silent", "exec sleep 9000.1"),
        ("deaf", "exec 0<&-; exec sleep 9000.1"),
        ("mute", "exec 1>&-; exec sleep 9000.1"),
        ("gone", "exit 3"),
        ("killed", "kill -9 $$"),
        ("words", "while read -r line; do echo hello; done"),
        ("echo", "exec cat"),
        (
            "flood",
            "exec yes '{\"jsonrpc\":\"2.0\",\"method\":\"_x/y\"}'",
        ),
        ("zeros", "exec cat /dev/zero"),
        ("empty-lines", "exec yes ''"),
        ("noise", "head -c 40000000 /dev/urandom; exec sleep 9000.1"),
        ("stderr", "yes >&2 & exec sleep 9000.1"),
        (
            "stubborn",
            "trap '' TERM INT HUP; while :; do sleep 0.2; done",
        ),
        (
            "children",
            "for i in 1 2 3 4 5; do setsid sleep 9000.1 & done; exec sleep 9000.1",
        ),
        (
            "orphans",
            "(setsid sh -c 'sleep 9000.1 & sleep 9000.1' &) ; exit 0",
        ),
        ("matricide", "kill -9 $PPID; exec sleep 9000.1"),
        (
            "answers-wrongly",
            "while read -r l; do echo '{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}'; done",
        ),
    ];
    for (name, script) in rows {
        let file = target(&folder, name, script);
        let file = file.to_string_lossy();
        let output = run(&["acp", "--level", "core", "--target", &file]);
        let (code, text) = said(&output);
        assert_eq!(code, Some(1), "{name}: {text}");
        assert!(
            text.contains("acp.negotiation.initialize#answered"),
            "{name}: {text}"
        );
        assert!(text.contains("not conformant"), "{name}: {text}");
        assert_eq!(alive("9000.1"), Vec::<String>::new(), "{name} left these");
    }
}

/// CONF-1: what depends on a handshake that failed is not tried.
#[test]
fn what_depends_on_a_failed_check_cannot_be_tested() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = target(&folder, "gone", "exit 3");
    let json = folder.path().join("report.jsonl");
    let output = run(&[
        "acp",
        "--target",
        &file.to_string_lossy(),
        "--json",
        &json.to_string_lossy(),
    ]);
    assert_eq!(said(&output).0, Some(1));
    let report = std::fs::read_to_string(json).expect("a report");
    let lines: Vec<serde_json::Value> = report
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!(lines[0]["type"], "header");
    assert_eq!(lines[lines.len() - 1]["type"], "footer");
    let text = lines
        .iter()
        .find(|line| line["id"] == "acp.prompt.text#answered");
    let text = text.expect("the check");
    assert_eq!(text["status"], "not-testable");
    assert!(
        text["why"]
            .as_str()
            .expect("a reason")
            .contains("initialize#answered")
    );
    assert!(
        !lines.iter().any(|line| line["status"] == "pass"),
        "{report}"
    );
}

/// CONF-1: a target that writes without end is stopped at a bound, and what it wrote is removed.
#[test]
fn a_target_that_fills_the_disk_is_stopped_at_a_bound() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = "head -c 200000000 /dev/zero > \"$HOME/big\"; wc -c < \"$HOME/big\" >&2; exit 0";
    let file = target(&folder, "fills", script);
    let patient = std::fs::read_to_string(&file).expect("a target");
    let patient = patient.replace("reply = 500", "reply = 20000");
    std::fs::write(&file, patient).expect("written");
    let html = folder.path().join("report.html");
    let output = run(&[
        "acp",
        "-k",
        "acp.negotiation.initialize#",
        "--target",
        &file.to_string_lossy(),
        "--html",
        &html.to_string_lossy(),
    ]);
    assert_eq!(said(&output).0, Some(1));
    let page = std::fs::read_to_string(html).expect("a report");
    assert!(page.contains("134217728"), "128 MiB and no more");
}

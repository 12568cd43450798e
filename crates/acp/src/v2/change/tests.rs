use super::{git_patch, quoted};

/// What a patch makes of a text, line by line.
fn applied(patch: &str, old: &str) -> String {
    let mut old = old.split_inclusive('\n');
    let (mut new, mut line) = (String::new(), 1);
    let mut last = String::new();
    for said in patch.split_inclusive('\n') {
        if let Some(range) = said.strip_prefix("@@ -") {
            let (first, rest) = range.split_once(',').unwrap();
            let first: usize = first.parse().unwrap();
            let none = rest.starts_with("0 ");
            while line < first + usize::from(none) {
                new.push_str(old.next().unwrap());
                line += 1;
            }
            last = "@".into();
        } else if last.is_empty() {
            continue;
        } else if said.starts_with('\\') {
            if last != "-" {
                assert_eq!(new.pop(), Some('\n'));
            }
        } else {
            let (sign, text) = said.split_at(1);
            if sign != "+" {
                let found = old.next().unwrap();
                assert_eq!(found.trim_end_matches('\n'), text.trim_end_matches('\n'));
            }
            if sign != "-" {
                new.push_str(text);
            }
            last = sign.into();
        }
    }
    new.extend(old);
    new
}

#[test]
fn a_patch_makes_the_new_text_of_the_old() {
    let long: String = (0..40).map(|n| format!("line {n}\n")).collect();
    let texts = [
        String::new(),
        "a".into(),
        "a\n".into(),
        "\n".into(),
        "a\nb\nc\n".into(),
        "a\nB\nc".into(),
        "x\na\nb\nc\n".into(),
        "a\nb\nc\nx\n".into(),
        long.clone(),
        long.replace("line 20\n", "other\nand more\n"),
        long.replace("line 0\n", ""),
        long.replace("line 39\n", "the end"),
    ];
    for old in &texts {
        assert_eq!(git_patch("/w/a", Some(old), old), None);
        for new in &texts {
            if let Some(patch) = git_patch("/w/a", Some(old), new) {
                assert_eq!(applied(&patch, old), *new, "{patch}");
            }
        }
        let made = git_patch("/w/a", None, old).unwrap();
        assert_eq!(applied(&made, ""), *old, "{made}");
    }
}

#[test]
fn only_what_is_around_a_change_is_shown() {
    let old: String = (1..=20).map(|n| format!("{n}\n")).collect();
    let patch = git_patch("/w/a", Some(&old), &old.replace("10\n", "ten\n")).unwrap();
    let hunk = "@@ -7,7 +7,7 @@\n 7\n 8\n 9\n-10\n+ten\n 11\n 12\n 13\n";
    assert!(patch.ends_with(hunk), "{patch}");
}

#[test]
fn paths_are_written_as_git_writes_them() {
    let table = [
        ("/w/a b", "/w/a b"),
        ("/w/\"a\"", "\"/w/\\\"a\\\"\""),
        ("/w/a\\b", "\"/w/a\\\\b\""),
        ("/w/a\tb\nc", "\"/w/a\\tb\\nc\""),
        ("/w/ä", "\"/w/\\303\\244\""),
    ];
    for (path, name) in table {
        assert_eq!(quoted(path), name);
    }
    let patch = git_patch("/w/a b", Some("a\n"), "b\n").unwrap();
    assert!(patch.contains("--- /w/a b\t\n+++ /w/a b\t\n"), "{patch}");
}

#[test]
fn git_takes_the_patch() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ä b.txt");
    let (old, new) = ("one\ntwo\nthree", "one\n2\nthree\n");
    std::fs::write(&file, old).unwrap();
    let patch = git_patch(file.to_str().unwrap(), Some(old), new).unwrap();
    std::fs::write(folder.path().join("patch"), patch).unwrap();
    let git = std::process::Command::new("git")
        .args(["apply", "--unsafe-paths", "-p0", "--directory=/", "patch"])
        .current_dir(folder.path())
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .output()
        .unwrap();
    assert!(
        git.status.success(),
        "{}",
        String::from_utf8_lossy(&git.stderr)
    );
    assert_eq!(std::fs::read_to_string(&file).unwrap(), new);
}

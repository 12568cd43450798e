//! Each rule on a small tree: what it finds, and that it is silent where it should be.

use std::fs;
use std::path::Path;

use super::check;
use super::source::Tree;

/// A manifest that no rule objects to.
const MANIFEST: &str = "[package]\nname = \"x\"\n\n[lints]\nworkspace = true\n";

// Texts that tidy would find in this very file are put together.
const TEST: &str = concat!("#[", "test]\nfn a() {}\n");
const INLINE: &str = concat!("#[cfg(", "test)]\nmod tests {\n}\n");
const LEFT_OPEN: &str = concat!("// TO", "DO later\n");
const IGNORED: &str = concat!("#[", "ignore]\nfn a() {}\n");
const PRINT: &str = concat!("fn a() {\n    print", "ln!(\"x\");\n}\n");
const NO_SUCH_RULE: &str = concat!("/// LOG", "-20\nfn a() {}\n");
const NO_SUCH_FAMILY: &str = concat!("/// LGO", "-4\nfn a() {}\n");

fn findings(files: &[(&str, &str)]) -> Vec<String> {
    let root = tempfile::tempdir().expect("a temporary folder");
    for (path, text) in files {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap_or(Path::new("/"))).expect("a folder");
        fs::write(path, text).expect("a file");
    }
    let tree = Tree::read(root.path()).expect("a readable tree");
    check(&tree)
        .iter()
        .map(|f| format!("{}:{} {}", f.path, f.line, f.rule))
        .collect()
}

fn manifest(tables: &str) -> String {
    format!("{MANIFEST}\n{tables}")
}

#[test]
fn one_file_that_breaks_one_rule_gives_one_finding_with_its_line() {
    let long = "// line\n".repeat(501);
    let cases: &[(&str, &str, &str, &[&str])] = &[
        (
            "a long file",
            "crates/log/src/a.rs",
            &long,
            &["crates/log/src/a.rs:501 size"],
        ),
        (
            "a long script",
            "drives/a.mjs",
            &long,
            &["drives/a.mjs:501 size"],
        ),
        (
            "a blank at a line's end",
            "drives/a.py",
            "x = 1 \n",
            &["drives/a.py:1 ending"],
        ),
        (
            "a carriage return",
            "drives/a.sh",
            "ls\r\n",
            &["drives/a.sh:1 ending"],
        ),
        (
            "no last newline",
            "crates/log/src/a.rs",
            "//! x",
            &["crates/log/src/a.rs:1 ending"],
        ),
        (
            "work left open",
            "drives/a.mjs",
            LEFT_OPEN,
            &["drives/a.mjs:1 left-open"],
        ),
        (
            "an ignored test",
            "crates/log/tests/a.rs",
            IGNORED,
            &["crates/log/tests/a.rs:1 ignored"],
        ),
        (
            "a test in a product file",
            "crates/log/src/a.rs",
            TEST,
            &["crates/log/src/a.rs:1 inline-test"],
        ),
        (
            "an inline test module",
            "crates/log/src/a.rs",
            INLINE,
            &["crates/log/src/a.rs:2 inline-test"],
        ),
        (
            "a print in a library",
            "crates/log/src/a.rs",
            PRINT,
            &["crates/log/src/a.rs:2 print"],
        ),
        (
            "a number no rule has",
            "crates/log/tests/a.rs",
            NO_SUCH_RULE,
            &["crates/log/tests/a.rs:1 citation"],
        ),
        (
            "rule number nought",
            "README.md",
            concat!("WIRE", "-0\n"),
            &["README.md:1 citation"],
        ),
        (
            "a family no rule has",
            "crates/log/tests/a.rs",
            NO_SUCH_FAMILY,
            &["crates/log/tests/a.rs:1 citation"],
        ),
        (
            "the log past its Fs",
            "crates/log/src/a.rs",
            "use std::fs;\n",
            &["crates/log/src/a.rs:1 purity"],
        ),
        (
            "the log opening a file",
            "crates/log/src/a.rs",
            "let f = File::open(p)?;\n",
            &["crates/log/src/a.rs:1 purity"],
        ),
        (
            "the engine with tokio's files",
            "crates/engine/src/a.rs",
            "use tokio::fs;\n",
            &["crates/engine/src/a.rs:1 purity"],
        ),
        (
            "protocol with a clock",
            "crates/protocol/src/a.rs",
            "SystemTime::now();\n",
            &["crates/protocol/src/a.rs:1 purity"],
        ),
        (
            "protocol with sockets",
            "crates/protocol/src/a.rs",
            "use std::net::TcpStream;\n",
            &["crates/protocol/src/a.rs:1 purity"],
        ),
        (
            "protocol with tokio",
            "crates/protocol/src/a.rs",
            "use tokio::sync::mpsc;\n",
            &["crates/protocol/src/a.rs:1 purity"],
        ),
        (
            "no lints",
            "crates/log/Cargo.toml",
            "[package]\nname = \"x\"\n",
            &["crates/log/Cargo.toml:1 lints"],
        ),
        (
            "lints of its own",
            "crates/log/Cargo.toml",
            "[lints.rust]\nunsafe_code = \"allow\"\n",
            &["crates/log/Cargo.toml:1 lints"],
        ),
        (
            "a manifest that is not TOML",
            "crates/log/Cargo.toml",
            "[package\n",
            &["crates/log/Cargo.toml:1 manifest"],
        ),
        (
            "a crate nobody knows",
            "crates/util/Cargo.toml",
            MANIFEST,
            &["crates/util/Cargo.toml:1 arrow"],
        ),
    ];
    for (case, path, text, expected) in cases {
        assert_eq!(&findings(&[(path, text)]), expected, "{case}");
    }
}

#[test]
fn what_is_allowed_is_silent() {
    let cases: &[(&str, &str, &str)] = &[
        ("500 lines", "crates/log/src/a.rs", &"// line\n".repeat(500)),
        ("a test in tests.rs", "crates/log/src/a/tests.rs", TEST),
        ("a test in a_tests.rs", "crates/log/src/a_tests.rs", TEST),
        (
            "a test in the tests folder",
            "crates/log/tests/a/b.rs",
            TEST,
        ),
        (
            "a test module elsewhere",
            "crates/log/src/a.rs",
            concat!("#[cfg(", "test)]\nmod tests;\n"),
        ),
        (
            "a comment that names a test mark",
            "crates/log/src/a.rs",
            concat!("// #[", "test]\n"),
        ),
        ("the real Fs", "crates/log/src/fs/real.rs", "use std::fs;\n"),
        (
            "a test of the log with the disk",
            "crates/log/tests/a.rs",
            "use std::fs;\n",
        ),
        (
            "user files in script",
            "crates/script/src/a.rs",
            "use tokio::fs;\n",
        ),
        (
            "eprintln",
            "crates/log/src/a.rs",
            "fn a() { eprintln!(\"x\"); }\n",
        ),
        (
            "a rule that exists",
            "crates/log/tests/a.rs",
            "/// LOG-19\nfn a() {}\n",
        ),
        (
            "something else with a dash",
            "crates/log/src/a.rs",
            "/// UTF-8 and x86-64\nfn a() {}\n",
        ),
        ("blanks in Markdown", "README.md", "one  \ntwo\n"),
        (
            "a word that holds another",
            "drives/a.py",
            concat!("# MasTO", "DOn\n"),
        ),
        ("what cargo built", "target/a.rs", "x "),
        ("what npm installed", "drives/node_modules/a.mjs", "x "),
    ];
    for (case, path, text) in cases {
        assert_eq!(findings(&[(path, text)]), [""; 0], "{case}");
    }
}

#[test]
fn arrows_point_down_only() {
    let cases: &[(&str, &str, &str, &[&str])] = &[
        (
            "down",
            "engine",
            "[dependencies]\nsessiond-log.workspace = true\n",
            &[],
        ),
        (
            "up",
            "log",
            "[dependencies]\nsessiond-engine.workspace = true\n",
            &["crates/log/Cargo.toml:8 arrow"],
        ),
        (
            "sideways",
            "acp",
            "[dependencies]\nsessiond-script.workspace = true\n",
            &["crates/acp/Cargo.toml:8 arrow"],
        ),
        (
            "under another name",
            "log",
            "[dependencies]\nx = { package = \"sessiond-wire\" }\n",
            &["crates/log/Cargo.toml:8 arrow"],
        ),
        (
            "on one platform",
            "wire",
            "[target.'cfg(unix)'.dependencies]\nsessiond-log = \"1\"\n",
            &["crates/wire/Cargo.toml:8 arrow"],
        ),
        (
            "to build",
            "wire",
            "[build-dependencies]\nsessiond-log = \"1\"\n",
            &["crates/wire/Cargo.toml:8 arrow"],
        ),
        (
            "a test that looks down",
            "acp",
            "[dev-dependencies]\nsessiond-engine = \"1\"\n",
            &[],
        ),
    ];
    for (case, folder, tables, expected) in cases {
        let path = format!("crates/{folder}/Cargo.toml");
        assert_eq!(&findings(&[(&path, &manifest(tables))]), expected, "{case}");
    }
}

/// CONF-1: the suite depends on nothing of what it judges.
#[test]
fn the_conformance_suite_depends_on_the_protocol_and_the_wire_at_most() {
    for (to, expected) in [
        ("protocol", vec![]),
        ("wire", vec![]),
        ("engine", vec!["conformance/Cargo.toml:8 arrow"]),
        ("log", vec!["conformance/Cargo.toml:8 arrow"]),
    ] {
        let tables = manifest(&format!("[dependencies]\nsessiond-{to}.workspace = true\n"));
        assert_eq!(
            findings(&[("conformance/Cargo.toml", &tables)]),
            expected,
            "{to}"
        );
    }
}

#[test]
fn a_dev_dependency_never_closes_a_circle() {
    let engine = manifest("[dependencies]\nsessiond-log = \"1\"\n");
    let log = manifest("[dev-dependencies]\nsessiond-engine = \"1\"\n");
    assert_eq!(
        findings(&[
            ("crates/engine/Cargo.toml", &engine),
            ("crates/log/Cargo.toml", &log)
        ]),
        [
            "crates/engine/Cargo.toml:8 cycle",
            "crates/log/Cargo.toml:8 cycle"
        ],
    );
}

#[test]
fn a_finding_says_where_what_and_what_to_do() {
    let root = tempfile::tempdir().expect("a temporary folder");
    fs::write(root.path().join("a.py"), "x = 1 \n").expect("a file");
    let tree = Tree::read(root.path()).expect("a readable tree");
    let lines: Vec<String> = check(&tree).iter().map(ToString::to_string).collect();
    assert_eq!(
        lines,
        ["a.py:1: [ending] blank at the end of the line; remove it"]
    );
}

//! Rollouts of Codex into the store and out of it, and what becomes of a conversation between the
//! shapes of two programs.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sessiond_codex::rollout::{self, File, Rollout, Writer};
use sessiond_protocol::{Losses, SessionId, Told, ToldAbout};
use sessiond_wire::foreign::Upto;

use crate::harness::{Ended, Home, only_session};

const FORK: &str = "exec_12.jsonl";
const BASE: &str = "exec_0.jsonl";

/// A rollout of the real program, and what it was called.
fn fixture(name: &str) -> (String, String) {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../codex/tests/rollouts");
    let text = fs::read_to_string(Path::new(folder).join(name)).unwrap();
    let (head, text) = text.split_once('\n').unwrap();
    let path = head.strip_prefix("# file: ").unwrap();
    (path.to_owned(), text.to_owned())
}

/// Puts a rollout where Codex would have it, below a folder of the home.
fn placed(home: &Home, codex: &str, name: &str) -> (PathBuf, String) {
    let (path, text) = fixture(name);
    let path = home.path(codex).join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, &text).unwrap();
    (path, text)
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn thread(path: &Path) -> String {
    let name = path.file_name().unwrap().to_str().unwrap();
    rollout::thread_of(name).unwrap().to_string()
}

/// What is below a folder, in order.
fn below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type().unwrap().is_dir() {
            true => files.extend(below(&entry.path())),
            false => files.push(entry.path()),
        }
    }
    files.sort();
    files
}

/// ADAPT-4, ADAPT-7: a fork becomes a session of the same id with what it was forked with, and both
/// files are written again byte for byte, where Codex looks for them.
#[test]
fn a_rollout_becomes_a_session_and_is_written_again_as_it_was() {
    let home = Home::new();
    let (base, base_text) = placed(&home, "codex", BASE);
    let (fork, text) = placed(&home, "codex", FORK);
    let id = thread(&fork);
    let titles = format!("{{\"id\":\"{id}\",\"thread_name\":\"my fork\",\"updated_at\":\"x\"}}\n");
    fs::write(home.path("codex/session_index.jsonl"), titles).unwrap();
    let taken = home.run(&["sessions", "import", fork.to_str().unwrap(), "--json"]);
    let taken = json(&taken.well().stdout);
    assert_eq!(taken["session"], id.as_str());
    assert_eq!(taken["title"], "my fork");
    assert_eq!(taken["original_bytes"], text.len() + base_text.len());
    assert_eq!(only_session(&home), id);
    let shown = home.run(&["sessions", "show", &id]).well().stdout;
    for said in ["say hi", "second turn", "forked turn", "again"] {
        assert!(shown.contains(said), "{shown}");
    }
    home.run(&["sessions", "verify"]).well();
    let back = home.run(&["transcript", "convert", &id, "--to", "codex", "-o", "-"]);
    assert!(back.well().stdout == text, "it is not what it was");

    let other = home.path("other");
    let written = |arguments: &[&str]| {
        let mut command = home.command(arguments);
        let output = command.env("CODEX_HOME", &other).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        let erred = String::from_utf8(output.stderr).unwrap();
        (output.status.code(), said + &erred)
    };
    let (code, said) = written(&["transcript", "convert", &id, "--to", "codex"]);
    assert_eq!(code, Some(0), "{said}");
    let names = |path: &Path, from: &str| path.strip_prefix(home.path(from)).unwrap().to_owned();
    let files: Vec<_> = below(&other)
        .iter()
        .map(|path| names(path, "other"))
        .collect();
    let mut expected = vec![names(&base, "codex"), names(&fork, "codex")];
    expected.insert(0, "session_index.jsonl".into());
    expected.sort();
    assert_eq!(files, expected);
    assert!(fs::read_to_string(other.join(names(&fork, "codex"))).unwrap() == text);
    assert!(fs::read_to_string(other.join(names(&base, "codex"))).unwrap() == base_text);
    // A thread is in one place: Codex takes whichever file it finds.
    let (code, said) = written(&["transcript", "convert", &id, "--to", "codex"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("is there already"), "{said}");

    // What is said here follows what was said there.
    home.run(&["exec", "--session", &id, "and here"]).well();
    let more = home.path("more.jsonl");
    let more = more.to_str().unwrap();
    let (code, said) = written(&["transcript", "convert", &id, "--to", "codex", "-o", more]);
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.contains("1 files that the thread goes on from"),
        "{said}"
    );
    let written = fs::read_to_string(more).unwrap();
    let added = written.strip_prefix(&text).unwrap();
    assert!(
        added.contains("and here") && added.contains("\"ordinal\""),
        "{added}"
    );
}

/// A rollout that is compressed is read as the plain one.
#[test]
fn a_compressed_rollout_is_taken_in() {
    let home = Home::new();
    let (path, text) = fixture(BASE);
    let name = Path::new(&path).file_name().unwrap().to_str().unwrap();
    let file = home.path(&format!("{name}.zst"));
    let packed = ruzstd::encoding::compress_to_vec(
        text.as_bytes(),
        ruzstd::encoding::CompressionLevel::Fastest,
    );
    fs::write(&file, packed).unwrap();
    let id = thread(Path::new(&path));
    home.run(&["sessions", "import", file.to_str().unwrap()])
        .well();
    let back = home.run(&["transcript", "convert", &id, "--to", "codex", "-o", "-"]);
    assert!(back.well().stdout == text, "it is not what it was");
}

/// ADAPT-11: an import says what is damaged, with the place.
#[test]
fn an_import_reads_around_damage_and_reports_it() {
    let home = Home::new();
    let (path, text) = placed(&home, "codex", BASE);
    let lines: Vec<&str> = text.lines().collect();
    let damaged = [
        &lines[..9],
        &["no line"],
        &lines[9..12],
        &[&lines[12][..40]],
    ]
    .concat();
    fs::write(&path, damaged.join("\n")).unwrap();
    let taken = home
        .run(&["sessions", "import", path.to_str().unwrap()])
        .well();
    for said in [
        "damage, read around",
        "1 lines that cannot be read (line 10)",
        "not written to its end",
    ] {
        assert!(taken.stdout.contains(said), "{}", taken.stdout);
    }
}

/// A rollout that grows is printed as it grows.
#[test]
fn a_rollout_is_followed_while_it_is_written() {
    use std::io::{BufRead, BufReader};
    use std::process::Stdio;

    let home = Home::new();
    let (path, text) = placed(&home, "codex", BASE);
    let half = text.match_indices('\n').nth(15).unwrap().0 + 20;
    fs::write(&path, &text[..half]).unwrap();
    let mut command = home.command(&["transcript", "follow", path.to_str().unwrap(), "--json"]);
    let child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut child = Ended(child);
    let mut lines = BufReader::new(child.0.stdout.take().unwrap()).lines();
    let mut next = || json(&lines.next().unwrap().unwrap());
    assert_eq!(next()["item"]["content"][0]["text"], "say hi");
    assert_eq!(next()["item"]["text"], "Hello from fake model #2.");
    let mut writer = fs::OpenOptions::new().append(true).open(&path).unwrap();
    writer.write_all(&text.as_bytes()[half..]).unwrap();
    assert_eq!(next()["item"]["content"][0]["text"], "second turn");
    assert_eq!(next()["item"]["text"], "Hello from fake model #5.");
}

/// A transcript of Claude made of what is told.
fn as_claude(told: &[Told], about: &ToldAbout) -> (String, Losses) {
    use sessiond_claude::transcript::{Continuation, Transcript};
    let (session, mut out) = (SessionId::new(uuid::Uuid::from_u128(1)), Vec::new());
    let mut transcript = Transcript::new(&mut out, (session, about), Continuation::default());
    for told in told {
        transcript.tell(told.clone()).unwrap();
    }
    let losses = transcript.finish(about.title.as_ref()).unwrap();
    (String::from_utf8(out).unwrap(), losses)
}

/// What comes back of a rollout made of what is told.
fn through_codex(told: &[Told], about: &ToldAbout) -> (Vec<Told>, Losses) {
    let (session, mut out) = (SessionId::new(uuid::Uuid::from_u128(1)), Vec::new());
    let mut writer = Writer::begin(&mut out, (session, about), None).unwrap();
    for told in told {
        writer.tell(told.clone()).unwrap();
    }
    let losses = writer.finish().unwrap();
    let length = out.len() as u64;
    let (name, source) = ("rollout.jsonl".to_owned(), Upto::new(out, length));
    let rollout = Rollout::read(File { name, source }, |_| Ok(Vec::new())).unwrap();
    assert!(rollout.findings().is_sound(), "{}", rollout.findings());
    let mut fold = rollout::Fold::new(&rollout);
    let told = fold.by_ref().map(Result::unwrap).collect();
    assert!(fold.findings().is_sound(), "{}", fold.findings());
    (told, losses)
}

/// ADAPT-4: a conversation of Claude that went through a rollout of Codex is the same transcript of
/// Claude, or the report lists what is lost.
#[test]
fn a_transcript_of_claude_that_was_a_rollout_is_the_same_or_its_losses_are_listed() {
    use sessiond_claude::transcript::{Fold, Index};
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../claude/tests/transcripts");
    let (mut same, mut listed) = (0, 0);
    for path in below(Path::new(folder)) {
        let bytes = fs::read(&path).unwrap();
        let index = Index::read(&bytes).unwrap();
        let told: Vec<Told> = Fold::new(&index, &bytes).map(Result::unwrap).collect();
        let about = ToldAbout {
            title: None,
            ..index.about().clone()
        };
        let (before, before_lost) = as_claude(&told, &about);
        let (back, lost) = through_codex(&told, &about);
        let (after, _) = as_claude(&back, &about);
        // What a transcript of Claude does not hold either is no difference.
        let new: Vec<_> = lost
            .iter()
            .filter(|(kind, _)| !before_lost.iter().any(|(known, _)| known == *kind))
            .map(|(kind, _)| kind)
            .collect();
        match new.is_empty() {
            true => {
                assert_eq!(after, before, "{}", path.display());
                same += 1;
            }
            false => listed += 1,
        }
    }
    assert!(
        same > 60 && listed < 10,
        "{same} the same, {listed} with losses"
    );
}

/// ADAPT-4: the same by the commands, through two stores and four files.
#[test]
fn a_session_goes_from_claude_to_codex_and_back() {
    let home = Home::new();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../claude/tests/transcripts");
    let from = Path::new(folder).join("30n_parallel_tools_split.jsonl");
    let from = from.to_str().unwrap();
    let path = |name: &str| home.path(name).to_str().unwrap().to_owned();
    let store = |name: &str| ["--store".to_owned(), path(name)];
    let convert = |from: &str, to: &str, out: &[String]| {
        let mut words = vec!["transcript", "convert", from, "--to", to, "--json"];
        words.extend(out.iter().map(String::as_str));
        json(&home.run(&words).well().stdout)
    };
    let out = |name: &str| ["-o".to_owned(), path(name)];
    let direct = convert(from, "claude", &out("direct.jsonl"));
    let session = direct["session"].as_str().unwrap().to_owned();
    let named = |name: &str| {
        let mut words = out(name).to_vec();
        words.extend(["--as".to_owned(), session.clone()]);
        words
    };
    convert(from, "sessiond", &store("one"));
    let rollout = [&named("a.jsonl")[..], &store("one")].concat();
    let wrote = convert(&session, "codex", &rollout);
    assert_eq!(wrote["lost"], json("{}"));
    convert(&path("a.jsonl"), "sessiond", &store("two"));
    let back = [&named("b.jsonl")[..], &store("two")].concat();
    convert(&session, "claude", &back);
    // A transcript that was made of the conversation without the original is the one to compare.
    let fresh = convert(&path("a.jsonl"), "claude", &named("c.jsonl"));
    assert_eq!(fresh["items"], wrote["items"]);
    let text = |name: &str| fs::read_to_string(path(name)).unwrap();
    assert_eq!(text("b.jsonl"), text("c.jsonl"));
    assert_eq!(
        sessiond_claude::transcript::check(text("b.jsonl").as_bytes()),
        []
    );
}

use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use sessiond_wire::foreign::ReadAt;

use super::*;

const THREAD: Uuid = Uuid::from_u128(7 << 76 | 8 << 60 | 1);

fn compressed(text: &[u8]) -> Vec<u8> {
    compress_to_vec(text, CompressionLevel::Fastest)
}

fn text_of(rollout: &Rollout) -> String {
    let mut bytes = vec![0; 1 << 16];
    let count = rollout.source.read_at(0, &mut bytes).unwrap();
    String::from_utf8(bytes[..count].to_vec()).unwrap()
}

/// ADAPT-4: a compressed rollout is read as the plain one, also where it was written in two goes.
#[test]
fn a_compressed_file_is_read_as_what_it_holds() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl.zst");
    fs::write(
        &path,
        [compressed(b"first\n"), compressed(b"second\n")].concat(),
    )
    .unwrap();
    let rollout = open(&path).unwrap();
    assert_eq!(rollout.name, "a.jsonl");
    assert_eq!(text_of(&rollout), "first\nsecond\n");
    assert_eq!(head(&path, 3).unwrap(), b"fir");
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() - 3]).unwrap();
    assert!(open(&path).is_err(), "it is cut");
}

#[test]
fn the_files_of_a_thread_are_found_wherever_codex_keeps_them() {
    let home = tempfile::tempdir().unwrap();
    let name = |time: &str, more: &str| format!("rollout-2026-11-{time}-{THREAD}{more}");
    let day = home.path().join("sessions/2026/11/29");
    let archive = home.path().join("archived_sessions");
    fs::create_dir_all(&day).unwrap();
    fs::create_dir_all(&archive).unwrap();
    let files = [
        day.join(name("29T10-00-00", ".jsonl")),
        day.join(name("29T10-00-00", ".jsonl.zst")),
        day.join(name("29T11-00-00", "_x.jsonl")),
        archive.join(name("30T10-00-00", ".jsonl.zst")),
    ];
    for file in &files {
        fs::write(file, "").unwrap();
    }
    fs::write(day.join("rollout-2026-11-29T10-00-00-odd.jsonl"), "").unwrap();
    let found = Library::around(&files[0]).files_of(THREAD);
    assert_eq!(
        found.iter().collect::<Vec<_>>(),
        [&files[3], &files[2], &files[0]]
    );
    assert_eq!(Library::at(home.path()).files_of(THREAD), found);
    assert!(
        Library::at(home.path())
            .files_of(Uuid::from_u128(5))
            .is_empty()
    );

    let session = SessionId::new(THREAD);
    let line = |name: &str| format!("{{\"id\":\"{THREAD}\",\"thread_name\":\"{name}\"}}\n");
    let titles = line("old") + &line("new") + "{\"id\":\"other\"}\n" + "torn";
    fs::write(home.path().join(TITLES), titles).unwrap();
    assert_eq!(
        Library::at(home.path()).title_of(session).as_deref(),
        Some("new")
    );
}

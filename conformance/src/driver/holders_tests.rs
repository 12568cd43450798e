use super::search;

#[test]
fn a_text_is_found_in_files_and_in_their_names_and_past_no_link() {
    let root = tempfile::tempdir().expect("a folder");
    let at = |name: &str| root.path().join(name);
    std::fs::create_dir_all(at("deep/er")).expect("made");
    for (name, text) in [
        ("deep/er/log", "before it-stands-here after"),
        ("it-stands-here.log", ""),
        ("other", "it-stands-nowhere"),
        ("empty", ""),
    ] {
        std::fs::write(at(name), text).expect("written");
    }
    std::os::unix::fs::symlink(at("deep"), at("link")).expect("linked");
    let mut found = Vec::new();
    search(root.path(), b"it-stands-here", &mut found);
    found.sort();
    assert_eq!(found, [at("deep/er/log"), at("it-stands-here.log")]);
}

//! `sessiond sessions export`, `import` and `gc`.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::harness::{Home, Permissions, Server, listed, only_session};

fn show(home: &Home, session: &str) -> String {
    home.run(&["sessions", "show", "--json", session])
        .well()
        .stdout
}

#[test]
fn an_exported_session_is_the_same_one_in_another_store() {
    let (here, there) = (Home::new(), Home::new());
    // Enough for a blob.
    here.run(&["exec", "/stream 2 50000\n/say hello"]).well();
    let session = only_session(&here);
    let said = here.run(&["sessions", "export", &session, "--json"]).well();
    let said: Value = serde_json::from_str(&said.stdout).unwrap();
    let file = here.path(&format!("{session}.sessiond"));
    let meta = fs::metadata(&file).unwrap();
    assert_eq!(said["bytes"], meta.len());
    assert_eq!(meta.permissions().mode() & 0o777, 0o600);
    let file = file.to_str().unwrap();
    let taken = there.run(&["sessions", "import", file]).well();
    assert_eq!(taken.stderr, "", "no progress where nobody watches");
    assert_eq!(show(&there, &session), show(&here, &session));
    there.run(&["sessions", "verify"]).well();
    there.run(&["exec", "--session", &session, "more"]).well();

    let again = here.run(&["sessions", "export", &session]);
    assert_eq!(again.code, Some(2), "the file is there: {}", again.stderr);
    let again = there.run(&["sessions", "import", file]);
    assert_eq!(
        again.code,
        Some(1),
        "the session is there: {}",
        again.stderr
    );
    let other = "0191f0aa-0000-7000-8000-000000000000";
    there
        .run(&["sessions", "import", file, "--as", other])
        .well();
    assert_eq!(listed(&there).len(), 2);
    assert!(show(&there, other).contains("hello"));
}

#[test]
fn an_import_may_say_where_the_sessions_directory_is_here() {
    let (here, there) = (Home::new(), Home::new());
    here.run(&["exec", "hello"]).well();
    let session = only_session(&here);
    let file = here.path("session");
    let file = file.to_str().unwrap();
    here.run(&["sessions", "export", &session, "-o", file])
        .well();
    let (old, new) = (here.work(), there.work());
    let remap = format!("{}={}", old.display(), new.display());
    let other = format!("{}/w=/elsewhere", old.parent().unwrap().display());
    there
        .run(&[
            "sessions", "import", file, "--remap", &other, "--remap", &remap,
        ])
        .well();
    let list = there.run(&["sessions", "list", "--json"]).well();
    let list: Value = serde_json::from_str(&list.stdout).unwrap();
    assert_eq!(list["sessions"][0]["cwd"], new.to_str().unwrap());
    there.run(&["exec", "--session", &session, "more"]).well();
    for bad in ["relative=/x", "/x", "/x=y"] {
        let done = there.run(&["sessions", "import", file, "--remap", bad]);
        assert_eq!(done.code, Some(2), "{bad}: {}", done.stderr);
    }
}

/// RESUME-8: what was allowed stays with the session; under another id it is another one, which
/// asks anew.
#[test]
fn grants_go_along_with_a_session_and_not_to_another_id() {
    let (here, there) = (Home::new(), Home::new());
    let mut server = Server::start(&here);
    server.permissions = Permissions::Hold;
    let session = server.new_session(&here);
    let prompt = server.prompt(&session, "/run true");
    let question = server.asked("session/request_permission");
    server.select(&question, "allow_always");
    server.response(prompt);
    server.quit();
    let file = here.path("session");
    let file = file.to_str().unwrap();
    here.run(&["sessions", "export", &session, "-o", file])
        .well();
    let other = "0191f0aa-0000-7000-8000-000000000000";
    // Said to be here now; without that the other directory would have to be accepted (RESUME-7).
    let remap = format!("{}={}", here.work().display(), there.work().display());
    for to in [&[][..], &["--as", other]] {
        let import = ["sessions", "import", file, "--remap", &remap];
        let args: Vec<&str> = import.iter().chain(to).copied().collect();
        there.run(&args).well();
    }
    for (id, asks) in [(session.as_str(), false), (other, true)] {
        let mut server = Server::start(&there);
        server.permissions = Permissions::Hold;
        server.load(&there, id);
        let prompt = server.prompt(id, "/run true");
        let next = server.until("a question or the end", |frame| {
            frame["method"] == "session/request_permission" || frame["id"] == prompt
        });
        let asked = next["method"] == "session/request_permission";
        assert_eq!(asked, asks, "{id}: {next}");
    }
}

/// LOG-10
#[test]
fn an_archived_session_is_exported_without_being_brought_back() {
    let (here, there) = (Home::new(), Home::new());
    here.run(&["exec", "hello"]).well();
    let session = only_session(&here);
    let before = show(&here, &session);
    here.run(&["sessions", "archive", &session]).well();
    let file = here.path("session");
    let file = file.to_str().unwrap();
    here.run(&["sessions", "export", &session, "-o", file])
        .well();
    assert_eq!(listed(&here), [""; 0]);
    there.run(&["sessions", "import", file]).well();
    assert_eq!(show(&there, &session), before);
}

#[test]
fn a_file_that_is_cut_or_altered_makes_nothing() {
    let (here, there) = (Home::new(), Home::new());
    here.run(&["exec", "hello"]).well();
    let file = here.path("session");
    let path = file.to_str().unwrap();
    here.run(&["sessions", "export", &only_session(&here), "-o", path])
        .well();
    let whole = fs::read(&file).unwrap();
    let mut altered = whole.clone();
    altered[whole.len() / 2] ^= 1;
    for bad in [&whole[..whole.len() - 1], &altered, b"no export\n"] {
        fs::write(&file, bad).unwrap();
        let done = there.run(&["sessions", "import", path]);
        assert_eq!(done.code, Some(74), "{}", done.stderr);
        assert_eq!(listed(&there), [""; 0]);
    }
    assert_eq!(there.run(&["sessions", "import", "/no/such"]).code, Some(2));
}

/// LOG-12
#[test]
fn a_sweep_says_what_it_takes_and_leaves_the_trash_unless_told() {
    let home = Home::new();
    home.run(&["exec", "hello"]).well();
    let session = only_session(&home);
    home.run(&["sessions", "rm", &session]).well();
    let sweep = |args: &[&str]| -> Value {
        let args: Vec<&str> = ["sessions", "gc", "--json"]
            .iter()
            .chain(args)
            .copied()
            .collect();
        serde_json::from_str(&home.run(&args).well().stdout).unwrap()
    };
    assert_eq!(sweep(&[])["trashed"], 0);
    let would = sweep(&["--dry-run", "--trash-days", "0"]);
    assert_eq!(would["trashed"], 1);
    let did = sweep(&["--trash-days", "0"]);
    assert_eq!(
        (&did["trashed"], &did["bytes"]),
        (&would["trashed"], &would["bytes"])
    );
    assert_eq!(sweep(&["--trash-days", "0"])["trashed"], 0);
}

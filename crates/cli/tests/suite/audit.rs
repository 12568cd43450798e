//! What commands decide without the engine is in the store's audit files like the rest.

use sessiond_log::{AuditEntry, Store, Verdict};

use crate::harness::{Home, Server, only_session};

fn trail(home: &Home) -> Vec<AuditEntry> {
    let store = Store::open_real(&home.store()).unwrap();
    store.audit_trail().unwrap()
}

/// The entries since the trail had `known`, as `action verdict reason`, and about which session.
fn since(home: &Home, known: usize) -> Vec<(String, Option<String>)> {
    let new = trail(home).into_iter().skip(known);
    new.map(|entry| {
        let verdict = match entry.verdict {
            Verdict::Accepted => "accepted",
            Verdict::Refused => "refused",
            Verdict::Noted => "noted",
        };
        let said = format!("{} {verdict} {}", entry.action, entry.reason);
        (said, entry.subject.map(|subject| subject.to_string()))
    })
    .collect()
}

/// LOG-19
#[test]
fn what_a_command_did_and_what_it_was_refused_is_recorded_with_its_reason() {
    let home = Home::new();
    home.run(&["exec", "hello"]).well();
    let session = only_session(&home);
    let nowhere = "0191f0aa-0000-7000-8000-000000000000";
    let (file, cut) = (home.path("session"), home.path("cut"));
    let (file, cut) = (file.to_str().unwrap(), cut.to_str().unwrap());
    std::fs::write(cut, "no export\n").unwrap();
    let (ours, other) = (Some(session.as_str()), Some(nowhere));
    let table: &[(&[&str], &str, Option<&str>)] = &[
        (&["repair", &session], "repair accepted lease_free", ours),
        (&["repair", nowhere], "repair refused not_found", other),
        (
            &["export", &session, "-o", file],
            "export accepted readable",
            ours,
        ),
        (
            &["export", &session, "-o", file],
            "export refused usage",
            ours,
        ),
        (
            &["export", nowhere, "-o", "x"],
            "export refused not_found",
            other,
        ),
        (&["import", file], "import refused exists", None),
        (&["import", cut], "import refused bad_export", None),
        (
            &["import", file, "--as", nowhere],
            "import accepted id_free",
            other,
        ),
        (&["gc"], "sweep accepted asked_for", None),
    ];
    for (args, said, subject) in table {
        let known = trail(&home).len();
        let args: Vec<&str> = ["sessions"].iter().chain(*args).copied().collect();
        home.run(&args);
        let expected = (said.to_string(), subject.map(str::to_owned));
        assert_eq!(since(&home, known), [expected], "{args:?}");
    }
    let known = trail(&home).len();
    home.run(&["sessions", "gc", "--dry-run"]).well();
    assert_eq!(since(&home, known), [], "a look decides nothing");
}

/// LOG-19: with who had it.
#[test]
fn a_session_in_use_is_refused_with_its_holder() {
    let home = Home::new();
    let mut server = Server::start(&home);
    let session = server.new_session(&home);
    server.turn(&session, "hello");
    for (args, action) in [
        (&["sessions", "repair", &session][..], "repair"),
        (&["sessions", "gc"], "sweep"),
    ] {
        let known = trail(&home).len();
        home.run(args);
        let entries = trail(&home);
        let entry = &entries[known];
        assert_eq!((entry.action.as_str(), &*entry.reason), (action, "busy"));
        assert_eq!(entry.verdict, Verdict::Refused);
        let holder = entry.holder.as_ref().map(|holder| holder.pid);
        assert_eq!(holder, Some(server.pid()), "{entry:?}");
    }
}

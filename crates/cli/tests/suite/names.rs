//! Sessions named by id or title: which one is meant, and what is said where none or several are.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::harness::{Finished, Home, finish, listed, only_session};

/// A session of this title, which was made in this directory; its id.
fn made_in(home: &Home, directory: &Path, title: &str) -> String {
    let before = listed(home);
    run_in(home, directory, &["exec", title]).well();
    let mut new = listed(home).into_iter().filter(|id| !before.contains(id));
    new.next().unwrap()
}

fn run_in(home: &Home, directory: &Path, args: &[&str]) -> Finished {
    let mut command = home.command(args);
    command.current_dir(directory);
    finish(command, "")
}

fn folder(home: &Home, name: &str) -> PathBuf {
    let path = home.path(name);
    fs::create_dir(&path).unwrap();
    path
}

/// The ids that `sessions list` has with these options.
fn found(home: &Home, args: &[&str]) -> Vec<String> {
    let list = home.run(&[&["sessions", "list", "--json"], args].concat());
    let list: Value = serde_json::from_str(&list.well().stdout).unwrap();
    let rows = list["sessions"].as_array().unwrap().iter();
    rows.map(|row| row["session"].as_str().unwrap().to_owned())
        .collect()
}

/// RESUME-2: each command that takes a session takes its title, and says whom it means.
#[test]
fn a_title_names_its_session_wherever_an_id_does() {
    let home = Home::new();
    home.run(&["exec", "Fix it"]).well();
    let session = only_session(&home);
    home.run(&["exec", "Another one"]).well();
    let table: [&[&str]; 9] = [
        &["sessions", "show", "Fix it"],
        &["sessions", "verify", "Fix it"],
        &["sessions", "repair", "Fix it"],
        &["sessions", "export", "Fix it", "-o", "file"],
        &["sessions", "fork", "Fix it"],
        &["exec", "--session", "Fix it", "more"],
        &["sessions", "rename", "Fix it", "Done"],
        &["sessions", "archive", "Done"],
        &["sessions", "rm", "Another one"],
    ];
    for args in table {
        let done = home.run(args).well();
        if args[1] == "rm" {
            assert!(!done.stderr.contains(&session), "{}", done.stderr);
            continue;
        }
        let said = format!("sessiond: session {session} found by its title\n");
        assert!(done.stderr.contains(&said), "{args:?}: {}", done.stderr);
        let names_it = done.stdout.contains(&session) || args[0] == "exec";
        assert!(names_it, "{args:?}: {}", done.stdout);
        if args[1] == "fork" {
            // It has the title of its parent, which would be ambiguous from here on.
            let child = done.stdout.split(' ').next().unwrap();
            home.run(&["sessions", "rm", child]).well();
        }
    }
    assert_eq!(listed(&home), [""; 0]);
    let shown = home.run(&["sessions", "unarchive", &session]).well();
    assert!(!shown.stderr.contains("title"), "an id needs no lookup");
    let shown = home.run(&["sessions", "show", "Done"]).well().stdout;
    assert!(shown.contains("more"), "the turn by title: {shown}");
}

/// RESUME-2: an exact id is the first step, and the last for what is one.
#[test]
fn a_text_that_is_an_id_is_never_taken_for_a_title() {
    let home = Home::new();
    home.run(&["exec", "the real one"]).well();
    let session = only_session(&home);
    let nobody = "0191f0aa-0000-7000-8000-000000000000";
    for title in [&session, nobody] {
        home.run(&["exec", title]).well();
    }
    let done = home.run(&["sessions", "show", &session]).well();
    assert!(done.stdout.contains("the real one"), "{}", done.stdout);
    assert_eq!(done.stderr, "");
    assert_eq!(home.run(&["sessions", "show", nobody]).code, Some(1));
    assert_eq!(found(&home, &["--title", nobody]).len(), 1);
}

/// RESUME-2, SEC-4: the case "ambiguous title".
#[test]
fn an_ambiguous_title_is_refused_with_the_ids_of_this_directory_and_a_count_of_the_others() {
    let home = Home::new();
    let (here, there) = (folder(&home, "here"), folder(&home, "there"));
    let ours = [(); 2].map(|()| made_in(&home, &here, "Fix it"));
    let theirs = made_in(&home, &there, "Fix it");
    let before = home.sessions();
    let refused = |directory: &Path, args: &[&str]| {
        let done = run_in(&home, directory, args);
        assert_eq!(done.code, Some(2), "{args:?}: {}", done.stderr);
        assert_eq!(done.stdout, "", "{args:?}");
        done.stderr
    };
    let table: [&[&str]; 5] = [
        &["sessions", "show", "Fix it"],
        &["sessions", "rm", "Fix it"],
        &["sessions", "verify", "Fix it"],
        &["sessions", "rename", "Fix it", "x"],
        &["exec", "--session", "Fix it", "x"],
    ];
    for args in table {
        let said = refused(&here, args);
        assert!(ours.iter().all(|id| said.contains(id)), "{said}");
        assert!(said.contains("and 1 in other directories"), "{said}");
        assert!(!said.contains(&theirs), "{said}");
        assert!(!said.contains(there.to_str().unwrap()), "{said}");

        let said = refused(&there, args);
        assert!(said.contains(&theirs), "{said}");
        assert!(said.contains("and 2 in other directories"), "{said}");
        assert!(!ours.iter().any(|id| said.contains(id)), "{said}");

        let said = refused(&home.work(), args);
        assert!(said.contains("3 sessions"), "{said}");
        assert!(said.contains("and 3 in other directories"), "{said}");
        assert!(!listed(&home).iter().any(|id| said.contains(id)), "{said}");
    }
    assert_eq!(home.sessions(), before, "nothing was done to any of them");

    // One is left here and one there: still not for us to choose.
    home.run(&["sessions", "rm", &ours[0]]).well();
    refused(&here, &["sessions", "show", "Fix it"]);
    // The only one is found from anywhere, and its directory said.
    home.run(&["sessions", "rm", &ours[1]]).well();
    let done = run_in(&home, &here, &["sessions", "show", "Fix it"]).well();
    let said = format!(
        "session {theirs} found by its title, of the directory {}",
        there.display()
    );
    assert!(done.stderr.contains(&said), "{}", done.stderr);
}

/// RESUME-2, LOG-9: the case "index miss". Each row is what became of the index.
#[test]
fn a_session_is_found_by_its_title_whatever_the_index_is_like() {
    type Change = fn(&Path, &[u8]);
    let table: [(&str, Change); 5] = [
        ("missing", |path, _| fs::remove_file(path).unwrap()),
        ("no database", |path, _| {
            fs::write(path, "garbage".repeat(1000)).unwrap();
        }),
        ("cut off", |path, _| {
            let bytes = fs::read(path).unwrap();
            fs::write(path, &bytes[..bytes.len() / 2]).unwrap();
        }),
        ("one from before the session was made", |path, earlier| {
            fs::write(path, earlier).unwrap();
        }),
        ("a directory", |path, _| {
            fs::remove_file(path).unwrap();
            fs::create_dir(path).unwrap();
        }),
    ];
    for (what, change) in table {
        let home = Home::new();
        let index = home.store().join("index.sqlite");
        home.run(&["exec", "before"]).well();
        listed(&home);
        let earlier = fs::read(&index).unwrap();
        home.run(&["exec", "Fix it"]).well();
        let session = found(&home, &["--title", "Fix it"]).remove(0);
        let by_id = home.run(&["sessions", "show", &session]).well().stdout;
        for args in [
            &["sessions", "show", "Fix it"][..],
            &["sessions", "show", &session],
        ] {
            if index.is_file() {
                change(&index, &earlier);
            }
            let done = home.run(args).well();
            assert_eq!(done.stdout, by_id, "{what}: {args:?}");
        }
        assert_eq!(found(&home, &["--search", "fix"]), [session], "{what}");
        let missing = home.run(&["sessions", "show", "Fix"]);
        assert_eq!(missing.code, Some(1), "{what}: {}", missing.stderr);
    }
}

#[test]
fn what_no_session_is_called_is_not_found_and_the_way_to_look_is_said() {
    let home = Home::new();
    home.run(&["exec", "Fix it"]).well();
    let before = home.sessions();
    // A part, another case, more than the title: exact is exact.
    for name in ["Fix", "fix it", "Fix it ", "%", "Fix_it", "x\ny\u{1b}[2J"] {
        for args in [
            &["sessions", "show", name][..],
            &["exec", "--session", name, "x"],
            &["sessions", "rm", name],
        ] {
            let done = home.run(args);
            assert_eq!(done.code, Some(1), "{args:?}: {}", done.stderr);
            assert!(done.stderr.contains("sessions list --search"), "{args:?}");
            assert!(!done.stderr.contains('\u{1b}'), "{:?}", done.stderr);
        }
    }
    let long = "x".repeat(501);
    assert_eq!(home.run(&["sessions", "show", &long]).code, Some(2));
    // What is archived is not looked up by its title.
    home.run(&["sessions", "archive", "Fix it"]).well();
    assert_eq!(home.run(&["sessions", "show", "Fix it"]).code, Some(1));
    assert_eq!(home.run(&["sessions", "unarchive", "Fix it"]).code, Some(2));
    let archived = before.first_folder();
    let archived = archived.split('/').next().unwrap();
    home.run(&["sessions", "unarchive", archived]).well();
    assert_eq!(home.sessions(), before);
}

#[test]
fn the_list_is_of_one_title_or_of_what_has_a_text_in_title_or_prompt() {
    let home = Home::new();
    let other = folder(&home, "other");
    let one = made_in(&home, &home.work(), "Mend the parser");
    let two = made_in(&home, &other, "Mend the lexer");
    let three = made_in(&home, &home.work(), "The end\nof the parser");
    let table: [(&[&str], &[&String]); 7] = [
        (&["--title", "Mend the lexer"], &[&two]),
        (&["--title", "Mend"], &[]),
        (&["--search", "mend"], &[&two, &one]),
        (&["--search", "PARSER"], &[&three, &one]),
        (&["--search", "mend", "--cwd", "other"], &[&two]),
        (&["--search", "mend", "--title", "The end"], &[]),
        (&["--search", "%"], &[]),
    ];
    for (args, expected) in table {
        assert_eq!(
            found(&home, args).iter().collect::<Vec<_>>(),
            expected,
            "{args:?}"
        );
    }
    home.run(&["sessions", "rename", &one, "Renamed"]).well();
    assert_eq!(found(&home, &["--title", "Mend the parser"]), [""; 0]);
    assert_eq!(
        found(&home, &["--search", "mend the parser"]),
        [one],
        "by its prompt"
    );
    for option in ["--search", "--title"] {
        let done = home.run(&["sessions", "list", option, ""]);
        assert_eq!(done.code, Some(2), "{option}: {}", done.stderr);
    }
}

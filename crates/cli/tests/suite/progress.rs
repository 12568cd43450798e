//! Long work says how far it is, to a person and to nobody else.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use rustix::fs::{CWD, Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::harness::{Home, PATIENCE, eventually, only_session};

/// A terminal: what is written to the second is read from the first.
fn terminal() -> (File, File) {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap();
    let flags = OFlags::RDWR | OFlags::NOCTTY;
    let theirs = rustix::fs::open(name.as_c_str(), flags, Mode::empty()).unwrap();
    (File::from(ours), File::from(theirs))
}

#[test]
fn a_slow_import_shows_how_far_it_is_where_stderr_is_a_terminal() {
    let (here, there) = (Home::new(), Home::new());
    here.run(&["exec", "/stream 2 50000\n/say hello"]).well();
    let session = only_session(&here);
    let file = here.path("session");
    here.run(&["sessions", "export", &session, "-o", file.to_str().unwrap()])
        .well();
    let whole = std::fs::read(&file).unwrap();
    let slow = there.path("slow");
    rustix::fs::mkfifoat(CWD, &slow, Mode::RUSR | Mode::WUSR).unwrap();

    let (mut ours, theirs) = terminal();
    let mut command = there.command(&["sessions", "import", slow.to_str().unwrap()]);
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    let mut import = command.stderr(theirs).spawn().unwrap();
    // The command keeps the last descriptor of the terminal's other end.
    drop(command);
    let shown = Arc::new(Mutex::new(String::new()));
    let screen = Arc::clone(&shown);
    let reader = std::thread::spawn(move || {
        let mut bytes = [0; 512];
        // It ends with an error: the other end is closed.
        while let Ok(count @ 1..) = ours.read(&mut bytes) {
            let text = String::from_utf8_lossy(&bytes[..count]);
            screen.lock().unwrap().push_str(&text);
        }
    });
    let mut feed = OpenOptions::new().write(true).open(&slow).unwrap();
    let mut rest = whole.chunks(1);
    // A byte at a time, until the line is there: however slow this machine is, it comes.
    eventually("a line of progress", PATIENCE, || {
        feed.write_all(rest.next()?).unwrap();
        shown
            .lock()
            .unwrap()
            .contains("imported 0 MiB")
            .then_some(())
    });
    feed.write_all(&rest.flatten().copied().collect::<Vec<u8>>())
        .unwrap();
    drop(feed);
    assert!(import.wait().unwrap().success());
    reader.join().unwrap();
    let shown = shown.lock().unwrap();
    assert!(shown.ends_with("\r\u{1b}[K"), "{shown:?}");
}

#[test]
fn nothing_of_it_reaches_a_pipe() {
    let home = Home::new();
    home.run(&["exec", "hello"]).well();
    let session = only_session(&home);
    for args in [
        &["sessions", "verify"][..],
        &["sessions", "gc"],
        &["sessions", "repair", &session],
    ] {
        assert_eq!(home.run(args).well().stderr, "", "{args:?}");
    }
}

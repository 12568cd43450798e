//! `sessiond demo`: the first thing anyone sees.

use std::time::{Duration, Instant};

use crate::harness::Home;

/// SQEQ-7, LOG-17, RESUME-6
#[test]
fn the_demo_proves_all_its_claims_without_a_terminal() {
    let home = Home::new();
    let began = Instant::now();
    let done = home.run(&["demo"]).well();
    assert!(began.elapsed() < Duration::from_secs(30));
    assert!(done.stdout.contains("claims proved"), "{}", done.stdout);
    assert!(
        !done.stdout.contains("NOT SO") && !done.stdout.contains('\u{1b}'),
        "{}",
        done.stdout
    );
    assert!(
        !home.store().exists(),
        "the user's own store is not touched"
    );
    assert_eq!(done.stderr, "");
}

#[test]
fn the_demo_does_not_depend_on_the_users_configuration() {
    let home = Home::new();
    let mut command = home.command(&["demo"]);
    command
        .env("SESSIOND_CONFIG", "/nowhere")
        .env("SESSIOND_AGENT", "nobody");
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

//! Whatever tools do, stdout carries protocol frames and nothing else (WIRE-10, WIRE-11).

use std::fs;

use crate::harness::{Home, PATIENCE, Replay, Server, children_of, eventually};

/// Writes to fd 1 of every process from the tool up to the server, with and without a newline.
const UP_THE_TREE: &str = r#"
pollute() { echo GARBAGE > /proc/$1/fd/1; printf PARTIAL > /proc/$1/fd/1; }
echo spoken by the tool
echo GARBAGE > /proc/$PPID/fd/1
up=$$
while [ "$up" != "$(cat server)" ]; do
    up=$(sed 's/.*) . \([0-9]*\) .*/\1/' "/proc/$up/stat")
    pollute "$up"
    echo "$up" >> reached
done
true
"#;

/// Writes to every descriptor of every process from the tool's parent up to the server.
const EVERY_DESCRIPTOR: &str = r#"
up=$$
while [ "$up" != "$(cat server)" ]; do
    up=$(sed 's/.*) . \([0-9]*\) .*/\1/' "/proc/$up/stat")
    for number in $(seq 0 255); do
        echo GARBAGE > "/proc/$up/fd/$number"
        printf PARTIAL > "/proc/$up/fd/$number"
    done
    echo "$up" >> reached
done 2> /dev/null
true
"#;

/// Runs a script as a tool, between two texts, and checks all that came.
#[track_caller]
fn run_polluter(home: &Home, script: &str) -> Server {
    home.write("pollute.sh", script);
    let mut server = Server::start(home);
    home.hand_over_pipes(&server);
    home.write("server", &server.pid().to_string());
    let session = server.new_session(home);
    let prompt = "said before\n/run sh pollute.sh\nsaid after";
    assert_eq!(server.turn(&session, prompt), "end_turn");
    let reached = home.read("reached");
    assert!(
        reached.lines().any(|pid| pid == server.pid().to_string()),
        "{reached}"
    );
    server.quit();
    server.read_to_end();
    let object = |frame: &serde_json::Value| frame["jsonrpc"] == "2.0";
    assert!(server.frames.iter().all(object), "{:#?}", server.frames);
    assert_eq!(
        Replay::of(&server.frames).texts(),
        ["said before", "said after"]
    );
    server
}

#[test]
fn what_tools_write_up_the_process_tree_does_not_reach_the_client() {
    let home = Home::new();
    let mut server = run_polluter(&home, UP_THE_TREE);
    let stderr = server.stderr();
    assert!(
        !stderr.contains("GARBAGE") && !stderr.contains("PARTIAL"),
        "{stderr}"
    );
    assert!(
        stderr.lines().count() <= 3,
        "the report is bounded: {stderr}"
    );
    if crate::harness::is_root() {
        // A plain user's tool cannot even open it.
        assert!(stderr.contains("diverted from stdout"), "{stderr}");
    }
}

#[test]
fn as_a_plain_user_no_descriptor_of_an_ancestor_leads_to_the_client() {
    run_polluter(&Home::of_plain_user(), EVERY_DESCRIPTOR);
}

#[test]
fn no_child_has_the_protocols_descriptors() {
    let home = Home::new();
    let mut server = Server::start(&home);
    let session = server.new_session(&home);
    server.prompt(&session, "/run sleep 600 & echo up > up; sleep 600");
    server.asked("session/request_permission");
    eventually("the tool", PATIENCE, || {
        (home.read("up") == "up\n").then_some(())
    });
    let mut tree = children_of(server.pid());
    let mut seen = 0;
    while let Some(pid) = tree.pop() {
        seen += 1;
        for entry in fs::read_dir(format!("/proc/{pid}/fd"))
            .into_iter()
            .flatten()
            .flatten()
        {
            let target = fs::read_link(entry.path()).unwrap_or_default();
            let ours = server.pipes.iter().any(|pipe| pipe.name == target);
            assert!(!ours, "process {pid} has {target:?}");
        }
        tree.extend(children_of(pid));
    }
    assert!(seen >= 3, "guard, shell and sleep, but {seen} were seen");
}

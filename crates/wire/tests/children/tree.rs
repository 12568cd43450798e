//! Nothing of a program's tree outlives it, whoever ends it and however it hides.

use std::io::{BufRead, BufReader};
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use sessiond_wire::process::{ExitStatus, Input, Supervised};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt};

use crate::probe::{self, tool};
use crate::runner::{Case, block_on};

pub(crate) const CASES: &[Case] = &[
    (
        "a_killed_program_leaves_nothing",
        a_killed_program_leaves_nothing,
    ),
    (
        "a_dropped_program_leaves_nothing",
        a_dropped_program_leaves_nothing,
    ),
    (
        "what_is_kept_for_a_program_is_dropped_with_the_last_of_it",
        what_is_kept_for_a_program_is_dropped_with_the_last_of_it,
    ),
    (
        "a_server_killed_by_sigkill_leaves_nothing",
        a_server_killed_by_sigkill_leaves_nothing,
    ),
    (
        "a_guard_told_to_end_leaves_nothing",
        a_guard_told_to_end_leaves_nothing,
    ),
    (
        "a_program_that_exits_leaves_nothing",
        a_program_that_exits_leaves_nothing,
    ),
    (
        "a_killed_program_may_say_a_last_word",
        a_killed_program_may_say_a_last_word,
    ),
    (
        "a_killer_works_from_elsewhere",
        a_killer_works_from_elsewhere,
    ),
    (
        "the_end_of_the_spawning_thread_is_no_end",
        the_end_of_the_spawning_thread_is_no_end,
    ),
];

/// Scripts that print, on one line, the guard and every process that must die, and then stay.
const TREES: [(&str, &str); 7] = [
    (
        "a child in the background",
        "sleep 1000 & echo $PPID $$ $!; wait",
    ),
    (
        "a session of its own",
        "setsid sleep 1000 & echo $PPID $$ $!; wait",
    ),
    (
        "a daemon, forked twice",
        "G=$PPID; (setsid sh -c \"echo $G \\$\\$; exec sleep 1000\" &); sleep 1000",
    ),
    (
        "deaf to SIGTERM",
        "trap '' TERM HUP INT; echo $PPID $$; while :; do sleep 1; done",
    ),
    ("stopped", "echo $PPID $$; kill -STOP $$"),
    (
        "deaf, in a session of its own, below another",
        "setsid sh -c \"trap '' TERM; setsid sleep 1000 & echo $PPID $$ \\$\\$ \\$!; wait\" & wait",
    ),
    (
        "many",
        "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
            setsid sleep 1000 & all=\"$all $!\"
        done; echo $PPID $$ $all; wait",
    ),
];

/// Seconds in which a tree must be gone: the requirement is one, this is fivefold.
const GONE_WITHIN: i64 = 5;

/// Watched processes, identified even if their numbers are used again.
struct Watched {
    guard: Pid,
    descriptors: Vec<OwnedFd>,
}

impl Watched {
    /// Of the processes whose numbers are on `line`, the guard first.
    fn new(line: &str) -> Self {
        let pids: Vec<Pid> = line
            .split_whitespace()
            .map(|pid| Pid::from_raw(pid.parse().unwrap()).unwrap())
            .collect();
        assert!(pids.len() >= 2, "{line}");
        let open = |pid: &Pid| pidfd_open(*pid, PidfdFlags::empty()).unwrap();
        Self {
            guard: pids[0],
            descriptors: pids.iter().map(open).collect(),
        }
    }

    /// Whether all have ended, waiting `seconds` for each.
    fn are_gone(&self, seconds: i64) -> bool {
        let limit = Timespec {
            tv_sec: seconds,
            tv_nsec: 0,
        };
        self.descriptors.iter().all(|descriptor| {
            let mut watched = [PollFd::new(descriptor, PollFlags::IN)];
            poll(&mut watched, Some(&limit)).unwrap() == 1
        })
    }
}

/// Starts the script and reads the line that it prints.
async fn start(script: &str) -> (Supervised, Watched) {
    let mut child = Supervised::spawn(tool(script)).unwrap();
    let mut line = String::new();
    let mut stdout = tokio::io::BufReader::new(child.stdout.as_mut().unwrap());
    stdout.read_line(&mut line).await.unwrap();
    let watched = Watched::new(&line);
    (child, watched)
}

fn a_killed_program_leaves_nothing() {
    for (name, script) in TREES {
        block_on(async {
            let (mut child, watched) = start(script).await;
            let status = child.kill().await;
            assert!(
                matches!(status, ExitStatus::Signal(9 | 15)),
                "{name}: {status:?}"
            );
            assert!(watched.are_gone(0), "{name}: before kill returns");
            assert_eq!(child.kill().await, status, "{name}: again");
        });
    }
}

fn a_dropped_program_leaves_nothing() {
    for (name, script) in TREES {
        block_on(async {
            let (child, watched) = start(script).await;
            let killer = child.killer();
            drop(child);
            assert!(
                watched.are_gone(GONE_WITHIN),
                "{name}: though a killer is kept"
            );
            drop(killer);
        });
    }
}

/// TASK-4: whoever holds a turn open for a program sees its end, also where it was dropped.
fn what_is_kept_for_a_program_is_dropped_with_the_last_of_it() {
    for (name, script) in TREES {
        block_on(async {
            let (mut child, watched) = start(script).await;
            let (kept, dropped) = tokio::sync::oneshot::channel::<()>();
            child.keep(kept);
            drop(child);
            assert!(dropped.await.is_err(), "{name}: nothing is ever sent");
            assert!(watched.are_gone(0), "{name}");
        });
    }
}

fn a_server_killed_by_sigkill_leaves_nothing() {
    for (name, script) in TREES {
        let mut server = Command::new(std::env::current_exe().unwrap())
            .args([probe::COMMAND, probe::SERVE, script])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(server.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let watched = Watched::new(&line);
        server.kill().unwrap();
        server.wait().unwrap();
        assert!(watched.are_gone(GONE_WITHIN), "{name}");
    }
}

fn a_guard_told_to_end_leaves_nothing() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        for (name, script) in TREES {
            block_on(async {
                let (mut child, watched) = start(script).await;
                kill_process(watched.guard, signal).unwrap();
                let status = child.wait().await;
                assert!(
                    matches!(status, ExitStatus::Signal(9 | 15)),
                    "{name}: {status:?}"
                );
                assert!(watched.are_gone(0), "{name}");
            });
        }
    }
}

fn a_program_that_exits_leaves_nothing() {
    let scripts = [
        (
            "a child in the background",
            "sleep 1000 & echo $PPID $!; read -r go; exit 3",
        ),
        (
            "a session of its own",
            "setsid sleep 1000 & echo $PPID $!; read -r go; exit 3",
        ),
        (
            "a daemon, forked twice",
            "G=$PPID; (setsid sh -c \"echo $G \\$\\$; exec sleep 1000\" &); read -r go; exit 3",
        ),
    ];
    for (name, script) in scripts {
        block_on(async {
            let mut command = tool(script);
            command.stdin = Input::Piped;
            let mut child = Supervised::spawn(command).unwrap();
            let mut line = String::new();
            let mut stdout = tokio::io::BufReader::new(child.stdout.as_mut().unwrap());
            stdout.read_line(&mut line).await.unwrap();
            let watched = Watched::new(&line);
            assert_eq!(child.wait().await, ExitStatus::Code(3), "{name}");
            assert!(watched.are_gone(0), "{name}: before wait returns");
        });
    }
}

fn a_killed_program_may_say_a_last_word() {
    block_on(async {
        let script = "trap 'echo bye; exit 5' TERM; echo $PPID $$; while :; do sleep 0.01; done";
        let mut child = Supervised::spawn(tool(script)).unwrap();
        let mut lines = tokio::io::BufReader::new(child.stdout.take().unwrap()).lines();
        let watched = Watched::new(&lines.next_line().await.unwrap().unwrap());
        assert_eq!(child.kill().await, ExitStatus::Code(5));
        assert_eq!(lines.next_line().await.unwrap().as_deref(), Some("bye"));
        assert!(watched.are_gone(0));
    });
}

fn a_killer_works_from_elsewhere() {
    block_on(async {
        let (mut child, watched) = start(TREES[0].1).await;
        let killer = child.killer();
        let thread = std::thread::spawn(move || {
            killer.kill();
            killer.kill();
        });
        assert_eq!(child.wait().await, ExitStatus::Signal(15));
        thread.join().unwrap();
        assert!(watched.are_gone(0));
    });
}

/// The signal of the parent's death is also sent when only the thread ends that spawned the guard.
fn the_end_of_the_spawning_thread_is_no_end() {
    block_on(async {
        let runtime = tokio::runtime::Handle::current();
        let (hand_over, handed_over) = std::sync::mpsc::channel();
        let (let_go, go) = std::sync::mpsc::channel::<()>();
        let spawning = std::thread::spawn(move || {
            let _inside = runtime.enter();
            let mut command = tool("echo ready; while read -r word; do echo $word; done; exit 4");
            command.stdin = Input::Piped;
            hand_over.send(Supervised::spawn(command).unwrap()).unwrap();
            go.recv().ok();
        });
        let mut child = handed_over.recv().unwrap();
        let mut lines = tokio::io::BufReader::new(child.stdout.take().unwrap()).lines();
        assert_eq!(lines.next_line().await.unwrap().as_deref(), Some("ready"));
        drop(let_go);
        spawning.join().unwrap();
        for _ in 0..100 {
            child
                .stdin
                .as_mut()
                .unwrap()
                .write_all(b"still here\n")
                .await
                .unwrap();
            assert_eq!(
                lines.next_line().await.unwrap().as_deref(),
                Some("still here")
            );
        }
        assert_eq!(child.wait().await, ExitStatus::Code(4));
    });
}

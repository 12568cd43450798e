//! The guard: a small process between the runner and a target, above everything the target starts.
//!
//! It is the subreaper of the target's whole tree, so that a child that calls `setsid`, or whose
//! parent is gone, is still found and ended; and it ends the tree when the runner dies. The target
//! has the streams that the runner gave; the guard itself talks over a socket:
//!
//! | runner says | guard answers |
//! | --- | --- |
//! | | `started PID`, or `failed REASON`; of a target that is watched before it `watching`, or `unwatched REASON` |
//! | | `synced [CALL, PATH]` of a target that is watched: it goes on when the runner says `noted` |
//! | `signal N root\|group\|tree` | |
//! | `bound BYTES` | bounds the files of the tree; `bounded` |
//! | `tree` | `tree PID:COMMAND PID:COMMAND …`, without the target itself |
//! | `end`, or end of stream | ends the tree, then itself |
//! | | `exited CODE`; minus the signal's number |

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{
    Pid, Resource, Rlimit, Signal, WaitOptions, WaitStatus, getpid, kill_process,
    kill_process_group, prlimit, setrlimit, wait,
};
use tokio::signal::unix::{SignalKind, signal};

mod watch;

pub(crate) use watch::{STAGE, stage};

/// First argument by which this binary is a guard.
pub(crate) const GUARD: &str = "__guard";
/// Variable of the guard, not of the target: how many bytes a file may have at most.
pub(crate) const FILE_BYTES: &str = "__GUARD_FILE_BYTES";
/// Variable of the guard, not of the target: that the target is watched.
pub(crate) const WATCH: &str = "__GUARD_WATCH";
/// The same as [`FILE_BYTES`] where nothing is said: a target that writes without end shall not fill the disk.
pub(crate) const MOST_FILE: u64 = 128 * 1024 * 1024;
/// Longest time spent on killing: what is left then hangs in the kernel.
const KILL_LIMIT: Duration = Duration::from_secs(5);
/// Time between two looks at a tree that is being killed.
const RESCAN: Duration = Duration::from_millis(5);

/// Whether the target has been reaped: from then on its number may belong to another process.
static REAPED: AtomicBool = AtomicBool::new(false);

/// Runs as a guard; `arguments` are the socket and the command line of what is guarded.
pub fn main(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let (Some(socket), Some(program)) = (arguments.next(), arguments.next()) else {
        return ExitCode::from(2);
    };
    match guard(Path::new(&socket), &program, arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("guard: {error}");
            ExitCode::from(3)
        }
    }
}

fn guard(
    socket: &Path,
    program: &OsString,
    arguments: impl Iterator<Item = OsString>,
) -> io::Result<()> {
    let socket = UnixStream::connect(socket)?;
    rustix::process::set_child_subreaper(Some(getpid()))?;
    let most = std::env::var(FILE_BYTES).ok();
    let most = most.and_then(|most| most.parse().ok()).unwrap_or(MOST_FILE);
    setrlimit(Resource::Fsize, files(most))?;
    heed_signals()?;
    let watched = std::env::var_os(WATCH).is_some();
    let (note, noted) = sync_channel(1);
    let started = if watched {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg(STAGE).arg(program).args(arguments);
        of_target(&mut command);
        let (tell, started) = sync_channel(1);
        let told = socket.try_clone()?;
        std::thread::spawn(move || watch::trace(command, &tell, noted, told));
        let started = started.recv().map_err(io::Error::other)?;
        say(
            &socket,
            &match &started {
                Ok(_) => "watching".to_owned(),
                Err(error) => format!("unwatched {error}"),
            },
        );
        started
    } else {
        let mut command = Command::new(program);
        command.args(arguments);
        of_target(&mut command);
        command.spawn().map(|child| Pid::from_child(&child))
    };
    // The target alone holds its streams, so that their ends are seen.
    let null = File::options().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(&null)?;
    rustix::stdio::dup2_stderr(&null)?;
    let root = match started {
        Ok(root) => root,
        Err(error) => {
            say(&socket, &format!("failed {error}"));
            return Ok(());
        }
    };
    // From here on nothing may keep the tree from being ended, least of all that nobody listens.
    say(&socket, &format!("started {}", root.as_raw_nonzero()));
    if let Ok(reaper) = socket.try_clone() {
        if !watched {
            std::thread::spawn(move || reap(root, &reaper));
        }
        obey(root, &socket, &note);
    }
    // A sync that waits for its note would keep its thread from being ended in order.
    drop(note);
    end_tree();
    Ok(())
}

/// What is the target's own and not its guard's.
fn of_target(command: &mut Command) {
    command
        .env_remove(FILE_BYTES)
        .env_remove(WATCH)
        .process_group(0);
}

/// Says one line, whole; whether somebody may hear it.
fn say(mut socket: &UnixStream, line: &str) -> bool {
    socket.write_all(format!("{line}\n").as_bytes()).is_ok()
}

/// Handles the signals that whoever started the suite may have ignored, as a shell does in its background jobs: what
/// is ignored stays so over exec, what is handled becomes the default again. The guard itself then ends with its
/// runner alone.
fn heed_signals() -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()?;
    let _entered = runtime.enter();
    for kind in [
        SignalKind::hangup(),
        SignalKind::interrupt(),
        SignalKind::quit(),
        SignalKind::terminate(),
        SignalKind::user_defined1(),
        SignalKind::user_defined2(),
        SignalKind::alarm(),
    ] {
        // The handler stays for good, though nobody listens.
        drop(signal(kind)?);
    }
    Ok(())
}

/// Does what the runner says until it says that this is the end, or is gone.
fn obey(root: Pid, socket: &UnixStream, note: &SyncSender<()>) {
    let Ok(reader) = socket.try_clone() else {
        return;
    };
    for line in BufReader::new(reader).lines() {
        let Ok(line) = line else { return };
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["signal", number, whom] => {
                if let Some(signal) = number.parse().ok().and_then(Signal::from_named_raw) {
                    send(signal, whom, root);
                }
            }
            // Nobody waits for it where the target was ended meanwhile.
            ["noted"] => {
                let _ = note.try_send(());
            }
            ["bound", bytes] => {
                if let Ok(bytes) = bytes.parse() {
                    bound(bytes);
                    say(socket, "bounded");
                }
            }
            ["tree"] => {
                let found: Vec<String> = descendants()
                    .into_iter()
                    .filter(|pid| *pid != root)
                    .map(describe)
                    .collect();
                if !say(socket, &format!("tree {}", found.join(" "))) {
                    return;
                }
            }
            _ => return,
        }
    }
}

/// A bound that can be raised again, up to the guard's own.
fn files(most: u64) -> Rlimit {
    Rlimit {
        current: Some(most),
        maximum: Some(MOST_FILE),
    }
}

/// Bounds the files of the tree, and of what is started in it later. An error says that a process is gone already.
fn bound(most: u64) {
    for pid in descendants() {
        let _ = prlimit(Some(pid), Resource::Fsize, files(most));
    }
}

/// An error says that the process is gone already.
fn send(signal: Signal, whom: &str, root: Pid) {
    if !REAPED.load(Ordering::SeqCst) {
        let _ = match whom {
            "root" => kill_process(root, signal),
            _ => kill_process_group(root, signal),
        };
    }
    if whom == "tree" {
        for pid in descendants() {
            let _ = kill_process(pid, signal);
        }
    }
}

/// Reaps for ever; says how the target ended.
fn reap(root: Pid, socket: &UnixStream) {
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == root => ended(status, socket),
            // Without a child there may be one again only while the target lives.
            Err(Errno::CHILD) => std::thread::sleep(RESCAN),
            _ => {}
        }
    }
}

/// Says how the target ended.
fn ended(status: WaitStatus, socket: &UnixStream) {
    REAPED.store(true, Ordering::SeqCst);
    let signal = || status.terminating_signal().map(|number| -number);
    let code = status.exit_status().or_else(signal).unwrap_or(-1);
    say(socket, &format!("exited {code}"));
}

/// Ends everything below this process.
pub(crate) fn end_tree() {
    let until = Instant::now() + KILL_LIMIT;
    // One look is not one moment: what is born or handed on during it may be missed by it.
    let mut empty = 0;
    while empty < 2 && Instant::now() < until {
        let found = descendants();
        empty = if found.is_empty() { empty + 1 } else { 0 };
        // Stopped first, so that none of them starts another while they are killed.
        for signal in [Signal::STOP, Signal::KILL] {
            for pid in &found {
                let _ = kill_process(*pid, signal);
            }
        }
        std::thread::sleep(RESCAN);
    }
}

/// Everything below this process that has not ended.
fn descendants() -> Vec<Pid> {
    let processes = processes();
    let mut found = vec![getpid()];
    let mut at = 0;
    while at < found.len() {
        let parent = found[at];
        for process in &processes {
            if process.parent == parent && !found.contains(&process.pid) {
                found.push(process.pid);
            }
        }
        at += 1;
    }
    found
        .split_off(1)
        .into_iter()
        .filter(|pid| {
            let ended = |process: &Process| process.pid == *pid && process.life == Life::Ended;
            !processes.iter().any(ended)
        })
        .collect()
}

/// A process as the kernel shows it.
struct Process {
    pid: Pid,
    parent: Pid,
    life: Life,
}

/// An ended process stands until it is reaped, and may be the link to one that was read before its
/// parent changed.
#[derive(PartialEq, Eq)]
enum Life {
    Lives,
    Ended,
}

/// Every process.
fn processes() -> Vec<Process> {
    let Ok(entries) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .filter_map(|entry| {
            let pid: i32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            // The name in parentheses may hold anything, blanks and parentheses too.
            let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
            let state = fields.next()?;
            let parent: i32 = fields.next()?.parse().ok()?;
            Some(Process {
                pid: Pid::from_raw(pid)?,
                parent: Pid::from_raw(parent)?,
                life: if state == "Z" {
                    Life::Ended
                } else {
                    Life::Lives
                },
            })
        })
        .collect()
}

fn describe(pid: Pid) -> String {
    let pid = pid.as_raw_nonzero();
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    format!("{pid}:{}", name.trim().replace(' ', "_"))
}

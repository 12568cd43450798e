//! A process of the target, as the runner holds it: guard, streams, and what they say.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::client::Client;
use crate::disk::{Disk, INSIDE};
use crate::guard::{FILE_BYTES, GUARD, MOST_FILE, WATCH};
use crate::lines::{Lines, contains};
use crate::recording::{Ending, ProcessIndex, Recorder, Room, What};
use crate::step::Watching;

mod drain;
mod report;

use drain::Drain;
pub(crate) use report::BOUNDED;

/// Bytes read at once.
const PIECE: usize = 64 * 1024;
/// How long a guard may take to come up; it is this program itself.
const GUARD_START: Duration = Duration::from_secs(10);
/// A longer line is no request of a target: a file that it writes may be long, but not this long.
const LONGEST_REQUEST: usize = 4 * 1024 * 1024;
/// Runs what follows without the signal of a file that grew too long, so that the write fails as it
/// does on a full disk.
const UNSIGNALLED: [&str; 4] = ["sh", "-c", "trap '' XFSZ; exec \"$@\"", "sh"];
/// Time between two pieces of what is written in pieces.
const PIECE_PAUSE: Duration = Duration::from_millis(1);
/// How long a paused reader sleeps between two looks.
const PAUSE: Duration = Duration::from_millis(5);

/// What is wanted of a process.
#[derive(Debug)]
pub(crate) struct Launch<'a> {
    pub(crate) argv: &'a [String],
    pub(crate) env: &'a BTreeMap<String, String>,
    pub(crate) cwd: &'a Path,
    /// How many bytes a file of the target may have at most; the guard's own bound when absent.
    pub(crate) file_bytes: Option<u64>,
    /// Which calls of the target are recorded.
    pub(crate) watch: Option<Watching>,
    /// What the store lies on, where the case has a disk of its own.
    pub(crate) disk: Option<&'a Disk>,
    /// Where the guard's socket may be; its path must stay below 108 bytes.
    pub(crate) socket: &'a Path,
}

/// A started process; dropping it ends its whole tree.
#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) index: ProcessIndex,
    guard: Child,
    control: UnixStream,
    stdin: Mutex<Sender<Input>>,
    paused: Arc<AtomicBool>,
}

/// What the writer of stdin is told.
#[derive(Debug)]
enum Input {
    /// Bytes, and how many at a time; 0 for all.
    Bytes(Vec<u8>, usize),
    Close,
}

/// Writes to a process from elsewhere than its driver.
#[derive(Debug, Clone)]
pub(crate) struct Pen {
    recorder: Arc<Recorder>,
    index: ProcessIndex,
    to: Sender<Input>,
}

impl Pen {
    /// Writes a frame.
    pub(crate) fn frame(&self, frame: &Value) -> usize {
        let mut line = frame.to_string().into_bytes();
        let at = self.recorder.sent(self.index, &line);
        line.push(b'\n');
        // A writer that is gone has recorded why.
        let _ = self.to.send(Input::Bytes(line, 0));
        at
    }
}

impl Process {
    /// Starts one. A target that cannot be started is one that exits with 127.
    ///
    /// # Errors
    ///
    /// What keeps the runner itself from working.
    pub(crate) fn start(
        launch: &Launch<'_>,
        recorder: &Arc<Recorder>,
        index: ProcessIndex,
        client: Arc<Client>,
    ) -> io::Result<Self> {
        let _ = std::fs::remove_file(launch.socket);
        let listener = UnixListener::bind(launch.socket).map_err(|error| match error.kind() {
            io::ErrorKind::InvalidInput => io::Error::other(format!(
                "{} is longer than the path of a socket may be: set TMPDIR to a folder with a shorter one",
                launch.socket.display()
            )),
            _ => error,
        })?;
        let program = std::env::current_exe()?;
        let mut arguments: Vec<OsString> = Vec::new();
        if let Some(keeper) = launch.disk.and_then(Disk::keeper) {
            let keeper = keeper.number().to_string();
            arguments.extend([INSIDE.into(), keeper.into(), program.clone().into()]);
        }
        arguments.extend([GUARD.into(), launch.socket.into()]);
        if matches!(launch.disk, Some(Disk::Shared(_))) {
            arguments.extend(UNSIGNALLED.map(OsString::from));
        }
        arguments.extend(launch.argv.iter().map(OsString::from));
        let mut command = Command::new(program);
        command.env_clear().envs(launch.env);
        if let Some(bytes) = launch.file_bytes {
            command.env(FILE_BYTES, bytes.to_string());
        }
        if launch.watch.is_some() {
            command.env(WATCH, "");
        }
        let mut guard = command
            .args(arguments)
            .current_dir(launch.cwd)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let control = accept(&listener, &mut guard)?;
        let _ = std::fs::remove_file(launch.socket);
        let (to, inputs) = channel();
        let pen = Pen {
            recorder: Arc::clone(recorder),
            index,
            to: to.clone(),
        };
        let paused = Arc::new(AtomicBool::new(false));
        recorder.add(index, What::Started);
        if let Some(stdin) = guard.stdin.take() {
            let recorder = Arc::clone(recorder);
            std::thread::spawn(move || write(stdin, &inputs, &recorder, index));
        }
        let mut drain = Drain::default();
        if let Some(stdout) = guard.stdout.take() {
            if launch.watch.is_some() {
                drain = Drain::of(&stdout)?;
            }
            let reader = Reader {
                drain: drain.clone(),
                recorder: Arc::clone(recorder),
                index,
                paused: Arc::clone(&paused),
                client,
                pen,
            };
            std::thread::spawn(move || reader.read(stdout));
        }
        if let Some(stderr) = guard.stderr.take() {
            let recorder = Arc::clone(recorder);
            std::thread::spawn(move || read_stderr(stderr, &recorder, index));
        }
        let answers = control.try_clone()?;
        let listening = Arc::clone(recorder);
        std::thread::spawn(move || report::listen(&answers, &drain, &listening, index));
        Ok(Self {
            index,
            guard,
            control,
            stdin: Mutex::new(to),
            paused,
        })
    }

    /// Queues bytes for stdin, `pace` at a time; 0 for all at once.
    pub(crate) fn write(&self, bytes: Vec<u8>, pace: usize) {
        self.tell(Input::Bytes(bytes, pace));
    }

    /// Closes stdin after what is queued.
    pub(crate) fn close(&self) {
        self.tell(Input::Close);
    }

    /// Sends a signal; an error means that the guard, and with it the target, is gone.
    pub(crate) fn signal(&self, number: i32, whom: &str) {
        let _ = writeln!(&self.control, "signal {number} {whom}");
    }

    /// Asks for what lives below the target; the answer is an entry of the recording.
    pub(crate) fn ask_tree(&self) {
        let _ = writeln!(&self.control, "tree");
    }

    /// Bounds the files of the whole tree from now on; the guard's own bound when absent.
    pub(crate) fn bound(&self, file_bytes: Option<u64>) {
        let bytes = file_bytes.unwrap_or(MOST_FILE);
        let _ = writeln!(&self.control, "bound {bytes}");
    }

    /// Stops reading stdout, so that the target's pipe fills; or goes on.
    pub(crate) fn set_reading(&self, reading: Reading) {
        self.paused
            .store(reading == Reading::Paused, Ordering::SeqCst);
    }

    fn tell(&self, input: Input) {
        let sender = self.stdin.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = sender.send(input);
    }
}

/// Whether stdout of a target is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    On,
    Paused,
}

impl Drop for Process {
    fn drop(&mut self) {
        self.set_reading(Reading::On);
        let _ = writeln!(&self.control, "end");
        // The guard gives up on a tree after five seconds.
        let _ = self.guard.wait();
    }
}

/// Waits for the guard to call, as long as it lives.
fn accept(listener: &UnixListener, guard: &mut Child) -> io::Result<UnixStream> {
    listener.set_nonblocking(true)?;
    let until = Instant::now() + GUARD_START;
    loop {
        match listener.accept() {
            Ok((control, _)) => {
                control.set_nonblocking(false)?;
                return Ok(control);
            }
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => return Err(error),
            Err(_) if guard.try_wait()?.is_some() || Instant::now() > until => {
                let _ = guard.kill();
                return Err(io::Error::other("the guard did not start"));
            }
            Err(_) => std::thread::sleep(Duration::from_millis(1)),
        }
    }
}

fn write(
    mut stdin: ChildStdin,
    inputs: &Receiver<Input>,
    recorder: &Recorder,
    index: ProcessIndex,
) {
    for input in inputs {
        let Input::Bytes(bytes, pace) = input else {
            break;
        };
        let paced = pace > 0;
        let pace = if paced { pace } else { bytes.len().max(1) };
        for piece in bytes.chunks(pace) {
            if paced {
                // Otherwise a pipe hands many of them over at once.
                std::thread::sleep(PIECE_PAUSE);
            }
            if let Err(error) = stdin.write_all(piece).and_then(|()| stdin.flush()) {
                recorder.add(index, What::Note(format!("stdin: {error}")));
                return;
            }
        }
    }
    drop(stdin);
    recorder.add(index, What::StdinClosed);
}

/// Reads stdout of a process.
struct Reader {
    drain: Drain,
    recorder: Arc<Recorder>,
    index: ProcessIndex,
    paused: Arc<AtomicBool>,
    client: Arc<Client>,
    pen: Pen,
}

impl Reader {
    /// Until the end, or until the target has sent too much; then its pipe is closed.
    fn read(self, mut stdout: impl Read) {
        let mut lines = Lines::default();
        let mut piece = vec![0; PIECE];
        loop {
            while self.paused.load(Ordering::SeqCst) {
                std::thread::sleep(PAUSE);
            }
            let _working = self.drain.work();
            let Ok(count @ 1..) = stdout.read(&mut piece) else {
                break;
            };
            let Ok(found) = lines.take(&piece[..count]) else {
                self.recorder.add(self.index, What::Flooded);
                return;
            };
            if self.take(found, Ending::Lf) == Room::Full {
                return;
            }
        }
        if let Some(rest) = lines.end() {
            self.take(vec![rest], Ending::None);
        }
        self.recorder.add(self.index, What::StdoutClosed);
    }

    fn take(&self, lines: Vec<Vec<u8>>, ending: Ending) -> Room {
        // Only what may be a request is parsed twice.
        let request = |line: &Vec<u8>| -> Option<Value> {
            let asks = || contains(line, b"\"method\"") || contains(line, b"\"request\"");
            let may_ask = line.len() <= LONGEST_REQUEST && asks();
            may_ask.then(|| serde_json::from_slice(line).ok()).flatten()
        };
        let requests: Vec<Value> = lines.iter().filter_map(request).collect();
        let room = self.recorder.lines(self.index, lines, ending);
        for request in requests {
            self.client.take(&request, &self.pen);
        }
        room
    }
}

fn read_stderr(mut stderr: impl Read, recorder: &Recorder, index: ProcessIndex) {
    let mut piece = vec![0; PIECE];
    while let Ok(count @ 1..) = stderr.read(&mut piece) {
        recorder.stderr(index, &piece[..count]);
    }
}

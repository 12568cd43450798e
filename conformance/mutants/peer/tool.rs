//! Running a command so that nothing of it is left: below a guard that dies with us.

use std::io::{self, BufRead as _, BufReader, Read as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use crate::fault::on;

/// First argument by which this binary is a guard.
pub(crate) const GUARD: &str = "__guard";

/// Most of the output that is kept.
const MOST_OUTPUT: usize = 64 * 1024;

/// A command that runs. Dropping it ends all of it.
pub(crate) struct Tool {
    guard: Child,
    control: Option<UnixStream>,
    ended: Receiver<i32>,
    output: Receiver<Vec<u8>>,
}

impl Tool {
    /// Starts a command in a folder.
    pub(crate) fn start(command: &str, cwd: &Path) -> io::Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let socket = std::env::temp_dir().join(format!("p{}-{number}", std::process::id()));
        let listener = UnixListener::bind(&socket)?;
        let (read, write) = io::pipe()?;
        let stdin = if on("tool-stdin-shared") {
            Stdio::inherit()
        } else {
            Stdio::null()
        };
        let command = format!("exec 2>&1; {command}");
        let mut unguarded = Command::new("setsid");
        let mut guarded = Command::new(std::env::current_exe()?);
        guarded.arg(GUARD).arg(&socket);
        let guard = if on("tools-unguarded") {
            unguarded.arg("true");
            &mut unguarded
        } else {
            guarded.args(["sh", "-c", &command]);
            &mut guarded
        };
        let guard = guard
            .current_dir(cwd)
            .stdin(stdin)
            .stdout(if on("stdout-left-open") {
                Stdio::inherit()
            } else {
                Stdio::from(write.try_clone()?)
            })
            .stderr(write)
            .spawn()?;
        let (tell_output, output) = channel();
        std::thread::spawn(move || tell_output.send(collect(read)));
        let (tell, ended) = channel();
        let control = if on("tools-unguarded") {
            let mut child = Command::new("sh")
                .args(["-c", &command])
                .current_dir(cwd)
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()?;
            std::thread::spawn(move || {
                let code = child.wait().ok().and_then(|status| status.code());
                let _ = tell.send(code.unwrap_or(-1));
            });
            None
        } else {
            let (control, _) = listener.accept()?;
            let answers = BufReader::new(control.try_clone()?);
            std::thread::spawn(move || {
                for line in answers.lines().map_while(Result::ok) {
                    if let Some(code) = line.strip_prefix("exited ") {
                        let _ = tell.send(code.parse().unwrap_or(-1));
                    }
                }
            });
            Some(control)
        };
        std::fs::remove_file(&socket)?;
        Ok(Self {
            guard,
            control,
            ended,
            output,
        })
    }

    /// How it ended, once it has.
    pub(crate) fn ended(&self) -> Option<i32> {
        self.ended.try_recv().ok()
    }

    /// Lets it come to its end, if that is soon.
    pub(crate) fn finish(self) {
        let until = Instant::now() + Duration::from_millis(500);
        while self.ended().is_none() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// What it printed. What it left running is ended first, or it might print for ever.
    pub(crate) fn output(mut self) -> String {
        self.end();
        let bytes = self.output.recv_timeout(Duration::from_secs(2));
        String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned()
    }

    fn end(&mut self) {
        if let Some(control) = self.control.take() {
            let _ = control.shutdown(std::net::Shutdown::Both);
        }
        let _ = self.guard.wait();
    }
}

impl Drop for Tool {
    fn drop(&mut self) {
        self.end();
    }
}

/// The first part of what is printed; all of it is read, so that nobody waits for us.
fn collect(mut read: io::PipeReader) -> Vec<u8> {
    let mut kept = Vec::new();
    let mut piece = [0; 8192];
    while let Ok(count @ 1..) = read.read(&mut piece) {
        let room = MOST_OUTPUT - kept.len();
        kept.extend_from_slice(&piece[..count.min(room)]);
    }
    kept
}

//! The stdout guard (WIRE-10).

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::fcntl_dupfd_cloexec;
use rustix::stdio::{dup2_stdin, dup2_stdout};

use super::diverted::{self, DivertedCounter};

/// Lowest number for the protocol's private descriptors: the small ones stay free for programs
/// that expect them.
const LOWEST_PRIVATE_FD: i32 = 10;

/// Set by the first call of [`install`] and never reset.
static INSTALLED: AtomicBool = AtomicBool::new(false);

/// The protocol's own ends of standard input and output: close-on-exec, blocking, the only ones.
#[derive(Debug)]
pub struct ProtocolIo {
    /// What the client writes to us.
    pub input: File,
    /// What the client reads from us. Blocking, so that a slow client is felt.
    pub output: File,
    /// What would have polluted the output.
    pub diverted: DivertedCounter,
}

/// Why the guard could not be installed.
#[derive(Debug, thiserror::Error)]
pub enum GuardError {
    /// It is installed already, and its descriptors are in use.
    #[error("the stdout guard is already installed")]
    AlreadyInstalled,
    /// The operating system refused a step.
    #[error("the stdout guard could not be installed ({step})")]
    Os {
        /// What was attempted.
        step: &'static str,
        /// What came of it.
        source: io::Error,
    },
}

impl GuardError {
    /// Stable name of the cause.
    pub fn code(&self) -> &'static str {
        match self {
            Self::AlreadyInstalled => "guard_installed",
            Self::Os { .. } => "guard_os",
        }
    }
}

/// Takes the protocol's stdin and stdout away from everyone else in this process and its children.
///
/// Fd 0 becomes `/dev/null` and fd 1 a pipe whose content is counted and thrown away, so that no
/// print of a library, of native code, of a child, or of a tool through `/proc/PID/fd/1` reaches
/// the client. Where we are not root the process is also made non-dumpable: its descriptors can
/// then not be opened through `/proc` by another process of the same user.
///
/// Call it first thing in `main`. Descriptors 0 to 2 that were closed at start are `/dev/null` by
/// then: Rust's runtime opens them before `main`.
///
/// # Errors
/// [`GuardError::AlreadyInstalled`] from the second call on; [`GuardError::Os`] when a descriptor
/// or the thread could not be made: nothing of the protocol may be written then.
pub fn install() -> Result<ProtocolIo, GuardError> {
    if INSTALLED.swap(true, Ordering::SeqCst) {
        return Err(GuardError::AlreadyInstalled);
    }
    make_undumpable().map_err(os("dumpable"))?;
    let input = private(io::stdin()).map_err(os("stdin"))?;
    let output = private(io::stdout()).map_err(os("stdout"))?;
    let null = File::open("/dev/null").map_err(os("/dev/null"))?;
    let (drain, sink) = io::pipe().map_err(os("pipe"))?;
    let diverted = diverted::spawn(OwnedFd::from(drain)).map_err(os("drain thread"))?;
    dup2_stdin(&null).map_err(|errno| os("stdin")(errno.into()))?;
    dup2_stdout(&sink).map_err(|errno| os("stdout")(errno.into()))?;
    Ok(ProtocolIo {
        input: input.into(),
        output: output.into(),
        diverted,
    })
}

fn os(step: &'static str) -> impl Fn(io::Error) -> GuardError {
    move |source| GuardError::Os { step, source }
}

/// A private copy, blocking even where the client left its end of a shared socket non-blocking.
fn private(stream: impl AsFd) -> io::Result<OwnedFd> {
    let copy = fcntl_dupfd_cloexec(stream, LOWEST_PRIVATE_FD)?;
    fcntl_setfl(&copy, fcntl_getfl(&copy)? - OFlags::NONBLOCK)?;
    Ok(copy)
}

/// Root may open our descriptors whatever we do; `doctor` says so.
#[cfg(target_os = "linux")]
fn make_undumpable() -> io::Result<()> {
    use rustix::process::{DumpableBehavior, geteuid, set_dumpable_behavior};
    if !geteuid().is_root() {
        set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn make_undumpable() -> io::Result<()> {
    Ok(())
}

//! A disk of a case's own, so that it can be full: a small tmpfs in a mount namespace of its own.
//!
//! A mount must outlive each process of the target, so a keeper holds it: this program itself. It makes
//! the namespace and the mount, says so, and waits for the end of its stdin, which comes with the end of the
//! runner, however that ends. With the keeper and the last process in its namespace the mount is gone; no
//! other process ever sees it.
//!
//! | program | what it does |
//! | --- | --- |
//! | `__disk FOLDER BYTES` | keeps the disk; says `ready`, or why there is none |
//! | `__inside KEEPER PROGRAM …` | becomes the program, in the keeper's namespaces |
//!
//! Where the machine allows no namespace, the files of the target are bounded while the disk would be full.

use std::ffi::{CString, OsString};
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};

use nix::sched::{CloneFlags, unshare};
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use rustix::process::{getegid, geteuid};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

/// First argument by which this binary keeps a disk.
pub(crate) const DISK: &str = "__disk";
/// First argument by which this binary becomes another program, on the disk of a keeper.
pub(crate) const INSIDE: &str = "__inside";
/// What takes all room that is left.
const FILLER: &str = ".filler";
/// How much of the filler is written at once; what has no room is refused, the rest of it stands.
const PIECE: usize = 256 * 1024;

/// Where the store of a case lies.
#[derive(Debug)]
pub(crate) enum Disk {
    /// On a file system of its own.
    Own(Keeper),
    /// Among the other files of the machine, because of this; while it is full, no file may grow.
    Shared(String),
}

/// The process that holds the mount; dropping it ends it.
#[derive(Debug)]
pub(crate) struct Keeper {
    process: Child,
    folder: PathBuf,
}

impl Disk {
    /// Makes one of this many bytes at a folder.
    ///
    /// # Errors
    ///
    /// Only when this program itself cannot be started.
    pub(crate) fn make(folder: &Path, bytes: u64) -> io::Result<Self> {
        let mut process = Command::new(std::env::current_exe()?)
            .arg(DISK)
            .arg(folder)
            .arg(bytes.to_string())
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let mut said = String::new();
        if let Some(stdout) = process.stdout.take() {
            BufReader::new(stdout).read_line(&mut said)?;
        }
        if said.trim() == "ready" {
            let folder = folder.to_path_buf();
            return Ok(Self::Own(Keeper { process, folder }));
        }
        process.wait()?;
        Ok(Self::Shared(said.trim().to_owned()))
    }

    /// What a report says of it.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Own(_) => "the store has a disk of its own".to_owned(),
            Self::Shared(why) => {
                format!("no disk of its own ({why}): a full one is a bound on files")
            }
        }
    }

    /// The keeper, where there is one.
    pub(crate) fn keeper(&self) -> Option<&Keeper> {
        match self {
            Self::Own(keeper) => Some(keeper),
            Self::Shared(_) => None,
        }
    }
}

impl Keeper {
    /// Its number, for `__inside`.
    pub(crate) fn number(&self) -> u32 {
        self.process.id()
    }

    /// A path as this process reaches it: what lies on the disk is seen through the keeper.
    pub(crate) fn seen(&self, path: &Path) -> PathBuf {
        match path.strip_prefix("/") {
            Ok(below) if path.starts_with(&self.folder) => {
                PathBuf::from(format!("/proc/{}/root", self.number())).join(below)
            }
            _ => path.to_path_buf(),
        }
    }

    /// Takes all room that is left; how many bytes that were.
    ///
    /// # Errors
    ///
    /// What else than the lack of room keeps the filler from growing.
    pub(crate) fn fill(&self) -> io::Result<u64> {
        let mut filler = File::options()
            .create(true)
            .append(true)
            .open(self.filler())?;
        let mut taken = 0;
        loop {
            match filler.write(&[b'x'; PIECE]) {
                Ok(0) => return Ok(taken),
                Ok(count) => taken += count as u64,
                Err(error) if error.kind() == io::ErrorKind::StorageFull => return Ok(taken),
                Err(error) => return Err(error),
            }
        }
    }

    /// Gives the room back.
    ///
    /// # Errors
    ///
    /// When it was not taken.
    pub(crate) fn free(&self) -> io::Result<()> {
        std::fs::remove_file(self.filler())
    }

    fn filler(&self) -> PathBuf {
        self.seen(&self.folder.join(FILLER))
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        // Its end of stdin; it has nothing else to do than to end.
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}

/// Runs as a keeper.
pub(crate) fn keep(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let (Some(folder), Some(bytes)) = (arguments.next(), arguments.next()) else {
        return ExitCode::from(2);
    };
    let made = own_mount(Path::new(&folder), &bytes.to_string_lossy());
    let said = match &made {
        Ok(()) => writeln!(io::stdout(), "ready"),
        Err(error) => writeln!(io::stdout(), "{error}"),
    };
    if made.is_err() || said.is_err() {
        return ExitCode::from(3);
    }
    // Whatever ends the wait, the runner is gone or done.
    let _ = io::stdin().lock().read_to_end(&mut Vec::new());
    ExitCode::SUCCESS
}

/// Moves this process into a namespace of its own, and mounts the disk there.
fn own_mount(folder: &Path, bytes: &str) -> io::Result<()> {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    if unshare(CloneFlags::CLONE_NEWNS).is_err() {
        // Whoever is not root may mount in a user namespace, in which everybody stays who they are.
        unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNS)?;
        std::fs::write("/proc/self/setgroups", "deny")?;
        std::fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
        std::fs::write("/proc/self/gid_map", format!("{group} {group} 1"))?;
    }
    // Else the mount would appear in the namespace that this one was copied from.
    let alone = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", alone)?;
    let options = CString::new(format!("size={bytes},mode=0755"))?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    mount("tmpfs", folder, "tmpfs", flags, options.as_c_str())?;
    Ok(())
}

/// Becomes a program, in the namespaces of a keeper.
pub(crate) fn inside(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let (Some(keeper), Some(program)) = (arguments.next(), arguments.next()) else {
        return ExitCode::from(2);
    };
    let error = match enter(&keeper.to_string_lossy()) {
        Ok(()) => Command::new(program).args(arguments).exec(),
        Err(error) => error,
    };
    eprintln!("inside: {error}");
    ExitCode::from(3)
}

fn enter(keeper: &str) -> io::Result<()> {
    // Entering leads to the root of the namespace, away from the folder in which the program shall run.
    let cwd = std::env::current_dir()?;
    let user = format!("/proc/{keeper}/ns/user");
    let mounts = File::open(format!("/proc/{keeper}/ns/mnt"))?;
    if std::fs::read_link(&user)? != std::fs::read_link("/proc/self/ns/user")? {
        move_into_link_name_space(File::open(user)?.as_fd(), Some(LinkNameSpaceType::User))?;
    }
    move_into_link_name_space(mounts.as_fd(), Some(LinkNameSpaceType::Mount))?;
    std::env::set_current_dir(cwd)
}

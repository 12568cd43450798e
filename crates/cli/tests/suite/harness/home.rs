//! A user's machine in a temporary directory.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use super::{Files, PATIENCE, Server, eventually};

/// The user that plays a plain one where the tests run as root: nobody.
const PLAIN_USER: u32 = 65534;

/// Who runs the program.
#[derive(Clone, Copy, PartialEq, Eq)]
enum User {
    Ours,
    Plain,
}

/// Home, store and project of nobody else. Removed when dropped.
pub(crate) struct Home {
    folder: tempfile::TempDir,
    user: User,
}

/// A command that has ended.
pub(crate) struct Finished {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Home {
    pub(crate) fn new() -> Home {
        let folder = tempfile::Builder::new()
            .prefix("sessiond-test-")
            .tempdir()
            .unwrap();
        let home = Home {
            folder,
            user: User::Ours,
        };
        fs::create_dir(home.work()).unwrap();
        fs::create_dir(home.home()).unwrap();
        fs::create_dir(home.runtime()).unwrap();
        home
    }

    /// The same for a plain user: ourselves, or nobody where we are root.
    pub(crate) fn of_plain_user() -> Home {
        let mut home = Home::new();
        if super::is_root() {
            home.user = User::Plain;
            let open = fs::Permissions::from_mode(0o755);
            fs::set_permissions(home.folder.path(), open.clone()).unwrap();
            // A build directory may lie where only root can reach it.
            fs::copy(env!("CARGO_BIN_EXE_sessiond"), home.program()).unwrap();
            fs::set_permissions(home.program(), open).unwrap();
            // A process that another test forks meanwhile may hold the copy open for writing, and
            // it cannot be run as long as that one has not become its own program.
            eventually("the copy can be run", PATIENCE, || {
                let output = Command::new(home.program()).arg("--version").output();
                output.is_ok().then_some(())
            });
            for path in [home.home(), home.work(), home.runtime()] {
                chown(path, Some(PLAIN_USER), Some(PLAIN_USER)).unwrap();
            }
        }
        home
    }

    fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// Where sockets lie.
    fn runtime(&self) -> PathBuf {
        self.folder.path().join("run")
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.home().join("store")
    }

    /// The project's directory, all links resolved.
    pub(crate) fn work(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("work")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.work().join(name)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    pub(crate) fn write(&self, name: &str, content: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, content).unwrap();
        path
    }

    /// All that is stored of sessions.
    pub(crate) fn sessions(&self) -> Files {
        Files::below(&self.store().join("sessions"))
    }

    /// The log of a session, its segments one after the other.
    pub(crate) fn log(&self, session: &str) -> String {
        Files::below(&self.store().join("sessions").join(session).join("log")).text()
    }

    fn program(&self) -> PathBuf {
        match self.user {
            User::Ours => PathBuf::from(env!("CARGO_BIN_EXE_sessiond")),
            User::Plain => self.folder.path().join("sessiond"),
        }
    }

    /// `sessiond` with an environment in which nothing of ours is left, in the project's directory.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        self.command_under(&[], args)
    }

    /// `sessiond-codex` in the same environment.
    pub(crate) fn codex(&self, args: &[&str]) -> Command {
        self.beside(env!("CARGO_BIN_EXE_sessiond-codex"), args)
    }

    /// `sessiond-claude` in the same environment.
    pub(crate) fn claude(&self, args: &[&str]) -> Command {
        self.beside(env!("CARGO_BIN_EXE_sessiond-claude"), args)
    }

    fn beside(&self, program: &str, args: &[&str]) -> Command {
        let like = self.command(&[]);
        let mut command = Command::new(program);
        command.args(args).current_dir(self.work()).env_clear();
        let variables = like.get_envs();
        command.envs(variables.filter_map(|(name, value)| Some((name, value?))));
        command
    }

    /// The same started by another program.
    fn command_under(&self, wrapper: &[&str], args: &[&str]) -> Command {
        let user = PLAIN_USER.to_string();
        let mut line: Vec<&str> = Vec::new();
        if self.user == User::Plain {
            line.extend([
                "setpriv",
                "--reuid",
                &user,
                "--regid",
                &user,
                "--clear-groups",
            ]);
        }
        line.extend(wrapper);
        let program = self.program();
        line.push(program.to_str().unwrap());
        line.extend(args);
        let mut command = Command::new(line[0]);
        command
            .args(&line[1..])
            .current_dir(self.work())
            .env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap());
        command
            .env("HOME", self.home())
            .env("XDG_RUNTIME_DIR", self.runtime())
            // A host that a test leaves behind ends by itself.
            .env("SESSIOND_HOST_IDLE", "2")
            .env("SESSIOND_HOME", self.store());
        command
    }

    /// The same under strace, which writes to `trace` and takes these expressions (`-e`).
    pub(crate) fn traced(&self, expressions: &[&str], trace: &Path, args: &[&str]) -> Command {
        let path = std::env::var_os("PATH").unwrap();
        let installed = std::env::split_paths(&path).any(|dir| dir.join("strace").is_file());
        assert!(
            installed,
            "this test needs strace: install the package of that name (apt-get install strace)"
        );
        let mut wrapper = vec!["strace", "-f", "-y", "-s", "1000000"];
        wrapper.extend(["-o", trace.to_str().unwrap()]);
        wrapper.extend(expressions.iter().flat_map(|expression| ["-e", expression]));
        self.command_under(&wrapper, args)
    }

    /// Gives the pipes between us and a server to its user, as they are when that user's editor
    /// made them: a pipe of another user is closed to it anyway.
    pub(crate) fn hand_over_pipes(&self, server: &Server) {
        if self.user == User::Plain {
            for pipe in &server.pipes {
                chown(&pipe.path, Some(PLAIN_USER), Some(PLAIN_USER)).unwrap();
            }
        }
    }

    /// Runs a command to its end without input.
    pub(crate) fn run(&self, args: &[&str]) -> Finished {
        self.run_with("", args)
    }

    /// Runs a command to its end with this input.
    pub(crate) fn run_with(&self, input: &str, args: &[&str]) -> Finished {
        finish(self.command(args), input)
    }
}

/// Runs any command to its end with this input.
pub(crate) fn finish(mut command: Command, input: &str) -> Finished {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A command that does not read it is right to end first.
    let _unread = child.stdin.take().unwrap().write_all(input.as_bytes());
    let Output {
        status,
        stdout,
        stderr,
    } = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Finished {
        code: status.code(),
        stdout: text(stdout),
        stderr: text(stderr),
    }
}

impl Finished {
    /// The same, having been well.
    #[track_caller]
    pub(crate) fn well(self) -> Finished {
        assert_eq!(
            self.code,
            Some(0),
            "stdout: {}\nstderr: {}",
            self.stdout,
            self.stderr
        );
        self
    }
}

impl AsRef<Path> for Home {
    fn as_ref(&self) -> &Path {
        self.folder.path()
    }
}

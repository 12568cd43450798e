//! Streams and status of a guarded program.

use std::ffi::OsString;

use sessiond_wire::process::{
    ErrorOutput, ExitStatus, Failure, FailureKind, GuardedCommand, Input, Output, Supervised,
    SupervisorExe,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::probe::{self, tool};
use crate::runner::{Case, block_on};

pub(crate) const CASES: &[Case] = &[
    ("status_codes_pass", status_codes_pass),
    (
        "a_program_that_can_not_run_says_why",
        a_program_that_can_not_run_says_why,
    ),
    (
        "a_guard_that_can_not_run_is_an_error",
        a_guard_that_can_not_run_is_an_error,
    ),
    (
        "a_server_whose_file_was_replaced_still_runs_programs",
        a_server_whose_file_was_replaced_still_runs_programs,
    ),
    (
        "streams_are_connected_as_asked",
        streams_are_connected_as_asked,
    ),
    (
        "directory_and_environment_are_as_asked",
        directory_and_environment_are_as_asked,
    ),
    (
        "a_program_may_close_its_output_early",
        a_program_may_close_its_output_early,
    ),
];

fn status_codes_pass() {
    let cases = [
        ("exit 0", ExitStatus::Code(0)),
        ("exit 7", ExitStatus::Code(7)),
        ("exit 255", ExitStatus::Code(255)),
        ("kill -9 $$", ExitStatus::Signal(9)),
        ("kill -TERM $$", ExitStatus::Signal(15)),
    ];
    for (script, expected) in cases {
        let status = block_on(async { Supervised::spawn(tool(script)).unwrap().wait().await });
        assert_eq!(status, expected, "{script}");
    }
}

fn a_program_that_can_not_run_says_why() {
    let plain = |program: &str| GuardedCommand::new(program);
    let in_folder = |folder: &str| {
        let mut command = GuardedCommand::new("true");
        command.cwd = Some(folder.into());
        command
    };
    let (enoent, eacces, enotdir) = (Some(2), Some(13), Some(20));
    let cases = [
        (
            plain("no-such-program"),
            FailureKind::ProgramNotFound,
            enoent,
        ),
        (plain("/etc/passwd"), FailureKind::NotPermitted, eacces),
        (in_folder("/no/such/folder"), FailureKind::BadCwd, enoent),
        (in_folder("/etc/passwd"), FailureKind::BadCwd, enotdir),
    ];
    for (command, kind, errno) in cases {
        let shown = format!("{command:?}");
        let status = block_on(async { Supervised::spawn(command).unwrap().wait().await });
        assert_eq!(
            status,
            ExitStatus::Failed(Failure { kind, errno }),
            "{shown}"
        );
    }
}

fn a_guard_that_can_not_run_is_an_error() {
    let mut command = tool("true");
    command.exe = SupervisorExe::at("/no/such/guard");
    block_on(async {
        let error = Supervised::spawn(command).unwrap_err();
        assert_eq!(error.code(), "guard_not_started");
    });
    // Not a guard at all: it exits without a word on the lifeline.
    let mut command = tool("true");
    command.exe = SupervisorExe::at("/bin/true");
    let status = block_on(async { Supervised::spawn(command).unwrap().wait().await });
    let lost = Failure {
        kind: FailureKind::GuardLost,
        errno: None,
    };
    assert_eq!(status, ExitStatus::Failed(lost));
}

fn a_server_whose_file_was_replaced_still_runs_programs() {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("probe");
    std::fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
    let output = std::process::Command::new(&copy)
        .args([probe::COMMAND, probe::UPGRADED, "echo ran"])
        .output()
        .unwrap();
    assert!(!copy.exists());
    assert_eq!(String::from_utf8_lossy(&output.stdout), "ran\n");
}

/// WIRE-11
fn streams_are_connected_as_asked() {
    let script = "cat; echo out; echo error >&2; echo more";
    let (all, out) = ("in\nout\nerror\nmore\n", "in\nout\nmore\n");
    let cases = [
        (Input::Piped, Output::Piped, ErrorOutput::Merged, all, ""),
        (
            Input::Piped,
            Output::Piped,
            ErrorOutput::Piped,
            out,
            "error\n",
        ),
        (Input::Piped, Output::Piped, ErrorOutput::Null, out, ""),
        (
            Input::Null,
            Output::Piped,
            ErrorOutput::Null,
            "out\nmore\n",
            "",
        ),
        (Input::Null, Output::Null, ErrorOutput::Piped, "", "error\n"),
        (Input::Null, Output::Null, ErrorOutput::Merged, "", ""),
    ];
    for (stdin, stdout, stderr, expected_out, expected_error) in cases {
        let mut command = tool(script);
        (command.stdin, command.stdout, command.stderr) = (stdin, stdout, stderr);
        block_on(async {
            let mut child = Supervised::spawn(command).unwrap();
            let (mut out, mut error) = (String::new(), String::new());
            if let Some(mut input) = child.stdin.take() {
                input.write_all(b"in\n").await.unwrap();
            }
            if let Some(mut stdout) = child.stdout.take() {
                stdout.read_to_string(&mut out).await.unwrap();
            }
            if let Some(mut stderr) = child.stderr.take() {
                stderr.read_to_string(&mut error).await.unwrap();
            }
            assert_eq!(child.wait().await, ExitStatus::Code(0));
            let shown = (stdin, stdout, stderr);
            assert_eq!(
                (&*out, &*error),
                (expected_out, expected_error),
                "{shown:?}"
            );
        });
    }
}

fn directory_and_environment_are_as_asked() {
    let mut command = tool(r#"pwd; echo "$ADDED ${HOME-unset}"; echo "$0 $1""#);
    command.args.extend(["--cwd", "--"].map(OsString::from));
    command.cwd = Some("/usr".into());
    command.env.push(("ADDED".into(), "added".into()));
    command.env_remove.push("HOME".into());
    block_on(async {
        let mut child = Supervised::spawn(command).unwrap();
        let mut out = String::new();
        child
            .stdout
            .take()
            .unwrap()
            .read_to_string(&mut out)
            .await
            .unwrap();
        assert_eq!(out, "/usr\nadded unset\n--cwd --\n");
        assert_eq!(child.wait().await, ExitStatus::Code(0));
    });
}

fn a_program_may_close_its_output_early() {
    block_on(async {
        let mut command = tool("exec >&-; read -r line; exit 0");
        command.stdin = Input::Piped;
        let mut child = Supervised::spawn(command).unwrap();
        let mut out = Vec::new();
        child
            .stdout
            .take()
            .unwrap()
            .read_to_end(&mut out)
            .await
            .unwrap();
        assert!(
            out.is_empty(),
            "its end is seen while it still waits for input"
        );
        drop(child.stdin.take());
        assert_eq!(child.wait().await, ExitStatus::Code(0));
    });
}

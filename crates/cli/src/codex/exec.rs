//! `sessiond-codex exec`: what the turn is, from the command line, stdin and files.

use std::fs::File;
use std::io::{IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

use sessiond_codex::exec::{ExecError, Keep, Options, Thread};
use sessiond_codex::{PICTURE_BYTES, SandboxMode, Settings, picture};
use sessiond_protocol::{Content, FoundBy, Op, SessionList};
use sessiond_wire::queue::OutQueue;
use sessiond_wire::stdio::{self, ProtocolIo};
use tokio::sync::mpsc;

use super::args::{ExecArgs, ExecCommand, ExecOptions};
use super::tell;
use crate::access;
use crate::args::Hosting;
use crate::exec::{OUTPUT_DEADLINE, stdin_text};
use crate::failure::Failure;
use crate::named::{self, SessionName};
use crate::setup::{Setup, block_on};
use crate::signals::Signals;
use crate::waist::Waist;

/// Signals that wait to be taken up: the second one says to leave at once, more say nothing more.
const SIGNALS: usize = 2;

/// Longest schema, in bytes.
const SCHEMA_BYTES: u64 = 1 << 20;

/// Which thread the command line names.
enum Wanted {
    New,
    Named(SessionName),
    Last,
    Fork(SessionName),
}

/// Runs the turn.
pub(super) fn run(
    setup: &Setup,
    hosting: Hosting,
    args: ExecArgs,
    overrides: Settings,
) -> Result<(), Failure> {
    // Before anything else runs that could print (WIRE-10).
    let io = stdio::install()?;
    let ExecArgs {
        options,
        command,
        prompt,
    } = args;
    let (wanted, said) = wanted(command, prompt)?;
    let turn = options_of(setup, &options, overrides, &wanted)?;
    let input = input(&io, &wanted, said, &options.images)?;
    let turn = Options { input, ..turn };
    block_on(serve(setup, hosting, (wanted, turn), (io, &options)))
}

/// The thread and the prompt. Behind `resume --last` stands the prompt alone.
fn wanted(
    command: Option<ExecCommand>,
    prompt: Option<String>,
) -> Result<(Wanted, Option<String>), Failure> {
    match command {
        None => Ok((Wanted::New, prompt)),
        Some(ExecCommand::Fork(fork)) => Ok((Wanted::Fork(fork.session), fork.prompt)),
        Some(ExecCommand::Resume(resume)) if resume.last => {
            Ok((Wanted::Last, resume.prompt.or(resume.session)))
        }
        Some(ExecCommand::Resume(resume)) => {
            let session = resume
                .session
                .ok_or_else(|| Failure::Found("resume needs a session id, or --last".to_owned()))?;
            let name = session
                .parse()
                .map_err(|error: &str| Failure::Found(format!("invalid session id: {error}")))?;
            Ok((Wanted::Named(name), resume.prompt))
        }
    }
}

/// All of a turn but what the user says.
fn options_of(
    setup: &Setup,
    options: &ExecOptions,
    mut settings: Settings,
    wanted: &Wanted,
) -> Result<Options, Failure> {
    if let Some(model) = &options.model {
        settings.set("model", model.as_str().into());
    }
    let here = setup.cwd()?;
    let cwd = match &options.cd {
        Some(cd) => directory(cd)?,
        None => here,
    };
    let roots = options.add_dir.iter().map(|dir| directory(dir));
    let roots: Vec<String> = roots.collect::<Result<_, _>>()?;
    let mode = match (
        options.dangerously_bypass_approvals_and_sandbox,
        &options.sandbox,
    ) {
        (true, _) => SandboxMode::DangerFullAccess,
        (false, Some(name)) => name.parse().map_err(Failure::Usage)?,
        (false, None) => settings.sandbox().unwrap_or_default(),
    };
    let writable = [cwd.clone()].into_iter().chain(roots.clone());
    let writable = writable.chain(settings.writable_roots()).map(PathBuf::from);
    let schema = options.output_schema.as_deref().map(schema).transpose()?;
    // What a thread recorded stands, unless another directory is named.
    let chosen = options.cd.is_some() || matches!(wanted, Wanted::New);
    Ok(Options {
        thread: Thread::New,
        keep: match options.ephemeral {
            true => Keep::Ephemeral,
            false => Keep::Stored,
        },
        agent: setup.default_agent()?,
        sandbox: mode.with_roots(writable),
        setup: settings.setup(roots),
        cwd: chosen.then_some(cwd),
        accept: setup.accept(),
        input: Vec::new(),
        schema,
    })
}

/// A directory as a session records it.
fn directory(path: &Path) -> Result<String, Failure> {
    let absolute = std::path::absolute(path).map_err(Failure::os("find the directory"))?;
    if !absolute.is_dir() {
        let text = format!("{} is no directory", absolute.display());
        return Err(Failure::Found(text));
    }
    absolute
        .into_os_string()
        .into_string()
        .map_err(|_| Failure::Found("the directory's name is not UTF-8".to_owned()))
}

/// What the user says: the argument, stdin, or both, and the pictures.
fn input(
    io: &ProtocolIo,
    wanted: &Wanted,
    prompt: Option<String>,
    images: &[PathBuf],
) -> Result<Vec<Content>, Failure> {
    let mut input = Vec::new();
    match prompt.filter(|prompt| prompt != "-") {
        None => {
            tell("Reading prompt from stdin...");
            let text = stdin_text(io)?;
            if text.trim().is_empty() {
                return Err(Failure::Found("No prompt provided via stdin.".to_owned()));
            }
            input.push(Content::text(text));
        }
        Some(prompt) => {
            input.push(Content::text(prompt));
            if matches!(wanted, Wanted::New) && !io.input.is_terminal() {
                tell("Reading additional input from stdin...");
                let more = stdin_text(io)?;
                if !more.trim().is_empty() {
                    let more = more.trim_end_matches('\n');
                    input.push(Content::text(format!("<stdin>\n{more}\n</stdin>")));
                }
            }
        }
    }
    for path in images {
        let bytes = read(path, PICTURE_BYTES as u64)?;
        let seen = picture(&bytes).ok_or_else(|| {
            Failure::Found(format!("{} is no PNG, JPEG, GIF or WebP", path.display()))
        })?;
        input.push(seen);
    }
    Ok(input)
}

fn schema(path: &Path) -> Result<serde_json::Value, Failure> {
    let bytes = read(path, SCHEMA_BYTES)?;
    let schema = serde_json::from_slice::<serde_json::Value>(&bytes);
    schema
        .ok()
        .filter(serde_json::Value::is_object)
        .ok_or_else(|| Failure::Found(format!("{} holds no JSON object", path.display())))
}

/// A file of the user, of at most so many bytes.
pub(super) fn read(path: &Path, limit: u64) -> Result<Vec<u8>, Failure> {
    let failed = |error: std::io::Error| Failure::Found(format!("{}: {error}", path.display()));
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(failed)?;
    file.take(limit + 1)
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    if bytes.len() as u64 > limit {
        let text = format!("{} is longer than {limit} bytes", path.display());
        return Err(Failure::Found(text));
    }
    Ok(bytes)
}

async fn serve(
    setup: &Setup,
    hosting: Hosting,
    (wanted, turn): (Wanted, Options),
    (io, options): (ProtocolIo, &ExecOptions),
) -> Result<(), Failure> {
    let ProtocolIo {
        output, diverted, ..
    } = io;
    let mut plain = output.try_clone().map_err(Failure::os("copy stdout"))?;
    let queue = OutQueue::new();
    let writer =
        stdio::spawn_writer(output, queue.clone()).map_err(Failure::os("start a thread"))?;
    let mut stop = stops()?;
    let (connection, local) = access::open(setup, setup.home(hosting), "codex-exec").await?;
    let mut waist = Waist::open(connection, "codex-exec").await?;
    let cwd = turn.cwd.clone();
    let result = async {
        let thread = thread(&mut waist, wanted, cwd.map_or_else(|| setup.cwd(), Ok)?).await?;
        let turn = Options { thread, ..turn };
        let lines = options.json.then(|| queue.clone());
        let answer = sessiond_codex::exec::run(&mut waist, lines, &mut stop, turn);
        answer.await.map_err(|error| failure(&error))
    };
    let result = result.await;
    waist.close().await;
    // The lease is freed before stdout is closed: whoever resumes when it sees the end finds the
    // thread free.
    local.end().await;
    writer.shutdown(OUTPUT_DEADLINE).await;
    let result = result.and_then(|answer| {
        let answer = answer.unwrap_or_default();
        if let Some(path) = &options.output_last_message {
            std::fs::write(path, &answer).map_err(Failure::os("write the final message"))?;
        }
        if !options.json {
            // A reader that has left is no failure.
            let _gone = plain.write_all(format!("{answer}\n").as_bytes());
        }
        Ok(())
    });
    diverted.finish();
    result
}

/// Signals as they come: SIGTERM, by which the SDK aborts a turn, like SIGINT.
fn stops() -> Result<mpsc::Receiver<()>, Failure> {
    let mut signals = Signals::listen()?;
    let (sender, receiver) = mpsc::channel(SIGNALS);
    tokio::spawn(async move {
        loop {
            signals.caught().await;
            if sender.send(()).await.is_err() {
                return;
            }
        }
    });
    Ok(receiver)
}

/// The thread that the turn is of.
async fn thread(waist: &mut Waist, wanted: Wanted, cwd: String) -> Result<Thread, Failure> {
    match wanted {
        Wanted::New => Ok(Thread::New),
        Wanted::Named(name) => {
            let session = named::resolve(waist, &name, &cwd).await?;
            Ok(Thread::Resume(session, name.found_by()))
        }
        Wanted::Fork(name) => Ok(Thread::Fork(named::resolve(waist, &name, &cwd).await?)),
        Wanted::Last => {
            let list = SessionList {
                cwd: Some(cwd),
                limit: Some(1),
                ..SessionList::default()
            };
            let newest = waist.call(None, Op::SessionList(list), drop).await?;
            let sessiond_protocol::Accepted::Sessions { sessions, .. } = newest else {
                return Err(crate::waist::unexpected().into());
            };
            let newest = sessions.first().map(|summary| summary.session);
            let newest = newest.ok_or_else(|| {
                Failure::Found("this directory has no thread to resume yet".to_owned())
            })?;
            Ok(Thread::Resume(newest, FoundBy::Picker))
        }
    }
}

fn failure(error: &ExecError) -> Failure {
    Failure::Found(error.to_string())
}

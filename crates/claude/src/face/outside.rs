//! A tool that decides about permission and lives outside of the program: the face starts or reaches
//! its server itself, when it is first asked, and keeps it to its own end.

use std::path::Path;

use serde_json::{Map, Value, json};
use sessiond_mcp::Servers;
use sessiond_protocol::McpServer;
use sessiond_wire::process::SupervisorExe;
use tokio::sync::{mpsc, oneshot};

/// How many questions may wait for such a tool; it gets one after the other. An agent asks about as
/// many calls at a time as it makes.
const WAITING: usize = 64;

/// What an answer is to, and the result of the tool.
pub(super) type Answered = (String, Result<Value, String>);

/// Dropped, it says that nobody waits for the answer any more: the tool is not asked, or left.
#[derive(Debug)]
pub(super) struct Waits {
    _stop: oneshot::Sender<()>,
}

/// One question to a tool.
#[derive(Debug)]
struct Call {
    id: String,
    server: String,
    tool: String,
    arguments: Map<String, Value>,
    stop: oneshot::Receiver<()>,
}

/// The way to such tools.
#[derive(Debug)]
pub(super) struct Outside {
    calls: mpsc::Sender<Call>,
    answers: mpsc::Receiver<Answered>,
}

impl Outside {
    /// A way to these servers; none runs yet.
    pub(super) fn new(servers: Vec<McpServer>, cwd: &Path) -> Self {
        let (calls, asked) = mpsc::channel(WAITING);
        let (answer, answers) = mpsc::channel(WAITING);
        let servers = Servers::new(servers, cwd, &SupervisorExe::default());
        tokio::spawn(work(servers, asked, answer));
        Self { calls, answers }
    }

    /// Asks a tool; its answer comes under this id while what is given back is kept.
    ///
    /// # Errors
    /// That too many wait already.
    pub(super) fn ask(
        &self,
        id: &str,
        (server, tool): (&str, &str),
        arguments: Map<String, Value>,
    ) -> Result<Waits, String> {
        let (keep, stop) = oneshot::channel();
        let call = Call {
            id: id.to_owned(),
            server: server.to_owned(),
            tool: tool.to_owned(),
            arguments,
            stop,
        };
        let sent = self.calls.try_send(call);
        sent.map_err(|_| format!("too many questions wait for {server}"))?;
        Ok(Waits { _stop: keep })
    }
}

/// The next answer; none ever where no tool was asked. A wait that is dropped loses nothing.
pub(super) async fn answered(outside: &mut Option<Outside>) -> Answered {
    if let Some(outside) = outside
        && let Some(answered) = outside.answers.recv().await
    {
        return answered;
    }
    std::future::pending().await
}

async fn work(
    mut servers: Servers,
    mut asked: mpsc::Receiver<Call>,
    answer: mpsc::Sender<Answered>,
) {
    while let Some(call) = asked.recv().await {
        let Call {
            id,
            server,
            tool,
            arguments,
            stop,
        } = call;
        let result = tokio::select! {
            biased;
            // The other end is never sent on: it is gone.
            _nobody_waits = stop => continue,
            result = servers.call(&server, tool, Some(arguments)) => result,
        };
        let result = result.map(|result| json!({ "mcp_response": { "result": result } }));
        let result = result.map_err(|error| error.to_string());
        if answer.send((id, result)).await.is_err() {
            return;
        }
    }
}

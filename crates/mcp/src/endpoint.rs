//! A server on stdin and stdout that stands for one which lives in the client of a session: an agent
//! that connects servers itself starts it like any other, and what it is asked goes through the waist
//! (`mcp.request`). Many calls may be in flight; they are answered as their receipts come.

use serde_json::value::RawValue;
use serde_json::{Value, json};
use sessiond_protocol::{
    Accepted, ClientFrame, Hello, Op, Party, Receipt, ServerFrame, SessionId, VERSION, Verdict,
    WireError,
};
use sessiond_wire::rpc::{
    ErrorObject, INTERNAL_ERROR, InFlight, Inbound, METHOD_NOT_FOUND, Peer, RawId, RpcFrame,
    cancelled_id, error, parse, refuse,
};
use sessiond_wire::{Connection, Line, OutQueue, Submissions};
use tokio::sync::mpsc;

/// The word of the command line that makes `sessiond` an endpoint; the socket of the process that has
/// the session, the session and the server follow.
pub const COMMAND: &str = "__mcp";

/// The version of MCP that is answered to who names none.
const MCP_VERSION: &str = "2025-06-18";

/// Which server this one stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// The session whose client it lives in.
    pub session: SessionId,
    /// Its name, as the client gave it.
    pub name: String,
}

/// Serves an agent until its input ends or nobody reads what is answered. `waist` leads to the process
/// that has the session; without one, and once that is gone, every request is answered with an error
/// that says so.
pub async fn serve(
    mut lines: mpsc::Receiver<Line>,
    out: OutQueue<RpcFrame>,
    mut waist: Option<Connection>,
    server: Server,
) {
    let mut endpoint = Endpoint::new(server, out.clone());
    loop {
        for frame in endpoint.submissions.take_outbox() {
            let sent = match &waist {
                Some(waist) => waist.send(frame).await.is_ok(),
                None => false,
            };
            if !sent {
                waist = None;
                endpoint.lost();
            }
        }
        let is_full = out.is_full();
        tokio::select! {
            () = out.closed() => return,
            line = lines.recv(), if !is_full => match line {
                Some(line) => endpoint.line(line),
                None => return,
            },
            frame = received(waist.as_ref()), if waist.is_some() && !is_full => {
                let goes_on = frame.is_some_and(|frame| endpoint.frame(frame).is_ok());
                if !goes_on {
                    waist = None;
                    endpoint.lost();
                }
            }
            () = out.ready(), if is_full => {}
        }
    }
}

async fn received(waist: Option<&Connection>) -> Option<ServerFrame> {
    match waist {
        Some(waist) => waist.recv().await,
        None => std::future::pending().await,
    }
}

/// The process at the other end has ended the connection.
#[derive(Debug)]
struct Ended;

#[derive(Debug)]
struct Endpoint {
    server: Server,
    peer: Peer,
    unanswered: InFlight<()>,
    submissions: Submissions<RawId>,
}

impl Endpoint {
    fn new(server: Server, out: OutQueue<RpcFrame>) -> Self {
        let mut submissions = Submissions::default();
        let client = Party {
            name: "mcp".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        submissions.send(ClientFrame::Hello(Hello {
            versions: vec![VERSION],
            client,
            ack: false,
        }));
        Self {
            server,
            peer: Peer::new(out),
            unanswered: InFlight::default(),
            submissions,
        }
    }

    /// Takes in a line of the agent.
    fn line(&mut self, line: Line) {
        let inbound = match line {
            Line::Text(text) => parse(&text),
            Line::Bad(bad) => refuse(bad),
        };
        match inbound {
            Inbound::Request { id, method, params } => {
                let is_open = self.unanswered.get(&id).is_some();
                match self.unanswered.begin(id.clone(), ()) {
                    Ok(()) => self.request(&id, &method, params.as_deref()),
                    Err(error) => self.peer.refuse(Some(&id).filter(|_| !is_open), &error),
                }
            }
            Inbound::Notification { method, params } if method == "notifications/cancelled" => {
                if let Some(id) = params.as_deref().and_then(cancelled_id) {
                    self.cancelled(&id);
                }
            }
            Inbound::Invalid { id, error } => self.peer.refuse(id.as_ref(), &error),
            Inbound::Notification { .. } | Inbound::Response { .. } | Inbound::Ignore => {}
        }
    }

    fn request(&mut self, id: &RawId, method: &str, params: Option<&RawValue>) {
        let params = params.and_then(|params| serde_json::from_str(params.get()).ok());
        let mut params: Value = params.unwrap_or_else(|| json!({}));
        if let Some(params) = params.as_object_mut() {
            // What the agent says of its connection is about this one, not about the program's.
            params.remove("_meta");
        }
        match method {
            "initialize" => self.answer(id, &self.introduction(&params)),
            "ping" => self.answer(id, &json!({})),
            "tools/list" | "tools/call" => {
                let op = Op::McpRequest {
                    server: self.server.name.clone(),
                    method: method.to_owned(),
                    params,
                };
                let session = Some(self.server.session);
                let submitted = self.submissions.submit(("mcp", id.clone()), session, op);
                if let Err(error) = submitted {
                    self.fail(id, &error);
                }
            }
            _ => self.fail(id, &error(METHOD_NOT_FOUND, "Method not found")),
        }
    }

    /// Tools are all that it has: whatever else its server can do is not asked for by agents.
    fn introduction(&self, params: &Value) -> Value {
        let version = params.get("protocolVersion").and_then(Value::as_str);
        json!({
            "protocolVersion": version.unwrap_or(MCP_VERSION),
            "capabilities": { "tools": {} },
            "serverInfo": { "name": self.server.name, "version": env!("CARGO_PKG_VERSION") },
        })
    }

    /// The agent wants no answer any more, and gets none.
    fn cancelled(&mut self, id: &RawId) {
        if self.unanswered.finish(id).is_some() {
            self.submissions.withdraw(|of| of == id);
        }
    }

    /// Takes in a frame of the waist.
    fn frame(&mut self, frame: ServerFrame) -> Result<(), Ended> {
        match frame {
            ServerFrame::Receipt(receipt) => self.receipt(receipt),
            ServerFrame::Error { fatal: true, .. } | ServerFrame::Bye {} => return Err(Ended),
            // Nothing is attached to, so nothing is told; what was refused has a receipt.
            ServerFrame::Welcome(_)
            | ServerFrame::Event(_)
            | ServerFrame::Request(_)
            | ServerFrame::RequestClosed { .. }
            | ServerFrame::Error { fatal: false, .. } => {}
        }
        Ok(())
    }

    fn receipt(&mut self, receipt: Receipt) {
        let Some(id) = self.submissions.received(&receipt.id) else {
            return;
        };
        if self.unanswered.get(&id).is_none() {
            return;
        }
        match receipt.result {
            Verdict::Accepted(Accepted::Mcp { mcp }) => self.answer(&id, &mcp),
            Verdict::Accepted(_) => {
                self.fail(
                    &id,
                    &error(INTERNAL_ERROR, "the receipt is of another kind"),
                );
            }
            Verdict::Error(refused) => self.fail(&id, &self.failure(&refused)),
        }
    }

    fn failure(&self, refused: &WireError) -> ErrorObject {
        let Server { name, .. } = &self.server;
        error(INTERNAL_ERROR, format!("{name}: {}", refused.message))
    }

    /// Nobody is there who could answer.
    fn lost(&mut self) {
        let Server { name, session } = &self.server;
        let why = format!("{name}: the process that had the session {session} is gone");
        let gone = error(INTERNAL_ERROR, why);
        drop(self.submissions.take_outbox());
        for (id, ()) in self.unanswered.drain() {
            self.peer.refuse(Some(&id), &gone);
        }
    }

    fn answer(&mut self, id: &RawId, result: &Value) {
        self.unanswered.finish(id);
        self.peer.respond(id, Ok(result));
    }

    fn fail(&mut self, id: &RawId, error: &ErrorObject) {
        self.unanswered.finish(id);
        self.peer.refuse(Some(id), error);
    }
}

#[cfg(test)]
mod tests;

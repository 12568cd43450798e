//! The client's end of the waist, when the server is another process.

use sessiond_protocol::{BadFrame, ClientFrame, ServerFrame, decode};
use sessiond_wire::socket::{spawn_frames, spawn_lines};
use sessiond_wire::{Connection, DEFAULT_LINE_LIMIT, Line, OutQueue, ServerEnd, pair};
use tokio::net::UnixStream;
use tokio::sync::mpsc;

use crate::frame::Outbound;

/// A connection to the process at the other end of `stream`. It ends when that process ends it, or
/// when it sends what is no frame of the protocol (WIRE-14).
#[must_use]
pub fn relay(stream: UnixStream) -> Connection {
    let (client, server) = pair();
    let (input, output) = stream.into_split();
    let lines = spawn_lines(input, DEFAULT_LINE_LIMIT);
    let out = OutQueue::new();
    spawn_frames(output, out.clone());
    tokio::spawn(carry(server, lines, out));
    client
}

async fn carry(mut server: ServerEnd, mut lines: mpsc::Receiver<Line>, out: OutQueue<Outbound>) {
    loop {
        let is_full = server.out.is_full();
        let clients = server.out.clone();
        // Reading goes on while what is sent waits: the other process may be waiting for that.
        let is_behind = out.is_full();
        tokio::select! {
            frame = server.recv(), if !is_behind => match frame {
                // A client's frames are few, and what it sends beyond that waits in its channel.
                Some(frame) => {
                    let is_last = matches!(frame, ClientFrame::Bye {});
                    if let Some(line) = Outbound::of(&frame) {
                        out.push(line);
                    }
                    if is_last {
                        break;
                    }
                }
                None => break,
            },
            line = lines.recv(), if !is_full => match line.map(read) {
                Some(Ok(frame)) => server.out.push(frame),
                Some(Err(error)) => {
                    tracing::error!(code = ?error.code, "the other process does not speak the protocol");
                    break;
                }
                None => break,
            },
            () = clients.ready(), if is_full => {}
            () = out.ready(), if is_behind => {}
        }
    }
    // What was submitted is still written; then the other process sees that this client is gone.
    out.close();
}

fn read(line: Line) -> Result<ServerFrame, BadFrame> {
    match line {
        Line::Text(text) => decode(&text),
        Line::Bad(bad) => Err(BadFrame {
            code: sessiond_protocol::ErrorCode::Protocol,
            message: bad.to_string(),
        }),
    }
}

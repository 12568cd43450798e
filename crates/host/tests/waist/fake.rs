//! A holder that behaves as a test says, line by line.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};

pub(crate) struct Fake {
    listener: UnixListener,
    pub(crate) path: PathBuf,
}

impl Fake {
    pub(crate) fn listen(path: &Path) -> Self {
        let listener = UnixListener::bind(path).unwrap();
        let path = path.to_owned();
        Self { listener, path }
    }

    /// The next client.
    pub(crate) async fn accept(&self) -> Peer {
        let (stream, _) = self.listener.accept().await.unwrap();
        Peer::of(stream)
    }
}

pub(crate) struct Peer {
    lines: BufReader<OwnedReadHalf>,
    output: OwnedWriteHalf,
}

impl Peer {
    fn of(stream: UnixStream) -> Self {
        let (input, output) = stream.into_split();
        let lines = BufReader::new(input);
        Self { lines, output }
    }

    pub(crate) async fn next(&mut self) -> Value {
        let mut line = String::new();
        self.lines.read_line(&mut line).await.unwrap();
        serde_json::from_str(&line).unwrap()
    }

    pub(crate) async fn say(&mut self, frame: &Value) {
        let line = format!("{frame}\n");
        self.output.write_all(line.as_bytes()).await.unwrap();
    }

    /// Takes the hello and says welcome.
    pub(crate) async fn welcome(&mut self) {
        assert_eq!(self.next().await["type"], "hello");
        self.say(&json!({
            "v": 1, "type": "welcome", "version": 1, "incarnation": "fake", "persistence": "on",
            "server": {"name": "fake", "version": "1"},
            "limits": serde_json::to_value(sessiond_protocol::Limits::default()).unwrap(),
        }))
        .await;
    }

    /// Takes a resume and accepts it.
    pub(crate) async fn accept_resume(&mut self) {
        let submission = self.next().await;
        assert_eq!(submission["op"]["type"], "session.resume", "{submission}");
        let view = json!({
            "session": submission["op"]["session"], "cwd": "/w", "title": null, "mode": null,
            "agent": {"id": {"name": "script", "version": null}, "modes": [], "commands": []},
            "cursor": 1,
        });
        let id = &submission["id"];
        self.say(&json!({"v": 1, "type": "receipt", "id": id, "accepted": view}))
            .await;
    }
}

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixListener;

use super::*;

/// A text that is its own line.
#[derive(Debug)]
struct Text(&'static str);

impl Coalesce for Text {
    fn absorb(&mut self, next: Self) -> Result<(), Self> {
        Err(next)
    }
}

impl Encode for Text {
    fn encode(&self, line: &mut Vec<u8>) {
        line.extend_from_slice(self.0.as_bytes());
        line.push(b'\n');
    }
}

async fn connected() -> (UnixStream, UnixStream) {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    let (client, server) = tokio::join!(connect(&path), listener.accept());
    (client.unwrap(), server.unwrap().0)
}

#[tokio::test]
async fn frames_of_one_side_are_lines_of_the_other_until_it_ends() {
    let (client, server) = connected().await;
    let queue = OutQueue::new();
    let writer = spawn_frames(client, queue.clone());
    let mut lines = spawn_lines(server, 64);
    for text in ["one", "two", "three"] {
        queue.push(Text(text));
    }
    queue.close();
    writer.await.unwrap();
    let mut read = Vec::new();
    while let Some(Line::Text(text)) = lines.recv().await {
        read.push(text);
    }
    assert_eq!(read, ["one", "two", "three"]);
}

/// WIRE-13
#[tokio::test]
async fn a_queue_whose_reader_is_gone_is_abandoned() {
    let (client, server) = connected().await;
    let queue = OutQueue::new();
    spawn_frames(client, queue.clone());
    drop(server);
    // The first write may still be taken by the kernel.
    while !queue.is_closed() {
        queue.push(Text("lost"));
        tokio::task::yield_now().await;
    }
}

/// Nothing is read ahead for somebody who has gone.
#[tokio::test]
async fn a_reader_whose_receiver_is_dropped_lets_go_of_the_stream() {
    let (mut client, server) = connected().await;
    let lines = spawn_lines(server, 64);
    drop(lines);
    let mut rest = Vec::new();
    client.write_all(b"late\n").await.ok();
    assert_eq!(client.read_to_end(&mut rest).await.unwrap_or(0), 0);
}

/// SQEQ-8
#[tokio::test]
async fn this_user_is_at_the_other_end_of_its_own_socket() {
    let (client, server) = connected().await;
    assert!(check_peer(&client).is_ok() && check_peer(&server).is_ok());
}

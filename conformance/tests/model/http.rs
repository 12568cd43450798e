//! Just enough of an HTTP client to see a reply as it comes off the wire.

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// How a reply ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// As its framing says.
    Whole,
    /// The connection closed before that.
    Cut,
}

#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) media: String,
    pub(crate) text: String,
    pub(crate) end: End,
    /// Reads that brought something.
    pub(crate) reads: usize,
}

pub(crate) async fn post(url: &str, path: &str, body: &Value) -> Reply {
    request(url, "POST", path, &body.to_string()).await
}

pub(crate) async fn request(url: &str, method: &str, path: &str, body: &str) -> Reply {
    let address = url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\
         x-api-key: secret-key\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(body.as_bytes()).await.unwrap();
    let (mut bytes, mut reads) = (Vec::new(), 0);
    // A cut may reset the connection: what came before counts.
    while let Ok(1..) = stream.read_buf(&mut bytes).await {
        reads += 1;
    }
    let raw = String::from_utf8(bytes).unwrap();
    let (head, body) = raw.split_once("\r\n\r\n").unwrap();
    let header = |name: &str| {
        let lines = head
            .lines()
            .skip(1)
            .filter_map(|line| line.split_once(": "));
        let mut values = lines.filter(|(key, _)| key.eq_ignore_ascii_case(name));
        values
            .next()
            .map_or(String::new(), |(_, value)| value.to_owned())
    };
    let (text, end) = if header("transfer-encoding") == "chunked" {
        unchunked(body)
    } else {
        let length: usize = header("content-length").parse().unwrap_or(body.len());
        let end = if body.len() == length {
            End::Whole
        } else {
            End::Cut
        };
        (body.to_owned(), end)
    };
    Reply {
        status: head.split(' ').nth(1).unwrap().parse().unwrap(),
        media: header("content-type"),
        text,
        end,
        reads,
    }
}

fn unchunked(mut rest: &str) -> (String, End) {
    let mut text = String::new();
    while let Some((size, after)) = rest.split_once("\r\n") {
        let Ok(size) = usize::from_str_radix(size, 16) else {
            break;
        };
        if size == 0 {
            return (text, End::Whole);
        }
        let Some(chunk) = after.get(..size) else {
            break;
        };
        text.push_str(chunk);
        rest = after[size..].trim_start_matches("\r\n");
    }
    (text, End::Cut)
}

use std::io::{PipeWriter, Write};
use std::thread::JoinHandle;

use tokio::io::AsyncReadExt;

use super::pace::STREAK;
use super::*;

/// What waits for bytes that do not come fails.
const HANGS: Duration = Duration::from_secs(30);

fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let ended = runtime.block_on(async { tokio::time::timeout(HANGS, test).await });
    ended.expect("bytes are missing");
}

fn pipe() -> (Paced, PipeWriter) {
    let (read, write) = io::pipe().unwrap();
    (Paced::of(read.into()).unwrap(), write)
}

/// Writes a stream of numbered lines as fast as it can, a write each.
fn stream(mut pipe: PipeWriter, lines: u32) -> JoinHandle<PipeWriter> {
    std::thread::spawn(move || {
        for number in 0..lines {
            pipe.write_all(line(number).as_bytes()).unwrap();
        }
        pipe
    })
}

fn line(number: u32) -> String {
    format!("{number:0>100}\n")
}

#[test]
fn all_that_a_stream_writes_is_read_in_order_and_then_its_end() {
    run(async {
        let (mut output, pipe) = pipe();
        let writer = stream(pipe, 50_000);
        let mut read = String::new();
        // The end comes when the writer is dropped with its thread's result.
        tokio::task::spawn_blocking(move || drop(writer.join()));
        output.read_to_string(&mut read).await.unwrap();
        let wrote: String = (0..50_000).map(line).collect();
        assert!(read == wrote, "{} bytes", read.len());
    });
}

#[test]
fn a_stream_is_not_watched_and_what_follows_it_is() {
    run(async {
        let (mut output, mut pipe) = pipe();
        let mut read = [0; 101];
        // As many as make a stream; more on a machine that is busy meanwhile.
        for number in 0.. {
            if matches!(output.source, Source::Resting(..)) {
                assert!(number > STREAK, "a few lines are no stream");
                break;
            }
            assert!(number < 10_000, "no stream was seen");
            pipe.write_all(line(number).as_bytes()).unwrap();
            output.read_exact(&mut read).await.unwrap();
        }
        pipe.write_all(line(7).as_bytes()).unwrap();
        output.read_exact(&mut read).await.unwrap();
        assert_eq!(read, line(7).as_bytes());
        assert!(matches!(output.source, Source::Watched(_)));
        drop(pipe);
        assert_eq!(output.read(&mut read).await.unwrap(), 0);
    });
}

#[test]
fn a_stream_that_stops_without_a_word_is_watched_again() {
    run(async {
        let (mut output, pipe) = pipe();
        let file = File::from(match output.source {
            Source::Watched(pipe) => pipe.into_nonblocking_fd().unwrap(),
            _ => unreachable!(),
        });
        output.source = Source::Resting(file, None);
        let mut byte = [0; 1];
        let mut read = std::pin::pin!(output.read(&mut byte));
        let wait = tokio::time::timeout(Duration::from_millis(20), &mut read);
        assert!(wait.await.is_err(), "there is nothing");
        (&pipe).write_all(b"x").unwrap();
        assert_eq!(read.await.unwrap(), 1);
        assert!(matches!(output.source, Source::Watched(_)));
    });
}

//! Lines of a client to the native face, with an engine on a disk in memory behind it: frames that
//! are right, frames with bytes changed, and anything at all, in any order.

#![no_main]

mod agent;
mod script;

use std::collections::HashSet;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use jsonschema::Validator;
use libfuzzer_sys::fuzz_target;
use sessiond_engine::Engine;
use sessiond_protocol::{ServerFrame, schema};
use sessiond_sqeq::{FaceError, Served, serve};
use sessiond_wire::stdio::Encode as _;
use sessiond_wire::{DEFAULT_LINE_LIMIT, LineReader, OutQueue};
use tokio::sync::mpsc;

use script::Script;

/// How long anything may take that must come to an end.
const DEADLINE: Duration = Duration::from_secs(10);

/// How often a client looks for a question before it answers none.
const LOOKS: u32 = 20;

type Told = Arc<Mutex<Vec<ServerFrame>>>;

fuzz_target!(|input: &[u8]| {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    runtime.block_on(connection(Script::of(input)));
});

/// A whole connection.
async fn connection(script: Script) {
    let engine = agent::engine();
    let (out, told) = (OutQueue::new(), Told::default());
    let reader = tokio::spawn(read(out.clone(), told.clone()));
    let ended = serve_all(&script, &engine, &out, &told).await;
    engine
        .drain()
        .await
        .expect("every session ends once its client is gone");
    out.close();
    reader.await.unwrap();
    check(&script, &told.lock().unwrap(), &ended);
}

async fn read(out: OutQueue<ServerFrame>, told: Told) {
    while let Some(frame) = out.recv().await {
        told.lock().unwrap().push(frame);
    }
}

async fn serve_all(
    script: &Script,
    engine: &Engine,
    out: &OutQueue<ServerFrame>,
    told: &Told,
) -> Result<Served, FaceError> {
    let (lines, receiver) = mpsc::channel(4);
    let face = tokio::spawn(serve(receiver, out.clone(), engine.connect()));
    for step in &script.steps {
        let mut looks = LOOKS;
        while step.answers && open_question(told).is_none() && looks > 0 {
            looks -= 1;
            tokio::time::sleep(Duration::from_micros(100)).await;
        }
        let bytes = step.line(open_question(told).as_ref());
        let mut reader = LineReader::new(&bytes[..], DEFAULT_LINE_LIMIT);
        while let Some(line) = reader.next_line().unwrap() {
            let sent = tokio::time::timeout(DEADLINE, lines.send(line)).await;
            // A face that has ended hears no more.
            let _ended = sent.expect("the face reads on");
        }
    }
    drop(lines);
    let ended = tokio::time::timeout(DEADLINE, face).await;
    ended.expect("the face ends with its client").unwrap()
}

/// The newest question.
fn open_question(told: &Told) -> Option<script::Question> {
    let told = told.lock().unwrap();
    told.iter().rev().find_map(|frame| match frame {
        ServerFrame::Request(request) => Some(script::Question {
            id: request.id.to_string(),
            digest: request.digest.clone(),
        }),
        _ => None,
    })
}

/// What must hold whatever the client said.
fn check(script: &Script, told: &[ServerFrame], ended: &Result<Served, FaceError>) {
    static SERVER_FRAME: LazyLock<Validator> = LazyLock::new(|| {
        let [_, server, ..] = schema::all();
        jsonschema::validator_for(&server.schema).unwrap()
    });
    let mut receipts = HashSet::new();
    for (number, frame) in told.iter().enumerate() {
        let mut line = Vec::new();
        frame.encode(&mut line);
        let text = line.strip_suffix(b"\n").unwrap();
        assert!(!text.contains(&b'\n'));
        let value = serde_json::from_slice(text).unwrap();
        assert!(SERVER_FRAME.is_valid(&value), "no frame: {value}");
        match frame {
            ServerFrame::Receipt(receipt) => {
                assert!(
                    receipts.insert(receipt.id.as_str()),
                    "a second receipt: {value}"
                );
            }
            ServerFrame::Error { fatal: true, .. } => {
                assert_eq!(number + 1, told.len(), "something after the fatal error");
                assert!(matches!(ended, Err(FaceError::Fatal(_))), "{ended:?}");
            }
            _ => {}
        }
    }
    let is_fatal = matches!(told.last(), Some(ServerFrame::Error { fatal: true, .. }));
    assert_eq!(ended.is_err(), is_fatal, "{ended:?}");
    for id in script.submitted() {
        assert!(receipts.contains(id.as_str()), "{id} has no receipt");
    }
}

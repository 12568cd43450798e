use std::time::Duration;

use serde_json::{Value, json};
use sessiond_wire::OutQueue;
use sessiond_wire::rpc::{Inbound, Peer, RpcFrame, error, parse_unversioned};

use super::{ATTEMPTS, Failed, IN_FLIGHT, Requests};

const LIMIT: Duration = Duration::from_secs(60);

fn requests() -> (Requests, OutQueue<RpcFrame>) {
    let queue = OutQueue::new();
    (Requests::new(Peer::new(queue.clone())), queue)
}

/// Answers all that is asked; `answer` gets the number of the request, from 1.
async fn serve(
    queue: OutQueue<RpcFrame>,
    peer: Peer,
    mut answer: impl FnMut(u32) -> Option<Result<Value, i32>>,
) {
    let (mut frames, mut number) = (Vec::new(), 0);
    while queue.recv_many(&mut frames, 1).await > 0 {
        for frame in frames.drain(..) {
            let Inbound::Request { id, .. } = parse_unversioned(&frame.text()) else {
                continue;
            };
            number += 1;
            let Some(answer) = answer(number) else {
                continue;
            };
            let answer = answer
                .map(|result| serde_json::value::to_raw_value(&result).expect("JSON"))
                .map_err(|code| error(code, "no"));
            peer.accept(&id, answer);
        }
    }
}

/// A request that Codex is too busy for is asked again, and not for ever.
#[tokio::test(start_paused = true)]
async fn a_busy_codex_is_asked_again() {
    for (busy, expected) in [
        (0, true),
        (2, true),
        (ATTEMPTS - 1, true),
        (ATTEMPTS, false),
    ] {
        let (requests, queue) = requests();
        let serving = serve(queue, requests.peer.clone(), |number| {
            Some(if number <= busy {
                Err(-32001)
            } else {
                Ok(json!("done"))
            })
        });
        let asked = json!({});
        let answer = tokio::select! {
            answer = requests.call("x", &asked, LIMIT) => answer,
            () = serving => unreachable!("it serves for ever"),
        };
        assert_eq!(
            answer == Ok(json!("done")),
            expected,
            "{busy} times busy: {answer:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_refused_request_is_not_asked_again() {
    let (requests, queue) = requests();
    let serving = serve(queue, requests.peer.clone(), |number| {
        Some(if number == 1 {
            Err(-32600)
        } else {
            Ok(json!("done"))
        })
    });
    let asked = json!({});
    let answer = tokio::select! {
        answer = requests.call("x", &asked, LIMIT) => answer,
        () = serving => unreachable!("it serves for ever"),
    };
    assert!(matches!(answer, Err(Failed::Refused(_))), "{answer:?}");
}

#[tokio::test(start_paused = true)]
async fn a_request_without_an_answer_fails_at_its_deadline() {
    let (requests, queue) = requests();
    let serving = serve(queue, requests.peer.clone(), |_| None);
    let asked = json!({});
    let answer = tokio::select! {
        answer = requests.call("x", &asked, LIMIT) => answer,
        () = serving => unreachable!("it serves for ever"),
    };
    assert_eq!(answer, Err(Failed::Late(60)));
}

/// Codex loses what is beyond its queues: the rest waits here.
#[tokio::test(start_paused = true)]
async fn few_requests_are_out_at_once() {
    let (requests, queue) = requests();
    let asked = json!({});
    let calls = (0..IN_FLIGHT * 3).map(|_| requests.call("x", &asked, LIMIT));
    let mut calls: Vec<_> = calls.map(Box::pin).collect();
    for call in &mut calls {
        let polled = tokio::time::timeout(Duration::ZERO, call).await;
        assert!(polled.is_err(), "nothing was answered");
    }
    let mut frames = Vec::new();
    queue.recv_many(&mut frames, IN_FLIGHT * 3).await;
    assert_eq!(frames.len(), IN_FLIGHT);
}

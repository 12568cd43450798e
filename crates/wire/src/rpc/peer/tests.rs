//! WIRE-7: calls, their responses, and what comes instead.

use std::pin::pin;
use std::task::Waker;

use super::*;
use crate::rpc::{INVALID_PARAMS, InFlight, MAX_IN_FLIGHT, cancelled_id};

fn poll(call: Pin<&mut PendingCall>) -> Poll<Result<String, CallError>> {
    call.poll(&mut Context::from_waker(Waker::noop()))
        .map(|outcome| outcome.map(|result| result.get().to_owned()))
}

fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.into()).unwrap()
}

fn sent(peer: &Peer) -> Vec<String> {
    let mut frames = Vec::new();
    {
        let received = pin!(peer.queue.recv_many(&mut frames, usize::MAX));
        let _ = received.poll(&mut Context::from_waker(Waker::noop()));
    }
    frames
        .iter()
        .map(|frame| frame.text().into_owned())
        .collect()
}

/// WIRE-7
#[test]
fn a_call_gets_its_own_response_once() {
    let peer = Peer::new(OutQueue::new());
    let mut first = pin!(peer.request("a", &[1]));
    let mut second = pin!(peer.request("b", &[2]));
    assert_eq!(
        sent(&peer),
        [
            r#"{"jsonrpc":"2.0","id":1,"method":"a","params":[1]}"#,
            r#"{"jsonrpc":"2.0","id":2,"method":"b","params":[2]}"#,
        ]
    );
    assert_eq!((first.id(), second.id()), (Some(1), Some(2)));
    peer.accept(&RawId::from(2), Ok(raw("\"two\"")));
    assert_eq!(poll(first.as_mut()), Poll::Pending);
    assert_eq!(poll(second.as_mut()), Poll::Ready(Ok("\"two\"".into())));
    peer.accept(&RawId::from(2), Ok(raw("\"again\"")));
    peer.accept(
        &RawId::new(&raw("\"1\"")).unwrap(),
        Ok(raw("\"a string is another id\"")),
    );
    peer.accept(&RawId::from(99999), Ok(raw("{}")));
    peer.ignore();
    assert_eq!(poll(first.as_mut()), Poll::Pending);
    assert_eq!(peer.suppressed(), 4);
}

/// WIRE-7
#[test]
fn every_way_a_call_can_fail_has_its_error() {
    let refused = error(INVALID_PARAMS, "no");
    type Cause = fn(&Peer);
    let cases: [(&str, Cause, CallError); 4] = [
        (
            "the peer refuses",
            |peer| peer.accept(&RawId::from(1), Err(error(INVALID_PARAMS, "no"))),
            CallError::Rpc(refused),
        ),
        (
            "the peer cancels",
            |peer| peer.accept(&RawId::from(1), Err(error(REQUEST_CANCELLED, "cancelled"))),
            CallError::Cancelled,
        ),
        ("the input ends", Peer::close, CallError::Closed),
        (
            "the input ends, then the response comes",
            |peer| {
                peer.close();
                peer.accept(&RawId::from(1), Ok(raw("{}")));
            },
            CallError::Closed,
        ),
    ];
    for (name, happens, expected) in cases {
        let peer = Peer::new(OutQueue::new());
        let mut call = pin!(peer.request("m", &()));
        happens(&peer);
        assert_eq!(poll(call.as_mut()), Poll::Ready(Err(expected)), "{name}");
    }
}

#[test]
fn a_call_that_can_not_be_sent_fails_at_once_and_sends_nothing() {
    let peer = Peer::new(OutQueue::new());
    let unwritable = HashMap::from([((1, 2), 3)]);
    let mut call = pin!(peer.request("m", &unwritable));
    assert_eq!(poll(call.as_mut()), Poll::Ready(Err(CallError::Params)));
    peer.close();
    let mut call = pin!(peer.request("m", &()));
    assert_eq!(poll(call.as_mut()), Poll::Ready(Err(CallError::Closed)));
    let abandoned = Peer::new(OutQueue::new());
    abandoned.queue().abandon();
    let mut call = pin!(abandoned.request("m", &()));
    assert_eq!(poll(call.as_mut()), Poll::Ready(Err(CallError::Closed)));
    assert!(sent(&peer).is_empty());
}

/// WIRE-7
#[test]
fn giving_up_a_call_tells_the_peer_once_and_suppresses_its_response() {
    let peer = Peer::new(OutQueue::new());
    peer.request("m", &()).cancel();
    let frames = sent(&peer);
    let cancel = r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}"#;
    assert_eq!(frames.get(1..), Some(&[cancel.to_owned()][..]));
    peer.accept(&RawId::from(1), Ok(raw("{}")));
    assert_eq!(peer.suppressed(), 1);

    let answered = peer.request("m", &());
    peer.accept(&RawId::from(2), Ok(raw("{}")));
    drop(answered);
    assert_eq!(sent(&peer).len(), 1, "an answered call is not cancelled");
}

#[test]
fn a_result_that_can_not_be_written_is_an_internal_error() {
    let peer = Peer::new(OutQueue::new());
    let unwritable = HashMap::from([((1, 2), 3)]);
    peer.respond(&RawId::from(5), Ok(&unwritable));
    peer.respond(&RawId::from(6), Ok(&[1]));
    peer.respond(&RawId::from(7), Err::<&(), _>(&error(INVALID_PARAMS, "no")));
    assert_eq!(
        sent(&peer),
        [
            r#"{"jsonrpc":"2.0","id":5,"error":{"code":-32603,"message":"Internal error"}}"#,
            r#"{"jsonrpc":"2.0","id":6,"result":[1]}"#,
            r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"no"}}"#,
        ]
    );
}

/// WIRE-4, WIRE-5
#[test]
fn an_id_is_in_flight_until_it_is_answered_and_only_so_many_are() {
    let mut requests = InFlight::default();
    let text_id = RawId::new(&raw("\"1\"")).unwrap();
    requests.begin(RawId::from(1), "first").unwrap();
    requests.begin(text_id.clone(), "text").unwrap();
    let twice = requests.begin(RawId::from(1), "second").unwrap_err();
    assert_eq!(twice.code(), crate::rpc::INVALID_REQUEST);
    assert_eq!(
        requests.get(&RawId::from(1)),
        Some(&"first"),
        "the first one stays"
    );
    assert_eq!(requests.finish(&text_id), Some("text"));
    assert_eq!(requests.get(&text_id), None);
    requests.begin(text_id, "anew").unwrap();
    for id in 2..MAX_IN_FLIGHT as i64 {
        requests.begin(RawId::from(id), "more").unwrap();
    }
    assert!(requests.begin(RawId::from(-1), "too many").is_err());
    assert_eq!(requests.drain().count(), MAX_IN_FLIGHT);
    assert!(requests.is_empty());
}

#[test]
fn a_cancellation_names_a_request_or_nothing() {
    let cases = [
        (r#"{"requestId":7}"#, Some("7")),
        (r#"{"requestId":"7","x":1}"#, Some("\"7\"")),
        (r#"{"requestId":null}"#, None),
        (r#"{"requestId":1.5}"#, None),
        ("{}", None),
        ("[]", None),
        ("5", None),
    ];
    for (params, expected) in cases {
        let id = cancelled_id(&raw(params));
        assert_eq!(id.as_ref().map(RawId::as_str), expected, "{params}");
    }
}

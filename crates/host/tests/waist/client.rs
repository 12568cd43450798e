//! A client of the waist.

use sessiond_protocol::{
    Accepted, AttachMode, ClientFrame, Content, Event, EventFrame, FoundBy, Hello, IfBusy,
    OnDisconnect, Op, Party, Replay, RequestFrame, RequestKind, ServerFrame, SessionId, SessionNew,
    SessionResume, Submission, SubmissionId, TurnOutcome, VERSION, Verdict, WireError,
};
use sessiond_wire::Connection;

use crate::PATIENCE;

pub(crate) struct Client {
    connection: Connection,
    submitted: u32,
    pub(crate) events: Vec<EventFrame>,
    pub(crate) requests: Vec<RequestFrame>,
    pub(crate) errors: Vec<WireError>,
}

impl Client {
    pub(crate) async fn greet(connection: Connection) -> Self {
        let (events, requests, errors) = (Vec::new(), Vec::new(), Vec::new());
        let mut client = Self {
            connection,
            submitted: 0,
            events,
            requests,
            errors,
        };
        let party = Party {
            name: "test".to_owned(),
            version: "1".to_owned(),
        };
        client
            .send(ClientFrame::Hello(Hello {
                versions: vec![VERSION],
                client: party,
                ack: false,
            }))
            .await;
        let welcome = client.next().await;
        assert!(matches!(welcome, ServerFrame::Welcome(_)), "{welcome:?}");
        client
    }

    pub(crate) async fn send(&self, frame: ClientFrame) {
        self.connection.send(frame).await.unwrap();
    }

    pub(crate) async fn next(&mut self) -> ServerFrame {
        let frame = tokio::time::timeout(PATIENCE, self.connection.recv()).await;
        let frame = frame.unwrap().unwrap();
        match &frame {
            ServerFrame::Event(event) => self.events.push(event.clone()),
            ServerFrame::Request(request) => self.requests.push(request.clone()),
            ServerFrame::Error { error, .. } => self.errors.push(error.clone()),
            _ => {}
        }
        frame
    }

    pub(crate) async fn submit(&mut self, session: Option<SessionId>, op: Op) -> SubmissionId {
        self.submitted += 1;
        let id: SubmissionId = format!("s{}", self.submitted).try_into().unwrap();
        let submission = Submission {
            id: id.clone(),
            session,
            op,
        };
        self.send(ClientFrame::Submission(submission)).await;
        id
    }

    pub(crate) async fn receipt(&mut self, of: &SubmissionId) -> Verdict {
        loop {
            if let ServerFrame::Receipt(receipt) = self.next().await
                && receipt.id == *of
            {
                return receipt.result;
            }
        }
    }

    pub(crate) async fn call(&mut self, session: Option<SessionId>, op: Op) -> Verdict {
        let id = self.submit(session, op).await;
        self.receipt(&id).await
    }

    pub(crate) async fn new_session(&mut self, cwd: &str) -> SessionId {
        let new = SessionNew {
            setup: Default::default(),
            id: None,
            cwd: cwd.to_owned(),
            agent: None,
            answers: vec![RequestKind::Permission],
            on_disconnect: OnDisconnect::Finish,
        };
        match self.call(None, Op::SessionNew(new)).await {
            Verdict::Accepted(Accepted::Session(view)) => view.session,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn start(&mut self, session: SessionId, text: &str) -> Verdict {
        self.call(Some(session), turn(text)).await
    }

    /// Waits for the end of the turn that runs.
    pub(crate) async fn ended(&mut self) -> TurnOutcome {
        loop {
            if let ServerFrame::Event(frame) = self.next().await
                && let Event::TurnEnded(ended) = frame.event
            {
                return ended.outcome;
            }
        }
    }
}

pub(crate) fn turn(text: &str) -> Op {
    Op::TurnStart {
        input: vec![Content::text(text)],
        if_busy: IfBusy::Queue,
        idempotency_key: None,
    }
}

pub(crate) fn resume(session: SessionId) -> Op {
    Op::SessionResume(SessionResume {
        setup: Default::default(),
        session,
        cwd: None,
        found_by: FoundBy::Id,
        accept: Vec::new(),
        replay: Replay::All,
        mode: AttachMode::Control,
        answers: vec![RequestKind::Permission],
        on_disconnect: OnDisconnect::Finish,
    })
}

//! Which version of the protocol a connection speaks: settled by the first `initialize` that
//! succeeds, never changed after it (acp.md 2.1).

use serde::{Deserialize, Serialize};
use serde_json::Number;
use serde_json::value::RawValue;
use sessiond_protocol::{ClientFrame, PersistenceState, ServerFrame, Welcome};
use sessiond_wire::rpc::{ErrorObject, RpcFrame, parse, refuse};
use sessiond_wire::{Line, OutQueue};
use tokio::time::Instant;

use crate::asked::Asked;
use crate::client::Client;
use crate::error::FaceError;
use crate::face::Face;
use crate::params::read;
use crate::questions::Answered;
use crate::refusal::invalid_params;
use crate::serve::{Options, Versions};
use crate::v2;

const UNSUPPORTED_VERSION: i32 = -32022;

/// The newest version we speak.
const NEWEST: u16 = 2;

/// The one face of a connection. Until a version is settled it is that of version 1, which refuses
/// all but `initialize`.
#[derive(Debug)]
pub(crate) struct Router {
    face: Spoken,
    options: Options,
    persistence: PersistenceState,
}

#[derive(Debug)]
enum Spoken {
    V1(Box<Face>),
    V2(Box<v2::Face>),
}

/// Where a first `initialize` goes.
enum Route {
    V1,
    V2(v2::Offers),
}

impl Router {
    pub(crate) fn new(queue: OutQueue<RpcFrame>, welcome: &Welcome, options: Options) -> Self {
        Self {
            face: Spoken::V1(Box::new(Face::new(queue, welcome, options.clone()))),
            options,
            persistence: welcome.persistence,
        }
    }

    /// Takes in a line of the client.
    pub(crate) fn line(&mut self, line: Line, now: Instant) {
        let inbound = match line {
            Line::Text(text) => parse(&text),
            Line::Bad(bad) => refuse(bad),
        };
        let Some(asked) = self.client_mut().sort(inbound, now) else {
            return;
        };
        match asked {
            Asked::Request { id, method, params } => {
                if !self.client_mut().begin(&id) {
                    return;
                }
                if method == "initialize"
                    && let Err(error) = self.settle(params.as_deref())
                {
                    return self.client_mut().fail(&id, &error);
                }
                match &mut self.face {
                    Spoken::V1(face) => face.request(&id, &method, params.as_deref()),
                    Spoken::V2(face) => face.request(&id, &method, params.as_deref()),
                }
            }
            Asked::Notification { method, params } => match &mut self.face {
                Spoken::V1(face) => face.notification(&method, params.as_deref()),
                Spoken::V2(face) => face.notification(&method, params.as_deref()),
            },
        }
    }

    /// Settles the version, unless it is settled; the face answers then.
    ///
    /// # Errors
    /// What to answer where no version can be settled: the connection lives on for another attempt.
    fn settle(&mut self, params: Option<&RawValue>) -> Result<(), ErrorObject> {
        match &self.face {
            Spoken::V1(face) if face.offers().is_none() => {}
            _ => return Ok(()),
        }
        if let Route::V2(offers) = route(self.options.versions, params)? {
            let client = std::mem::replace(self.client_mut(), Client::new(OutQueue::new()));
            let options = self.options.clone();
            let face = v2::Face::new(client, (options, self.persistence), offers);
            self.face = Spoken::V2(Box::new(face));
        }
        Ok(())
    }

    /// Takes in a frame of the engine.
    ///
    /// # Errors
    /// [`FaceError`] when the engine ends the connection with it.
    pub(crate) fn frame(&mut self, frame: ServerFrame, now: Instant) -> Result<(), FaceError> {
        match frame {
            ServerFrame::Error { error, fatal: true } => return Err(FaceError::Refused(error)),
            ServerFrame::Error {
                error,
                fatal: false,
            } => {
                tracing::warn!(code = ?error.code, "the engine refused a frame of the face");
            }
            ServerFrame::Bye {} => return Err(FaceError::EngineGone),
            ServerFrame::Welcome(_) => {}
            frame => match &mut self.face {
                Spoken::V1(face) => face.frame(frame, now),
                Spoken::V2(face) => face.frame(frame),
            },
        }
        Ok(())
    }

    /// Takes in an answer of the client.
    pub(crate) fn answered(&mut self, answered: Answered) {
        match &mut self.face {
            Spoken::V1(face) => face.answered(answered),
            Spoken::V2(face) => face.answered(answered),
        }
    }

    /// The next answer of the client. A wait that is dropped loses nothing.
    pub(crate) async fn answer(&mut self) -> Answered {
        match &mut self.face {
            Spoken::V1(face) => face.questions.answered().await,
            Spoken::V2(face) => face.questions.answered().await,
        }
    }

    /// What is to be sent to the engine.
    pub(crate) fn take_outbox(&mut self) -> Vec<ClientFrame> {
        match &mut self.face {
            Spoken::V1(face) => face.take_outbox(),
            Spoken::V2(face) => face.take_outbox(),
        }
    }

    /// Stops what runs and waits for this client: the process is to end.
    pub(crate) fn stop_all(&mut self) {
        match &mut self.face {
            Spoken::V1(face) => face.stop_all(),
            Spoken::V2(face) => face.stop_all(),
        }
    }

    /// Whether a prompt is unanswered, or its turn not told to be over.
    pub(crate) fn has_prompts(&self) -> bool {
        match &self.face {
            Spoken::V1(face) => face.has_prompts(),
            Spoken::V2(face) => face.has_prompts(),
        }
    }

    /// When [`tick`](Self::tick) has something to do next.
    pub(crate) fn due(&self, now: Instant) -> Option<Instant> {
        match &self.face {
            Spoken::V1(face) => face.due(now),
            Spoken::V2(_) => None,
        }
    }

    /// Shows what waited for its time.
    pub(crate) fn tick(&mut self, now: Instant) {
        if let Spoken::V1(face) = &mut self.face {
            face.tick(now);
        }
    }

    pub(crate) fn client(&self) -> &Client {
        match &self.face {
            Spoken::V1(face) => &face.client,
            Spoken::V2(face) => &face.client,
        }
    }

    pub(crate) fn client_mut(&mut self) -> &mut Client {
        match &mut self.face {
            Spoken::V1(face) => &mut face.client,
            Spoken::V2(face) => &mut face.client,
        }
    }
}

/// Which version answers a first `initialize`: the highest of ours that the client can speak. What is
/// below 2, and what names no version at all, is version 1's business where that is spoken.
///
/// # Errors
/// What to answer where only version 2 is spoken and the client cannot, or where its params are
/// malformed.
fn route(versions: Versions, params: Option<&RawValue>) -> Result<Route, ErrorObject> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Asked {
        protocol_version: Number,
    }
    if versions == Versions::V1 {
        return Ok(Route::V1);
    }
    let asked = read::<Asked>(params).map(|asked| asked.protocol_version);
    match (asked, versions) {
        (Ok(version), _)
            if version
                .as_u64()
                .is_some_and(|version| version >= u64::from(NEWEST)) =>
        {
            v2::offers(params).map(Route::V2)
        }
        (_, Versions::V1 | Versions::Auto) => Ok(Route::V1),
        (Ok(version), Versions::V2) => Err(match version.as_u64() {
            Some(requested) => unsupported(requested),
            None => invalid_params("protocolVersion is no version"),
        }),
        (Err(error), Versions::V2) => Err(error),
    }
}

/// That we do not speak the version that was asked for.
pub(crate) fn unsupported(requested: u64) -> ErrorObject {
    #[derive(Serialize)]
    struct Data {
        requested: u64,
        supported: [u16; 1],
    }
    let data = Data {
        requested,
        supported: [NEWEST],
    };
    ErrorObject::owned(
        UNSUPPORTED_VERSION,
        "Unsupported protocol version",
        Some(data),
    )
}

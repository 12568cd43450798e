//! The scripted model server of a run: each case has an address of its own there, so that what its
//! target asks stands in its recording.

use std::collections::BTreeMap;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use crate::error::Error;
use crate::model::{Happening, ModelServer, Watch};
use crate::recording::{Recorder, What};

/// Most characters of a request that are kept: agents send whole conversations.
const MOST_TEXT: usize = 1_000_000;
/// What is kept of a request: the model's name and the conversation, as each service calls it.
const KEPT: [&str; 5] = ["model", "tools", "messages", "input", "contents"];
/// The folder of the cases in the server's paths.
const CASES: &str = "/case/";

/// The recordings of the cases that are being played, by name.
type Cases = Arc<Mutex<BTreeMap<String, Arc<Recorder>>>>;

/// The server on a thread of its own, until the program ends.
#[derive(Debug)]
pub(crate) struct ModelLink {
    url: String,
    cases: Cases,
}

impl ModelLink {
    /// Starts the server.
    ///
    /// # Errors
    ///
    /// What keeps it from listening.
    pub(crate) fn start() -> Result<Self, Error> {
        let cases = Cases::default();
        let told_of = Arc::clone(&cases);
        let watch = Watch::new(move |path, happening| tell(&told_of, path, happening));
        let (tell, told) = channel();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            let runtime = match runtime {
                Ok(runtime) => runtime,
                Err(error) => {
                    let _ = tell.send(Err(Error::io("model server", error)));
                    return;
                }
            };
            runtime.block_on(async {
                match ModelServer::watched(0, None, watch).await {
                    Ok(server) => {
                        let _ = tell.send(Ok(server.url()));
                        std::future::pending::<()>().await;
                    }
                    Err(error) => {
                        let _ = tell.send(Err(Error::Harness(error.to_string())));
                    }
                }
            });
        });
        let gone = |_| Error::Harness("the model server did not start".to_owned());
        Ok(Self {
            url: told.recv().map_err(gone)??,
            cases,
        })
    }

    /// The address of a case.
    pub(crate) fn url(&self, case: &str) -> String {
        format!("{}{CASES}{case}", self.url)
    }

    /// What is asked at the address of a case is recorded there.
    pub(crate) fn follow(&self, case: &str, recorder: Arc<Recorder>) {
        let mut cases = self.cases.lock().unwrap_or_else(PoisonError::into_inner);
        cases.insert(case.to_owned(), recorder);
    }

    /// The case is over.
    pub(crate) fn forget(&self, case: &str) {
        let mut cases = self.cases.lock().unwrap_or_else(PoisonError::into_inner);
        cases.remove(case);
    }
}

/// Records what happens at the address of a case.
fn tell(cases: &Cases, path: &str, happening: &Happening<'_>) {
    let Some((case, route)) = path
        .strip_prefix(CASES)
        .and_then(|rest| rest.split_once('/'))
    else {
        return;
    };
    let cases = cases.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(recorder) = cases.get(case) else {
        return;
    };
    let route = route.split('?').next().unwrap_or_default();
    let what = match happening {
        Happening::Asked(body) => What::ModelAsked(format!("{route} {}", short(body))),
        Happening::Answered(status) => What::ModelAnswered(format!("{status} to {route}")),
    };
    recorder.add(0, what);
}

/// The conversation, and how many tools were offered.
fn short(body: &Value) -> String {
    let mut body = body.clone();
    if let Some(members) = body.as_object_mut() {
        members.retain(|name, _| KEPT.contains(&name.as_str()));
        if let Some(tools) = members.get_mut("tools") {
            *tools = tools.as_array().map_or(0, Vec::len).into();
        }
    }
    let text = body.to_string();
    match text.char_indices().nth(MOST_TEXT) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

#[cfg(test)]
#[path = "model_link_tests.rs"]
mod tests;

//! Requests of the peer that are not answered yet.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{ErrorObject, INVALID_REQUEST, RawId, error};

/// Requests of one peer that may be unanswered at a time. Far above what any client keeps open;
/// it bounds memory against one that never stops asking (WIRE-4).
pub const MAX_IN_FLIGHT: usize = 1024;

/// The unanswered requests by id, each with what its owner needs, such as a way to cancel it.
#[derive(Debug)]
pub struct InFlight<T> {
    requests: HashMap<RawId, T>,
}

impl<T> Default for InFlight<T> {
    fn default() -> Self {
        Self {
            requests: HashMap::new(),
        }
    }
}

impl<T> InFlight<T> {
    /// Enters a request.
    ///
    /// # Errors
    /// What to answer when a request with this id is unanswered, or too many are. The entry of the
    /// first request stays as it is.
    pub fn begin(&mut self, id: RawId, entry: T) -> Result<(), ErrorObject> {
        if self.requests.contains_key(&id) {
            return Err(error(
                INVALID_REQUEST,
                "Invalid request: this id is in flight",
            ));
        }
        if self.requests.len() >= MAX_IN_FLIGHT {
            return Err(error(
                INVALID_REQUEST,
                "Invalid request: too many requests in flight",
            ));
        }
        self.requests.insert(id, entry);
        Ok(())
    }

    /// The entry of an unanswered request.
    pub fn get(&self, id: &RawId) -> Option<&T> {
        self.requests.get(id)
    }

    /// Removes a request because it is answered.
    pub fn finish(&mut self, id: &RawId) -> Option<T> {
        self.requests.remove(id)
    }

    /// How many requests are unanswered.
    pub fn len(&self) -> usize {
        self.requests.len()
    }

    /// Whether every request is answered.
    pub fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// Removes every request, as at the end of the connection.
    pub fn drain(&mut self) -> impl Iterator<Item = (RawId, T)> + '_ {
        self.requests.drain()
    }
}

/// The request that the params of a `$/cancel_request` name, if they name one.
pub fn cancelled_id(params: &RawValue) -> Option<RawId> {
    #[derive(Deserialize)]
    struct Params<'a> {
        #[serde(rename = "requestId", borrow)]
        request_id: &'a RawValue,
    }
    let params: Params<'_> = serde_json::from_str(params.get()).ok()?;
    RawId::new(params.request_id)
}

//! What these commands decide without the engine has its record all the same (LOG-19).

use sessiond_engine::{Action, Decision};
use sessiond_log::{LogError, Store, Subject};

use crate::failure::Failure;

/// Records what came of an action about a session, or about none in particular.
pub(crate) fn record<T>(
    store: &Store,
    action: Action,
    subject: Option<&Subject>,
    result: &Result<T, Failure>,
) {
    let subject = subject.cloned();
    let decision = match result {
        Ok(_) => Decision::accepted(subject, action),
        Err(failure) => {
            let holder = match failure {
                Failure::Log(LogError::Busy { holder, .. }) => holder.as_ref(),
                _ => None,
            };
            let holder = holder.map(|holder| holder.owner.clone());
            Decision::refused(subject, action, failure.code(), holder)
        }
    };
    decision.write(store);
}

//! What is decided about sessions, and why, for the store's audit files (LOG-19).
//!
//! Nothing is opened before the first decision, and a file that cannot be written refuses nobody.

use sessiond_log::{AuditEntry, Owner, Store, Subject, Verdict};
use sessiond_protocol::{ErrorCode, Holder, SessionId, WireError};

use crate::actor::timestamp;

/// What was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// A new session, and its lease.
    New,
    /// The lease of a stored session.
    Resume,
    /// The control of a session that is open here.
    Attach,
    Fork,
    Archive,
    Unarchive,
    Delete,
    Restore,
}

impl Action {
    fn name(self) -> &'static str {
        match self {
            Action::New => "new",
            Action::Resume => "resume",
            Action::Attach => "attach",
            Action::Fork => "fork",
            Action::Archive => "archive",
            Action::Unarchive => "unarchive",
            Action::Delete => "delete",
            Action::Restore => "restore",
        }
    }

    /// The reason code of a yes.
    fn granted(self) -> &'static str {
        match self {
            Action::New => "id_free",
            Action::Resume | Action::Archive | Action::Delete => "lease_free",
            Action::Attach => "no_controller",
            Action::Fork => "record_of_the_chain",
            Action::Unarchive => "archived",
            Action::Restore => "in_trash",
        }
    }
}

/// A decision, ready to be written.
#[derive(Debug)]
pub(crate) struct Decision(AuditEntry);

impl Decision {
    /// What came of an action. The reason of a refusal is the code that the client gets.
    pub(crate) fn on<T>(session: SessionId, action: Action, result: &Result<T, WireError>) -> Self {
        let subject: Option<Subject> = session.to_string().parse().ok();
        let (verdict, reason, holder) = match result {
            Ok(_) => (Verdict::Accepted, action.granted().to_owned(), None),
            Err(error) => (
                Verdict::Refused,
                name(error.code),
                error.holder.clone().map(owner),
            ),
        };
        let (at, action) = (timestamp(), action.name().to_owned());
        Self(AuditEntry {
            at,
            subject,
            action,
            verdict,
            reason,
            holder,
        })
    }

    /// Writes it; on stable storage when this returns. May block.
    pub(crate) fn write(self, store: &Store) {
        if let Err(error) = store.audit(&self.0) {
            tracing::warn!(code = error.code(), "a decision could not be recorded");
        }
    }

    /// Writes it beside everything else, and waits for that.
    pub(crate) async fn written(self, store: &Store) {
        let store = store.clone();
        // A thread that broke down has said so; what was decided stands.
        let _ = tokio::task::spawn_blocking(move || self.write(&store)).await;
    }
}

fn name(code: ErrorCode) -> String {
    let name = serde_json::to_value(code).ok();
    let name = name.as_ref().and_then(serde_json::Value::as_str);
    name.unwrap_or("unknown").to_owned()
}

/// What a client is told of a holder; the rest is not known here.
fn owner(holder: Holder) -> Owner {
    let Holder { pid, host } = holder;
    let (start_time, boot_id, endpoint) = (0, String::new(), None);
    Owner {
        pid,
        start_time,
        host,
        boot_id,
        endpoint,
    }
}

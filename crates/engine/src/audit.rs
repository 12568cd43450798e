//! What is decided about sessions, and why, for the store's audit files (LOG-19), by the engine
//! and by the commands that need none.
//!
//! Nothing is opened before the first decision, and a file that cannot be written refuses nobody.

use sessiond_log::{AuditEntry, Owner, Store, Subject, Verdict};
use sessiond_protocol::{DriftClass, ErrorCode, Holder, ResumePath, SessionId, WireError};

use crate::{actor::timestamp, drift::Arrival};

/// What was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// A new session, and its lease.
    New,
    /// The lease of a stored session.
    Resume,
    /// A session that was recorded in other surroundings; the reason is what differs (RESUME-16).
    Drift,
    /// Another place of a session's repository (RESUME-7).
    Relocate,
    /// The control of a session that is open here.
    Attach,
    /// The events of a session that is open here, without control.
    View,
    /// A new session with the history of another.
    Fork,
    /// A session into the archive.
    Archive,
    /// A session out of the archive.
    Unarchive,
    /// A session into the trash.
    Delete,
    /// A session out of the trash.
    Restore,
    /// New segments that take note of damage.
    Repair,
    /// The older segments of a session, compressed.
    Compress,
    /// A session out of the store as a file.
    Export,
    /// A session into the store from a file.
    Import,
    /// The removal of what no session needs.
    Sweep,
    /// A session into the trash because of its age (LOG-12).
    Expire,
}

impl Action {
    fn name(self) -> &'static str {
        match self {
            Action::New => "new",
            Action::Resume => "resume",
            Action::Drift => "drift",
            Action::Relocate => "relocate",
            Action::Attach => "attach",
            Action::View => "view",
            Action::Fork => "fork",
            Action::Archive => "archive",
            Action::Unarchive => "unarchive",
            Action::Delete => "delete",
            Action::Restore => "restore",
            Action::Repair => "repair",
            Action::Compress => "compress",
            Action::Export => "export",
            Action::Import => "import",
            Action::Sweep => "sweep",
            Action::Expire => "expire",
        }
    }

    /// The reason code of a yes.
    fn granted(self) -> &'static str {
        match self {
            Action::New | Action::Import => "id_free",
            Action::Resume
            | Action::Archive
            | Action::Delete
            | Action::Repair
            | Action::Compress => "lease_free",
            Action::Drift => "accepted",
            Action::Relocate => "same_repository",
            Action::Attach => "no_controller",
            Action::View => "may_look_on",
            Action::Fork => "record_of_the_chain",
            Action::Unarchive => "archived",
            Action::Restore => "in_trash",
            Action::Export => "readable",
            Action::Sweep => "asked_for",
            Action::Expire => "older_than_kept",
        }
    }
}

/// A decision, ready to be written.
#[derive(Debug)]
pub struct Decision(AuditEntry);

impl Decision {
    /// A yes about a session, or about none in particular.
    #[must_use]
    pub fn accepted(subject: Option<Subject>, action: Action) -> Self {
        let reason = action.granted().to_owned();
        Self::new(subject, action, (Verdict::Accepted, reason, None))
    }

    /// A no, with its reason, a stable code, and who held the session when that was it.
    #[must_use]
    pub fn refused(
        subject: Option<Subject>,
        action: Action,
        reason: &str,
        holder: Option<Owner>,
    ) -> Self {
        let reason = reason.to_owned();
        Self::new(subject, action, (Verdict::Refused, reason, holder))
    }

    fn new(
        subject: Option<Subject>,
        action: Action,
        (verdict, reason, holder): (Verdict, String, Option<Owner>),
    ) -> Self {
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

    /// What came of an action. The reason of a refusal is the code that the client gets.
    pub(crate) fn on<T>(session: SessionId, action: Action, result: &Result<T, WireError>) -> Self {
        Self::about(Some(session), action, result)
    }

    /// The same where it may not be known which session it would have been.
    pub(crate) fn about<T>(
        session: Option<SessionId>,
        action: Action,
        result: &Result<T, WireError>,
    ) -> Self {
        let subject: Option<Subject> = session.and_then(|id| id.to_string().parse().ok());
        match result {
            Ok(_) => Self::accepted(subject, action),
            Err(error) => {
                let holder = error.holder.clone().map(owner);
                Self::refused(subject, action, &name(error.code), holder)
            }
        }
    }

    /// What came of opening a session for a client: what of its surroundings was accepted or
    /// refused, each on its own, whether it moved, and then the lease.
    pub(crate) fn on_opening(
        session: SessionId,
        opened: Result<&Arrival, &WireError>,
    ) -> Vec<Self> {
        let subject: Option<Subject> = session.to_string().parse().ok();
        let (verdict, classes) = match opened {
            Ok(arrival) => (Verdict::Accepted, arrival.accepted()),
            Err(error) => (Verdict::Refused, error.fields),
        };
        let class = |class: DriftClass| {
            let why = (verdict, class.name().to_owned(), None);
            Self::new(subject.clone(), Action::Drift, why)
        };
        let mut decisions: Vec<Self> = classes.iter().map(class).collect();
        if opened.is_ok_and(|arrival| arrival.path == ResumePath::Relocation) {
            decisions.push(Self::accepted(subject, Action::Relocate));
        }
        let opened = opened.map_err(WireError::clone);
        decisions.push(Self::on(session, Action::Resume, &opened));
        decisions
    }

    /// Writes it; on stable storage when this returns. May block.
    pub fn write(self, store: &Store) {
        if let Err(error) = store.audit(&self.0) {
            tracing::warn!(code = error.code(), "a decision could not be recorded");
        }
    }

    /// Writes it beside everything else, and waits for that.
    pub(crate) async fn written(self, store: &Store) {
        Self::all_written(vec![self], store).await;
    }

    /// [`Decision::written`] of several, in order.
    pub(crate) async fn all_written(decisions: Vec<Self>, store: &Store) {
        let store = store.clone();
        let write = move || decisions.into_iter().for_each(|one| one.write(&store));
        // A thread that broke down has said so; what was decided stands.
        let _ = tokio::task::spawn_blocking(write).await;
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

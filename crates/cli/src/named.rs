//! A session as the command line names it: by its id or its exact title (RESUME-2).

use std::str::FromStr;

use sessiond_protocol::{ErrorCode, FoundBy, SessionId, SessionList, Summary, WireError};

use crate::conversation::one_line;
use crate::failure::Failure;
use crate::output::say;
use crate::setup::{Setup, block_on};
use crate::waist::Waist;

/// Longest name that a message repeats, in characters.
const SHOWN_CHARS: usize = 80;

/// What an argument names. A text that is an id is never taken for a title.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SessionName {
    /// The session of this id.
    Id(SessionId),
    /// The one session of exactly this title.
    Title(String),
}

impl SessionName {
    /// What a resume is told of how the session was found (RESUME-16).
    pub(crate) fn found_by(&self) -> FoundBy {
        match self {
            SessionName::Id(_) => FoundBy::Id,
            SessionName::Title(_) => FoundBy::Title,
        }
    }
}

impl FromStr for SessionName {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        if let Ok(id) = text.parse() {
            return Ok(SessionName::Id(id));
        }
        // Else a slip of the shift key would be looked up as a title, and not found.
        if text.to_ascii_lowercase().parse::<SessionId>().is_ok() {
            return Err("session ids are written in lower case");
        }
        if text.is_empty() {
            return Err("a session's id or title is needed");
        }
        Ok(SessionName::Title(text.to_owned()))
    }
}

/// [`resolve`] for a command that has no waist of its own.
pub(crate) fn find(setup: &Setup, name: &SessionName) -> Result<SessionId, Failure> {
    if let SessionName::Id(id) = name {
        return Ok(*id);
    }
    let cwd = setup.cwd()?;
    block_on(async {
        let engine = setup.engine("sessions")?;
        let mut waist = Waist::open(engine.connect(), "sessions").await?;
        let found = resolve(&mut waist, name, &cwd).await;
        waist.close().await;
        found
    })
}

/// The session that is meant. Whether there is one of an id is for what comes next to say; of a
/// title there must be exactly one, and stderr gets its id.
///
/// # Errors
/// `not_found`; a usage error for a title of several sessions, with the ids of those whose
/// directory is `cwd` and the number of the others (SEC-4).
pub(crate) async fn resolve(
    waist: &mut Waist,
    name: &SessionName,
    cwd: &str,
) -> Result<SessionId, Failure> {
    let title = match name {
        SessionName::Id(id) => return Ok(*id),
        SessionName::Title(title) => title,
    };
    let list = SessionList {
        title: Some(title.clone()),
        ..SessionList::default()
    };
    let shown: String = one_line(title).chars().take(SHOWN_CHARS).collect();
    match &waist.list(list).await?[..] {
        [] => {
            let message = format!(
                "no session has the id or the title `{shown}`; \
                 `sessiond sessions list --search TEXT` finds a part of a title"
            );
            Err(WireError::new(ErrorCode::NotFound, message).into())
        }
        [found] => {
            let Summary { session, .. } = found;
            let place = match found.cwd == cwd {
                true => String::new(),
                false => format!(", of the directory {}", one_line(&found.cwd)),
            };
            say(&format!("session {session} found by its title{place}"));
            Ok(*session)
        }
        several => Err(Failure::Usage(ambiguous(&shown, several, cwd))),
    }
}

/// What is said of a title that several sessions have.
fn ambiguous(title: &str, found: &[Summary], cwd: &str) -> String {
    let (here, elsewhere): (Vec<_>, Vec<_>) = found.iter().partition(|row| row.cwd == cwd);
    let mut text = format!(
        "{} sessions have the title `{title}`; name one by its id",
        found.len()
    );
    let line = |row: &Summary| format!("\n  {}  last used {}", row.session, row.updated_at);
    text.extend(here.into_iter().map(line));
    if !elsewhere.is_empty() {
        let count = elsewhere.len();
        text.push_str(&format!(
            "\n  and {count} in other directories; `sessiond sessions list --title TITLE` shows them"
        ));
    }
    text
}

#[cfg(test)]
mod tests;

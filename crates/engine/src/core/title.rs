//! The session's title: whoever has the most say chooses it.

use sessiond_protocol::{
    Accepted, ErrorCode, Event, SessionChanged, Titler, TurnId, WireError, title_line,
};

use super::{Cause, Stepping, Sync};

impl Stepping<'_> {
    /// Gives the session a title, unless somebody with more say has chosen one.
    pub(super) fn title(&mut self, title: &str, by: Titler) {
        let standing = &self.core.standing;
        let allowed = match standing.titled_by {
            None => true,
            Some(Titler::Prompt | Titler::Agent) => by != Titler::Prompt,
            Some(Titler::User) => false,
        };
        let title = title_line(title);
        if allowed && !title.is_empty() && standing.title.as_ref() != Some(&title) {
            self.titled(self.turn_id(), title, by);
        }
    }

    /// Takes the title of the user, who has the most say.
    pub(super) fn rename(&mut self, cause: &Cause, title: &str) {
        let title = title_line(title);
        if title.is_empty() {
            let error = WireError::new(ErrorCode::Invalid, "a title needs a line with text");
            return self.reject(cause, error);
        }
        let standing = &self.core.standing;
        let known = standing.titled_by == Some(Titler::User);
        if !known || standing.title.as_ref() != Some(&title) {
            self.titled(None, title, Titler::User);
            // What a command says is done stays done, whatever happens to the power.
            self.step.sync = Sync::Synced;
        }
        self.accept(cause, Accepted::Done {});
    }

    fn titled(&mut self, turn: Option<TurnId>, title: String, by: Titler) {
        let (title, titled_by) = (Some(title), Some(by));
        let change = SessionChanged {
            title,
            titled_by,
            ..SessionChanged::default()
        };
        self.record(turn, None, Event::SessionChanged(change));
    }
}

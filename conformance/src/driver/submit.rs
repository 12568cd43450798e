//! Steps that speak sessiond's native protocol.

use serde_json::{Value, json};

use super::{Awaited, Did, Driver, Halt};
use crate::step::{Submit, Write};

/// Operations that are about no session, or name it themselves.
const WITHOUT_SESSION: [&str; 5] = [
    "session.new",
    "session.resume",
    "session.list",
    "session.import",
    "shutdown",
];

impl Driver<'_> {
    /// Sends a submission. Its receipt is called by the label; the end of the turn that it begins, by
    /// the label and `.end`.
    pub(super) fn submission(
        &mut self,
        process: &str,
        label: &str,
        op: Value,
        session: Option<Value>,
        id: Option<Value>,
    ) -> Did {
        let id = id.unwrap_or_else(|| {
            self.next_id += 1;
            json!(format!("c{}", self.next_id))
        });
        let begins = op["type"] == "turn.start" || op["type"] == "session.compact";
        let mut frame = json!({"v": 1, "type": "submission", "id": id, "op": op});
        if let Some(session) = session {
            frame["session"] = session;
        }
        let at = self.write_frame(process, &frame)?;
        self.asked(process, label, id.clone(), at, Awaited::Receipt)?;
        if begins {
            self.asked(process, &format!("{label}.end"), id, at, Awaited::TurnEnd)?;
        }
        Ok(())
    }

    /// Sends a submission as a case writes it; its label.
    pub(super) fn submit(&mut self, submit: &Submit) -> Result<String, Halt> {
        let op = self.variables.fill(&submit.op);
        let kind = op["type"].as_str().unwrap_or_default().to_owned();
        let label = submit.label.clone().unwrap_or_else(|| kind.clone());
        let session = match &submit.session {
            None if WITHOUT_SESSION.contains(&kind.as_str()) => None,
            None => Some(self.variables.fill(&"$session".into())),
            Some(session) => Some(self.variables.fill(session)),
        };
        let id = submit.id.as_ref().map(|id| self.variables.fill(id));
        self.submission(&submit.process, &label, op, session, id)?;
        Ok(label)
    }

    /// Sends a frame as it is.
    pub(super) fn write(&self, write: &Write) -> Did {
        let frame = self.variables.fill(&write.frame);
        self.write_frame(&write.process, &frame).map(|_| ())
    }
}

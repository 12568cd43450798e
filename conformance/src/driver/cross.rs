//! Steps of a case that tells one session in several protocols.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Did, Driver, Halt, sdk};
use crate::case::Begin;
use crate::client::Client;
use crate::error::Error;
use crate::recording::What;
use crate::step::{Open, Prompt};
use crate::tongue::Tongue;

impl Driver<'_> {
    /// Speaks another protocol from here on.
    pub(super) fn speak(&mut self, name: &str) -> Did {
        let named = self.variables.fill(&Value::from(name));
        let tongue: Tongue = serde_json::from_value(named)
            .map_err(|error| Halt::Fault(Error::Harness(format!("{}: {error}", self.case.id))))?;
        if !self.target.speaks.contains_key(&tongue) {
            let why = format!("the target's profile does not say how it speaks {tongue:?}");
            return Err(Halt::Skip(why));
        }
        let fault = || Halt::Fault(Error::Harness(format!("{tongue:?}: no schemas")));
        self.schemas = self.all_schemas.get(&tongue).ok_or_else(fault)?;
        self.tongue = tongue;
        self.environment = self.place.environment(tongue, self.target, &self.model_url);
        let capabilities = self.case.capabilities.clone();
        self.client = Arc::new(Client::new(tongue, &self.place.cwd(), capabilities));
        if tongue == Tongue::Claude && !self.variables.knows("session") {
            self.variables.set("session", json!(sdk::session_id()));
        }
        Ok(())
    }

    /// One turn, from its prompt to its end.
    pub(super) fn turn(&mut self, prompt: &Prompt) -> Did {
        self.prompt(prompt)?;
        let end = format!("{}.end", prompt.label);
        let label = match self.labels.contains_key(&end) {
            true => &end,
            false => &prompt.label,
        };
        self.answer_to(label, None)?;
        if self.tongue == Tongue::Exec && !self.variables.knows("session") {
            // It makes its session with the first prompt, and says so in a line of its own.
            let recording = self.recorder.look();
            let named = recording
                .entries
                .iter()
                .find_map(|entry| match &entry.what {
                    What::Line(line) => line.json.as_ref()?.get("thread_id").cloned(),
                    _ => None,
                });
            drop(recording);
            let named = named.ok_or_else(|| Halt::Stop("no thread was named".to_owned()))?;
            self.variables.set("session", named);
        }
        Ok(())
    }

    /// Opens the session again in a new process.
    pub(super) fn open(&mut self, open: &Open) -> Did {
        let session = self.variables.fill(&"$session".into());
        let id = session.as_str().unwrap_or_default();
        let (begin, args) = match self.tongue {
            Tongue::Claude => (Begin::Process, vec![format!("--resume={id}")]),
            Tongue::Exec => (Begin::Process, vec!["resume".to_owned(), id.to_owned()]),
            _ => (Begin::Initialized, Vec::new()),
        };
        let (process, label) = (&open.process, &open.label);
        self.start(process, begin, None, &args)?;
        let cwd = self.variables.fill(&"$cwd".into());
        let method = match self.tongue {
            Tongue::Claude | Tongue::Exec => return Ok(()),
            Tongue::Sqeq => {
                let wanted = json!({"type": "session.resume", "session": session,
                    "replay": {"after": 0}});
                self.submission(process, label, wanted, None, None)?;
                return self.opened(open);
            }
            Tongue::AcpV1 => "session/load",
            Tongue::AcpV2 => "session/resume",
            Tongue::AppServer => "thread/resume",
        };
        let params = match self.tongue {
            Tongue::AcpV1 => json!({"sessionId": session, "cwd": cwd, "mcpServers": []}),
            Tongue::AcpV2 => json!({"sessionId": session, "cwd": cwd,
                "replayFrom": {"type": "start"}}),
            _ => json!({"threadId": session}),
        };
        self.ask(process, label, method, Some(params), None)?;
        self.opened(open)
    }

    fn opened(&mut self, open: &Open) -> Did {
        if open.unanswered {
            return Ok(());
        }
        self.answer_to(&open.label, None).map(|_| ())
    }
}

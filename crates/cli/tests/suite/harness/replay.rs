//! A conversation put together from `session/update` notifications.

use serde_json::Value;

/// What a client shows, in the order it first came.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Replay(pub(crate) Vec<Part>);

/// One thing shown.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Part {
    User {
        id: Option<String>,
        text: String,
    },
    Agent {
        id: Option<String>,
        text: String,
        interrupted: bool,
    },
    Thought {
        id: Option<String>,
        text: String,
    },
    Tool {
        id: String,
        title: String,
        status: String,
        text: String,
    },
}

impl Replay {
    /// What these frames show.
    pub(crate) fn of(frames: &[Value]) -> Replay {
        let mut replay = Replay::default();
        for frame in frames {
            let update = &frame["params"]["update"];
            match update["sessionUpdate"].as_str().unwrap_or_default() {
                "tool_call" => replay.0.push(Part::Tool {
                    id: text(&update["toolCallId"]),
                    title: text(&update["title"]),
                    status: text(&update["status"]),
                    text: content(update),
                }),
                "tool_call_update" => replay.tool_changed(update),
                kind if kind.ends_with("_chunk") => replay.chunk(kind, update),
                _ => {}
            }
        }
        replay
    }

    fn chunk(&mut self, kind: &str, update: &Value) {
        let id = update["messageId"].as_str().map(str::to_owned);
        let more = text(&update["content"]["text"]);
        let cut = update["_meta"]["sessiond"]["finish"] == "interrupted";
        let part = match kind {
            "user_message_chunk" => Part::User { id, text: more },
            "agent_thought_chunk" => Part::Thought { id, text: more },
            _ => Part::Agent {
                id,
                text: more,
                interrupted: cut,
            },
        };
        let continued = self.0.last_mut().is_some_and(|last| last.absorb(&part));
        if !continued {
            self.0.push(part);
        }
    }

    fn tool_changed(&mut self, update: &Value) {
        let wanted = text(&update["toolCallId"]);
        for part in &mut self.0 {
            let Part::Tool {
                id, status, text, ..
            } = part
            else {
                continue;
            };
            if *id != wanted {
                continue;
            }
            if let Some(new) = update["status"].as_str() {
                new.clone_into(status);
            }
            if update.get("content").is_some() {
                *text = content(update);
            }
            return;
        }
    }

    /// Without what the user said, which v1 does not echo live.
    pub(crate) fn without_user(&self) -> Vec<Part> {
        let live = |part: &&Part| !matches!(part, Part::User { .. });
        self.0.iter().filter(live).cloned().collect()
    }

    /// The tool calls.
    pub(crate) fn tools(&self) -> Vec<&Part> {
        self.0
            .iter()
            .filter(|part| matches!(part, Part::Tool { .. }))
            .collect()
    }

    /// The newest message of the agent that has an id: the id, the text, whether interrupted.
    pub(crate) fn last_message(&self) -> Option<(&str, &str, bool)> {
        self.0.iter().rev().find_map(|part| match part {
            Part::Agent {
                id: Some(id),
                text,
                interrupted,
            } => Some((&**id, &**text, *interrupted)),
            _ => None,
        })
    }

    /// The texts of all messages of the agent.
    pub(crate) fn texts(&self) -> Vec<&str> {
        let text = |part: &'_ Part| matches!(part, Part::Agent { .. });
        self.0
            .iter()
            .filter(|part| text(part))
            .map(Part::text)
            .collect()
    }
}

impl Part {
    pub(crate) fn text(&self) -> &str {
        match self {
            Part::User { text, .. }
            | Part::Agent { text, .. }
            | Part::Thought { text, .. }
            | Part::Tool { text, .. } => text,
        }
    }

    /// Takes up a chunk of the same message; says whether it was one.
    fn absorb(&mut self, next: &Part) -> bool {
        match (self, next) {
            (
                Part::User { id, text },
                Part::User {
                    id: other,
                    text: more,
                },
            )
            | (
                Part::Thought { id, text },
                Part::Thought {
                    id: other,
                    text: more,
                },
            ) if id.is_some() && id == other => {
                text.push_str(more);
                true
            }
            (
                Part::Agent {
                    id,
                    text,
                    interrupted,
                },
                Part::Agent {
                    id: other,
                    text: more,
                    interrupted: cut,
                },
            ) if id.is_some() && id == other => {
                text.push_str(more);
                *interrupted |= cut;
                true
            }
            _ => false,
        }
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn content(update: &Value) -> String {
    let blocks = update["content"].as_array().into_iter().flatten();
    blocks
        .map(|block| text(&block["content"]["text"]))
        .collect::<Vec<_>>()
        .join("\n")
}

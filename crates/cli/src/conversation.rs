//! A conversation as people read it in a terminal, folded from its durable events.

use std::fmt;

use sessiond_protocol::{
    Attestation, Content, Cursor, Event, EventFrame, Finish, Item, ItemKind, Marker, RequestBody,
    ResumePath, SessionId, Standing, Stop, Telling, ToolCall, ToolContent, ToolStatus, TurnEnded,
    TurnOutcome,
};

/// Width of the column that says who.
const WHO: usize = 11;

/// Whether somebody is working in a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Life {
    /// A process holds it: what is open is under way.
    Held(String),
    /// Nobody does: what is open was left behind.
    Resting,
}

/// A session's durable events and what is open at their end.
#[derive(Debug)]
pub(crate) struct Conversation {
    session: SessionId,
    life: Life,
    frames: Vec<EventFrame>,
    standing: Standing,
}

impl Conversation {
    /// Folds the events, which come in order. What was left open in a session that rests is closed
    /// as the next load would close it: by provisional events without a cursor (RESUME-6).
    pub(crate) fn new(session: SessionId, life: Life, mut frames: Vec<EventFrame>) -> Self {
        let mut standing = Standing::default();
        frames.iter().for_each(|frame| standing.apply(frame));
        if life == Life::Resting {
            frames.extend(standing.closings(session));
        }
        Conversation {
            session,
            life,
            frames,
            standing,
        }
    }

    /// The events, provisional ones at the end.
    pub(crate) fn into_frames(self) -> Vec<EventFrame> {
        self.frames
    }

    fn head(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{}  {}",
            self.session,
            one_line(self.standing.title.as_deref().unwrap_or(""))
        )?;
        if let Some(header) = &self.standing.header {
            let (cwd, agent) = (one_line(&header.cwd), one_line(&header.agent.name));
            writeln!(
                f,
                "in {cwd}, agent {agent}, made by {}",
                one_line(&header.source)
            )?;
        }
        match &self.life {
            Life::Held(holder) => writeln!(f, "open now, held by {holder}\n"),
            Life::Resting => writeln!(f),
        }
    }

    /// What is under way in another process.
    fn open(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for open in &self.standing.open {
            match &open.item {
                Item::ToolCall(call) => tool(f, call)?,
                Item::AgentMessage { text, .. } => {
                    entry(f, "agent", &format!("{text} [streaming]"))?
                }
                Item::Thought { text, .. } => entry(f, "thought", &format!("{text} [streaming]"))?,
                Item::UserMessage { .. } | Item::Plan { .. } | Item::Compaction(_) => {}
            }
        }
        for request in &self.standing.requests {
            entry(
                f,
                "asked",
                &format!("{} [waiting for an answer]", question(&request.body)),
            )?;
        }
        for waiting in &self.standing.waiting {
            entry(f, "user", &format!("{} [queued]", blocks(&waiting.input)))?;
        }
        Ok(())
    }
}

impl fmt::Display for Conversation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.head(f)?;
        self.frames
            .iter()
            .try_for_each(|frame| event(f, &frame.event))?;
        match self.life {
            Life::Held(_) => self.open(f),
            Life::Resting => Ok(()),
        }
    }
}

/// Something that a transcript tells, as people read it.
#[derive(Debug)]
pub(crate) struct Shown<'a>(pub(crate) &'a Telling);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Telling::Item(item) => self::item(f, item),
            Telling::Summary(summary) => entry(f, "compaction", summary),
            Telling::Notice { title, .. } => entry(f, "notice", title),
        }
    }
}

fn event(f: &mut fmt::Formatter<'_>, event: &Event) -> fmt::Result {
    match event {
        Event::ItemEnded { item } => self::item(f, item),
        Event::ItemContent { kind, content } => {
            let who = match kind {
                ItemKind::Thought => "thought",
                _ => "agent",
            };
            entry(f, who, &content.in_words())
        }
        Event::TurnEnded(ended) => turn_ended(f, ended),
        Event::Marker(Marker::Fork { parent, at }) => {
            let text = format!("of {parent} up to event {at}; what follows is only here");
            entry(f, "fork", &text)
        }
        Event::Marker(Marker::Attest { attestation }) => attested(f, attestation),
        Event::Marker(Marker::Revoke {}) => entry(
            f,
            "policy",
            "what was allowed for good is asked about again",
        ),
        Event::Marker(Marker::Clear {}) => entry(
            f,
            "clear",
            "the conversation begins anew; the agent knows nothing before this",
        ),
        Event::Marker(Marker::HandedOver { told, left_out, .. }) => {
            let text = format!(
                "the agent was given what it lacked: {told} messages and calls, {left_out} older \
                 ones left out"
            );
            entry(f, "handover", &text)
        }
        Event::Marker(Marker::Rewind { to, ran, .. }) => entry(f, "rewind", &rewound(*to, *ran)),
        Event::Marker(Marker::Original {
            shape, file, bytes, ..
        }) => {
            let file = match file.is_empty() {
                true => String::new(),
                false => format!(" ({file})"),
            };
            let text = format!("{bytes} bytes as {shape} wrote them{file}");
            entry(f, "original", &text)
        }
        Event::Notice { title, .. } => entry(f, "notice", title),
        Event::Damage {
            segment,
            offset,
            length,
        } => {
            let text = format!("{length} bytes at {offset} of {segment} cannot be read");
            entry(f, "DAMAGE", &text)
        }
        _ => Ok(()),
    }
}

/// What a rewind left behind, of which files know more than the agent does (CKPT-3).
fn rewound(to: Cursor, ran: u64) -> String {
    let text = format!("the agent knows what was said up to event {to}, and what follows");
    match ran {
        0 => text,
        1 => format!("{text}; what 1 tool call did after that event stays done"),
        ran => format!("{text}; what {ran} tool calls did after that event stays done"),
    }
}

/// A resume, where it says more than that the session went on.
fn attested(f: &mut fmt::Formatter<'_>, attestation: &Attestation) -> fmt::Result {
    let Attestation {
        path,
        surroundings,
        drift,
        ..
    } = attestation;
    let how = match path {
        ResumePath::Relocation => "at another place of its repository",
        ResumePath::CrossProject => "in another project",
        ResumePath::Recovery => "after its log failed",
        _ if drift.iter().any(|drift| drift.class.is_some()) => "in other surroundings",
        _ => return Ok(()),
    };
    let accepted: Vec<&str> = drift
        .iter()
        .filter_map(|drift| Some(drift.class?.name()))
        .collect();
    let mut text = format!("{how}, {}", surroundings.cwd);
    if !accepted.is_empty() {
        text.push_str(&format!("; accepted: {}", accepted.join(", ")));
    }
    entry(f, "resume", &text)
}

fn item(f: &mut fmt::Formatter<'_>, item: &Item) -> fmt::Result {
    match item {
        Item::UserMessage { content } => entry(f, "user", &blocks(content)),
        Item::AgentMessage { text, finish } => entry(f, "agent", &marked(text, *finish)),
        Item::Thought { text, finish } => entry(f, "thought", &marked(text, *finish)),
        Item::ToolCall(call) => tool(f, call),
        Item::Plan { entries } => entries
            .iter()
            .try_for_each(|step| entry(f, "plan", &step.content)),
        Item::Compaction(compaction) => entry(f, "compaction", &compaction.summary),
    }
}

fn marked(text: &str, finish: Finish) -> String {
    match finish {
        Finish::Whole => text.to_owned(),
        Finish::Cut => format!("{text} [cut]"),
        Finish::Interrupted => format!("{text} [interrupted]"),
    }
}

fn tool(f: &mut fmt::Formatter<'_>, call: &ToolCall) -> fmt::Result {
    let status = match call.status {
        ToolStatus::Pending => "waiting",
        ToolStatus::Running => "running",
        ToolStatus::Completed => "completed",
        ToolStatus::Failed => "failed",
        ToolStatus::Cancelled => "cancelled",
        ToolStatus::Unknown => "outcome unknown",
    };
    entry(f, "tool", &format!("{} [{status}]", call.title))?;
    call.content.iter().try_for_each(|content| match content {
        ToolContent::Content { content } => entry(f, "", content.as_text().unwrap_or("[data]")),
        ToolContent::Diff { path, .. } => entry(f, "", &format!("[change to {path}]")),
        ToolContent::Terminal { .. } => entry(f, "", "[a terminal of the client]"),
    })
}

fn turn_ended(f: &mut fmt::Formatter<'_>, ended: &TurnEnded) -> fmt::Result {
    let how = match (ended.outcome, ended.stop) {
        (TurnOutcome::Completed, Some(Stop::Refusal)) => "refused",
        (TurnOutcome::Completed, _) => return Ok(()),
        (TurnOutcome::Cancelled, _) => "cancelled",
        (TurnOutcome::Failed, _) => "failed",
        (TurnOutcome::Interrupted, _) => "interrupted",
        (TurnOutcome::NotRun, _) => "not run",
    };
    match &ended.error {
        Some(error) => entry(f, "turn", &format!("{how}: {}", error.message)),
        None => entry(f, "turn", how),
    }
}

fn question(body: &RequestBody) -> &str {
    match body {
        RequestBody::Permission(permission) => &permission.title,
        RequestBody::Elicitation { message, .. } | RequestBody::ElicitationUrl { message, .. } => {
            message
        }
        RequestBody::FsRead { .. } => "the client to read a file",
        RequestBody::FsWrite { .. } => "the client to write a file",
        RequestBody::Terminal(_) => "the client to run a command",
        RequestBody::Mcp { .. } => "a server of the client to do something",
        RequestBody::Hook(_) => "the client whether to go on",
        RequestBody::Extension { .. } => "the client something of its own protocol",
    }
}

fn blocks(content: &[Content]) -> String {
    let text = |block: &Content| block.as_text().unwrap_or("[data]").to_owned();
    content.iter().map(text).collect::<Vec<_>>().join("\n")
}

/// An entry, its further lines set in under the first.
fn entry(f: &mut fmt::Formatter<'_>, who: &str, text: &str) -> fmt::Result {
    let mut who = who;
    for line in text.trim_end().lines() {
        let line = format!("{who:<WHO$}{}", printable(line));
        writeln!(f, "{}", line.trim_end())?;
        who = "";
    }
    Ok(())
}

/// A text without what would move a terminal's cursor or change its colours.
fn printable(line: &str) -> String {
    let safe = |c: char| {
        if c.is_control() && c != '\t' {
            char::REPLACEMENT_CHARACTER
        } else {
            c
        }
    };
    line.chars().map(safe).collect()
}

/// A text on one line.
pub(crate) fn one_line(text: &str) -> String {
    printable(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests;

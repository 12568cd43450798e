//! The story in v2: meet, ask, refuse, cancel, list, fork; come back by resume, with and without
//! the replay.

use std::path::Path;

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v2::schema::{
    CancelSessionNotification, CancelledPermissionOutcome, ContentBlock, ForkSessionRequest,
    Implementation, InitializeRequest, InitializeResponse, ListSessionsRequest, NewSessionRequest,
    PermissionOptionKind, PromptRequest, ReplayFrom, ReplayFromStart, RequestPermissionOutcome,
    RequestPermissionRequest, RequestPermissionResponse, ResumeSessionRequest,
    SelectedPermissionOutcome, SessionId, TextContent, UpdateSessionNotification,
};
use agent_client_protocol::v2::{ConnectionTo, Responder};
use agent_client_protocol::{Agent, Client, Error, on_receive_notification, on_receive_request};
use serde_json::Value;

use crate::checks::Checks;
use crate::ledger::{messages, outcomes, permissions, said, states, updates};
use crate::wire::{Exchange, Wire, ended};

/// One connection in use.
struct Link {
    wire: Wire,
    agent: ConnectionTo<Agent>,
}

/// A prompt and everything until the session is idle again.
#[derive(Debug)]
struct Turn {
    message: String,
    frames: Vec<Value>,
    stop: String,
}

/// Connects to a process of its own, initialises, does `with` it, and waits for the exit code.
async fn connect<R>(
    with: impl AsyncFnOnce(Link, InitializeResponse) -> Result<R, Error>,
) -> Result<(R, Option<i32>), Error> {
    let (wire, transport, child) = Wire::start("auto").map_err(Error::into_internal_error)?;
    let asked = wire.clone();
    let result = Client
        .v2()
        .name("acp_rs")
        .on_receive_request(
            async move |request: RequestPermissionRequest,
                        responder: Responder<RequestPermissionResponse>,
                        _agent: ConnectionTo<Agent>| {
                responder.respond(RequestPermissionResponse::new(chosen(&request, &asked)))
            },
            on_receive_request!(),
        )
        // The drive reads the frames, in the order of the wire.
        .on_receive_notification(
            async move |_: UpdateSessionNotification, _agent: ConnectionTo<Agent>| Ok(()),
            on_receive_notification!(),
        )
        .connect_with(transport, async move |agent: ConnectionTo<Agent>| {
            let info = Implementation::new("acp_rs", "0");
            let request = InitializeRequest::new(ProtocolVersion::V2, info);
            let response = agent.send_request(request).block_task().await?;
            with(Link { wire, agent }, response).await
        })
        .await?;
    Ok((result, ended(child).await))
}

fn chosen(request: &RequestPermissionRequest, wire: &Wire) -> RequestPermissionOutcome {
    let kind = match wire.choice() {
        "reject_once" => PermissionOptionKind::RejectOnce,
        _ => PermissionOptionKind::AllowOnce,
    };
    let option = request.options.iter().find(|option| option.kind == kind);
    match option {
        Some(option) => RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(
            option.option_id.clone(),
        )),
        None => CancelledPermissionOutcome::new().into(),
    }
}

impl Link {
    async fn turn(&self, id: &SessionId, text: &str) -> Result<Turn, Error> {
        let mark = self.wire.mark();
        let prompt = vec![ContentBlock::Text(TextContent::new(text))];
        let request = PromptRequest::new(id.clone(), prompt);
        let sent = self.agent.send_request(request).block_task();
        let message = self.wire.exchange(sent).await?.result.message_id;
        self.wire
            .until(mark, |frames| is_idle(&states(frames)))
            .await?;
        let frames = self.wire.since(mark);
        let stop = states(&frames).pop().unwrap_or_default().1;
        let message = message.to_string();
        Ok(Turn {
            message,
            frames,
            stop,
        })
    }

    async fn resume(
        &self,
        id: &SessionId,
        cwd: &Path,
        from: Option<ReplayFrom>,
    ) -> Result<Vec<Value>, Error> {
        let request = ResumeSessionRequest::new(id.clone(), cwd.to_path_buf()).replay_from(from);
        let sent = self.agent.send_request(request).block_task();
        let Exchange { frames, .. } = self.wire.exchange(sent).await?;
        Ok(frames)
    }
}

/// Idle after it ran: what it was before the turn is no end.
fn is_idle(states: &[(String, String)]) -> bool {
    let ran = states.iter().any(|(state, _)| state == "running");
    ran && states.last().is_some_and(|(state, _)| state == "idle")
}

fn all() -> Option<ReplayFrom> {
    Some(ReplayFrom::Start(ReplayFromStart::new()))
}

/// Tells the story.
pub(crate) async fn story(checks: &mut Checks) -> Result<(), Error> {
    let cwd = std::env::current_dir().map_err(Error::into_internal_error)?;
    let (told, code) = connect(async |link, initialized| {
        checks.that(
            "initialize settles on version 2, and sessiond answers",
            initialized.protocol_version == ProtocolVersion::V2
                && initialized.info.name == "sessiond"
                && initialized.capabilities.session.is_some(),
            &initialized,
        );
        first(checks, &link, &cwd).await
    })
    .await?;
    checks.that("closing stdin ends the process", code == Some(0), code);
    let Told { id, fork, live } = told;

    connect(async |link, _| {
        let replay = link.resume(&id, &cwd, all()).await?;
        replayed(checks, &live, &replay);
        let after = link.turn(&id, "after the replay").await?;
        let answered = said(&after.frames).contains("after the replay");
        checks.that("the session goes on", answered, &after);
        Ok(())
    })
    .await?;

    connect(async |link, _| {
        let before = link.resume(&fork, &cwd, None).await?;
        let silent = said(&before).is_empty() && outcomes(&before).is_empty();
        let told = states(&before).len() == 1;
        checks.that(
            "without replayFrom only the state is told",
            silent && told,
            &before,
        );
        let after = link.turn(&fork, "after the resume").await?;
        let answered = said(&after.frames).contains("after the resume");
        checks.that("the resumed fork goes on", answered, &after);
        Ok(())
    })
    .await?;
    Ok(())
}

/// What the first process leaves to the next.
struct Told {
    id: SessionId,
    fork: SessionId,
    live: Vec<Value>,
}

async fn first(checks: &mut Checks, link: &Link, cwd: &Path) -> Result<Told, Error> {
    let mut live = Vec::new();
    let request = NewSessionRequest::new(cwd.to_path_buf());
    let new = link.agent.send_request(request).block_task();
    let new = link.wire.exchange(new).await?;
    checks.that(
        "nothing precedes the session/new response",
        new.frames.is_empty(),
        &new.frames,
    );
    let id = new.result.session_id;

    let hello = link.turn(&id, "hello world").await?;
    let user = (hello.message.clone(), "hello world".to_owned());
    checks.that(
        "the prompt is echoed under the id of the response, and answered",
        messages(&hello.frames, "user") == [user]
            && said(&hello.frames).contains("hello world")
            && hello.stop == "end_turn",
        &hello,
    );
    live.extend(hello.frames);
    let allowed = link.turn(&id, "/run echo ran >> ran.txt").await?;
    checks.that(
        "a command asks once, and runs when it may",
        permissions(&allowed.frames).len() == 1 && lines(cwd, "ran.txt") == 1,
        &allowed.frames,
    );
    live.extend(allowed.frames);
    link.wire.choose("reject_once");
    let refused = link.turn(&id, "/run echo ran >> ran.txt").await?;
    link.wire.choose("allow_once");
    checks.that(
        "a refused one does not",
        lines(cwd, "ran.txt") == 1,
        &refused.frames,
    );
    live.extend(refused.frames);

    let mark = link.wire.mark();
    let running = link.turn(&id, "/say before\n/sleep 30");
    let cancelling = async {
        link.wire
            .until(mark, |frames| said(frames).contains("before"))
            .await?;
        link.agent
            .send_notification(CancelSessionNotification::new(id.clone()))
    };
    let (cancelled, sent) = tokio::join!(running, cancelling);
    sent?;
    let cancelled = cancelled?;
    checks.that(
        "a cancelled turn says so",
        cancelled.stop == "cancelled",
        &cancelled,
    );
    live.extend(cancelled.frames);

    let request = ForkSessionRequest::new(id.clone(), cwd.to_path_buf());
    let fork = link
        .agent
        .send_request(request)
        .block_task()
        .await?
        .session_id;
    let inside = link.turn(&fork, "in the fork").await?;
    let answered = said(&inside.frames).contains("in the fork");
    checks.that("a fork answers", fork != id && answered, &inside);

    let request = ListSessionsRequest::new().cwd(cwd.to_path_buf());
    let listed = link
        .agent
        .send_request(request)
        .block_task()
        .await?
        .sessions;
    let has = |id: &SessionId| listed.iter().any(|info| info.session_id == *id);
    checks.that("session/list has both", has(&id) && has(&fork), &listed);
    Ok(Told { id, fork, live })
}

fn replayed(checks: &mut Checks, live: &[Value], replay: &[Value]) {
    for role in ["user", "agent"] {
        let (was, now) = (messages(live, role), messages(replay, role));
        let name = format!("a resume from the start replays every {role} message under its id");
        checks.that(
            &name,
            was.iter().all(|message| now.contains(message)),
            (was, now),
        );
    }
    let (was, now) = (outcomes(live), outcomes(replay));
    checks.that(
        "and every tool call with its outcome",
        was == now,
        (&was, &now),
    );
    let foreign = said(replay).contains("in the fork");
    checks.that("and nothing of its fork", !foreign, replay);
    let completed = updates(replay)
        .filter(|update| update["sessionUpdate"] == "replay_complete")
        .count();
    checks.that(
        "the replay ends with one replay_complete",
        completed == 1,
        replay,
    );
}

fn lines(cwd: &Path, name: &str) -> usize {
    std::fs::read_to_string(cwd.join(name)).map_or(0, |text| text.lines().count())
}

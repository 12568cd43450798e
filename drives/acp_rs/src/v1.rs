//! The story in v1: meet, ask, refuse, cancel, list, fork; come back by load and by resume.

use std::path::PathBuf;

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    CancelNotification, ContentBlock, ForkSessionRequest, Implementation, InitializeRequest,
    InitializeResponse, ListSessionsRequest, LoadSessionRequest, NewSessionRequest,
    PermissionOptionKind, PromptRequest, PromptResponse, RequestPermissionOutcome,
    RequestPermissionRequest, RequestPermissionResponse, ResumeSessionRequest,
    SelectedPermissionOutcome, SessionId, SessionNotification, StopReason, TextContent,
};
use agent_client_protocol::{Agent, Client, Error, on_receive_notification, on_receive_request};
use serde_json::Value;

use crate::checks::Checks;
use crate::ledger::{messages, outcomes, permissions, said};
use crate::wire::{Exchange, Wire, ended};

/// One connection in use.
struct Link {
    wire: Wire,
    agent: ConnectionTo<Agent>,
}

/// Connects to a process of its own, initialises, does `with` it, and waits for the exit code.
async fn connect<R>(
    with: impl AsyncFnOnce(Link, InitializeResponse) -> Result<R, Error>,
) -> Result<(R, Option<i32>), Error> {
    let (wire, transport, child) = Wire::start("v1").map_err(Error::into_internal_error)?;
    let asked = wire.clone();
    let result = Client
        .v1()
        .name("acp_rs")
        .on_receive_request(
            async move |request: RequestPermissionRequest, responder, _agent| {
                responder.respond(RequestPermissionResponse::new(chosen(&request, &asked)))
            },
            on_receive_request!(),
        )
        // The drive reads the frames, in the order of the wire.
        .on_receive_notification(
            async move |_: SessionNotification, _agent| Ok(()),
            on_receive_notification!(),
        )
        .connect_with(transport, async move |agent: ConnectionTo<Agent>| {
            let request = InitializeRequest::new(ProtocolVersion::V1)
                .client_info(Implementation::new("acp_rs", "0"));
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
    option.map_or(RequestPermissionOutcome::Cancelled, |option| {
        let selected = SelectedPermissionOutcome::new(option.option_id.clone());
        RequestPermissionOutcome::Selected(selected)
    })
}

impl Link {
    async fn prompt(&self, id: &SessionId, text: &str) -> Result<Exchange<PromptResponse>, Error> {
        let prompt = vec![ContentBlock::Text(TextContent::new(text))];
        let request = PromptRequest::new(id.clone(), prompt);
        let sent = self.agent.send_request(request).block_task();
        self.wire.exchange(sent).await
    }
}

/// Tells the story.
pub(crate) async fn story(checks: &mut Checks) -> Result<(), Error> {
    let cwd = std::env::current_dir().map_err(Error::into_internal_error)?;
    let (told, code) = connect(async |link, initialized| {
        checks.that(
            "initialize settles on version 1, and sessiond answers",
            initialized.protocol_version == ProtocolVersion::V1
                && initialized
                    .agent_info
                    .as_ref()
                    .is_some_and(|info| info.name == "sessiond"),
            &initialized,
        );
        first(checks, &link, &cwd).await
    })
    .await?;
    checks.that("closing stdin ends the process", code == Some(0), code);
    let Told { id, fork, live } = told;

    connect(async |link, _| {
        let request = LoadSessionRequest::new(id.clone(), cwd.clone());
        let loaded = link.agent.send_request(request).block_task();
        let replay = link.wire.exchange(loaded).await?.frames;
        replayed(checks, &live, &replay);
        let after = link.prompt(&id, "after the load").await?;
        let answered = said(&after.frames).contains("after the load");
        checks.that("the loaded session goes on", answered, &after);
        Ok(())
    })
    .await?;

    connect(async |link, _| {
        let request = ResumeSessionRequest::new(fork.clone(), cwd.clone());
        let resumed = link.agent.send_request(request).block_task();
        let before = link.wire.exchange(resumed).await?.frames;
        let silent = said(&before).is_empty() && outcomes(&before).is_empty();
        checks.that("session/resume replays nothing", silent, &before);
        let after = link.prompt(&fork, "after the resume").await?;
        let answered = said(&after.frames).contains("after the resume");
        checks.that("the resumed session goes on", answered, &after);
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

async fn first(checks: &mut Checks, link: &Link, cwd: &PathBuf) -> Result<Told, Error> {
    let mut live = Vec::new();
    let request = NewSessionRequest::new(cwd.clone());
    let new = link.agent.send_request(request).block_task();
    let new = link.wire.exchange(new).await?;
    checks.that(
        "nothing precedes the session/new response",
        new.frames.is_empty(),
        &new.frames,
    );
    let id = new.result.session_id;

    let hello = link.prompt(&id, "hello world").await?;
    checks.that(
        "text arrives before the response, and the turn ends",
        said(&hello.frames).contains("hello world")
            && hello.result.stop_reason == StopReason::EndTurn,
        &hello,
    );
    live.extend(hello.frames);
    let allowed = link.prompt(&id, "/run echo ran >> ran.txt").await?;
    checks.that(
        "a command asks once, and runs when it may",
        permissions(&allowed.frames).len() == 1 && lines(cwd, "ran.txt") == 1,
        &allowed.frames,
    );
    live.extend(allowed.frames);
    link.wire.choose("reject_once");
    let refused = link.prompt(&id, "/run echo ran >> ran.txt").await?;
    link.wire.choose("allow_once");
    let failed = outcomes(&refused.frames)
        .values()
        .all(|status| status == "failed");
    checks.that(
        "a refused one does not",
        failed && lines(cwd, "ran.txt") == 1,
        &refused.frames,
    );
    live.extend(refused.frames);

    let mark = link.wire.mark();
    let running = link.prompt(&id, "/say before\n/sleep 30");
    let cancelling = async {
        link.wire
            .until(mark, |frames| said(frames).contains("before"))
            .await?;
        link.agent
            .send_notification(CancelNotification::new(id.clone()))
    };
    let (cancelled, sent) = tokio::join!(running, cancelling);
    sent?;
    let cancelled = cancelled?;
    let stop = cancelled.result.stop_reason;
    checks.that(
        "a cancelled turn says so",
        stop == StopReason::Cancelled,
        &cancelled,
    );
    live.extend(cancelled.frames);

    let request = ForkSessionRequest::new(id.clone(), cwd.clone());
    let fork = link
        .agent
        .send_request(request)
        .block_task()
        .await?
        .session_id;
    let inside = link.prompt(&fork, "in the fork").await?;
    let answered = said(&inside.frames).contains("in the fork");
    checks.that("a fork answers", fork != id && answered, &inside);

    let request = ListSessionsRequest::new().cwd(cwd.clone());
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
    let (was, now) = (messages(live, "agent"), messages(replay, "agent"));
    let kept = was.iter().all(|message| now.contains(message));
    checks.that(
        "a load replays every message under its id",
        kept,
        (was, now),
    );
    let (was, now) = (outcomes(live), outcomes(replay));
    checks.that(
        "and every tool call with its outcome",
        was == now,
        (&was, &now),
    );
    let foreign = said(replay).contains("in the fork");
    checks.that("and nothing of its fork", !foreign, replay);
}

fn lines(cwd: &std::path::Path, name: &str) -> usize {
    std::fs::read_to_string(cwd.join(name)).map_or(0, |text| text.lines().count())
}

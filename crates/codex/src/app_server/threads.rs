//! Threads are started, resumed, forked, reverted.

use serde_json::{Value, json};
use sessiond_protocol::{
    Accepted, AttachMode, ErrorCode, FoundBy, ModePolicy, Op, Replay, RequestKind, SessionId,
    SessionNew, SessionResume, SessionStatus, SessionView, WireError,
};
use sessiond_wire::rpc::{ErrorObject, RawId};

use super::face::{Begun, Face};
use super::live::usage;
use super::params::{
    self, ThreadForkParams, ThreadParams, ThreadResumeParams, ThreadRevertParams, thread_id,
};
use super::past::Past;
use super::policy::Policy;
use super::reading::{events, fold};
use super::refuse::{invalid, not_found, refused, unexpected};
use super::thread::{About, Health, Running, Subscription, Thread, model};
use super::wish::{Turns, Wish, root};

/// Events that are read for a thread whose turns are not wanted: its header and first prompt lie
/// among the first.
const HEAD_EVENTS: u32 = 16;

/// Kinds of request that this face answers.
const ANSWERS: [RequestKind; 2] = [RequestKind::Permission, RequestKind::Elicitation];

impl Face {
    pub(super) fn start_thread(&mut self, id: &RawId, params: &Value) -> Begun {
        let wish = self.wish(params, Turns::Shown)?;
        let cwd = wish.cwd.clone().unwrap_or_else(|| self.options.cwd.clone());
        let op = Op::SessionNew(SessionNew {
            id: None,
            cwd,
            agent: Some(self.options.agent.clone()),
            setup: wish.setup.clone(),
            answers: ANSWERS.to_vec(),
            on_disconnect: self.options.on_disconnect,
        });
        let id = id.clone();
        self.submit(None, op, move |face, opened| match view(opened) {
            Ok(view) => {
                let about = About::fresh(&view, wish.keep);
                face.load(id, (view, wish), (about, None, None));
            }
            Err(wire) => face.client.fail(&id, &no_thread(&wire)),
        })
    }

    pub(super) fn resume_thread(&mut self, id: &RawId, params: &Value) -> Begun {
        let own: ThreadResumeParams = params::read(params)?;
        let wish = self.wish(params, Turns::excluded(own.exclude_turns))?;
        let session = thread_id(&own.thread_id, "session")?;
        match self.threads.contains_key(&session) {
            true => {
                let overrides = ["approvalPolicy", "approvalsReviewer", "sandbox"];
                let is_set = |name| params.get(name).is_some_and(|value| !value.is_null());
                if overrides.into_iter().any(is_set) {
                    self.adopt(session, wish.policy);
                }
                self.resume_loaded(id, session, wish.turns)
            }
            false => {
                if wish.turns == Turns::Shown {
                    self.client.begin(id);
                }
                self.attach(id.clone(), session, wish)
            }
        }
    }

    /// Takes up another policy for a thread: at once, or from its next turn on.
    fn adopt(&mut self, session: SessionId, mut policy: Policy) {
        let Some(thread) = self.threads.get_mut(&session) else {
            return;
        };
        root(&mut policy, &thread.about.cwd, &[]);
        match thread.running {
            Some(_) => thread.next_policy = Some(policy),
            None => thread.policy = policy,
        }
    }

    /// A thread that is loaded is shown again, as it stands (codex.md B10).
    fn resume_loaded(&mut self, id: &RawId, session: SessionId, turns: Turns) -> Begun {
        if let Some(thread) = self.threads.get_mut(&session) {
            thread.subscription = Subscription::On;
        }
        if turns == Turns::Excluded {
            self.answer_opened(id, session, None);
            return Ok(());
        }
        self.client.begin(id);
        let id = id.clone();
        self.read_turns(session, move |face, past| match past {
            Ok(past) => face.answer_opened(&id, session, Some(past)),
            Err(wire) => face.client.fail(&id, &refused(&wire, session)),
        })
    }

    pub(super) fn fork_thread(&mut self, id: &RawId, params: &Value) -> Begun {
        let own: ThreadForkParams = params::read(params)?;
        let wish = self.wish(params, Turns::excluded(own.exclude_turns))?;
        let parent = thread_id(&own.thread_id, "session")?;
        if wish.turns == Turns::Shown {
            self.client.begin(id);
        }
        let id = id.clone();
        if own.last_turn_id.is_none() && own.before_turn_id.is_none() {
            return self.fork_at(id, (parent, None), wish);
        }
        self.read_log(parent, move |face, past| {
            let past = match past {
                Ok(past) => past,
                Err(wire) => return face.client.fail(&id, &refused(&wire, parent)),
            };
            let at = match (&own.last_turn_id, &own.before_turn_id) {
                (Some(turn), _) => past.turn(turn).and_then(|(_, turn)| turn.bookmark),
                (None, Some(turn)) => past.before(turn),
                (None, None) => None,
            };
            let begun = match at {
                Some(at) => face.fork_at(id.clone(), (parent, Some(at)), wish),
                None => Err(no_turn(own.last_turn_id.or(own.before_turn_id))),
            };
            if let Err(error) = begun {
                face.client.fail(&id, &error);
            }
        })
    }

    fn fork_at(
        &mut self,
        id: RawId,
        (parent, at): (SessionId, Option<sessiond_protocol::Cursor>),
        wish: Wish,
    ) -> Begun {
        let op = Op::SessionFork { at, id: None };
        self.submit(Some(parent), op, move |face, forked| match view(forked) {
            Ok(view) => {
                if let Err(error) = face.attach(id.clone(), view.session, wish) {
                    face.client.fail(&id, &error);
                }
            }
            Err(wire) => face.client.fail(&id, &refused(&wire, parent)),
        })
    }

    /// Attaches to a stored thread; its replay is folded, and written, until the receipt comes.
    fn attach(&mut self, id: RawId, session: SessionId, wish: Wish) -> Begun {
        if self.opening.contains_key(&session) {
            return Err(invalid(format!("thread {session} is being opened")));
        }
        let op = Op::SessionResume(SessionResume {
            session,
            cwd: wish.cwd.clone(),
            setup: Some(wish.setup.clone()),
            found_by: FoundBy::Id,
            accept: self.options.accept.clone(),
            replay: match wish.turns {
                Turns::Shown => Replay::All,
                Turns::Excluded => Replay::None,
            },
            mode: AttachMode::Control,
            answers: ANSWERS.to_vec(),
            on_disconnect: self.options.on_disconnect,
        });
        self.opening.insert(session, Past::default());
        if wish.turns == Turns::Shown {
            self.client.shows(session);
        }
        let begun = self.submit(None, op, move |face, opened| {
            let past = face.opening.remove(&session).unwrap_or_default();
            match view(opened) {
                Ok(view) if wish.turns == Turns::Shown => face.attached(id, (view, wish), past),
                Ok(view) => face.attached_without_turns(id, view, wish),
                Err(wire) => face.not_attached(&id, session, &wire),
            }
        });
        if begun.is_err() {
            self.opening.remove(&session);
        }
        begun
    }

    fn attached(&mut self, id: RawId, (view, wish): (SessionView, Wish), past: Past) {
        let mut about = About::of(view.session, &past);
        about.cwd.clone_from(&view.cwd);
        about.keep = wish.keep;
        let last = past.last_usage.clone();
        let past = Some(past).filter(|_| wish.turns == Turns::Shown);
        self.load(id, (view, wish), (about, past, last));
    }

    /// The head of the log says what is shown of a thread beside its turns.
    fn attached_without_turns(&mut self, id: RawId, view: SessionView, wish: Wish) {
        let session = view.session;
        let op = Op::SessionRead {
            after: sessiond_protocol::Cursor::START,
            before: None,
            limit: Some(HEAD_EVENTS),
            extent: Default::default(),
        };
        let failed = id.clone();
        self.submit_for(&failed, Some(session), op, move |face, page| {
            let mut past = Past::default();
            if let Ok((events, _)) = events(page) {
                fold(&mut past, events);
            }
            face.attached(id, (view, wish), past);
        });
    }

    fn not_attached(&mut self, id: &RawId, session: SessionId, wire: &WireError) {
        let error = refused(wire, session);
        if wire.code != ErrorCode::NotFound {
            return self.client.fail(id, &error);
        }
        // It may lie in the archive.
        let id = id.clone();
        let failed = id.clone();
        let op = Op::SessionStatus {};
        self.submit_for(&failed, Some(session), op, move |face, status| {
            let error = match status {
                Ok(Accepted::Status {
                    status: SessionStatus::Archived,
                }) => invalid(format!(
                    "session {session} is archived. Run `codex unarchive {session}` to unarchive \
                     it first."
                )),
                _ => error,
            };
            face.client.fail(&id, &error);
        });
    }

    /// Takes a thread up, once the agent asks: the policy decides, not a mode that somebody left.
    fn load(
        &mut self,
        id: RawId,
        (view, wish): (SessionView, Wish),
        (about, past, last): (
            About,
            Option<Past>,
            Option<(String, sessiond_protocol::Usage)>,
        ),
    ) {
        let session = view.session;
        let asks = |policy| policy == ModePolicy::Ask;
        let mode = match asks(view.agent.policy(view.mode.as_deref())) {
            true => None,
            false => view.agent.modes.iter().find(|mode| asks(mode.policy)),
        };
        let mode = mode.map(|mode| mode.id.clone());
        let mut policy = wish.policy;
        root(&mut policy, &view.cwd, &view.roots);
        let damage = view.attestation.as_ref().and_then(|a| a.loaded.as_ref());
        // What was loaded begins with a checkpoint, what was read for the turns does not.
        let read = past.as_ref().map_or(0, |past| past.damage);
        let damage = damage.map_or(0, |loaded| loaded.damage).max(read);
        let attached = |turn| Running::attached((session, turn), past.as_ref());
        let thread = Thread {
            about: About {
                model: model(&view.agent).or(about.model.clone()),
                ..about
            },
            agent: view.agent,
            policy,
            next_policy: None,
            keep: wish.keep,
            subscription: Subscription::On,
            used: view.used,
            running: view.turn.map(attached),
            waiting: Vec::new(),
            broken: Health::Well,
            renames: 0,
            compactions: Default::default(),
        };
        self.threads.insert(session, thread);
        let opened = move |face: &mut Face| {
            face.answer_opened(&id, session, past);
            let thread = face.threads.get(&session).map(Thread::json);
            face.tell(session, "thread/started", &json!({ "thread": thread }));
            if let Some((turn, last)) = last {
                let used = face.threads.get(&session).and_then(|thread| thread.used);
                let params =
                    json!({ "threadId": session, "turnId": turn, "tokenUsage": usage(used, last) });
                face.tell(session, "thread/tokenUsage/updated", &params);
            }
            if damage > 0 {
                let text = format!("the thread's log is damaged: {damage} places cannot be read");
                face.warn(session, &text);
            }
        };
        match mode {
            None => opened(self),
            Some(mode) => {
                let set = self.submit(Some(session), Op::set_mode(mode), |face, _| opened(face));
                if set.is_err() {
                    tracing::error!("a mode could not be submitted");
                }
            }
        }
    }

    /// The answer that start, resume and fork have alike; with turns where their fold is given.
    fn answer_opened(&mut self, id: &RawId, session: SessionId, past: Option<Past>) {
        let Some(thread) = self.threads.get(&session) else {
            return self.client.fail(id, &unexpected());
        };
        let about = &thread.about;
        let shown = about.json(thread.status());
        let roots = [&about.cwd];
        let mut answer = json!({
            "model": about.model.as_deref().unwrap_or(&about.agent),
            "modelProvider": about.agent,
            "serviceTier": null,
            "cwd": about.cwd,
            "runtimeWorkspaceRoots": roots,
            "instructionSources": [],
            "approvalPolicy": thread.policy.approval(),
            "approvalsReviewer": "user",
            "sandbox": thread.policy.sandbox(),
            "reasoningEffort": null,
        });
        match past {
            Some(past) => self.end_shown(session, past, (shown, answer)),
            None => {
                answer["thread"] = shown;
                self.client.answer(id, &answer);
            }
        }
    }

    pub(super) fn revert_thread(&mut self, id: &RawId, params: &Value) -> Begun {
        let params: ThreadRevertParams = params::read(params)?;
        let session = self.loaded(&params.thread_id)?;
        let id = id.clone();
        self.read_log(session, move |face, past| {
            let to = match past {
                Ok(past) => past.before(&params.before_turn_id),
                Err(wire) => return face.client.fail(&id, &refused(&wire, session)),
            };
            let Some(to) = to else {
                let error = no_turn(Some(params.before_turn_id));
                return face.client.fail(&id, &error);
            };
            let failed = id.clone();
            let op = Op::SessionRewind { to };
            face.submit_for(&failed, Some(session), op, move |face, done| match done {
                Ok(_) => {
                    let thread = face.threads.get(&session).map(Thread::json);
                    face.client.answer(&id, &json!({ "thread": thread }));
                    face.tell(session, "thread/reverted", &json!({ "threadId": session }));
                }
                Err(wire) => face.client.fail(&id, &refused(&wire, session)),
            });
        })
    }

    pub(super) fn unsubscribe(&mut self, id: &RawId, params: &Value) -> Begun {
        let params: ThreadParams = params::read(params)?;
        let session = thread_id(&params.thread_id, "thread")?;
        let status = match self.threads.get_mut(&session) {
            None => "notLoaded",
            Some(thread) => match std::mem::replace(&mut thread.subscription, Subscription::Off) {
                Subscription::On => "unsubscribed",
                Subscription::Off => "notSubscribed",
            },
        };
        self.client.answer(id, &json!({ "status": status }));
        Ok(())
    }

    /// The thread that a text names, if it is loaded.
    pub(super) fn loaded(&self, text: &str) -> Result<SessionId, ErrorObject> {
        let session = thread_id(text, "thread")?;
        match self.threads.contains_key(&session) {
            true => Ok(session),
            false => Err(not_found(session)),
        }
    }
}

fn view(accepted: Result<Accepted, WireError>) -> Result<SessionView, WireError> {
    match accepted? {
        Accepted::Session(view) => Ok(*view),
        _ => Err(sessiond_wire::waist::unexpected()),
    }
}

fn no_thread(wire: &WireError) -> ErrorObject {
    match wire.session {
        Some(session) => refused(wire, session),
        None => match wire.code {
            ErrorCode::Invalid => invalid(&*wire.message),
            _ => sessiond_wire::rpc::error(sessiond_wire::rpc::INTERNAL_ERROR, &*wire.message),
        },
    }
}

fn no_turn(turn: Option<String>) -> ErrorObject {
    invalid(format!("turn not found: {}", turn.unwrap_or_default()))
}

//! Coming to a session: a new one, one that is named, the newest, or a copy; and where it goes on.

use std::collections::{HashMap, VecDeque};

use sessiond_protocol::{
    Accepted, AgentId, AgentInfo, AttachMode, Cursor, ErrorCode, FoundBy, Instructions,
    InstructionsMode, OnDisconnect, Op, OptionSetting, OptionValue, Replay, RequestKind, SessionId,
    SessionList, SessionNew, SessionResume, SessionView, Setup, Summary, WireError,
};
use sessiond_wire::Connection;
use sessiond_wire::waist::unexpected;

use super::arguments::GoOn;
use super::cut;
use super::engine::Engine;
use super::hooks::Hooks;
use super::mirror::Mirror;
use super::mode::Mode;
use super::open::Asks;
use super::outcome::no_session;
use super::output::Output;
use super::rules::Rules;
use super::schema::Schema;
use super::serve::{End, Face, Input, Options, Place, Wishes};
use super::servers::Servers;
use super::settings::Settings;

/// The category of the option that chooses an agent's model.
const MODEL: &str = "model";

/// Why a session could not be had.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) error: WireError,
    /// The session that was meant, where that is known.
    pub(super) session: Option<SessionId>,
}

impl Face {
    /// Makes ready. Nothing is stored yet.
    ///
    /// # Errors
    /// What is wrong with the command line or the engine: it is said on stderr, and nothing else.
    pub(super) async fn begin(
        out: Output,
        waist: Connection,
        options: Options,
    ) -> Result<Self, WireError> {
        let mut engine = Engine::greet(waist).await?;
        let arguments = &options.arguments;
        if arguments.session.is_some() {
            must_be_free(&mut engine, out.session).await?;
        }
        for flag in &arguments.without_meaning {
            (options.note)(&format!("{flag} has no meaning here and is passed over"));
        }
        let mut servers = Servers::default();
        for config in &arguments.mcp_config {
            if let Some(problem) = servers.configure(config, options.cwd.as_ref()) {
                (options.note)(&problem);
            }
        }
        let schema = arguments.schema.as_ref().map(Schema::new).transpose();
        let schema = schema.map_err(|problem| WireError::new(ErrorCode::Invalid, problem))?;
        let mut options = options;
        take_settings(&mut options)?;
        let arguments = &options.arguments;
        let name = options.agent.clone();
        let (allowed, denied) = (&arguments.allowed, &arguments.disallowed);
        Ok(Self {
            rules: Rules::new(allowed, denied, arguments.tools.as_deref()),
            mode: arguments.mode.unwrap_or_default(),
            wishes: Wishes {
                schema,
                ..Wishes::default()
            },
            out,
            engine,
            input: Input::Open,
            place: Place::Unmet,
            agent: AgentInfo::unknown(AgentId {
                name,
                version: None,
            }),
            agent_mode: None,
            hooks: Hooks::default(),
            servers,
            asks: Asks::default(),
            outside: None,
            opinions: HashMap::new(),
            ended: HashMap::new(),
            turn: None,
            mirror: None,
            queued: VecDeque::new(),
            held: VecDeque::new(),
            interrupts_next: false,
            initializing: Vec::new(),
            greeting_ends: None,
            usage: None,
            results: 0,
            exit: 0,
            leaves: None,
            leave_by: None,
            damage: 0,
            options,
        })
    }

    /// Attaches to the session that the command line names, unless that was done. A new one is made
    /// with its first prompt: until then only its agent is looked at.
    pub(super) async fn meet(&mut self) -> Result<(), End> {
        if self.place != Place::Unmet {
            return Ok(());
        }
        let refused = |session| move |error| End::Refused(Refusal { error, session });
        let (session, found_by) = match self.options.arguments.go_on.clone() {
            GoOn::New => return self.look_at_agent().await.map_err(refused(None)),
            GoOn::Newest => (self.newest().await.map_err(refused(None))?, FoundBy::Picker),
            GoOn::Named(name) => self.named(&name).await.map_err(refused(None))?,
        };
        self.go_on(session, found_by)
            .await
            .map_err(refused(Some(session)))
    }

    /// Goes on in a session or a copy of it, from its newest message or the one that is named.
    async fn go_on(&mut self, session: SessionId, found_by: FoundBy) -> Result<(), WireError> {
        let at = match self.options.arguments.resume_at.clone() {
            Some(uuid) => {
                let at = cut::bookmark(&mut self.engine, session, &uuid).await?;
                if let Some(dropped) = &self.options.arguments.resume_drops {
                    cut::must_drop(&mut self.engine, session, (at, dropped)).await?;
                }
                Some(at)
            }
            None => None,
        };
        if self.options.arguments.fork {
            let fork = self.fork(session, at).await?;
            return self.resume(fork, found_by).await;
        }
        self.resume(session, found_by).await?;
        if let Some(to) = at {
            let op = Op::SessionRewind { to };
            self.engine.call(Some(session), op).await?;
        }
        Ok(())
    }

    /// Makes the new session, at its first prompt.
    pub(super) async fn open_new(&mut self) -> Result<(), WireError> {
        let new = SessionNew {
            id: Some(self.out.session),
            agent: Some(self.options.agent.clone()),
            setup: self.setup()?,
            answers: self.answers(),
            on_disconnect: OnDisconnect::Finish,
            ..SessionNew::at(self.options.cwd.clone())
        };
        match self.engine.call(None, Op::SessionNew(new)).await? {
            Accepted::Session(view) => self.attached(*view).await,
            _ => Err(unexpected()),
        }
    }

    async fn look_at_agent(&mut self) -> Result<(), WireError> {
        let agent = Some(self.options.agent.clone());
        match self.engine.call(None, Op::AgentOptions { agent }).await? {
            Accepted::Agent { agent, mode } => {
                self.agent = *agent;
                self.agent_mode = mode;
                self.place = Place::Known;
                Ok(())
            }
            _ => Err(unexpected()),
        }
    }

    async fn named(&mut self, name: &str) -> Result<(SessionId, FoundBy), WireError> {
        if let Ok(id) = name.to_ascii_lowercase().parse() {
            return Ok((id, FoundBy::Id));
        }
        let list = SessionList {
            title: Some(name.to_owned()),
            ..SessionList::default()
        };
        let found = self.list(list).await?;
        match &found[..] {
            [] => Err(no_session(name, None)),
            [one] => Ok((one.session, FoundBy::Title)),
            several => Err(ambiguous(name, several, &self.options.cwd)),
        }
    }

    async fn newest(&mut self) -> Result<SessionId, WireError> {
        let list = SessionList {
            cwd: Some(self.options.cwd.clone()),
            limit: Some(1),
            ..SessionList::default()
        };
        let found = self.list(list).await?;
        let none = || WireError::new(ErrorCode::NotFound, "No conversation found to continue");
        found.first().map(|one| one.session).ok_or_else(none)
    }

    /// One page: names are meant to be unique, and nobody reads more than a page of ids.
    async fn list(&mut self, list: SessionList) -> Result<Vec<Summary>, WireError> {
        match self.engine.call(None, Op::SessionList(list)).await? {
            Accepted::Sessions { sessions, .. } => Ok(sessions),
            _ => Err(unexpected()),
        }
    }

    async fn fork(
        &mut self,
        parent: SessionId,
        at: Option<Cursor>,
    ) -> Result<SessionId, WireError> {
        let id = self.options.arguments.session;
        let forked = Op::SessionFork { at, id };
        match self.engine.call(Some(parent), forked).await {
            Ok(Accepted::Session(view)) => Ok(view.session),
            Ok(_) => Err(unexpected()),
            Err(error) if error.code == ErrorCode::NotFound => Err(no_session("", Some(parent))),
            Err(error) => Err(error),
        }
    }

    async fn resume(&mut self, session: SessionId, found_by: FoundBy) -> Result<(), WireError> {
        let resume = SessionResume {
            session,
            cwd: Some(self.options.cwd.clone()),
            setup: Some(self.setup()?),
            found_by,
            accept: self.options.accept.clone(),
            replay: Replay::None,
            mode: AttachMode::Control,
            answers: self.answers(),
            on_disconnect: OnDisconnect::Finish,
        };
        match self.engine.call(None, Op::SessionResume(resume)).await {
            Ok(Accepted::Session(view)) => {
                self.out.session = session;
                self.attached(*view).await
            }
            Ok(_) => Err(unexpected()),
            Err(error) if error.code == ErrorCode::NotFound => Err(no_session("", Some(session))),
            Err(error) => Err(error),
        }
    }

    /// Takes up the session as it stands, and puts in force what the command line asks for.
    async fn attached(&mut self, view: SessionView) -> Result<(), WireError> {
        self.place = Place::Attached;
        self.agent = view.agent;
        self.agent_mode = view.mode;
        let loaded = view.attestation.as_ref().and_then(|it| it.loaded.as_ref());
        self.damage = loaded.map_or(0, |loaded| loaded.damage);
        if self.options.arguments.mirror {
            let place = (self.options.transcripts.as_path(), &*self.options.cwd);
            let mirror = Mirror::open(&mut self.engine, self.out.session, place).await?;
            self.mirror = Some(mirror);
        }
        let mode = match self.options.arguments.mode {
            Some(mode) => mode.of_agent(&self.agent.modes, self.agent_mode.as_deref()),
            None => {
                self.mode = Mode::from_agent(&self.agent.modes, self.agent_mode.as_deref());
                None
            }
        };
        let model = self.options.arguments.model.clone();
        let options: Vec<_> = model
            .and_then(|model| self.model_setting(&model))
            .into_iter()
            .collect();
        if mode.is_some() || !options.is_empty() {
            self.configure(mode, options).await?;
        }
        if let Some(title) = self.wishes.title.take() {
            let op = Op::SessionRename { title };
            self.engine.call(Some(self.out.session), op).await?;
        }
        Ok(())
    }

    /// Changes the agent's mode or options.
    pub(super) async fn configure(
        &mut self,
        mode: Option<String>,
        options: Vec<OptionSetting>,
    ) -> Result<(), WireError> {
        let op = Op::SessionConfigure {
            mode: mode.clone(),
            options: options.clone(),
        };
        self.engine.call(Some(self.out.session), op).await?;
        self.agent.set_options(&options);
        self.agent_mode = mode.or_else(|| self.agent_mode.take());
        Ok(())
    }

    /// The setting that puts a model in force, where the agent lets one choose, and has it.
    pub(super) fn model_setting(&self, model: &str) -> Option<OptionSetting> {
        let value = OptionValue::Choice(model.to_owned());
        let mut options = self.agent.options.iter();
        let option = options
            .find(|option| option.category.as_deref() == Some(MODEL) && option.takes(&value))?;
        let id = option.id.clone();
        Some(OptionSetting { id, value })
    }

    /// The model in force, where the agent says so; the agent's name otherwise.
    pub(super) fn model(&self) -> String {
        let mut options = self.agent.options.iter();
        let option = options.find(|option| option.category.as_deref() == Some(MODEL));
        match option.map(|option| &option.value) {
            Some(OptionValue::Choice(model)) => model.clone(),
            _ => self.agent.id.name.clone(),
        }
    }

    /// The kinds of request that are answered. Hooks cost the turn a record each, so only where
    /// somebody has a say.
    fn answers(&self) -> Vec<RequestKind> {
        let mut answers = vec![
            RequestKind::Permission,
            RequestKind::Elicitation,
            RequestKind::ElicitationUrl,
        ];
        let hooked =
            !self.hooks.is_empty() || self.rules.denies_anything() || self.wishes.schema.is_some();
        answers.extend(hooked.then_some(RequestKind::Hook));
        answers.extend(self.servers.any_living().then_some(RequestKind::Mcp));
        answers
    }

    fn setup(&self) -> Result<Setup, WireError> {
        Ok(Setup {
            roots: self.roots(),
            mcp_servers: self.servers.for_agent(),
            instructions: self.instructions()?,
            ..Setup::default()
        })
    }

    fn roots(&self) -> Vec<String> {
        let place = std::path::Path::new(&self.options.cwd);
        let absolute = |root: &String| place.join(root).to_string_lossy().into_owned();
        self.options.arguments.roots.iter().map(absolute).collect()
    }

    /// What the agent is told before the conversation. Without a word of it, what is recorded stays.
    fn instructions(&self) -> Result<Option<Instructions>, WireError> {
        let arguments = &self.options.arguments;
        let file = match &arguments.instructions_file {
            Some(path) => {
                let path = std::path::Path::new(&self.options.cwd).join(path);
                let unread = |_| {
                    let message = "--system-prompt-file names a file that cannot be read";
                    WireError::new(ErrorCode::Invalid, message)
                };
                Some(std::fs::read_to_string(path).map_err(unread)?)
            }
            None => None,
        };
        let own = self
            .wishes
            .instructions
            .clone()
            .or(file)
            .or_else(|| arguments.instructions.clone());
        let more = self.wishes.more_instructions.clone();
        let more = more.or_else(|| arguments.more_instructions.clone());
        let schema = self.wishes.schema.as_ref().map(Schema::instructions);
        let mode = match own {
            Some(_) => InstructionsMode::Override,
            None => InstructionsMode::Append,
        };
        let texts: Vec<String> = [own, more, schema].into_iter().flatten().collect();
        Ok((!texts.is_empty()).then(|| Instructions {
            mode,
            text: texts.join("\n\n"),
        }))
    }

    /// Where hooks are told that the transcript is: the session's own log.
    pub(super) fn transcript(&self) -> String {
        let place = self
            .options
            .store
            .join("sessions")
            .join(self.out.session.to_string());
        place.join("log").to_string_lossy().into_owned()
    }
}

/// Takes up what settings say of permissions; the command line comes first.
fn take_settings(options: &mut Options) -> Result<(), WireError> {
    let Some(settings) = &options.arguments.settings else {
        return Ok(());
    };
    let read = Settings::read(settings, options.cwd.as_ref());
    let settings = read.map_err(|problem| WireError::new(ErrorCode::Invalid, problem))?;
    let arguments = &mut options.arguments;
    arguments.allowed.extend(settings.allowed);
    arguments.disallowed.extend(settings.denied);
    arguments.mode = arguments.mode.or(settings.mode);
    arguments.roots.extend(settings.roots);
    Ok(())
}

/// An id that the caller chose must not be one of a session.
async fn must_be_free(engine: &mut Engine, session: SessionId) -> Result<(), WireError> {
    match engine.call(Some(session), Op::SessionStatus {}).await {
        Err(error) if error.code == ErrorCode::NotFound => Ok(()),
        Err(error) => Err(error),
        Ok(_) => {
            let message = format!("Session ID {session} is already in use.");
            Err(WireError::new(ErrorCode::NotFound, message))
        }
    }
}

/// What is said of a title that several sessions have (RESUME-2, SEC-4).
fn ambiguous(title: &str, found: &[Summary], cwd: &str) -> WireError {
    let (here, elsewhere): (Vec<_>, Vec<_>) = found.iter().partition(|row| row.cwd == cwd);
    let here: Vec<String> = here.iter().map(|row| row.session.to_string()).collect();
    let message = format!(
        "{} conversations have the title {title}: {} here, {} in other directories; name one by its id",
        found.len(),
        match here.is_empty() {
            true => "none".to_owned(),
            false => here.join(", "),
        },
        elsewhere.len(),
    );
    WireError::new(ErrorCode::NotFound, message)
}

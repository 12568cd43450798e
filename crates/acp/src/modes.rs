//! Modes, shown twice: as modes and as the config option of category mode, in step.

use agent_client_protocol_schema::v1::{
    ConfigOptionUpdate, SessionConfigOption, SessionConfigOptionCategory,
    SessionConfigSelectOption, SessionMode, SessionModeState, SessionUpdate,
};
use sessiond_protocol::{Mode, SessionView};

/// The id of the one config option.
pub(crate) const MODE_OPTION: &str = "mode";

/// A session's modes and the one in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Modes {
    available: Vec<Mode>,
    current: String,
}

impl Modes {
    /// The modes of a session; none where its agent has none.
    pub(crate) fn of(view: &SessionView) -> Option<Self> {
        let first = view.agent.modes.first()?;
        let current = view.mode.clone().unwrap_or_else(|| first.id.clone());
        Some(Self {
            available: view.agent.modes.clone(),
            current,
        })
    }

    /// Whether there is such a mode.
    pub(crate) fn has(&self, id: &str) -> bool {
        self.available.iter().any(|mode| mode.id == id)
    }

    /// Puts a mode in force; tells whether that changed anything.
    pub(crate) fn set(&mut self, id: &str) -> bool {
        let changed = self.current != id;
        id.clone_into(&mut self.current);
        changed
    }

    /// As modes.
    pub(crate) fn state(&self) -> SessionModeState {
        let mode = |mode: &Mode| {
            SessionMode::new(mode.id.clone(), mode.name.clone())
                .description(mode.description.as_str())
        };
        let available = self.available.iter().map(mode).collect();
        SessionModeState::new(self.current.clone(), available)
    }

    /// As config options: always the complete list.
    pub(crate) fn options(&self) -> Vec<SessionConfigOption> {
        let value = |mode: &Mode| {
            SessionConfigSelectOption::new(mode.id.clone(), mode.name.clone())
                .description(mode.description.as_str())
        };
        let values: Vec<_> = self.available.iter().map(value).collect();
        let option = SessionConfigOption::select(MODE_OPTION, "Mode", self.current.clone(), values)
            .category(SessionConfigOptionCategory::Mode);
        vec![option]
    }

    /// The update that says how the config options stand.
    pub(crate) fn options_update(&self) -> SessionUpdate {
        SessionUpdate::ConfigOptionUpdate(ConfigOptionUpdate::new(self.options()))
    }
}

//! What a request wants of a thread that is opened for it.

use std::path::{Path, PathBuf};

use serde_json::Value;
use sessiond_protocol::Setup;
use sessiond_wire::rpc::ErrorObject;

use super::face::Face;
use super::item::is_absolute;
use super::params::{self, ThreadStartParams};
use super::policy::Policy;
use super::thread::Keep;
use crate::sandbox::Sandbox;

/// Whether an answer holds the turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turns {
    Shown,
    Excluded,
}

impl Turns {
    pub(super) fn excluded(exclude: bool) -> Self {
        match exclude {
            true => Turns::Excluded,
            false => Turns::Shown,
        }
    }
}

/// What a request wants of a thread that is opened for it.
#[derive(Debug, Clone)]
pub(super) struct Wish {
    pub(super) cwd: Option<String>,
    pub(super) setup: Setup,
    pub(super) policy: Policy,
    pub(super) keep: Keep,
    pub(super) turns: Turns,
}

impl Face {
    /// Of a request's params and the settings.
    pub(super) fn wish(&self, params: &Value, turns: Turns) -> Result<Wish, ErrorObject> {
        let params: ThreadStartParams = params::read(params)?;
        let mut settings = self.options.settings.clone();
        for (path, value) in params.config.unwrap_or_default() {
            settings.set(&path, value);
        }
        let own = [
            ("model", params.model),
            ("instructions", params.base_instructions),
            ("developer_instructions", params.developer_instructions),
        ];
        for (path, value) in own {
            if let Some(value) = value {
                settings.set(path, value.into());
            }
        }
        let cwd = params.cwd.map(|cwd| match is_absolute(&cwd) {
            true => cwd,
            false => Path::new(&self.options.cwd).join(cwd).display().to_string(),
        });
        let roots = params.runtime_workspace_roots.unwrap_or_default();
        let roots: Vec<String> = roots
            .into_iter()
            .filter(|r| Some(r) != cwd.as_ref())
            .collect();
        let mut policy = Policy::default();
        let configured = settings.text("approval_policy").map(|text| text.into());
        let configured = configured.and_then(|text: Value| serde_json::from_value(text).ok());
        policy.set_approval(
            params.approval_policy.as_ref().or(configured.as_ref()),
            params.approvals_reviewer,
        );
        // Roots are known once the thread is open.
        let extra = settings.writable_roots();
        match (params.sandbox, settings.sandbox()) {
            (Some(mode), _) => policy.set_mode(mode, Vec::new()),
            (None, Some(mode)) => policy.sandbox = mode.with_roots([]),
            (None, None) => {}
        }
        if let (Sandbox::WorkspaceWrite(writable), Some(cwd)) = (&mut policy.sandbox, &cwd) {
            writable.push(PathBuf::from(cwd));
            writable.extend(roots.iter().chain(&extra).map(PathBuf::from));
        }
        Ok(Wish {
            setup: settings.setup(roots),
            cwd,
            policy,
            keep: match params.ephemeral {
                Some(true) => Keep::Ephemeral,
                _ => Keep::Stored,
            },
            turns,
        })
    }
}

/// A workspace whose client named no directory is the thread's own.
pub(super) fn root(policy: &mut Policy, cwd: &str, roots: &[String]) {
    if let Sandbox::WorkspaceWrite(writable) = &mut policy.sandbox
        && writable.is_empty()
    {
        writable.push(PathBuf::from(cwd));
        writable.extend(roots.iter().map(PathBuf::from));
    }
}

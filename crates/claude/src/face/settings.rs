//! Settings of the command line: what of them concerns permissions counts here, the rest is the
//! original's own.

use std::path::Path;

use serde_json::Value;

use super::mode::Mode;

/// What settings say of permissions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Settings {
    pub(super) allowed: Vec<String>,
    pub(super) denied: Vec<String>,
    pub(super) mode: Option<Mode>,
    pub(super) roots: Vec<String>,
}

impl Settings {
    /// Reads settings: JSON, or the path of a file with it.
    ///
    /// # Errors
    /// What is wrong with them: rules that cannot be read must not count as none.
    pub(super) fn read(settings: &str, cwd: &Path) -> Result<Self, &'static str> {
        let text = match settings.trim_start().starts_with('{') {
            true => settings.to_owned(),
            // The user's own file, named on the command line.
            false => std::fs::read_to_string(cwd.join(settings))
                .map_err(|_| "--settings names a file that cannot be read")?,
        };
        let read: Value = serde_json::from_str(&text).map_err(|_| "--settings is not JSON")?;
        let Some(permissions) = read.get("permissions") else {
            return Ok(Self::default());
        };
        let list = |name: &str| {
            let list = permissions.get(name).and_then(Value::as_array);
            let texts = list.into_iter().flatten().filter_map(Value::as_str);
            texts.map(str::to_owned).collect::<Vec<_>>()
        };
        let mode = permissions.get("defaultMode").and_then(Value::as_str);
        Ok(Self {
            allowed: list("allow"),
            denied: list("deny"),
            mode: mode.and_then(|mode| mode.parse().ok()),
            roots: list("additionalDirectories"),
        })
    }
}

#[cfg(test)]
mod tests;

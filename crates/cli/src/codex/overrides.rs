//! `--config key=value`: the value is TOML, and what is no TOML is a text.

use sessiond_codex::Settings;

use crate::failure::Failure;

/// The overrides, the later ones over the earlier ones.
pub(super) fn settings(overrides: &[String]) -> Result<Settings, Failure> {
    let mut settings = Settings::default();
    for text in overrides {
        let (key, value) = text.split_once('=').ok_or_else(|| {
            Failure::Usage("--config takes key=value, such as model=\"o1\"".to_owned())
        })?;
        settings.set(key.trim(), read(value));
    }
    Ok(settings)
}

fn read(value: &str) -> serde_json::Value {
    let document = format!("value = {value}");
    let table = toml::from_str::<toml::Table>(&document).ok();
    let read = table.and_then(|mut table| serde_json::to_value(table.remove("value")?).ok());
    read.unwrap_or_else(|| value.trim().into())
}

#[cfg(test)]
mod tests;

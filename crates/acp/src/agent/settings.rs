//! The mode and the options in force, put into force with the agent.

use serde_json::value::RawValue;
use serde_json::{Value, json};
use sessiond_engine::{Emit, TurnContext, TurnOver};
use sessiond_protocol::{AgentOption, OptionSetting, OptionValue, Settings, Severity};
use sessiond_wire::rpc::CallError;

use super::native::Native;
use super::offers::ModeBy;
use super::update::list;

/// Tells the agent what is in force, where it has something else.
///
/// # Errors
/// [`TurnOver`]: return at once.
pub(super) async fn apply(
    native: &Native,
    context: &TurnContext,
    settings: &Settings,
) -> Result<(), TurnOver> {
    if let Some(mode) = &settings.mode {
        set_mode(native, context, mode).await?;
    }
    for setting in &settings.options {
        set_option(native, context, setting).await?;
    }
    Ok(())
}

/// Keeps telling it while a turn runs.
///
/// # Errors
/// [`TurnOver`]: return at once.
pub(super) async fn follow(native: &Native, context: &TurnContext) -> Result<(), TurnOver> {
    let mut settings = context.settings();
    loop {
        if settings.changed().await.is_err() {
            return Err(TurnOver);
        }
        let now = settings.borrow_and_update().clone();
        apply(native, context, &now).await?;
    }
}

async fn set_mode(native: &Native, context: &TurnContext, mode: &str) -> Result<(), TurnOver> {
    let (by, option, before) = {
        let offers = native.offers();
        let is_known = offers.modes.iter().any(|known| known.id == mode);
        if !is_known || offers.mode.as_deref() == Some(mode) {
            return Ok(());
        }
        (
            offers.mode_by,
            offers.mode_option.clone(),
            offers.mode.clone(),
        )
    };
    let answer = match (by, option) {
        (ModeBy::Option, Some(option)) => {
            call_option(native, &option, &OptionValue::Choice(mode.to_owned())).await
        }
        (ModeBy::Option, None) => return Ok(()),
        (ModeBy::Mode, _) => {
            let params = json!({ "sessionId": native.id, "modeId": mode });
            native.peer.request("session/set_mode", &params).await
        }
    };
    match answer {
        Ok(answer) => {
            native.offers().mode = Some(mode.to_owned());
            if by == ModeBy::Option {
                tell_options(native, context, &answer).await?;
            }
            Ok(())
        }
        Err(error) => {
            refused(native, context, "mode", &error).await?;
            match before {
                Some(before) => context.emit(Emit::Mode(before)).await,
                None => Ok(()),
            }
        }
    }
}

async fn set_option(
    native: &Native,
    context: &TurnContext,
    setting: &OptionSetting,
) -> Result<(), TurnOver> {
    let is_other = |option: &AgentOption| {
        option.id == setting.id && option.takes(&setting.value) && option.value != setting.value
    };
    if !native.offers().options.iter().any(is_other) {
        return Ok(());
    }
    match call_option(native, &setting.id, &setting.value).await {
        Ok(answer) => {
            {
                // What is in force is known above already; only what else it changed is told.
                let mut offers = native.offers();
                let option = offers
                    .options
                    .iter_mut()
                    .find(|option| option.id == setting.id);
                if let Some(option) = option {
                    option.value.clone_from(&setting.value);
                }
            }
            tell_options(native, context, &answer).await
        }
        Err(error) => {
            refused(native, context, "option", &error).await?;
            let options = native.offers().options.clone();
            context.emit(Emit::Options(options)).await
        }
    }
}

async fn call_option(
    native: &Native,
    id: &str,
    value: &OptionValue,
) -> Result<Box<RawValue>, CallError> {
    let mut params = json!({ "sessionId": native.id, "configId": id, "value": value });
    if let (OptionValue::Boolean(_), Some(params)) = (value, params.as_object_mut()) {
        params.insert("type".to_owned(), "boolean".into());
    }
    native
        .peer
        .request("session/set_config_option", &params)
        .await
}

/// The answer to a change is the complete list of options.
async fn tell_options(
    native: &Native,
    context: &TurnContext,
    answer: &RawValue,
) -> Result<(), TurnOver> {
    let answer: Value = serde_json::from_str(answer.get()).unwrap_or_default();
    let Some(listed) = answer
        .get("configOptions")
        .filter(|listed| listed.is_array())
    else {
        return Ok(());
    };
    let changed = native.offers().set_options(list(listed));
    for emit in native.told(changed) {
        context.emit(emit).await?;
    }
    Ok(())
}

async fn refused(
    native: &Native,
    context: &TurnContext,
    what: &str,
    error: &CallError,
) -> Result<(), TurnOver> {
    let agent = &native.agent;
    let title = format!("{agent} did not take the {what}: {error}");
    context.emit(Emit::Notice(Severity::Warning, title)).await
}

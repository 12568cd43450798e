//! The mode and the model in force, put into force with the CLI.

use serde_json::json;
use sessiond_engine::{Emit, TurnContext, TurnOver};
use sessiond_protocol::{OptionValue, Settings, Severity};

use super::native::Native;
use super::offers::MODEL;

/// Tells the CLI what is in force, where it has something else.
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
        if let (MODEL, OptionValue::Choice(model)) = (&*setting.id, &setting.value) {
            set_model(native, context, model).await?;
        }
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
    let before = {
        let offers = native.offers();
        let is_known = offers.modes.iter().any(|known| known.id == mode);
        if !is_known || offers.mode == mode {
            return Ok(());
        }
        offers.mode.clone()
    };
    let request = json!({ "subtype": "set_permission_mode", "mode": mode });
    match native.link.ask(request).await {
        Ok(_) => {
            mode.clone_into(&mut native.offers().mode);
            Ok(())
        }
        Err(why) => {
            refused(native, context, ("mode", &why)).await?;
            context.emit(Emit::Mode(before)).await
        }
    }
}

async fn set_model(native: &Native, context: &TurnContext, model: &str) -> Result<(), TurnOver> {
    {
        let offers = native.offers();
        if offers.model().is_none_or(|current| current == model) {
            return Ok(());
        }
    }
    let request = json!({ "subtype": "set_model", "model": model });
    match native.link.ask(request).await {
        Ok(_) => {
            native.offers().set_model(model);
            Ok(())
        }
        Err(why) => {
            refused(native, context, ("model", &why)).await?;
            let options = native.offers().options.clone();
            context.emit(Emit::Options(options)).await
        }
    }
}

async fn refused(
    native: &Native,
    context: &TurnContext,
    (what, why): (&str, &str),
) -> Result<(), TurnOver> {
    let agent = &native.agent;
    let title = format!("{agent} did not take the {what}: {why}");
    context.emit(Emit::Notice(Severity::Warning, title)).await
}

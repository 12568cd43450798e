//! The one thing that is done wrong.

use std::sync::OnceLock;

use serde_json::{Value, json};

/// What stands before a fault that several faces share: where it is looked at.
const FACES: [&str; 6] = ["v2-", "claude-", "exec-", "app-", "cross-", "transcript-"];

/// Whether this fault is the one. What stands before it says in which face it is looked at.
pub(crate) fn on(name: &str) -> bool {
    static FAULT: OnceLock<String> = OnceLock::new();
    let fault = FAULT.get_or_init(|| std::env::var("PEER_FAULT").unwrap_or_default());
    let shared = |face: &str| fault.strip_prefix(face) == Some(name);
    fault == name || FACES.iter().any(|face| shared(face))
}

/// Ends the process if this fault is the one.
pub(crate) fn die_on(name: &str) {
    if on(name) {
        std::process::exit(70);
    }
}

/// Whether a request with this id is dropped.
pub(crate) fn loses(id: &Value) -> bool {
    let text = id.as_str();
    (on("id-empty-lost") && text == Some(""))
        || (on("id-zero-lost") && *id == json!(0))
        || (on("id-text-lost") && text.is_some())
        || (on("id-large-lost") && id.as_i64().is_some_and(|id| id > 4000))
}

/// The id that an answer gets.
pub(crate) fn changed(id: &Value) -> Value {
    let (text, number) = (id.as_str(), id.as_i64());
    match (text, number) {
        (Some(text), _) if on("id-as-number") => {
            let number = text.parse::<i64>().map(Value::from);
            return number.unwrap_or_else(|_| id.clone());
        }
        (Some(text), _) if on("id-cut") => {
            return text
                .chars()
                .filter(char::is_ascii)
                .take(64)
                .collect::<String>()
                .into();
        }
        (_, Some(number)) if on("id-unsigned") => return json!(number.unsigned_abs()),
        (_, Some(number)) if on("id-rounded") && number > 1 << 40 => return json!(number + 1),
        _ => {}
    }
    id.clone()
}

/// Blocks what asks a process to end: its own handler only sleeps on.
pub(crate) fn ignore_signals() {
    std::thread::spawn(|| {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        if let Ok(runtime) = runtime {
            runtime.block_on(async {
                use tokio::signal::unix::{SignalKind, signal};
                let term = signal(SignalKind::terminate());
                let int = signal(SignalKind::interrupt());
                if let (Ok(mut term), Ok(mut int)) = (term, int) {
                    loop {
                        tokio::select! { _ = term.recv() => {}, _ = int.recv() => {} }
                    }
                }
            });
        }
    });
}

/// Calls this for each SIGTERM, and with `true` for each SIGINT, from when it returns.
pub(crate) fn on_signal(told: impl Fn(bool) + Send + 'static) {
    let (ready, registered) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let Ok(runtime) = runtime else { return };
        runtime.block_on(async {
            use tokio::signal::unix::{SignalKind, signal};
            let (Ok(mut term), Ok(mut int)) = (
                signal(SignalKind::terminate()),
                signal(SignalKind::interrupt()),
            ) else {
                return;
            };
            let _ = ready.send(());
            loop {
                let interrupt = tokio::select! { _ = term.recv() => false, _ = int.recv() => true };
                told(interrupt);
            }
        });
    });
    let _ = registered.recv();
}

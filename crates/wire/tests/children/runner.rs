//! Runs cases the way libtest does, as far as cargo and people need it.

use std::panic::catch_unwind;
use std::process::exit;

/// A case: a sentence with underscores, and the check itself.
pub(crate) type Case = (&'static str, fn());

/// Runs the cases whose name contains an argument that is no option; all if there is none.
pub(crate) fn run(cases: &[Case]) {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let filters: Vec<&String> = args.iter().filter(|arg| !arg.starts_with('-')).collect();
    let wanted = |name: &str| filters.is_empty() || filters.iter().any(|f| name.contains(*f));
    let chosen = cases.iter().filter(|(name, _)| wanted(name));
    if args.iter().any(|arg| arg == "--list") {
        chosen.for_each(|(name, _)| println!("{name}: test"));
        return;
    }
    let mut failed = Vec::new();
    for (name, case) in chosen {
        let passed = catch_unwind(case).is_ok();
        println!("test {name} ... {}", if passed { "ok" } else { "FAILED" });
        if !passed {
            failed.push(name);
        }
    }
    if !failed.is_empty() {
        println!("failed: {failed:?}");
        exit(101);
    }
}

/// Runs a future on a runtime of its own, within the time that shows liveness.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let limit = std::time::Duration::from_secs(30);
        tokio::time::timeout(limit, future)
            .await
            .expect("within the liveness limit")
    })
}

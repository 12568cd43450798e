//! What only shows with real processes: the stdout guard, and programs under `__guard`.
//!
//! Without libtest's harness, because this binary is also the server, the guard and the child of
//! its own cases: `main` dispatches on the first argument.

#[cfg(test)]
mod descriptors;
#[cfg(test)]
mod probe;
#[cfg(test)]
mod runner;
#[cfg(test)]
mod stdout_guard;
#[cfg(test)]
mod supervised;
#[cfg(test)]
mod tree;

fn main() {
    let mut args = std::env::args_os().skip(1).peekable();
    if args
        .next_if(|first| first == sessiond_wire::process::GUARD_COMMAND)
        .is_some()
    {
        std::process::exit(sessiond_wire::process::guard_main(args));
    }
    #[cfg(test)]
    {
        if args.next_if(|first| first == probe::COMMAND).is_some() {
            std::process::exit(probe::main(args));
        }
        let cases = [
            descriptors::CASES,
            stdout_guard::CASES,
            supervised::CASES,
            tree::CASES,
        ];
        runner::run(&cases.concat());
    }
}

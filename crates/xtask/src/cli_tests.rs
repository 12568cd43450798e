use clap::CommandFactory as _;

use super::Cli;

#[test]
fn the_command_line_is_consistent_and_every_command_shows_an_example() {
    let mut command = Cli::command();
    command.build();
    command.clone().debug_assert();
    let mut todo: Vec<&clap::Command> = vec![&command];
    while let Some(next) = todo.pop() {
        todo.extend(
            next.get_subcommands()
                .filter(|sub| sub.get_name() != "help"),
        );
        let help = next
            .get_after_help()
            .map(ToString::to_string)
            .unwrap_or_default();
        let branch = next.get_name() == "bench";
        assert!(
            branch || help.contains("Example"),
            "{} shows no example",
            next.get_name()
        );
    }
}

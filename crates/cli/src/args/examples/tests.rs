use clap::{CommandFactory, Parser};

use crate::args::{Command, CommandLine};

const ID: &str = "0191f0aa-0000-7000-8000-000000000000";

/// The words of a command as a shell would part them; text in `'…'` is one.
fn words(line: &str) -> Vec<String> {
    let parts = line.split('\'').enumerate();
    let words = parts.flat_map(|(index, part)| match index % 2 {
        0 => part.split_whitespace().map(str::to_owned).collect(),
        _ => vec![part.to_owned()],
    });
    words
        .map(|word| if word == "ID" { ID.to_owned() } else { word })
        .collect()
}

#[test]
fn every_command_on_conversations_has_examples_that_are_understood() {
    let line = CommandLine::command();
    let of = |group: &'static str| {
        let commands = line.find_subcommand(group).unwrap().get_subcommands();
        commands.map(move |command| (group, command))
    };
    assert!(of("sessions").count() > 10);
    for (group, command) in of("sessions").chain(of("transcript")) {
        let name = command.get_name();
        let help = command.get_after_help().map(ToString::to_string);
        let help = help.unwrap_or_else(|| panic!("{name} has no examples"));
        let mut lines = help.lines();
        assert_eq!(lines.next(), Some("Examples:"), "{name}");
        let examples: Vec<Vec<String>> = lines
            .map(|line| {
                let line = line.strip_prefix("  ").unwrap();
                words(line.split("  ").next().unwrap())
            })
            .collect();
        assert!((1..=4).contains(&examples.len()), "{name}: {examples:?}");
        assert_eq!(examples[0][..3], ["sessiond", group, name]);
        for example in examples {
            let parsed = CommandLine::try_parse_from(&example);
            let parsed = parsed.unwrap_or_else(|error| panic!("{example:?}: {error}"));
            let is_of_it = matches!(
                (group, parsed.command),
                ("sessions", Command::Sessions(_)) | ("transcript", Command::Transcript(_))
            );
            assert!(is_of_it, "{example:?}");
        }
    }
}

use clap::{CommandFactory, Parser};

use super::{AcpVersion, Command, CommandLine, Sessions};
use crate::named::SessionName;

#[test]
fn the_definition_holds_together() {
    CommandLine::command().debug_assert();
}

#[test]
fn common_options_may_stand_before_or_after_the_command() {
    for line in [
        ["sessiond", "--store", "/s", "acp"],
        ["sessiond", "acp", "--store", "/s"],
    ] {
        let parsed = CommandLine::try_parse_from(line).unwrap();
        assert_eq!(parsed.common.store.as_deref(), Some("/s".as_ref()));
        assert!(matches!(parsed.command, Command::Acp(_)));
    }
}

#[test]
fn bad_command_lines_are_refused_as_usage() {
    let session = "0191f0aa-0000-7000-8000-000000000000";
    let table: &[&[&str]] = &[
        &["sessiond"],
        &["sessiond", "frobnicate"],
        &["sessiond", "exec"],
        &["sessiond", "exec", "--last", "--session", session, "hi"],
        &["sessiond", "exec", "--session", "", "hi"],
        &["sessiond", "sessions"],
        &["sessiond", "sessions", "show"],
        &[
            "sessiond",
            "sessions",
            "show",
            "0191F0AA-0000-7000-8000-000000000000",
        ],
        &["sessiond", "sessions", "unarchive", "a title"],
        &["sessiond", "sessions", "list", "--archived", "--removed"],
        &[
            "sessiond",
            "sessions",
            "list",
            "--archived",
            "--search",
            "x",
        ],
        &["sessiond", "acp", "--wrong"],
        &["sessiond", "acp", "--acp", "2"],
    ];
    for line in table {
        let error = CommandLine::try_parse_from(*line).unwrap_err();
        assert_eq!(error.exit_code(), 2, "{line:?}");
    }
}

#[test]
fn a_prompt_may_be_a_dash_and_options_may_follow_it() {
    let parsed = CommandLine::try_parse_from(["sessiond", "exec", "-", "--json"]).unwrap();
    let Command::Exec(exec) = parsed.command else {
        panic!("not exec")
    };
    assert_eq!((exec.prompt.as_str(), exec.format.json), ("-", true));
}

#[test]
fn a_session_is_shown_by_its_canonical_id() {
    let id = "0191f0aa-0000-7000-8000-000000000000";
    let parsed = CommandLine::try_parse_from(["sessiond", "sessions", "show", id]).unwrap();
    let Command::Sessions(Sessions::Show(show)) = parsed.command else {
        panic!("not show")
    };
    assert_eq!(show.session, SessionName::Id(id.parse().unwrap()));
}

#[test]
fn the_version_of_the_protocol_is_chosen_and_an_empty_one_is_none() {
    let table = [
        (vec![], AcpVersion::default()),
        (vec!["--acp", ""], AcpVersion::default()),
        (vec!["--acp", "v1"], AcpVersion::V1),
        (vec!["--acp", "v2"], AcpVersion::V2),
        (vec!["--acp", "auto"], AcpVersion::Auto),
    ];
    for (chosen, expected) in table {
        let line = ["sessiond", "acp"].into_iter().chain(chosen.clone());
        let parsed = CommandLine::try_parse_from(line).unwrap();
        let Command::Acp(acp) = parsed.command else {
            panic!("not acp")
        };
        assert_eq!(acp.version, expected, "{chosen:?}");
    }
}

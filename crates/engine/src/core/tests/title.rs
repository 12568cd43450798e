//! Who names a session.

use sessiond_protocol::{IfBusy, Stop, limits};

use super::{
    bench::Bench,
    ops::{rename, start},
};
use crate::{agent::Emit, core::Input};

#[test]
fn a_users_title_is_synced_and_no_prompt_and_no_agent_overwrites_it() {
    for by_agent in ["", "The agent's"] {
        let mut bench = Bench::attached();
        bench.submit("s1", start("first prompt", IfBusy::Reject));
        bench.take(Input::Emitted(Emit::Title(by_agent.into())));
        bench.done(Stop::EndTurn);
        assert_eq!(
            bench.submit("s2", rename("  Mine \nand more")),
            [
                "append synced: session.changed",
                "event session.changed",
                "receipt s2 done"
            ]
        );
        bench.submit("s3", start("second prompt", IfBusy::Reject));
        bench.take(Input::Emitted(Emit::Title("The agent's again".into())));
        bench.done(Stop::EndTurn);
        assert_eq!(bench.title(), Some("Mine"));
        bench.submit("s4", rename("Mine too"));
        assert_eq!(bench.title(), Some("Mine too"));
    }
}

#[test]
fn a_user_who_names_a_session_as_its_first_prompt_does_has_chosen_all_the_same() {
    let mut bench = Bench::attached();
    bench.submit("s1", start("parser", IfBusy::Reject));
    bench.submit("s2", rename("parser"));
    bench.take(Input::Emitted(Emit::Title("The agent's".into())));
    assert_eq!(bench.title(), Some("parser"));
    assert_eq!(bench.submit("s3", rename("parser")), ["receipt s3 done"]);
}

#[test]
fn a_title_without_text_is_refused_and_a_long_one_is_cut() {
    let mut bench = Bench::attached();
    for blank in ["", "  ", "\n\t\n"] {
        assert_eq!(bench.submit("s1", rename(blank)), ["receipt s1 invalid"]);
    }
    assert_eq!(bench.title(), None);
    bench.submit("s2", rename(&"é".repeat(limits::TITLE_CHARS + 1)));
    assert_eq!(
        bench.title(),
        Some("é".repeat(limits::TITLE_CHARS).as_str())
    );
}

#[test]
fn a_new_name_says_first_how_a_dead_process_left_the_session() {
    let mut dead = Bench::attached();
    dead.submit("s1", start("go", IfBusy::Reject));
    let mut bench = dead.killed();
    let renamed = bench.submit("s2", rename("Mine"));
    assert_eq!(renamed[0], "append synced: turn.ended session.changed");
}

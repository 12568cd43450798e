//! What is added to a turn that runs: its lines come after those that remain.

use sessiond_protocol::{Outcome, PermissionKind, RequestKind, TurnOutcome};

use crate::session::{Act, Seen, Session};

#[tokio::test]
async fn added_lines_are_done_after_those_that_remain() {
    let option = PermissionKind::AllowOnce.id().to_owned();
    let allow = Outcome::Selected { option };
    let table = [
        ("/run true\n/say rest", "/say added", "rest\nadded"),
        ("/run true", "added words", "added words"),
        (
            "/run true\n/say rest",
            "/nonsense",
            "rest\nThere is no command",
        ),
        ("/run true\n/say rest", "  ", "rest"),
    ];
    for (script, steer, said) in table {
        let mut session = Session::new(&[RequestKind::Permission]).await;
        let turn = session.turn(script, |seen| match seen {
            // The script waits for the answer, so that what is added comes before its end.
            Seen::Asked(_) => Act::Steer(steer.to_owned(), allow.clone()),
            _ => Act::Watch,
        });
        let turn = turn.await;
        assert_eq!(turn.outcome, TurnOutcome::Completed, "{script}");
        assert!(turn.text().starts_with(said), "{script}: {}", turn.text());
    }
}

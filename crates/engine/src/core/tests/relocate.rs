//! A session whose directory is another one now.

use sessiond_protocol::Op;

use super::bench::Bench;

fn relocate(cwd: &str) -> Op {
    Op::SessionRelocate { cwd: cwd.into() }
}

#[test]
fn a_new_directory_is_synced_once_and_only_an_absolute_one_is_taken() {
    let mut bench = Bench::attached();
    for bad in ["", "w", "../w"] {
        assert_eq!(bench.submit("s1", relocate(bad)), ["receipt s1 invalid"]);
    }
    assert_eq!(
        bench.submit("s2", relocate("/elsewhere")),
        [
            "append synced: session.changed",
            "event session.changed",
            "receipt s2 done"
        ]
    );
    assert_eq!(
        bench.submit("s3", relocate("/elsewhere")),
        ["receipt s3 done"]
    );
    assert_eq!(bench.killed().header().cwd, "/elsewhere");
}

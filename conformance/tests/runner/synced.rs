use super::{run, said};

/// A program in the place of `codex exec` that keeps its prompt in a file; `$f` is that file.
fn program(before: &str, after: &str) -> String {
    format!(
        r#"f=$SESSIOND_HOME/log; echo '{{"type":"thread.started","thread_id":"t"}}'
echo '{{"type":"turn.started"}}'; cat >> "$f"; {before}
echo '{{"type":"turn.completed","usage":{{"input_tokens":1,"cached_input_tokens":0,"output_tokens":1}}}}'; {after}"#
    )
}

/// What the case about syncs says of a program.
fn verdict(name: &str, script: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("target.toml");
    let text = format!(
        "id = {name:?}\nargv = [\"sh\", \"-c\", {script:?}]\n\
         [timeouts]\nstart = 10000\nreply = 10000\nexit = 10000\nquiet = 50\ncase = 30000\n"
    );
    std::fs::write(&path, text).expect("written");
    let path = path.to_string_lossy();
    let output = run(&["codex-exec", "-k", "disk.synced", "--target", &path]);
    said(&output).1
}

/// What was synced before the end of the turn is told from what was not, whoever of a target's tree synced it, and
/// whatever signals do to it meanwhile.
#[test]
fn a_sync_of_a_target_is_seen_where_it_happens() {
    let passes = ["2 pass"];
    let warns = ["2 warn", "was not synced between sent:one and answer:one"];
    let rows = [
        ("file", r#"sync "$f""#, "", &passes[..]),
        ("data", r#"sync -d "$f""#, "", &passes),
        (
            "durable-open",
            r#"dd if="$f" of="$f.2" oflag=dsync 2>&-"#,
            "",
            &passes,
        ),
        (
            "child",
            r#"(setsid sh -c "sync '$f'; :") & wait"#,
            "",
            &passes,
        ),
        (
            "orphan",
            r#"(sh -c "sync '$f'; echo > '$f.done'" &); while ! [ -e "$f.done" ]; do sleep 0.02; done; rm "$f.done""#,
            "",
            &passes,
        ),
        (
            "stopped",
            r#"(sleep 0.2; kill -CONT $$) & kill -STOP $$; wait; sync "$f""#,
            "",
            &passes,
        ),
        (
            "signalled",
            r#"trap 'got=yes' USR1; kill -USR1 $$; [ -n "$got" ] && sync "$f""#,
            "",
            &passes,
        ),
        ("nothing", "", "", &warns),
        ("other", r#"echo > "$f.other"; sync "$f.other""#, "", &warns),
        ("late", "", r#"sync "$f""#, &warns),
        (
            "killed",
            r#"sync "$f"; kill -9 $$"#,
            "",
            &["0 pass", "2 warn"],
        ),
        (
            "unnamed-signal",
            r#"trap : RTMIN; kill -RTMIN $$; sync "$f""#,
            "",
            &["2 skip"],
        ),
    ];
    for (name, before, after, expected) in rows {
        let found = verdict(name, &program(before, after));
        for part in expected {
            assert!(found.contains(part), "{name}: no {part:?} in {found}");
        }
    }
}

/// A call is recorded after all that the target wrote before it, however long that takes to read.
#[test]
fn a_sync_right_after_the_answer_is_too_late() {
    let long = r#"printf '{"type":"item.completed","item":{"id":"i","type":"agent_message","text":"'
head -c 12000000 /dev/zero | tr '\0' x; echo '"}}'"#;
    let found = verdict("late", &program(long, r#"sync "$f""#));
    assert!(found.contains("2 warn"), "{found}");
    assert!(
        found.contains("not synced between sent:two and answer:two"),
        "{found}"
    );
}

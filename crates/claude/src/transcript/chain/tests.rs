use super::*;

/// A name, entries, those that are told, and what is found.
type Case = (
    &'static str,
    &'static [&'static str],
    &'static str,
    &'static [Kind],
);

/// An entry by a letter each: its id, its parent (`-` for none), what it is: `u`ser, `a`ssistant,
/// `l`ink, `s`ubagent, `b`oundary; then the message it is a block of, a call `+x`, a result `=x`.
fn entry(spec: &str) -> String {
    let mut words = spec.split(' ');
    let place = words.next().unwrap();
    let id = |letter: &str| {
        format!(
            "\"00000000-0000-4000-8000-0000000000{:02x}\"",
            letter.as_bytes()[0]
        )
    };
    let (uuid, parent, kind) = (id(&place[..1]), &place[1..2], &place[2..3]);
    let parent = if parent == "-" {
        "null".to_owned()
    } else {
        id(parent)
    };
    let (mut message, mut blocks) = ("m".to_owned() + &place[..1], Vec::new());
    for word in words {
        match word.split_at(1) {
            ("+", call) => blocks.push(format!(
                r#"{{"type":"tool_use","id":"{call}","name":"Bash","input":{{}}}}"#
            )),
            ("=", call) => blocks.push(format!(
                r#"{{"type":"tool_result","tool_use_id":"{call}","content":""}}"#
            )),
            _ => message = word.to_owned(),
        }
    }
    if blocks.is_empty() {
        blocks.push(format!(r#"{{"type":"text","text":"{}"}}"#, &place[..1]));
    }
    let (kind, more) = match kind {
        "a" => ("assistant", String::new()),
        "l" => ("attachment", String::new()),
        "s" => ("user", r#","isSidechain":true"#.to_owned()),
        "b" => {
            let more = format!(r#","subtype":"compact_boundary","logicalParentUuid":{parent}"#);
            return format!(r#"{{"parentUuid":null,"type":"system","uuid":{uuid}{more}}}"#);
        }
        _ => ("user", String::new()),
    };
    let blocks = blocks.join(",");
    format!(
        r#"{{"parentUuid":{parent},"type":"{kind}","uuid":{uuid}{more},"message":{{"id":"{message}","content":[{blocks}]}}}}"#
    )
}

fn chain(specs: &[&str]) -> (String, Chain) {
    let lines = specs.iter().map(|spec| match spec.strip_prefix('>') {
        Some(leaf) => {
            let id = format!(
                "00000000-0000-4000-8000-0000000000{:02x}",
                leaf.as_bytes()[0]
            );
            format!(r#"{{"type":"last-prompt","leafUuid":"{id}"}}"#)
        }
        None => entry(spec),
    });
    let text = lines.collect::<Vec<_>>().join("\n");
    let index = Index::read(text.as_bytes()).unwrap();
    let chain = index.chain();
    let name = |at: &usize| (index.nodes[*at].uuid as u8) as char;
    (chain.told.iter().map(name).collect(), chain)
}

#[test]
fn the_conversation_is_the_path_to_its_leaf_with_what_hangs_beside_it() {
    let table: [Case; 17] = [
        (
            "a plain one",
            &["a-u", "bal", "cba"],
            "abc",
            &[Kind::Furniture],
        ),
        ("nothing", &[], "", &[]),
        (
            "the branch written last",
            &["a-u", "bau", "cau", "dca"],
            "acd",
            &[Kind::OtherBranch],
        ),
        (
            "the branch that is named",
            &["a-u", "bau", "cau", "dca", ">b"],
            "ab",
            &[Kind::OtherBranch],
        ),
        (
            "named, and gone on after that",
            &["a-u", "bau", ">b", "cau"],
            "ac",
            &[Kind::OtherBranch],
        ),
        (
            "named before it is written",
            &["a-u", ">b", "bau"],
            "ab",
            &[],
        ),
        ("a leaf that is not there", &["a-u", "bau", ">z"], "ab", &[]),
        (
            "a parent that is not there",
            &["a-u", "bau", "czu", "dca"],
            "abcd",
            &[Kind::MissingParent],
        ),
        (
            "a parent of a sub-agent",
            &["a-u", "bas", "cbu"],
            "ac",
            &[Kind::MissingParent, Kind::Sidechain],
        ),
        ("a circle", &["abu", "baa"], "ab", &[Kind::Cycle]),
        (
            "a circle behind others",
            &["a-u", "bdu", "cba", "dcu"],
            "abcd",
            &[Kind::Cycle],
        ),
        (
            "parallel calls, results beside them",
            &["a-u", "baa m +x", "cba m +y", "dbu =x", "ecu =y", "fea"],
            "abcef",
            &[],
        ),
        (
            "a block of a message on another branch",
            &["a-u", "baa m +x", "cba m +y", "dbu =x", "eda"],
            "abcde",
            &[],
        ),
        (
            "a block of a message, written first",
            &["a-u", "baa m", "caa m"],
            "abc",
            &[],
        ),
        (
            "one message id for all, calls in parallel",
            &["a-u", "baa m", "cbu", "dca m +x", "eda m +y", "fdu =x"],
            "abcdef",
            &[],
        ),
        (
            "one message id for all",
            &["a-u", "baa m", "cbu", "dca m"],
            "abcd",
            &[],
        ),
        ("a compaction", &["a-u", "baa", "cbb", "dcu"], "abcd", &[]),
    ];
    for (name, specs, told, kinds) in table {
        let (all, chain) = chain(specs);
        assert_eq!(all, told, "{name}");
        let found: Vec<_> = chain.findings.iter().map(|(kind, _)| kind).collect();
        assert_eq!(found, kinds, "{name}");
    }
}

#[test]
fn what_comes_next_follows_the_last_entry_behind_the_leaf() {
    for (specs, tail) in [
        (&["a-u", "baa"] as &[&str], 1),
        (&["a-u", "baa", "cbl", "dcl"], 3),
        (&["a-u", "bal", "cau"], 2),
    ] {
        assert_eq!(chain(specs).1.tail, Some(tail));
    }
}

#[test]
fn a_result_without_its_call_is_an_orphan() {
    let (_, chain) = chain(&["a-u", "bau =x", "cba"]);
    assert_eq!(chain.orphans, HashSet::from([1]));
}

use super::asleep::sleeping;
use super::mutants::open_sites;
use super::mutations::MUTATIONS;
use super::rules::{RULES, WAIST};
use super::verdict::{Row, Table};

fn row(test: &str, states: u64, violations: u64) -> Row {
    let test = test.to_owned();
    Row {
        test,
        states,
        violations,
        seconds: 1.5,
    }
}

#[test]
fn a_row_is_found_behind_what_the_harness_printed() {
    let cases = [
        (
            "faults: crash_states 12 3 1.5",
            Some(row("crash_states", 12, 3)),
        ),
        ("test power::x ... faults: x 1 0 1.5", Some(row("x", 1, 0))),
        ("faults: x 1 0", None),
        ("faults: x one 0 1.5", None),
        ("test result: ok. 15 passed", None),
    ];
    for (line, expected) in cases {
        assert_eq!(Row::parse(line), expected, "{line}");
    }
}

#[test]
fn a_table_is_good_only_without_violations_and_with_rows() {
    let table = |rows: &[Row], failures: &[&str]| Table {
        rows: rows.to_vec(),
        failures: failures.iter().map(|f| (*f).to_owned()).collect(),
    };
    let good = table(&[row("a", 10, 0), row("bcdef", 2, 0)], &[]);
    good.judge().unwrap();
    let expected = "test   | states tried | violations | seconds\n\
                    a      |           10 |          0 |     1.5\n\
                    bcdef  |            2 |          0 |     1.5\n\
                    in all |           12 |          0 |     3.0\n";
    assert_eq!(good.to_string(), expected);
    for bad in [
        table(&[row("a", 10, 1)], &[]),
        table(&[row("a", 10, 0)], &["lease_model"]),
        table(&[], &[]),
    ] {
        assert_eq!(bad.judge().unwrap_err().code(), "faults");
    }
}

#[test]
fn a_mutation_whose_code_is_gone_or_doubled_is_an_error() {
    let mutation = &MUTATIONS[0];
    let once = format!("a\n    {}\nb\n", mutation.code);
    let mutated = mutation.apply(&once).unwrap();
    assert!(!mutated.contains(mutation.code) && mutated.contains(mutation.instead));
    for text in ["", &format!("{once}{once}")] {
        assert!(
            mutation.apply(text).unwrap_err().contains("times"),
            "{text}"
        );
    }
}

#[test]
fn a_sync_that_no_mutation_takes_out_is_named() {
    let known = format!("fn f() {{\n    {}\n}}\n", MUTATIONS[0].code);
    assert_eq!(open_sites("appender.rs", &known), Vec::<String>::new());
    let new = format!("{known}    // file.sync() in a comment\n    file.sync()?;\n");
    assert_eq!(open_sites("appender.rs", &new), ["appender.rs:5"]);
    assert_eq!(open_sites("fs/memory.rs", &new), Vec::<String>::new());
}

#[test]
fn the_count_of_a_fuzzer_is_its_last_word() {
    use super::fuzz::executed;
    assert_eq!(
        executed("stat::number_of_executed_units: 30000"),
        Some(30_000)
    );
    assert_eq!(executed("stat::average_exec_per_sec:     2500"), None);
    assert_eq!(executed("#2 INITED cov: 5"), None);
}

/// A table that has rotted is found here, not in the long run that needs it.
#[test]
fn every_row_breaks_code_that_is_there() {
    let crates = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let syncs = MUTATIONS.iter().map(|row| (crates.join("log/src"), row));
    let rules = RULES
        .into_iter()
        .chain(WAIST)
        .flatten()
        .map(|row| (crates.clone(), row));
    for (folder, row) in syncs.chain(rules) {
        let text = std::fs::read_to_string(folder.join(row.file)).unwrap();
        if let Err(why) = row.apply(&text) {
            panic!("{}: {why}", row.name);
        }
    }
}

/// The adapters' table is applied whole, and each of its mutations can be woken.
#[test]
fn every_row_of_the_adapters_sleeps_in_code_that_is_there() {
    let crates = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let files = sleeping(&crates).unwrap();
    let text: String = files.into_values().collect();
    let mut names: Vec<_> = super::adapters::ALL
        .into_iter()
        .flatten()
        .copied()
        .flatten()
        .map(|row| row.name)
        .collect();
    for name in &names {
        let question = format!("crate::mutant({name:?})");
        assert!(text.contains(&question), "{name} sleeps nowhere");
    }
    let rows = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), rows, "each has a name of its own");
}

use std::collections::BTreeSet;

use schemars::schema_for;
use serde_json::Value;

use super::{CASES, Suite};
use crate::case::Case;
use crate::tongue::Tongue;

/// Headings of the prose at the revision that the requirements cite.
const ANCHORS: &str = include_str!("../requirements/acp-v1.anchors");
/// The schemas of ACP version 2; its rules cite pointers into them.
const SECOND: &str = include_str!("../schemas/acp-v2.json");
/// The specification of the native protocol; its rules cite its headings.
const NATIVE: &str = include_str!("../../docs/sqeq.md");
/// What the suite owes its readers in words; the house's rules cite its headings.
const GUIDE: &str = include_str!("../../docs/conformance.md");
/// Every id that a check ever had. One that is gone stands with a minus, and never comes back.
const IDS: &str = include_str!("../cases/ids.txt");
/// The schema of cases, for editors.
const SCHEMA: &str = include_str!("../schemas/case.json");

/// All suites as one.
fn suite() -> Suite {
    let mut all = Suite::load("acp").expect("the suite's own data");
    for name in [
        "sqeq",
        "claude",
        "codex-exec",
        "codex-app-server",
        "cross",
        "transcript",
    ] {
        let more = Suite::load(name).expect("the suite's own data");
        all.cases.extend(more.cases);
    }
    all
}

/// The headings of a text as they are cited.
fn headings(text: &str) -> Vec<String> {
    text.lines()
        .filter(|line| line.starts_with('#'))
        .map(|line| {
            line.trim_start_matches(['#', ' '])
                .to_lowercase()
                .replace(' ', "-")
        })
        .collect()
}

#[test]
fn a_case_is_where_its_id_says() {
    for (path, text) in CASES {
        let case: Case = toml::from_str(text).unwrap_or_else(|error| panic!("{path}: {error}"));
        let expected = format!("cases/{}.toml", case.id.replace('.', "/"));
        assert_eq!(*path, expected);
    }
}

#[test]
fn an_id_is_never_used_again() {
    let suite = suite();
    let mut ids = BTreeSet::new();
    for variant in &suite.cases {
        for check in &variant.case.checks {
            let id = variant.check_id(check);
            let shaped = id
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "._-#".contains(c));
            assert!(shaped, "{id}");
            assert!(ids.insert(id.clone()), "{id} stands twice");
        }
    }
    let known: BTreeSet<&str> = IDS.lines().collect();
    let gone: Vec<&str> = known.iter().filter_map(|id| id.strip_prefix('-')).collect();
    for id in &ids {
        assert!(known.contains(id.as_str()), "add {id} to cases/ids.txt");
        assert!(!gone.contains(&id.as_str()), "{id} was another check's");
    }
    for id in known.iter().filter(|id| !id.starts_with('-')) {
        assert!(ids.contains(*id), "{id} is gone: mark it with a minus");
    }
}

/// CONF-1: each check has a citation, and each requirement a check or a reason.
#[test]
fn every_requirement_is_tested_or_says_why_not() {
    let suite = suite();
    let mut tested = BTreeSet::new();
    for variant in &suite.cases {
        for check in &variant.case.checks {
            let known = suite.requirements.contains_key(&check.req);
            assert!(known, "{} cites {}", variant.check_id(check), check.req);
            tested.insert(check.req.as_str());
        }
    }
    for (id, requirement) in &suite.requirements {
        assert_eq!(
            tested.contains(id.as_str()),
            requirement.untested.is_none(),
            "{id} must be tested, or say why it is not"
        );
    }
}

#[test]
fn every_citation_leads_somewhere() {
    let suite = suite();
    let (guide, native) = (headings(GUIDE), headings(NATIVE));
    let second: Value = serde_json::from_str(SECOND).expect("JSON");
    for (id, requirement) in &suite.requirements {
        let anchor = &requirement.anchor;
        let document = &suite.documents[&requirement.document];
        assert!(document.url.contains("{anchor}"), "{}", document.title);
        let found = match requirement.document.as_str() {
            "prose" => ANCHORS.lines().any(|known| known == anchor),
            "house" | "claude" | "codex" | "transcript" => guide.contains(anchor),
            "native" => native.contains(anchor),
            "second" => second.pointer(anchor).is_some(),
            _ => !anchor.is_empty(),
        };
        assert!(found, "{id} cites {anchor}, which is not there");
    }
}

#[test]
fn prerequisites_exist() {
    let suite = suite();
    let exists = |id: &str| {
        suite.cases.iter().any(|variant| {
            let mut checks = variant.case.checks.iter();
            checks.any(|check| variant.check_id(check) == id)
        })
    };
    for tongue in Tongue::ALL {
        for id in [tongue.initialized(), tongue.session()] {
            assert!(exists(id), "{id}");
        }
    }
    for variant in &suite.cases {
        for id in &variant.case.requires {
            assert!(exists(id), "{} requires {id}", variant.id);
        }
    }
}

#[test]
fn the_published_schema_of_cases_is_that_of_the_types_and_every_case_fits_it() {
    let schema = serde_json::to_value(schema_for!(Case)).expect("JSON");
    if std::env::var_os("UPDATE_SCHEMAS").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/schemas/case.json");
        std::fs::write(path, format!("{schema:#}\n")).expect("written");
    } else {
        let published: Value = serde_json::from_str(SCHEMA).expect("JSON");
        assert!(published == schema, "run this test with UPDATE_SCHEMAS=1");
    }
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    for (path, text) in CASES {
        let case: Value = toml::from_str(text).expect("TOML");
        if let Some(error) = validator.iter_errors(&case).next() {
            panic!("{path}: {}: {error}", error.instance_path());
        }
    }
}

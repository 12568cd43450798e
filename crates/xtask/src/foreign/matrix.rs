//! The matrix: the tests of the fault areas, each decided by checks of the suite, over runtimes.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value as Json;
use toml::{Table, Value};

/// How a runtime does in a test or in an area.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    Pass,
    /// Safe, but silent, unmarked, or with the wrong code.
    Partial,
    Fail,
    /// Not reached, not offered, or no check of the suite.
    Unknown,
}

impl Word {
    fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Partial => "partial",
            Self::Fail => "FAIL",
            Self::Unknown => "n/r",
        }
    }
}

/// What became of each check.
type Seen = BTreeMap<String, String>;

/// A test, as every suite has it.
#[derive(Debug, PartialEq, Eq)]
struct Test {
    id: String,
    title: String,
    area: String,
}

/// What decides a test in a suite: which checks make it fail, and which only spoil it. `PREFIX*` stands for all that begin
/// so. Without any it is not reached.
#[derive(Debug)]
struct Rule {
    fails: Vec<String>,
    partly: Vec<String>,
}

/// The tests, and what each runtime did.
#[derive(Debug, Default)]
pub(super) struct Matrix {
    tests: Vec<Test>,
    /// By suite, a rule for each test.
    rules: BTreeMap<String, Vec<Rule>>,
    /// Name, and a word for each test.
    columns: Vec<(String, Vec<Word>)>,
}

impl Matrix {
    /// Adds how a suite decides the tests, from `conformance/matrix/SUITE.toml`: a table for each area, and in it a table
    /// for each test. Tests that are not those of the suites before are a mistake of the file.
    pub(super) fn read(&mut self, suite: &str, text: &str) -> Result<(), String> {
        let areas: Table = toml::from_str(text).map_err(|error| error.message().to_owned())?;
        let (mut tests, mut rules) = (Vec::new(), Vec::new());
        for (area, value) in areas {
            let rows = value.as_table().ok_or(format!("{area} is no table"))?;
            for (id, row) in rows {
                let list = |name: &str| {
                    let found = row
                        .get(name)
                        .and_then(Value::as_array)
                        .into_iter()
                        .flatten();
                    let texts = found.filter_map(Value::as_str).map(str::to_owned);
                    texts.collect::<Vec<String>>()
                };
                let title = row.get("title").and_then(Value::as_str);
                tests.push(Test {
                    id: id.clone(),
                    title: title.ok_or(format!("{id} has no title"))?.to_owned(),
                    area: area.clone(),
                });
                rules.push(Rule {
                    fails: list("fails"),
                    partly: list("partly"),
                });
            }
        }
        if self.tests.is_empty() {
            self.tests = tests;
        } else if self.tests != tests {
            let other = tests.iter().find(|test| !self.tests.contains(test));
            let gone = self.tests.iter().find(|test| !tests.contains(test));
            let what = other.or(gone).map_or("their order", |test| &test.id);
            return Err(format!("other tests than those of other suites: {what}"));
        }
        self.rules.insert(suite.to_owned(), rules);
        Ok(())
    }

    /// Adds a runtime by the lines of its reports, of which a later one counts; a check that is named and in none is a
    /// mistake of the matrix.
    pub(super) fn add(&mut self, name: &str, suite: &str, reports: &str) -> Result<(), String> {
        let rules = self
            .rules
            .get(suite)
            .ok_or(format!("no tests of {suite}"))?;
        let mut seen = Seen::new();
        for line in reports.lines() {
            let line: Json = serde_json::from_str(line).map_err(|error| error.to_string())?;
            if line["type"] == "check" {
                let text = |member: &str| line[member].as_str().unwrap_or_default().to_owned();
                // What it was before the baseline had its say.
                seen.insert(text("id"), text("was"));
            }
        }
        let words = self.tests.iter().zip(rules).map(|(test, rule)| {
            let word = rule.word(&seen);
            word.map_err(|check| format!("{}: no check {check}", test.id))
        });
        let words = words.collect::<Result<_, _>>()?;
        self.columns.push((name.to_owned(), words));
        Ok(())
    }

    /// Two tables: the areas, then the tests.
    pub(super) fn markdown(&self) -> String {
        let mut text = String::new();
        let names: Vec<&str> = self.columns.iter().map(|(name, _)| name.as_str()).collect();
        let head = |first: &str| {
            let rule = "| --- ".repeat(names.len() + 1);
            format!("| {first} | {} |\n{rule}|\n", names.join(" | "))
        };
        text += &head("area");
        let mut areas: Vec<&str> = self.tests.iter().map(|test| test.area.as_str()).collect();
        areas.dedup();
        for area in &areas {
            let _ = write!(text, "| {area} |");
            for (_, words) in &self.columns {
                let of = self.tests.iter().zip(words);
                let of = of.filter(|(test, _)| test.area == *area);
                let words: Vec<Word> = of.map(|(_, word)| *word).collect();
                let _ = write!(text, " {} |", tally(&words));
            }
            text.push('\n');
        }
        text += "| all |";
        for (_, words) in &self.columns {
            let [pass, partial, fail] = counts(words);
            let _ = write!(text, " {pass}/{partial}/{fail} |");
        }
        text += "\n\n";
        text += &head("test");
        for (at, test) in self.tests.iter().enumerate() {
            let _ = write!(text, "| {} {} |", test.id, test.title);
            for (_, words) in &self.columns {
                let _ = write!(text, " {} |", words[at].name());
            }
            text.push('\n');
        }
        text
    }
}

impl Rule {
    /// The word; the name of a check that there is not.
    fn word(&self, seen: &Seen) -> Result<Word, String> {
        let fails = of(&self.fails, seen)?;
        let partly = of(&self.partly, seen)?;
        let red = |status: &&str| !matches!(*status, "pass" | "skip");
        let decided = |status: &&str| !matches!(*status, "skip" | "not-testable");
        let mut all = fails.iter().chain(&partly);
        Ok(if !all.clone().any(decided) {
            Word::Unknown
        } else if fails.iter().any(red) {
            Word::Fail
        } else if all.any(red) {
            Word::Partial
        } else {
            Word::Pass
        })
    }
}

/// What became of the checks that are named; the name of one that there is not.
fn of<'a>(names: &[String], seen: &'a Seen) -> Result<Vec<&'a str>, String> {
    let mut found = Vec::new();
    for name in names {
        let before = found.len();
        found.extend(
            seen.iter()
                .filter(|(id, _)| match name.strip_suffix('*') {
                    Some(prefix) => id.starts_with(prefix),
                    None => *id == name,
                })
                .map(|(_, status)| status.as_str()),
        );
        if found.len() == before {
            return Err(name.clone());
        }
    }
    Ok(found)
}

fn counts(words: &[Word]) -> [usize; 3] {
    [Word::Pass, Word::Partial, Word::Fail]
        .map(|word| words.iter().filter(|other| **other == word).count())
}

/// The word of an area and the counts behind it: it fails when half of its tests failed, or as many
/// as passed; it passes when all of them did.
fn tally(words: &[Word]) -> String {
    let [pass, partial, fail] = counts(words);
    let all = pass + partial + fail;
    let word = if all == 0 {
        return Word::Unknown.name().to_owned();
    } else if fail * 2 >= all || (fail > 0 && fail >= pass) {
        Word::Fail
    } else if pass == all {
        Word::Pass
    } else {
        Word::Partial
    };
    format!("{} ({pass}/{partial}/{fail})", word.name())
}

#[cfg(test)]
#[path = "matrix_tests.rs"]
mod tests;

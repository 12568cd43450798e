//! What checks mean: the case, the rule in our words, and where that is written.

use std::io::{self, Write};

use crate::error::Error;
use crate::options::Options;
use crate::suite::{Suite, Variant};

/// Prints a paragraph for each check that is wanted.
///
/// # Errors
///
/// [`Error::Harness`] for a check without a known rule, [`Error::Io`] when stdout cannot be written.
pub(crate) fn explain(
    suite: &Suite,
    cases: &[&Variant],
    options: &Options,
    out: &mut impl Write,
) -> Result<(), Error> {
    for (id, variant, check) in options.checks(cases) {
        let rule = suite.requirements.get(&check.req);
        let source = rule.and_then(|rule| suite.documents.get(&rule.document));
        let (rule, source) = rule
            .zip(source)
            .ok_or_else(|| Error::Harness(format!("{id} cites no known requirement")))?;
        let told = (|| -> io::Result<()> {
            writeln!(out, "{id}")?;
            writeln!(out, "    {}: {}", rule.keyword.name(), rule.text)?;
            writeln!(out, "    seen when: {}", variant.case.title)?;
            write!(out, "    rule: {}", rule.id)?;
            if let Some(tck) = &rule.tck {
                write!(out, ", {tck} of the official kit")?;
            }
            let link = source.url.replace("{anchor}", &rule.anchor);
            writeln!(
                out,
                "\n    source: {} ({}), {link}",
                source.title, source.revision
            )
        })();
        told.map_err(|error| Error::io("stdout", error))?;
    }
    Ok(())
}

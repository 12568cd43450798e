use std::time::Duration;

use super::{Column, Report, Row, html, jsonl, junit, print};
use crate::requirement::Keyword;
use crate::runner::CaseResult;
use crate::suite::Suite;
use crate::trace::Moment;
use crate::verdict::Status;

fn report(suite: &Suite) -> Report<'_> {
    let row = |id: &str, status, why: &str| Row {
        id: id.to_owned(),
        case: "acp.prompt.text".to_owned(),
        keyword: Keyword::Must,
        requirement: "v1.prompt.answered".to_owned(),
        status,
        was: status,
        why: why.to_owned(),
    };
    Report {
        suite,
        name: "acp",
        columns: vec![Column {
            target: "tar&get".to_owned(),
            again: "-- agent".to_owned(),
            rows: vec![
                row("acp.prompt.text#answered", Status::Pass, ""),
                row(
                    "acp.prompt.text#text",
                    Status::Fail,
                    "got </script> & \u{1}\"x\"",
                ),
            ],
            cases: vec![CaseResult {
                id: "acp.prompt.text".to_owned(),
                took: Duration::from_millis(12),
                findings: Vec::new(),
                trace: vec![Moment {
                    us: 7,
                    process: 0,
                    way: '<',
                    text: "</script><!--".to_owned(),
                }],
            }],
            seconds: 0.5,
        }],
    }
}

/// CONF-3: each form of the report says the same, whatever a target wrote.
#[test]
fn every_form_holds_the_verdicts_and_survives_what_a_target_wrote() {
    let suite = Suite::load("acp").expect("data");
    let report = report(&suite);

    let mut shown = Vec::new();
    print(&report, &mut shown).expect("written");
    let shown = String::from_utf8(shown).expect("text");
    assert!(shown.contains("FAIL acp.prompt.text#text"), "{shown}");
    assert!(shown.contains("sessiond-conformance acp -k 'acp.prompt.text#text' -- agent"));
    assert!(shown.contains("not conformant, 1 fail, 1 pass"), "{shown}");

    let lines = jsonl::text(&report);
    let lines: Vec<serde_json::Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let kinds: Vec<&str> = lines
        .iter()
        .filter_map(|line| line["type"].as_str())
        .collect();
    assert_eq!(kinds, ["header", "check", "check", "case", "footer"]);
    assert_eq!(lines[4]["fail"], 1);
    assert_eq!(lines[4]["conforms"], false);

    let xml = junit::text(&report);
    assert!(
        xml.contains("tests=\"2\" failures=\"1\" skipped=\"0\""),
        "{xml}"
    );
    assert!(
        xml.contains("got &lt;/script&gt; &amp; \u{fffd}&quot;x&quot;"),
        "{xml}"
    );
    assert!(xml.contains("acp tar&amp;get"), "{xml}");

    let page = html::text(&report);
    assert_eq!(
        page.matches("</script>").count(),
        2,
        "the data ends no script"
    );
    assert!(!page.contains("<!--"), "nor begins a comment");
    assert!(!page.contains("{{"), "every field is filled");
}

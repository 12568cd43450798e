//! What a user may choose about the agent: one option of each kind, so that clients have something to
//! show and to test against.

use sessiond_engine::TurnContext;
use sessiond_protocol::{AgentOption, Choice, OptionValue};

/// How echoed text is cut.
const ECHO: &str = "echo";
/// Whether each turn ends with its usage.
const USAGE: &str = "usage";

/// The pieces in which text is said back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Echo {
    Words,
    Lines,
    Whole,
}

impl Echo {
    const ALL: [Echo; 3] = [Echo::Words, Echo::Lines, Echo::Whole];

    fn id(self) -> &'static str {
        match self {
            Echo::Words => "words",
            Echo::Lines => "lines",
            Echo::Whole => "whole",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Echo::Words => "Word by word",
            Echo::Lines => "Line by line",
            Echo::Whole => "In one piece",
        }
    }

    /// The pieces of a text; joined, they are the text.
    pub(crate) fn cut(self, text: &str) -> Vec<&str> {
        match self {
            Echo::Words => words(text).collect(),
            Echo::Lines => text.split_inclusive('\n').collect(),
            Echo::Whole => vec![text],
        }
    }
}

/// The options as they are advertised, with their defaults.
pub(crate) fn options() -> Vec<AgentOption> {
    let choice = |echo: Echo| Choice {
        id: echo.id().to_owned(),
        name: echo.name().to_owned(),
        description: None,
        group: None,
    };
    let option = |id: &str, name: &str, about: &str, value, choices| AgentOption {
        id: id.to_owned(),
        name: name.to_owned(),
        description: Some(about.to_owned()),
        category: None,
        value,
        choices,
    };
    let words = OptionValue::Choice(Echo::Words.id().to_owned());
    let about = "How text is said back";
    vec![
        option(ECHO, "Echo", about, words, Echo::ALL.map(choice).to_vec()),
        option(
            USAGE,
            "Usage",
            "Tells context and cost at the end of each turn",
            OptionValue::Boolean(false),
            Vec::new(),
        ),
    ]
}

/// How text is said back now.
pub(crate) fn echo(context: &TurnContext) -> Echo {
    let chosen = match value(context, ECHO) {
        Some(OptionValue::Choice(id)) => Echo::ALL.into_iter().find(|echo| echo.id() == id),
        _ => None,
    };
    chosen.unwrap_or(Echo::Words)
}

/// Whether the turn ends with its usage.
pub(crate) fn tells_usage(context: &TurnContext) -> bool {
    value(context, USAGE) == Some(OptionValue::Boolean(true))
}

fn value(context: &TurnContext, id: &str) -> Option<OptionValue> {
    let settings = context.settings();
    let settings = settings.borrow();
    let setting = settings.options.iter().find(|setting| setting.id == id)?;
    Some(setting.value.clone())
}

/// Cuts behind each run of blanks; joined, the chunks are the text.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let blank = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let (word, after) = rest.split_at(blank);
        let chunk = word.len() + after.len() - after.trim_start().len();
        let (chunk, after) = rest.split_at(chunk);
        rest = after;
        (!chunk.is_empty()).then_some(chunk)
    })
}

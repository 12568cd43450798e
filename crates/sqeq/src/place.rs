//! Where exactly a frame fails its schema.
//!
//! A choice (`oneOf`, `anyOf`) fails as a whole; what helps is where the variant that was meant
//! fails. `type` names it; where there is none, a variant that fails as a whole was not meant.

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind as Kind;
use jsonschema::paths::Location;
use serde_json::Value;

/// The member that names a variant.
const TAG: &str = "type";

/// A place in a frame and what is wrong there; nothing of the frame's content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    /// JSON pointer.
    pub(crate) pointer: String,
    /// What is wrong.
    pub(crate) fault: Fault,
}

/// What is wrong at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A variant that this version does not have.
    UnknownType,
    /// Anything else, in words of the schema.
    Other(String),
}

impl Place {
    /// The place of the first of the deepest errors.
    pub(crate) fn of<'a, 'e: 'a>(
        errors: impl Iterator<Item = &'a ValidationError<'e>>,
        frame: &Value,
    ) -> Option<Self> {
        let places = errors.map(|error| place(error, frame));
        places.reduce(|deepest, other| {
            if other.depth() > deepest.depth() {
                other
            } else {
                deepest
            }
        })
    }

    fn depth(&self) -> usize {
        self.pointer.matches('/').count()
    }
}

fn place(error: &ValidationError<'_>, frame: &Value) -> Place {
    let here = error.instance_path();
    match error.kind() {
        Kind::OneOfNotValid { context } | Kind::AnyOf { context } => choice(here, context, frame),
        kind => Place {
            pointer: here.as_str().to_owned(),
            fault: Fault::Other(words(kind)),
        },
    }
}

/// The place in the variant that was meant, or where it should have been named.
fn choice(here: &Location, variants: &[Vec<ValidationError<'static>>], frame: &Value) -> Place {
    let value = frame.pointer(here.as_str());
    let tag = here.join(TAG);
    let is_tagged = value.and_then(|value| value.get(TAG)).is_some();
    let meant = |errors: &&Vec<ValidationError<'static>>| {
        !errors.iter().any(|error| {
            let whole = error.instance_path() == here && is_of_the_whole(error.kind());
            whole || (is_tagged && error.instance_path() == &tag)
        })
    };
    let place = variants
        .iter()
        .find(meant)
        .and_then(|errors| Place::of(errors.iter(), frame));
    place.unwrap_or_else(|| {
        let (pointer, fault) = if is_tagged {
            (tag.as_str().to_owned(), Fault::UnknownType)
        } else {
            let missing = variants
                .iter()
                .flatten()
                .find(|error| is_untagged(error.kind()));
            let text = missing.map_or(
                "none of the forms that are possible here".to_owned(),
                |error| words(error.kind()),
            );
            (here.as_str().to_owned(), Fault::Other(text))
        };
        Place { pointer, fault }
    })
}

/// Whether an error says that the value is another kind of thing altogether.
fn is_of_the_whole(kind: &Kind) -> bool {
    match kind {
        Kind::Type { .. } | Kind::Constant { .. } | Kind::Enum { .. } => true,
        kind => is_untagged(kind),
    }
}

fn is_untagged(kind: &Kind) -> bool {
    matches!(kind, Kind::Required { property } if property == TAG)
}

/// What was expected, as the schema says it.
fn words(kind: &Kind) -> String {
    match kind {
        Kind::Required { property } => format!("the member {property} is missing"),
        Kind::Type { .. } => "the wrong type".to_owned(),
        Kind::Constant { expected_value } => format!("must be {expected_value}"),
        Kind::Pattern { .. } => "not of the required form".to_owned(),
        Kind::MinLength { limit } => format!("shorter than {limit}"),
        Kind::MaxLength { limit } => format!("longer than {limit}"),
        Kind::Minimum { limit } => format!("less than {limit}"),
        Kind::Maximum { limit } => format!("more than {limit}"),
        other => format!("not allowed ({})", other.keyword()),
    }
}

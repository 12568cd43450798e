//! A question at the terminal.

use sessiond_protocol::{Outcome, RequestBody, RequestFrame};

use crate::conversation::one_line;

/// What is shown; none for what this terminal does not answer.
pub(super) fn text(request: &RequestFrame) -> Option<String> {
    match &request.body {
        RequestBody::Permission(permission) => {
            let mut text = format!("? {}", one_line(&permission.title));
            for (number, option) in (1..).zip(&permission.options) {
                text.push_str(&format!("\n  {number} {}", one_line(&option.name)));
            }
            Some(text)
        }
        _ => None,
    }
}

/// What a line means as the answer; none when it is none.
pub(super) fn outcome(request: &RequestFrame, line: &str) -> Option<Outcome> {
    match &request.body {
        RequestBody::Permission(permission) => {
            let number: usize = line.parse().ok()?;
            let option = permission.options.get(number.checked_sub(1)?)?;
            Some(Outcome::Selected {
                option: option.id.clone(),
            })
        }
        _ => Some(Outcome::Unanswered),
    }
}

#[cfg(test)]
mod tests;

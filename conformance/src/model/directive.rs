//! The words of a script in a prompt.

/// A word with its argument, as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Directive<'a> {
    pub(crate) word: &'a str,
    pub(crate) argument: &'a str,
}

/// What separates the rounds of a script.
const THEN: &str = " THEN ";

/// The directives of one round, in order; nothing for a round that the script does not have.
pub(crate) fn of_round(prompt: &str, round: usize) -> Vec<Directive<'_>> {
    rounds(prompt).into_iter().nth(round).unwrap_or_default()
}

/// A ` THEN ` inside an argument belongs to the argument.
fn rounds(prompt: &str) -> Vec<Vec<Directive<'_>>> {
    let mut rounds = vec![Vec::new()];
    let mut rest = prompt;
    while let Some(open) = rest.find('[') {
        let (before, from) = rest.split_at(open);
        let Some(length) = argument(from) else { break };
        for _ in before.matches(THEN) {
            rounds.push(Vec::new());
        }
        let start = before
            .rfind(|c: char| !c.is_ascii_uppercase())
            .map_or(0, |at| {
                at + before[at..].chars().next().map_or(0, char::len_utf8)
            });
        let word = &before[start..];
        if let (Some(round), false) = (rounds.last_mut(), word.is_empty()) {
            let argument = &from[1..length - 1];
            round.push(Directive { word, argument });
        }
        rest = &from[length..];
    }
    rounds
}

/// The length of a bracketed argument with its brackets; `None` when it never closes.
fn argument(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '[' => depth += 1,
            ']' if depth == 1 => return Some(at + 1),
            ']' => depth -= 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
#[path = "directive_tests.rs"]
mod tests;

//! Which words are found in a prompt, and in which round.

use super::{Directive, of_round};

/// Words with their arguments, round by round.
type Rounds = &'static [&'static [(&'static str, &'static str)]];

#[test]
fn words_are_found_anywhere_in_a_prompt_by_round() {
    let table: [(&str, Rounds); 9] = [
        ("no word", &[&[]]),
        ("please SAY[hi] now", &[&[("SAY", "hi")]]),
        ("SAY[a]SAY[b]", &[&[("SAY", "a"), ("SAY", "b")]]),
        (
            "SHELL[test [ -f x ] && y]",
            &[&[("SHELL", "test [ -f x ] && y")]],
        ),
        (
            "SHELL[a] THEN SAY[b]",
            &[&[("SHELL", "a")], &[("SAY", "b")], &[]],
        ),
        ("SAY[a THEN b]", &[&[("SAY", "a THEN b")], &[]]),
        ("SAY[never closed", &[&[]]),
        ("[a](link) array[0] CUT[]", &[&[("CUT", "")]]),
        ("é SAY[é]", &[&[("SAY", "é")]]),
    ];
    for (prompt, rounds) in table {
        for (round, expected) in rounds.iter().enumerate() {
            let found: Vec<_> = of_round(prompt, round)
                .into_iter()
                .map(|Directive { word, argument }| (word, argument))
                .collect();
            assert_eq!(found, *expected, "{prompt}, round {round}");
        }
    }
}

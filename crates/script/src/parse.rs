//! Parsing: from the blocks of a prompt to the steps of a script. Pure, and it never fails: what
//! cannot be understood becomes a step that says so.

use sessiond_protocol::Content;

use crate::command::{COMMANDS, Command};
use crate::step::Step;

#[cfg(test)]
mod tests;

/// Reads a prompt: the texts of its blocks, each block beginning a new line.
pub(crate) fn prompt(blocks: &[Content]) -> Vec<Step> {
    let texts: Vec<&str> = blocks.iter().filter_map(Content::as_text).collect();
    script(&texts.join("\n"))
}

/// Reads a script: its commands in order, the text around them as blocks to echo.
fn script(text: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut block: Vec<&str> = Vec::new();
    for one in text.lines() {
        if one.starts_with('/') {
            steps.extend(echo(&block));
            block.clear();
            steps.push(line(one).unwrap_or_else(Step::Say));
        } else {
            block.push(one);
        }
    }
    steps.extend(echo(&block));
    steps
}

/// A block of text without the blank lines around it; nothing if that is all there is.
fn echo(block: &[&str]) -> Option<Step> {
    let is_text = |line: &&str| !line.trim().is_empty();
    let first = block.iter().position(is_text)?;
    let last = block.iter().rposition(is_text)?;
    block
        .get(first..=last)
        .map(|lines| Step::Echo(lines.join("\n")))
}

/// Reads one line. The error is what to say to the user about it.
pub(crate) fn line(line: &str) -> Result<Step, String> {
    let Some(call) = line.strip_prefix('/') else {
        return Ok(Step::Echo(line.to_owned()));
    };
    let (name, rest) = call.split_once(char::is_whitespace).unwrap_or((call, ""));
    let command = Command::named(name).ok_or_else(|| unknown(name))?;
    (command.read)(rest).ok_or_else(|| format!("The form is: {}", command.form()))
}

fn unknown(name: &str) -> String {
    let forms: Vec<String> = COMMANDS.iter().map(Command::form).collect();
    format!(
        "There is no command /{name}. The commands are:\n{}",
        forms.join("\n")
    )
}

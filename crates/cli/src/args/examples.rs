//! What the help of each command on stored sessions ends with. ID stands for a session's id; two
//! blanks end the command.

pub(super) const LIST: &str = "\
Examples:
  sessiond sessions list --cwd .
  sessiond sessions list --json  for programs";

pub(super) const SHOW: &str = "\
Examples:
  sessiond sessions show ID
  sessiond sessions show ID --json  its events, one a line";

pub(super) const RENAME: &str = "\
Examples:
  sessiond sessions rename ID 'the parser rewrite'";

pub(super) const FORK: &str = "\
Examples:
  sessiond sessions fork ID          from the newest end of a turn
  sessiond sessions fork ID --at 42  from an event that `show --json` numbers";

pub(super) const ARCHIVE: &str = "\
Examples:
  sessiond sessions archive ID
  sessiond sessions archive ID --older     a long session takes less room, and stays in the lists";

pub(super) const UNARCHIVE: &str = "\
Examples:
  sessiond sessions unarchive ID";

pub(super) const RM: &str = "\
Examples:
  sessiond sessions rm ID
  sessiond sessions gc --trash-days 0  deletes what is in the trash";

pub(super) const RESTORE: &str = "\
Examples:
  sessiond sessions restore ID";

pub(super) const VERIFY: &str = "\
Examples:
  sessiond sessions verify            all of them
  sessiond sessions verify ID --json  one, for programs";

pub(super) const REPAIR: &str = "\
Examples:
  sessiond sessions repair ID";

pub(super) const EXPORT: &str = "\
Examples:
  sessiond sessions export ID
  sessiond sessions export ID -o parser.sessiond";

pub(super) const IMPORT: &str = "\
Examples:
  sessiond sessions import parser.sessiond
  sessiond sessions import parser.sessiond --remap /home/me/w=/srv/w
  sessiond sessions import parser.jsonl  a transcript of Claude";

pub(super) const CONVERT: &str = "\
Examples:
  sessiond transcript convert ~/.claude/projects/-w/0b7e4f2c-5d1a-4a8e-9a55-3c1f6d2e8b90.jsonl --to sessiond
  sessiond transcript convert ID --to claude  where `claude --resume ID` finds it
  sessiond transcript convert ID --to codex  where `codex resume ID` finds it
  sessiond transcript convert parser.jsonl --to sessiond -o parser.sessiond";

pub(super) const FOLLOW: &str = "\
Examples:
  sessiond transcript follow parser.jsonl
  sessiond transcript follow parser.jsonl --json  for programs";

pub(super) const GC: &str = "\
Examples:
  sessiond sessions gc --dry-run
  sessiond sessions gc --trash-days 30";

#[cfg(test)]
mod tests;

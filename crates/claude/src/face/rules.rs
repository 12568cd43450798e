//! Rules of what may run: `Bash`, `Bash(git log:*)`, `Read(src/**)`, `mcp__server`, and the order in
//! which they and the mode decide before anybody is asked (claude.md 8a).

use regex::Regex;

use super::mode::Mode;
use super::tools::Shown;

/// What a rule concerns.
#[derive(Debug, Clone)]
struct Rule {
    tool: String,
    /// What of the tool's input it is limited to.
    limit: Option<Limit>,
}

#[derive(Debug, Clone)]
enum Limit {
    /// Commands that begin with these words.
    Words(String),
    /// What a pattern with `*` matches as a whole.
    Pattern(Regex),
}

/// The rules of a session.
#[derive(Debug, Clone, Default)]
pub(super) struct Rules {
    allowed: Vec<Rule>,
    denied: Vec<Rule>,
    /// The tools that there are, beside those of servers; none: all.
    only: Option<Vec<String>>,
}

/// What rules and mode say of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Allow,
    Deny,
    Ask,
}

impl Rules {
    /// Reads rules as the command line has them. One that allows and cannot be read never matches;
    /// one that denies counts for all of its tool.
    pub(super) fn new(allowed: &[String], denied: &[String], only: Option<&[String]>) -> Self {
        let mut rules = Self {
            only: only.map(<[String]>::to_vec),
            ..Self::default()
        };
        allowed.iter().for_each(|rule| rules.allow(rule));
        denied.iter().for_each(|rule| rules.deny(rule));
        rules
    }

    /// Adds a rule that allows, as an answer to a question may bring it.
    pub(super) fn allow(&mut self, rule: &str) {
        self.allowed.extend(Rule::read(rule));
    }

    /// Adds a rule that denies.
    pub(super) fn deny(&mut self, rule: &str) {
        let whole = || Rule::read(rule.split('(').next().unwrap_or(rule));
        self.denied.extend(Rule::read(rule).or_else(whole));
    }

    /// Whether anything is denied for good.
    pub(super) fn denies_anything(&self) -> bool {
        !self.denied.is_empty() || self.only.is_some()
    }

    /// Whether there is a tool of this name.
    pub(super) fn has_tool(&self, name: &str) -> bool {
        let listed = |only: &Vec<String>| only.iter().any(|tool| tool == name);
        name.starts_with("mcp__") || self.only.as_ref().is_none_or(listed)
    }

    /// Whether a rule denies the call.
    pub(super) fn deny_call(&self, call: &Shown) -> bool {
        let parts = parts(call);
        let matches = |rule: &Rule| {
            // One command of several is enough.
            parts.iter().any(|part| rule.matches(&call.name, part))
        };
        !self.has_tool(&call.name) || self.denied.iter().any(matches)
    }

    /// What they say of a call, with the mode.
    pub(super) fn verdict(&self, mode: Mode, call: &Shown) -> Verdict {
        if self.deny_call(call) {
            return Verdict::Deny;
        }
        let is_edit = matches!(&*call.name, "Edit" | "Write" | "MultiEdit" | "NotebookEdit");
        match mode {
            Mode::BypassPermissions => Verdict::Allow,
            Mode::Plan => Verdict::Deny,
            _ if self.allow_call(call) => Verdict::Allow,
            Mode::AcceptEdits if is_edit => Verdict::Allow,
            Mode::DontAsk => Verdict::Deny,
            Mode::Default | Mode::AcceptEdits | Mode::Auto => Verdict::Ask,
        }
    }

    /// Every command of a line must be allowed, by whichever rule.
    fn allow_call(&self, call: &Shown) -> bool {
        let parts = parts(call);
        let allowed = |part: &String| {
            let mut rules = self.allowed.iter();
            rules.any(|rule| {
                rule.matches(&call.name, part) && (rule.limit.is_none() || is_plain(call))
            })
        };
        parts.iter().all(allowed)
    }
}

impl Rule {
    fn read(text: &str) -> Option<Self> {
        let (tool, limit) = match text.split_once('(') {
            Some((tool, rest)) => (tool, Some(rest.strip_suffix(')')?)),
            None => (text, None),
        };
        let limit = match limit {
            None | Some("" | "*") => None,
            Some(limit) => Some(Limit::read(limit)?),
        };
        (!tool.is_empty()).then(|| Self {
            tool: tool.to_owned(),
            limit,
        })
    }

    fn matches(&self, tool: &str, part: &str) -> bool {
        let of_server = || {
            let rest = tool.strip_prefix(&*self.tool);
            self.tool.starts_with("mcp__") && rest.is_some_and(|rest| rest.starts_with("__"))
        };
        let of_all = || {
            let server = self.tool.strip_suffix("__*");
            server.is_some_and(|server| tool.starts_with(&format!("{server}__")))
        };
        let named = self.tool == tool || of_server() || of_all();
        named && self.limit.as_ref().is_none_or(|limit| limit.matches(part))
    }
}

impl Limit {
    fn read(limit: &str) -> Option<Self> {
        if let Some(words) = limit.strip_suffix(":*") {
            return Some(Limit::Words(words.to_owned()));
        }
        let mut pattern = String::from("^(?s:");
        for (place, literal) in limit.split('*').enumerate() {
            if place > 0 {
                pattern.push_str(".*");
            }
            pattern.push_str(&regex::escape(literal));
        }
        pattern.push_str(")$");
        Regex::new(&pattern).ok().map(Limit::Pattern)
    }

    fn matches(&self, part: &str) -> bool {
        match self {
            Limit::Words(words) => {
                let rest = part.strip_prefix(&**words);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace))
            }
            Limit::Pattern(pattern) => pattern.is_match(part),
        }
    }
}

/// What rules look at: each command of a line, the path, or the address.
fn parts(call: &Shown) -> Vec<String> {
    let member = |name: &str| call.input.get(name).and_then(serde_json::Value::as_str);
    if call.name == "Bash" {
        let line = member("command").unwrap_or_default();
        let commands = line.split([';', '&', '|', '\n']).map(str::trim);
        let commands = commands.filter(|it| !it.is_empty()).map(str::to_owned);
        let commands: Vec<String> = commands.collect();
        // A line without a command is not covered by a rule for some.
        return if commands.is_empty() {
            vec![line.to_owned()]
        } else {
            commands
        };
    }
    let subject = [
        "file_path",
        "path",
        "notebook_path",
        "url",
        "pattern",
        "skill",
    ];
    let subject = subject.into_iter().find_map(member);
    vec![subject.unwrap_or_default().to_owned()]
}

/// Whether a command line does only what its words say: nothing in it runs another command or
/// writes to a file, so that a limited rule covers it.
fn is_plain(call: &Shown) -> bool {
    let line = call
        .input
        .get("command")
        .and_then(serde_json::Value::as_str);
    call.name != "Bash" || line.is_some_and(|line| !line.contains(['`', '$', '<', '>', '(', ')']))
}

#[cfg(test)]
mod tests;

//! Codex's configuration as a caller overrides it: `--config key=value`, `config` of thread/start.
//! What sessiond has a word for is taken up; the rest is for Codex's own agent and is passed over.

use serde_json::{Map, Value};
use sessiond_protocol::{
    Instructions, InstructionsMode, McpServer, NameValue, OptionSetting, OptionValue, Setup,
};

use crate::sandbox::SandboxMode;

/// The option by which agents offer a choice of model.
const MODEL: &str = "model";
/// The options by which they offer a choice of how much to think, as those of Codex and others call
/// it.
const EFFORTS: [&str; 3] = ["reasoning_effort", "thought_level", "effort"];

/// Overrides, as a tree of tables.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Settings {
    tree: Map<String, Value>,
}

impl Settings {
    /// Sets the value at a path: keys with dots between them.
    pub fn set(&mut self, path: &str, value: Value) {
        let mut keys = path.split('.');
        let Some(last) = keys.next_back() else { return };
        let mut table = &mut self.tree;
        for key in keys {
            let inner = table.entry(key).or_insert_with(|| Map::new().into());
            if !inner.is_object() {
                *inner = Map::new().into();
            }
            let Value::Object(inner) = inner else { return };
            table = inner;
        }
        table.insert(last.to_owned(), value);
    }

    /// The text at a path.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.at(path)?.as_str().filter(|text| !text.is_empty())
    }

    /// The sandbox that is chosen.
    pub fn sandbox(&self) -> Option<SandboxMode> {
        self.text("sandbox_mode")?.parse().ok()
    }

    /// The directories beside the workspace that may be written to.
    pub fn writable_roots(&self) -> Vec<String> {
        let roots = self.at("sandbox_workspace_write.writable_roots");
        let roots = roots.and_then(Value::as_array).into_iter().flatten();
        roots.filter_map(Value::as_str).map(str::to_owned).collect()
    }

    /// What of it an agent works with. An agent that offers no such choice passes it over.
    pub fn setup(&self, roots: Vec<String>) -> Setup {
        let choose = |id: &str, value: &str| OptionSetting {
            id: id.to_owned(),
            value: OptionValue::Choice(value.to_owned()),
        };
        let mut options = Vec::new();
        options.extend(self.text(MODEL).map(|model| choose(MODEL, model)));
        if let Some(effort) = self.text("model_reasoning_effort") {
            options.extend(EFFORTS.map(|id| choose(id, effort)));
        }
        Setup {
            roots,
            mcp_servers: self.servers(),
            instructions: self.instructions(),
            mode: None,
            options,
        }
    }

    fn instructions(&self) -> Option<Instructions> {
        let given = |path, mode| {
            let text = self.text(path)?.to_owned();
            Some(Instructions { mode, text })
        };
        given("instructions", InstructionsMode::Override)
            .or_else(|| given("developer_instructions", InstructionsMode::Append))
    }

    fn servers(&self) -> Vec<McpServer> {
        let servers = self.at("mcp_servers").and_then(Value::as_object);
        let servers = servers.into_iter().flatten();
        servers
            .filter_map(|(name, table)| server(name, table))
            .collect()
    }

    fn at(&self, path: &str) -> Option<&Value> {
        let mut keys = path.split('.');
        let first = self.tree.get(keys.next()?)?;
        keys.try_fold(first, |value, key| value.get(key))
    }
}

/// A server of the Model Context Protocol; none where it is turned off or says not where it is.
fn server(name: &str, table: &Value) -> Option<McpServer> {
    if table.get("enabled") == Some(&Value::Bool(false)) {
        return None;
    }
    let name = name.to_owned();
    let text = |key: &str| table.get(key).and_then(Value::as_str).map(str::to_owned);
    let pairs = |key: &str| {
        let pairs = table.get(key).and_then(Value::as_object);
        let pairs = pairs.into_iter().flatten();
        let pair = |(name, value): (&String, &Value)| {
            let (name, value) = (name.clone(), value.as_str()?.to_owned());
            Some(NameValue { name, value })
        };
        pairs.filter_map(pair).collect()
    };
    if let Some(url) = text("url") {
        let headers = pairs("http_headers");
        return Some(McpServer::Http { name, url, headers });
    }
    let args = table.get("args").and_then(Value::as_array);
    let args = args.into_iter().flatten().filter_map(Value::as_str);
    Some(McpServer::Stdio {
        name,
        command: text("command")?,
        args: args.map(str::to_owned).collect(),
        env: pairs("env"),
    })
}

#[cfg(test)]
mod tests;

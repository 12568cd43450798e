//! Agents behind sessiond: another sessiond, or a few lines of shell.

use serde_json::{Value, json};

use super::{Home, Server};

/// The store of a sessiond that stands behind, below the project's directory.
const INNER: &str = "inner";

/// A configuration whose default agent is what this shell line runs; `$SESSIOND` is the program with
/// a store of its own.
pub(crate) fn behind(home: &Home, line: &str) -> String {
    let program = env!("CARGO_BIN_EXE_sessiond");
    let line = line.replace("$SESSIOND", &format!("{program} --store {}", inner(home)));
    let config = format!(
        "default_agent = \"peer\"\n[agents.peer]\nkind = \"acp\"\ncommand = [\"sh\", \"-c\", {line:?}]\n\
         env = {{ PEER_SECRET = \"s3cret\" }}\n"
    );
    home.write("config.toml", &config).display().to_string()
}

/// Another sessiond with the script agent.
pub(crate) fn peer(home: &Home) -> String {
    behind(home, "exec $SESSIOND acp --agent script")
}

/// The store of the sessiond that stands behind.
pub(crate) fn inner(home: &Home) -> String {
    home.path(INNER).display().to_string()
}

/// An agent in shell: initializes, makes session `n1`, and answers each prompt with these lines, in
/// which `$prompt` is the id of the prompt. All that it reads is in the file `heard`, what it does not
/// know in `answers`.
pub(crate) fn in_shell(home: &Home, capabilities: &str, prompt: &[&str]) -> String {
    in_shell_with(home, capabilities, "", prompt)
}

/// The same with more cases, for lines that it would not know.
pub(crate) fn in_shell_with(
    home: &Home,
    capabilities: &str,
    cases: &str,
    prompt: &[&str],
) -> String {
    let said: String = prompt.iter().map(|line| format!("{line}\n")).collect();
    let script = format!(
        r#"echo start >> starts
while read -r line; do
printf '%s\n' "$line" >> heard
id=$(printf '%s' "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
case "$line" in
*'"method":"initialize"'*) echo '{{"jsonrpc":"2.0","id":'$id',"result":{{"protocolVersion":1,"agentInfo":{{"name":"shell","version":"9"}},"agentCapabilities":{capabilities}}}}}';;
*'"method":"session/new"'*) echo '{{"jsonrpc":"2.0","id":'$id',"result":{{"sessionId":"n1"}}}}';;
*'"method":"session/prompt"'*)
prompt=$id
{said};;
{cases}
*) printf '%s\n' "$line" >> answers;;
esac
done
"#
    );
    home.write("agent.sh", &script);
    behind(home, "exec sh agent.sh")
}

/// A line of such an agent that sends an update.
pub(crate) fn update(update: &str) -> String {
    format!(
        r#"echo '{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"n1","update":{update}}}}}'"#
    )
}

/// A line of such an agent that asks, and keeps the answer in the file `answers`.
pub(crate) fn request(id: &str, method: &str, params: &str) -> String {
    format!(
        r#"echo '{{"jsonrpc":"2.0","id":"{id}","method":"{method}","params":{params}}}'; read -r answer; printf '%s\n' "$answer" >> answers"#
    )
}

/// What such an agent was answered to the request of this id.
#[track_caller]
pub(crate) fn answered(home: &Home, id: &str) -> Value {
    let answers = home.read("answers");
    let mut answers = answers
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    answers
        .find(|answer| answer["id"] == id)
        .unwrap_or_else(|| panic!("{id}: {}", home.read("answers")))
}

/// The params of the newest message of this method that such an agent has read.
#[track_caller]
pub(crate) fn heard(home: &Home, method: &str) -> Value {
    let heard = home.read("heard");
    let mut messages = heard
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let message = messages.rfind(|message| message["method"] == method);
    message.unwrap_or_else(|| panic!("no {method} in {heard}"))["params"].take()
}

/// The titles of the notices among these frames.
pub(crate) fn notices(frames: &[Value]) -> Vec<String> {
    let notice = |frame: &Value| {
        let update = &frame["params"]["update"];
        let is_notice = update["sessionUpdate"] == "notice";
        is_notice.then(|| update["title"].as_str().unwrap_or_default().to_owned())
    };
    frames.iter().filter_map(notice).collect()
}

/// The line that ends its turn.
pub(crate) const END: &str =
    r#"echo '{"jsonrpc":"2.0","id":'$prompt',"result":{"stopReason":"end_turn"}}'"#;

/// A server over this configuration, whose client shows notices.
pub(crate) fn serve(home: &Home, config: &str) -> Server {
    serve_as(home, config, json!({ "session": { "notices": {} } }))
}

/// A server over this configuration, whose client can do this.
pub(crate) fn serve_as(home: &Home, config: &str, capabilities: Value) -> Server {
    let mut server = Server::spawn(home.command(&["acp", "--config", config]));
    server.call(
        "initialize",
        json!({ "protocolVersion": 1, "clientCapabilities": capabilities }),
    );
    server
}

//! Agents behind sessiond: another sessiond, or a few lines of shell.

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
/// which `$id` is the id of the prompt.
pub(crate) fn in_shell(home: &Home, capabilities: &str, prompt: &[&str]) -> String {
    let said: String = prompt.iter().map(|line| format!("{line}\n")).collect();
    let script = format!(
        r#"while read -r line; do
id=$(printf '%s' "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
case "$line" in
*'"method":"initialize"'*) echo '{{"jsonrpc":"2.0","id":'$id',"result":{{"protocolVersion":1,"agentInfo":{{"name":"shell","version":"9"}},"agentCapabilities":{capabilities}}}}}';;
*'"method":"session/new"'*) echo '{{"jsonrpc":"2.0","id":'$id',"result":{{"sessionId":"n1"}}}}';;
*'"method":"session/prompt"'*)
prompt=$id
{said};;
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

/// The line that ends its turn.
pub(crate) const END: &str =
    r#"echo '{"jsonrpc":"2.0","id":'$prompt',"result":{"stopReason":"end_turn"}}'"#;

/// A server over this configuration, whose client shows notices.
pub(crate) fn serve(home: &Home, config: &str) -> Server {
    let mut server = Server::spawn(home.command(&["acp", "--config", config]));
    server.call(
        "initialize",
        serde_json::json!({
            "protocolVersion": 1,
            "clientCapabilities": { "session": { "notices": {} } },
        }),
    );
    server
}

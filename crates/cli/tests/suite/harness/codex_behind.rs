//! Codex behind sessiond: our own app-server, which speaks as the real one does, or a few lines of
//! shell.

use serde_json::Value;

use super::{Home, inner};

/// A configuration whose default agent is the Codex that this shell line runs; `$CODEX` is our own
/// app-server with a store of its own. What it is asked for is in the file `heard`.
pub(crate) fn codex_behind(home: &Home, line: &str) -> String {
    let program = env!("CARGO_BIN_EXE_sessiond-codex");
    let line = line.replace("$CODEX", &format!("tee -a heard | {program} app-server"));
    let inner = inner(home);
    let config = format!(
        "default_agent = \"codex\"\n[agents.codex]\nkind = \"codex\"\n\
         command = [\"sh\", \"-c\", {line:?}]\nenv = {{ SESSIOND_HOME = {inner:?} }}\n"
    );
    home.write("config.toml", &config).display().to_string()
}

/// Our own app-server with the script agent.
pub(crate) fn codex_peer(home: &Home) -> String {
    codex_behind(home, "$CODEX")
}

/// A Codex in shell: it has one thread `n1` in which turn `t1` runs and says these lines; `cases` are
/// for what else it is asked. All that it reads is in the file `heard`.
pub(crate) fn codex_in_shell(home: &Home, cases: &str, turn: &[String]) -> String {
    let said: String = turn.iter().map(|line| format!("{line}\n")).collect();
    let script = format!(
        r#"answer() {{ echo '{{"id":'$id',"result":'"$1"'}}'; }}
tell() {{ echo '{{"method":"'$1'","params":{{"threadId":"n1","turnId":"t1",'"$2"'}},"emittedAtMs":1}}'; }}
ends() {{ tell turn/completed '"turn":{{"id":"t1","items":[],"status":"'$1'","error":{{"message":"no such luck"}}}}'; }}
while read -r line; do
printf '%s\n' "$line" >> heard
id=$(printf '%s' "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
case "$line" in
{cases}
*'"method":"initialize"'*) answer '{{"userAgent":"sessiond/0.171.0 (shell)"}}';;
*'"method":"model/list"'*) answer '{{"data":[]}}';;
*'"method":"thread/start"'*) answer '{{"thread":{{"id":"n1"}},"model":"m","approvalPolicy":"on-request","sandbox":{{"type":"readOnly"}}}}';;
*'"method":"turn/start"'*) answer '{{"turn":{{"id":"t1","items":[],"status":"inProgress"}}}}'
tell turn/started '"turn":{{"id":"t1","items":[],"status":"inProgress"}}'
{said};;
*'"method":'*) ;;
*) printf '%s\n' "$line" >> answers;;
esac
done
"#
    );
    home.write("codex.sh", &script);
    codex_behind(home, "exec sh codex.sh")
}

/// A line of such a Codex that says something in its turn.
pub(crate) fn tells(method: &str, params: &str) -> String {
    format!("tell {method} '{params}'")
}

/// What a Codex was asked for by this method, in order.
pub(crate) fn asked_of_codex(home: &Home, method: &str) -> Vec<Value> {
    let heard = home.read("heard");
    let frames = heard
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let asked = frames.filter(|frame| frame["method"] == method);
    asked.map(|mut frame| frame["params"].take()).collect()
}

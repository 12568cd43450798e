//! A Claude CLI behind sessiond: `sessiond-claude` with the script agent, or a few lines of shell
//! that keep a transcript.

use super::{Home, inner};

/// A configuration whose default agent is what this shell line runs, as a Claude CLI. Its arguments
/// are those of the CLI; `$CLAUDE` is `sessiond-claude` with the script agent and a store of its own.
pub(crate) fn claude_behind(home: &Home, line: &str) -> String {
    let program = env!("CARGO_BIN_EXE_sessiond-claude");
    let own = format!(
        "env SESSIOND_HOME={} SESSIOND_AGENT=script {program} \"$@\"",
        inner(home)
    );
    let line = line.replace("$CLAUDE", &own);
    let config = format!(
        "default_agent = \"cli\"\n[agents.cli]\nkind = \"claude\"\n\
         command = [\"sh\", \"-c\", {line:?}, \"claude\"]\n"
    );
    home.write("config.toml", &config).display().to_string()
}

/// `sessiond-claude` as the CLI.
pub(crate) fn claude_peer(home: &Home) -> String {
    claude_behind(home, "exec $CLAUDE")
}

/// A CLI in shell that answers each prompt with its own words and writes both down, as the real one
/// does. The ids it was started with are in the file `starts`, what it read in `heard`.
pub(crate) fn claude_in_shell(home: &Home) -> String {
    home.write("cli.sh", CLI);
    claude_behind(home, "exec sh cli.sh \"$@\"")
}

/// Its transcripts that belong to no folder of a project yet lie in one of this name.
pub(crate) const FOLDER: &str = "there";

const CLI: &str = r#"resumed=new
while [ $# -gt 0 ]; do
case "$1" in
--session-id) id=$2;;
--resume) id=$2; resumed=resumed;;
esac
shift
done
echo "$id $resumed" >> starts
projects=$HOME/.claude/projects
mkdir -p "$projects/there"
file=$(ls "$projects"/*/"$id".jsonl 2> /dev/null | head -n 1)
if [ $resumed = resumed ] && [ -z "$file" ]; then
echo '{"type":"result","subtype":"error_during_execution","is_error":true,"errors":["No conversation found"],"session_id":"'$id'"}'
exit 1
fi
file=${file:-$projects/there/$id.jsonl}
fresh() { cat /proc/sys/kernel/random/uuid; }
keep() {
last=$(grep -o '"uuid":"[^"]*"' "$file" 2> /dev/null | tail -n 1 | cut -d'"' -f4)
parent=null
[ -n "$last" ] && parent="\"$last\""
echo '{"uuid":"'$1'","parentUuid":'$parent',"type":"'$2'","sessionId":"'$id'","message":'"$3"'}' >> "$file"
}
while read -r line; do
printf '%s\n' "$line" >> heard
asked=$(printf '%s' "$line" | sed 's/.*"request_id":"\([^"]*\)".*/\1/')
case "$line" in
*'"type":"control_request"'*) echo '{"type":"control_response","response":{"subtype":"success","request_id":"'$asked'","response":{}}}';;
*'"type":"user"'*)
uuid=$(printf '%s' "$line" | sed 's/.*"uuid":"\([^"]*\)".*/\1/')
text=$(printf '%s' "$line" | sed 's/.*"content":"\([^"]*\)".*/\1/')
keep "$uuid" user '{"role":"user","content":"'"$text"'"}'
answer=$(fresh)
message='{"id":"m'$answer'","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"you said '"$text"'"}]}'
keep "$answer" assistant "$message"
echo '{"type":"last-prompt","lastPrompt":"'"$text"'","leafUuid":"'$answer'","sessionId":"'$id'"}' >> "$file"
echo '{"type":"assistant","message":'"$message"',"parent_tool_use_id":null,"session_id":"'$id'"}'
echo '{"type":"result","subtype":"success","is_error":false,"result":"x","session_id":"'$id'","user_message_uuid":"'$uuid'"}';;
esac
done
"#;

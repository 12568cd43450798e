//! Running the suite on the peer.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::error::{Error, Result};

/// Short deadlines: the peer answers within milliseconds, unless its fault is not to.
const TIMEOUTS: &str = "start = 3000\nreply = 2500\nquiet = 80\nexit = 2500\ncase = 20000\n";

/// The suite and the peer, as they were built.
#[derive(Debug)]
pub(crate) struct Suite {
    program: PathBuf,
    peer: PathBuf,
    folder: PathBuf,
}

impl Suite {
    /// Those in this target folder.
    ///
    /// # Errors
    ///
    /// `Io` when no folder for the reports can be made.
    pub(crate) fn at(target: &Path) -> Result<Self> {
        let folder = target.join("mutants");
        std::fs::create_dir_all(&folder).map_err(Error::io(folder.display().to_string()))?;
        // Copies, so that a build meanwhile changes nothing of what runs.
        let copy = |name: &str| {
            let (built, copied) = (target.join("debug").join(name), folder.join(name));
            // Not over one that may still be running.
            let _ = std::fs::remove_file(&copied);
            std::fs::copy(&built, &copied).map_err(Error::io(built.display().to_string()))?;
            Ok(copied)
        };
        Ok(Self {
            program: copy("sessiond-conformance")?,
            peer: copy("reference-peer")?,
            folder,
        })
    }

    /// The ids of all checks of a suite.
    ///
    /// # Errors
    ///
    /// `Peer` when the suite cannot say.
    pub(crate) fn list(&self, suite: &str) -> Result<BTreeSet<String>> {
        let output = Command::new(&self.program)
            .args([suite, "--list"])
            .output()
            .map_err(Error::io("sessiond-conformance"))?;
        if !output.status.success() {
            return Err(fault(String::from_utf8_lossy(&output.stderr)));
        }
        let text = String::from_utf8_lossy(&output.stdout);
        Ok(text.lines().map(str::to_owned).collect())
    }

    /// The checks of these cases that do not pass on the peer with this fault.
    ///
    /// # Errors
    ///
    /// `Peer` when the suite itself fails.
    pub(crate) fn red(
        &self,
        suite: &str,
        name: &str,
        cases: &[String],
    ) -> Result<BTreeSet<String>> {
        let file = |ending: &str| self.folder.join(format!("{suite}-{name}.{ending}"));
        let (target, report) = (file("toml"), file("jsonl"));
        std::fs::write(&target, self.target(suite, name)).map_err(Error::io("the target"))?;
        let mut command = Command::new(&self.program);
        command.args([suite, "--target"]).arg(&target);
        command.arg("--json").arg(&report).stdout(Stdio::null());
        for case in cases {
            command.args(["-k", case]);
        }
        let status = command
            .status()
            .map_err(Error::io("sessiond-conformance"))?;
        if !matches!(status.code(), Some(0 | 1)) {
            return Err(fault(format!("with {name:?}: {status}")));
        }
        let text = std::fs::read_to_string(&report).map_err(Error::io("the report"))?;
        for path in [target, report] {
            std::fs::remove_file(&path).map_err(Error::io(path.display().to_string()))?;
        }
        red_in(&text).map_err(fault)
    }

    /// The description of the peer with this fault.
    fn target(&self, suite: &str, name: &str) -> String {
        if suite == "transcript" {
            return self.transcripts(name);
        }
        format!(
            "id = \"reference-peer\"\nargv = [{0:?}, {suite:?}]\nsession_files = \"{{session}}.jsonl\"\n\
             export = [{0:?}, \"print\", \"{{session}}\"]\n\
             [env]\nPEER_STATE = \"{{state_dir}}\"\nPEER_FAULT = {name:?}\n\
             PEER_MODEL = \"{{model_url}}\"\n\
             [speaks]\nacp-v1 = [{0:?}, \"acp\"]\nacp-v2 = [{0:?}, \"acp\"]\n\
             sqeq = [{0:?}, \"sqeq\"]\nclaude = [{0:?}, \"claude\"]\n\
             codex-exec = [{0:?}, \"codex-exec\"]\n\
             codex-app-server = [{0:?}, \"codex-app-server\"]\n\
             [timeouts]\n{TIMEOUTS}{1}",
            self.peer.display().to_string(),
            PROMPTS
        )
    }
}

impl Suite {
    /// The description of the peer by what it writes down.
    fn transcripts(&self, name: &str) -> String {
        let peer = self.peer.display().to_string();
        let writes = |shape: &str| {
            format!(
                "[shapes.{shape}]\nrun = [\"sh\", \"-c\", 'mkdir -p \"$PEER_STATE/{shape}\"; \"$0\" transcript \
                 {shape} $1 > \"$PEER_STATE/{shape}/$1.jsonl\"', {peer:?}, \"{{session}}\"]\n\
                 path = \"{{state_dir}}/{shape}/{{session}}.jsonl\"\ntake = [{peer:?}, \"take\", \"{{file}}\"]\n"
            )
        };
        format!(
            "id = \"reference-peer\"\nargv = [{peer:?}]\nsession_files = \"{{session}}.jsonl\"\n\
             convert = [{peer:?}, \"convert\", \"{{file}}\", \"{{shape}}\"]\n\
             [speaks]\nclaude = [{peer:?}, \"claude\"]\ncodex-exec = [{peer:?}, \"codex-exec\"]\n\
             codex-app-server = [{peer:?}, \"codex-app-server\"]\n{}{}\
             [env]\nPEER_STATE = \"{{state_dir}}\"\nPEER_FAULT = {name:?}\n\
             [timeouts]\n{TIMEOUTS}{PROMPTS}compact = \"/compact\"\n",
            writes("claude"),
            writes("codex"),
        )
    }
}

/// How the peer is made to do things.
const PROMPTS: &str = r#"
[prompts]
text = "/say {text}"
stream = "/stream {pieces} {bytes} {delay}"
think = "/think {text}"
tool = "/run {command}"
read = "/read {path}"
write = "/write {path} {text}"
ask = "/ask {text}"
plan = "/plan {text}"
fail = "/fail {text}"
refuse = "/refuse"
slow = "/sleep {seconds}"
program = "/mcp {server} {tool} {json}"
"#;

/// The checks of a report that do not pass. A report without its footer is none.
pub(super) fn red_in(report: &str) -> std::result::Result<BTreeSet<String>, String> {
    let mut red = BTreeSet::new();
    let mut complete = false;
    for line in report.lines() {
        let line: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
        complete = line["type"] == "footer";
        if line["type"] == "check" && line["status"] != "pass" {
            red.insert(line["id"].as_str().unwrap_or_default().to_owned());
        }
    }
    if complete {
        Ok(red)
    } else {
        Err("the report has no footer".to_owned())
    }
}

fn fault(what: impl ToString) -> Error {
    Error::Peer {
        peer: "sessiond-conformance".to_owned(),
        what: what.to_string(),
    }
}

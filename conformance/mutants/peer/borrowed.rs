//! What a client of version 1 does for the agent: terminals and files.

use std::time::Duration;

use serde_json::json;

use crate::fault::on;
use crate::turn::{Done, Turn};

impl Turn<'_> {
    pub(crate) fn in_terminal(&mut self, command: &str) -> Done<Result<String, String>> {
        let session = self.session.id.clone();
        let created = self.request(
            "terminal/create",
            &json!({"sessionId": session, "command": "sh", "args": ["-c", command]}),
        )?;
        let terminal = created["result"]["terminalId"].clone();
        let named = json!({"sessionId": session, "terminalId": terminal});
        self.request("terminal/wait_for_exit", &named)?;
        let output = self.request("terminal/output", &named)?;
        if !on("terminal-kept") {
            self.request("terminal/release", &named)?;
        }
        Ok(Ok(output["result"]["output"].to_string()))
    }

    pub(crate) fn read(&mut self, path: &str) -> Done<Result<String, String>> {
        if self.session.client.pointer("/fs/readTextFile") == Some(&json!(true))
            && !on("files-read-locally")
        {
            let params = json!({"sessionId": self.session.id, "path": path});
            let answer = self.request("fs/read_text_file", &params)?;
            return Ok(Ok(answer["result"]["content"].to_string()));
        }
        if on("local-read-hangs") {
            self.pause(Duration::from_secs(60))?;
        }
        Ok(std::fs::read_to_string(path).map_err(|error| error.to_string()))
    }

    pub(crate) fn write(&mut self, path: &str, text: &str) -> Done<Result<String, String>> {
        if self.session.client.pointer("/fs/writeTextFile") == Some(&json!(true))
            && !on("files-written-locally")
        {
            if on("write-loses-text") {
                return Ok(Ok(String::new()));
            }
            let params = json!({"sessionId": self.session.id, "path": path, "content": text});
            self.request("fs/write_text_file", &params)?;
            return Ok(Ok("written".to_owned()));
        }
        if on("local-write-hangs") {
            self.pause(Duration::from_secs(60))?;
        }
        let written = std::fs::write(path, text);
        Ok(written
            .map(|()| "written".to_owned())
            .map_err(|error| error.to_string()))
    }
}

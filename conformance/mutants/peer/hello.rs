//! The handshake.

use serde_json::{Value, json};

use crate::answer::{Agent, Fault, invalid};
use crate::fault::{die_on, on};

impl Agent {
    pub(crate) fn initialize(&mut self, params: &Value) -> Result<Value, Fault> {
        let asked = &params["protocolVersion"];
        let strict = (on("needs-capabilities") && params.get("clientCapabilities").is_none())
            || (on("unknown-members-refused") && params.get("_meta").is_some());
        let number = asked
            .as_u64()
            .or_else(|| on("version-text-taken").then_some(1));
        if strict || number.is_none() {
            die_on("bad-version-kills");
            return Err(invalid("protocolVersion must be an integer"));
        }
        let named = params["info"]["name"].is_string();
        if number.is_some_and(|number| number >= 2) && !on("v2-unknown") {
            if number == Some(2) && !named && !on("v2-info-unneeded") {
                crate::fault::die_on("v2-bad-hello-kills");
                return Err(invalid("info"));
            }
            if named || number == Some(2) {
                self.wire.speak_second();
                self.client = Some(json!({}));
                if on("v2-only-exactly") && number != Some(2) {
                    return Err(invalid("unsupported version"));
                }
                return Ok(crate::second::hello());
            }
        }
        if on("v2-always") && number == Some(1) {
            return Ok(crate::second::hello());
        }
        self.bare = params.get("clientInfo").is_none();
        let client = params["clientCapabilities"].clone();
        self.client = Some(if client.is_null() { json!({}) } else { client });
        if on("refuses-versions") && number != Some(1) {
            return Err(invalid("unsupported version"));
        }
        let mut result = json!({
            "protocolVersion": 1,
            "agentCapabilities": {
                "loadSession": true,
                "promptCapabilities": {"embeddedContext": true},
                "sessionCapabilities": {"list": {}, "close": {}, "resume": {}},
            },
            "agentInfo": {"name": "reference-peer", "version": env!("CARGO_PKG_VERSION")},
            "authMethods": [],
        });
        if on("version-echoed") {
            result["protocolVersion"] = asked.clone();
        }
        if on("version-as-text") {
            result["protocolVersion"] = json!("1");
        }
        if on("nameless") {
            result
                .as_object_mut()
                .map(|result| result.remove("agentInfo"));
        }
        if on("load-as-object") {
            result["agentCapabilities"]["loadSession"] = json!({});
        }
        if on("markers-as-booleans") {
            result["agentCapabilities"]["sessionCapabilities"]["list"] = json!(true);
        }
        if on("login-in-terminal") {
            result["authMethods"] = json!([{"id": "t", "name": "Log in", "type": "terminal"}]);
        }
        Ok(result)
    }
}

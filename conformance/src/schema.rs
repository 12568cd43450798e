//! The schemas of the protocol, vendored in `schemas/`, and what of a frame does not fit them.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use jsonschema::Validator;
use serde_json::{Map, Value, json};

use crate::error::Error;
use crate::tongue::Tongue;

/// ACP v1, from agent-client-protocol-schema 1.20.0.
const ACP_V1: &str = include_str!("../schemas/acp-v1.json");
/// ACP v2, from the same.
const ACP_V2: &str = include_str!("../schemas/acp-v2.json");
/// What the server of the native protocol sends.
const SERVER: &str = include_str!("../../schemas/waist-v1/server-frame.json");
/// What its clients send.
const CLIENT: &str = include_str!("../../schemas/waist-v1/client-frame.json");

/// What Claude's and Codex's faces say, each frame by what it says of itself.
const CLAUDE: &str = include_str!("../schemas/claude.json");
const EXEC: &str = include_str!("../schemas/codex-exec.json");
const APP_SERVER: &str = include_str!("../schemas/codex-app-server.json");

/// The schemas of one version of a protocol.
#[derive(Debug)]
pub(crate) struct Schemas {
    pub(crate) tongue: Tongue,
    schemas: Value,
    /// Made when first needed: a run of one case needs few.
    validators: Mutex<BTreeMap<String, std::sync::Arc<Validator>>>,
}

impl Schemas {
    /// Those of every protocol.
    ///
    /// # Errors
    ///
    /// [`Error::Harness`]: a vendored file is not what it must be.
    pub(crate) fn all() -> Result<BTreeMap<Tongue, Self>, Error> {
        let all = Tongue::ALL.into_iter();
        all.map(|tongue| Ok((tongue, Self::of(tongue)?))).collect()
    }

    /// Those of one protocol.
    ///
    /// # Errors
    ///
    /// [`Error::Harness`]: the vendored file is not what it must be.
    pub(crate) fn of(tongue: Tongue) -> Result<Self, Error> {
        let read = |text: &str| -> Result<Value, Error> {
            serde_json::from_str(text)
                .map_err(|error| Error::Harness(format!("schemas of {tongue:?}: {error}")))
        };
        let schemas = match tongue {
            Tongue::AcpV1 => read(ACP_V1)?,
            Tongue::AcpV2 => read(ACP_V2)?,
            Tongue::Claude => read(CLAUDE)?,
            Tongue::Exec => read(EXEC)?,
            Tongue::AppServer => read(APP_SERVER)?,
            Tongue::Sqeq => json!({"frames": {"server": read(SERVER)?, "client": read(CLIENT)?}}),
        };
        Ok(Self {
            tongue,
            schemas,
            validators: Mutex::default(),
        })
    }

    /// What is wrong with a frame that says itself what it is.
    pub(crate) fn frame(&self, frame: &Value) -> Option<String> {
        self.fault("frames", "server", frame)
    }

    /// What is wrong with what the suite itself is about to send: `requests`, params of a method of
    /// ours or a frame of the native protocol; `answers`, the result of a method of the target.
    pub(crate) fn own(&self, table: &str, method: &str, value: &Value) -> Option<String> {
        match self.tongue {
            Tongue::Sqeq => self.fault("frames", "client", value),
            Tongue::Claude => self.fault("client", method, value),
            _ => self.fault(table, method, value),
        }
    }

    /// What is wrong with the params of a method of the target.
    pub(crate) fn call(&self, method: &str, params: &Value) -> Option<String> {
        self.fault("calls", method, params)
    }

    /// What is wrong with the result of a method of the client. An empty one may be `null`.
    pub(crate) fn result(&self, method: &str, result: &Value) -> Option<String> {
        if result.is_null() && self.required("results", method).is_empty() {
            return None;
        }
        self.fault("results", method, result)
    }

    /// A member at the root of a call's params that the protocol does not have.
    pub(crate) fn extra_in_call(&self, method: &str, params: &Value) -> Option<String> {
        self.extra("calls", method, params)
    }

    /// A member at the root of a result that the protocol does not have.
    pub(crate) fn extra_in_result(&self, method: &str, result: &Value) -> Option<String> {
        self.extra("results", method, result)
    }

    fn fault(&self, table: &str, method: &str, value: &Value) -> Option<String> {
        let validator = self.validator(table, method)?;
        let error = validator.iter_errors(value).next()?;
        Some(format!("{method}{}: {error}", error.instance_path()))
    }

    fn validator(&self, table: &str, method: &str) -> Option<std::sync::Arc<Validator>> {
        let schema = self.schemas[table].get(method)?;
        let mut validators = self
            .validators
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let key = format!("{table}/{method}");
        if let Some(validator) = validators.get(&key) {
            return Some(validator.clone());
        }
        let mut whole = schema.as_object().cloned().unwrap_or_default();
        if let Some(definitions) = self.schemas.get("$defs") {
            whole.insert("$defs".to_owned(), definitions.clone());
        }
        let validator = std::sync::Arc::new(jsonschema::validator_for(&Value::Object(whole)).ok()?);
        validators.insert(key, validator.clone());
        Some(validator)
    }

    fn definition(&self, table: &str, method: &str) -> Option<&Map<String, Value>> {
        let schema = self.schemas[table].get(method)?;
        let Some(reference) = schema["$ref"].as_str() else {
            return schema.as_object();
        };
        self.schemas
            .pointer(reference.strip_prefix('#')?)?
            .as_object()
    }

    fn required(&self, table: &str, method: &str) -> Vec<Value> {
        self.definition(table, method)
            .and_then(|definition| definition.get("required")?.as_array().cloned())
            .unwrap_or_default()
    }

    fn extra(&self, table: &str, method: &str, value: &Value) -> Option<String> {
        let definition = self.definition(table, method)?;
        // A definition of several shapes says in another way what may stand where.
        let open = ["oneOf", "anyOf", "allOf"];
        let known = definition.get("properties")?.as_object()?;
        if open.iter().any(|word| definition.contains_key(*word)) {
            return None;
        }
        let members = value.as_object()?.keys();
        let mut extra = members.filter(|member| !known.contains_key(*member));
        extra.next().cloned()
    }
}

#[cfg(test)]
#[path = "schema_tests.rs"]
mod tests;

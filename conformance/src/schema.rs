//! The schemas of the protocol, vendored in `schemas/`, and what of a frame does not fit them.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use jsonschema::Validator;
use serde_json::{Map, Value};

use crate::error::Error;

/// ACP v1, from agent-client-protocol-schema 1.20.0.
const ACP_V1: &str = include_str!("../schemas/acp-v1.json");

/// The schemas of one version of a protocol.
#[derive(Debug)]
pub(crate) struct Schemas {
    schemas: Value,
    /// Made when first needed: a run of one case needs few.
    validators: Mutex<BTreeMap<String, std::sync::Arc<Validator>>>,
}

impl Schemas {
    /// Those of ACP v1.
    ///
    /// # Errors
    ///
    /// [`Error::Harness`]: the vendored file is not what it must be.
    pub(crate) fn acp_v1() -> Result<Self, Error> {
        let schemas = serde_json::from_str(ACP_V1)
            .map_err(|error| Error::Harness(format!("schemas/acp-v1.json: {error}")))?;
        Ok(Self {
            schemas,
            validators: Mutex::default(),
        })
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
        whole.insert("$defs".to_owned(), self.schemas["$defs"].clone());
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

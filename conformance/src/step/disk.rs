//! Steps about the disk of a case.

use schemars::JsonSchema;
use serde::Deserialize;

/// Takes all room of the case's disk, to the last byte.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fill {}

/// Gives the room back that was taken.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Free {}

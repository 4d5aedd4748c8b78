//! The form of every error.

use rialto_model::Seq;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// An error: the body of every answer whose status is 400 or above.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorAnswer {
    /// The error.
    pub error: ErrorDetail,
}

/// The details of an error. Codes are stable; messages are for people and may change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorDetail {
    /// The error's code, in snake case.
    pub code: Cow<'static, str>,
    /// What happened, to what, and what to do next, in a sentence.
    pub message: Cow<'static, str>,
    /// The path of the field, or the name of the parameter or header, at fault.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<Cow<'static, str>>,
    /// The sequence of the command, if the engine refused it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<Seq>,
}

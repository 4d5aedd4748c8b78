//! Refusals of a venue as the errors that a pool in a directory gives, so that a command ends with the
//! same exit code in both.

use crate::Error;
use rialto_client::{ClientError, Refusal};
use std::fmt::Display;

/// For `map_err`: the failure of a request.
pub(super) fn told(error: ClientError) -> Error {
    match error {
        ClientError::Refused(refusal) => refused(refusal),
        other => other.into(),
    }
}

/// What the caller has to correct, what the pool cannot do now, or a refusal of the venue itself, such
/// as of a key without the right.
fn refused(refusal: Box<Refusal>) -> Error {
    let sentence = || refusal.message.trim_end_matches('.').to_owned();
    match refusal.code.as_str() {
        "invalid_field"
        | "missing_field"
        | "unknown_field"
        | "malformed_parameter"
        | "malformed_body"
        | "unknown_tenant"
        | "unknown_file"
        | "unknown_volume"
        | "unknown_watch"
        | "tenant_exists"
        | "file_exists"
        | "watch_exists"
        | "file_too_large"
        | "too_many" => Error::Usage(sentence()),
        "content_mismatch" | "tenant_not_enabled" | "file_claimed" | "claim_lost"
        | "volume_in_use" | "volume_refused" | "submit_conflict" | "submit_in_progress"
        | "quota_reached" | "storage_low" | "volume_failed" | "file_unreadable"
        | "watch_failed" | "rate_reached" | "depot_failed" => Error::Failed(sentence()),
        _ => ClientError::Refused(refusal).into(),
    }
}

/// The error of an answer that does not hold what it should.
pub(super) fn strange(error: impl Display) -> Error {
    Error::Unreachable(format!(
        "the venue's answer cannot be read ({error}); use the venue's version of rialto"
    ))
}

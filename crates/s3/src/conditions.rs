//! Conditions of requests (RFC 9110, section 13).

use crate::errors::refusal;
use crate::metadata::{etag_of, stored_at};
use rialto_depot::FileRecord;
use s3s::dto::{ETagCondition, Timestamp};
use s3s::{S3ErrorCode, S3Result};

/// The conditions of a request about an object.
#[derive(Clone, Debug, Default)]
pub(crate) struct Conditions {
    pub(crate) if_match: Option<ETagCondition>,
    pub(crate) if_none_match: Option<ETagCondition>,
    pub(crate) if_modified_since: Option<Timestamp>,
    pub(crate) if_unmodified_since: Option<Timestamp>,
}

fn names(condition: &ETagCondition, file: &FileRecord) -> bool {
    match condition {
        ETagCondition::Any => true,
        ETagCondition::ETag(etag) => etag.weak_cmp(&etag_of(file)),
    }
}

impl Conditions {
    /// Whether the request is to be done: an unmet condition is `not_met` or, if the client has the
    /// object, `NotModified`.
    pub(crate) fn check(&self, file: &FileRecord, not_modified: S3ErrorCode) -> S3Result<()> {
        let stored_at = stored_at(file);
        let is_unmet = match (&self.if_match, &self.if_unmodified_since) {
            (Some(condition), _) => !names(condition, file),
            (None, Some(since)) => stored_at > *since,
            (None, None) => false,
        };
        if is_unmet {
            return Err(refusal(S3ErrorCode::PreconditionFailed, "A condition is not met."));
        }
        let is_known = match (&self.if_none_match, &self.if_modified_since) {
            (Some(condition), _) => names(condition, file),
            (None, Some(since)) => stored_at <= *since,
            (None, None) => false,
        };
        match is_known {
            true => Err(refusal(not_modified, "The object has not changed.")),
            false => Ok(()),
        }
    }
}

/// Whether a new object must not replace another, as its `If-None-Match` says.
pub(crate) fn must_be_absent(
    if_match: Option<&ETagCondition>,
    if_none_match: Option<&ETagCondition>,
) -> S3Result<bool> {
    match (if_match, if_none_match) {
        (None, None) => Ok(false),
        (None, Some(ETagCondition::Any)) => Ok(true),
        _ => Err(crate::errors::unsupported(
            "other conditions of a new object than If-None-Match: *",
        )),
    }
}

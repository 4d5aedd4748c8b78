//! Conditions of requests (RFC 9110, section 13).

use crate::errors::refusal;
use crate::metadata::{etag_of, stored_at};
use hyper::HeaderMap;
use hyper::header::IF_RANGE;
use rialto_depot::FileRecord;
use s3s::dto::{ETagCondition, Timestamp};
use s3s::{S3ErrorCode, S3Result};

/// The conditions of a request about an object.
#[derive(Clone, Debug, Default)]
pub(crate) struct Conditions {
    pub(crate) if_match: Option<EntityTags>,
    pub(crate) if_none_match: Option<EntityTags>,
    pub(crate) if_modified_since: Option<Timestamp>,
    pub(crate) if_unmodified_since: Option<Timestamp>,
}

/// The entity tags of a condition.
#[derive(Clone, Debug)]
pub(crate) enum EntityTags {
    Any,
    /// Without quotation marks.
    Of(Vec<String>),
}

impl EntityTags {
    /// The tags of a header, which the decoder takes for one.
    fn of(headers: &HeaderMap, name: &str) -> Option<EntityTags> {
        let values: Vec<&str> =
            headers.get_all(name).iter().filter_map(|value| value.to_str().ok()).collect();
        let tags = values.iter().flat_map(|value| value.split(',')).map(str::trim);
        let plain = |tag: &str| tag.trim_start_matches("W/").trim_matches('"').to_owned();
        match values.as_slice() {
            [] => None,
            ["*"] => Some(EntityTags::Any),
            _ => Some(EntityTags::Of(tags.map(plain).collect())),
        }
    }

    fn name(&self, file: &FileRecord) -> bool {
        match self {
            EntityTags::Any => true,
            EntityTags::Of(tags) => tags.iter().any(|tag| tag == etag_of(file).value()),
        }
    }
}

impl From<ETagCondition> for EntityTags {
    fn from(condition: ETagCondition) -> EntityTags {
        match condition {
            ETagCondition::Any => EntityTags::Any,
            ETagCondition::ETag(etag) => EntityTags::Of(vec![etag.value().to_owned()]),
        }
    }
}

/// Whether a range is of the object that the client has begun to read. A date cannot say so.
pub(crate) fn may_resume(headers: &HeaderMap, file: &FileRecord) -> bool {
    let quoted = |tag: &[u8]| tag == format!("\"{}\"", etag_of(file).value()).as_bytes();
    headers.get(IF_RANGE).is_none_or(|tag| quoted(tag.as_bytes()))
}

impl Conditions {
    /// The conditions of a request that reads an object.
    pub(crate) fn of(
        headers: &HeaderMap,
        if_modified_since: Option<Timestamp>,
        if_unmodified_since: Option<Timestamp>,
    ) -> Conditions {
        Conditions {
            if_match: EntityTags::of(headers, "if-match"),
            if_none_match: EntityTags::of(headers, "if-none-match"),
            if_modified_since,
            if_unmodified_since,
        }
    }

    /// Whether the request is to be done: an unmet condition is `not_met` or, if the client has the
    /// object, `NotModified`.
    pub(crate) fn check(&self, file: &FileRecord, not_modified: S3ErrorCode) -> S3Result<()> {
        let stored_at = stored_at(file);
        let is_unmet = match (&self.if_match, &self.if_unmodified_since) {
            (Some(condition), _) => !condition.name(file),
            (None, Some(since)) => stored_at > *since,
            (None, None) => false,
        };
        if is_unmet {
            return Err(refusal(S3ErrorCode::PreconditionFailed, "A condition is not met."));
        }
        let is_known = match (&self.if_none_match, &self.if_modified_since) {
            (Some(condition), _) => condition.name(file),
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

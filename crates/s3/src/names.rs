//! Buckets as tenants, and keys as paths.

use crate::errors::refusal;
use rialto_depot::{Directory, FileName, TenantName, split_path};
use rialto_depot_desk::PARTS_DIRECTORY;
use s3s::validation::NameValidation;
use s3s::{S3Error, S3ErrorCode, S3Result};

/// Leaves the names of buckets to [`tenant_of`], whose refusal says what a name must be.
pub(crate) struct BucketNames;

impl NameValidation for BucketNames {
    fn validate_bucket_name(&self, _: &str) -> bool {
        true
    }
}

/// The tenant of a bucket.
pub(crate) fn tenant_of(bucket: &str) -> S3Result<TenantName> {
    TenantName::new(bucket).map_err(|error| {
        refusal(S3ErrorCode::InvalidBucketName, format!("A bucket is a tenant: {error}."))
    })
}

/// Whether a key is one of the parts of uploads, which have no keys.
fn is_reserved(key: &str) -> bool {
    key.strip_prefix(PARTS_DIRECTORY).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The path of a new object.
pub(crate) fn place_of(key: &str) -> S3Result<(Directory, FileName)> {
    if is_reserved(key) {
        let message = format!("Keys in {PARTS_DIRECTORY} are reserved for parts of uploads.");
        return Err(refusal(S3ErrorCode::InvalidArgument, message));
    }
    // Lists of objects are XML, which has no way to write these two.
    if key.contains(['\u{FFFE}', '\u{FFFF}']) {
        let message = "A key has no U+FFFE and no U+FFFF.";
        return Err(refusal(S3ErrorCode::InvalidArgument, message));
    }
    split_path(key).map_err(|error| {
        let message = format!("The key is no path of the depot: {error}.");
        refusal(S3ErrorCode::InvalidArgument, message)
    })
}

/// The path of an object that may be there. A key that cannot be a path names no object.
pub(crate) fn path_of(key: &str) -> S3Result<String> {
    if is_reserved(key) || split_path(key).is_err() {
        return Err(no_such_key());
    }
    Ok(key.to_owned())
}

pub(crate) fn no_such_key() -> S3Error {
    refusal(S3ErrorCode::NoSuchKey, "There is no object of this key.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_are_no_paths_are_refused() {
        let long = "x".repeat(300);
        for bad in ["", "/a", "a/", "a//b", "../a", "a/../b", "a/.", "a\0", "a\\b", "a\nb", &long] {
            let refused = place_of(bad).unwrap_err();
            assert_eq!(refused.code(), &S3ErrorCode::InvalidArgument, "{bad:?}");
            assert_eq!(path_of(bad).unwrap_err().code(), &S3ErrorCode::NoSuchKey, "{bad:?}");
        }
        for reserved in [".multipart", ".multipart/parts/1/00001"] {
            assert!(place_of(reserved).is_err() && path_of(reserved).is_err());
        }
        assert!(place_of(".multiparts/a").is_ok() && place_of("a/.multipart").is_ok());
    }
}

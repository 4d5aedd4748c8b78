//! Errors of the depot's bus as errors of S3.

use hyper::StatusCode;
use rialto_bus::{Error, ErrorKind};
use s3s::{S3Error, S3ErrorCode};

/// A code that S3 has no name for in this library.
pub(crate) fn code(name: &str) -> S3ErrorCode {
    S3ErrorCode::from_bytes(name.as_bytes()).unwrap_or(S3ErrorCode::InternalError)
}

/// An error with a sentence.
pub(crate) fn refusal(code: S3ErrorCode, message: impl Into<String>) -> S3Error {
    let is_known = code.status_code().is_some();
    let mut error = S3Error::with_message(code, message.into());
    if !is_known {
        error.set_status_code(StatusCode::BAD_REQUEST);
    }
    error
}

pub(crate) fn unsupported(what: &str) -> S3Error {
    refusal(S3ErrorCode::NotImplemented, format!("This venue does not support {what}."))
}

/// An error of the depot's bus.
pub(crate) fn of_bus(error: Error) -> S3Error {
    let (name, status) = match error.code() {
        "unknown_tenant" => ("NoSuchBucket", 404),
        "unknown_file" => ("NoSuchKey", 404),
        "tenant_exists" => ("BucketAlreadyOwnedByYou", 409),
        "tenant_not_empty" => ("BucketNotEmpty", 409),
        "tenant_not_enabled" => ("InvalidBucketState", 409),
        "file_exists" => ("PreconditionFailed", 412),
        "file_claimed" | "submit_in_progress" => ("OperationAborted", 409),
        "wrong_directory_kind" => ("InvalidRequest", 400),
        "quota_reached" | "too_many" => ("QuotaExceeded", 403),
        "grant_tenants" => ("TooManyBuckets", 400),
        "content_mismatch" | "upload_interrupted" => ("IncompleteBody", 400),
        "file_too_large" => ("EntityTooLarge", 400),
        "too_many_uploads" | "too_many_downloads" | "rate_reached" => ("SlowDown", 503),
        "storage_low" | "volume_failed" | "stopped" => ("ServiceUnavailable", 503),
        _ => match error.kind() {
            ErrorKind::Forbidden | ErrorKind::Unauthenticated => ("AccessDenied", 403),
            ErrorKind::Invalid => ("InvalidArgument", 400),
            ErrorKind::NotFound => ("NoSuchKey", 404),
            ErrorKind::Conflict => ("OperationAborted", 409),
            ErrorKind::Busy | ErrorKind::Unavailable | ErrorKind::Timeout => {
                ("ServiceUnavailable", 503)
            }
            _ => ("InternalError", 500),
        },
    };
    let mut refused = S3Error::with_message(code(name), error.message().to_owned());
    if let Ok(status) = StatusCode::from_u16(status) {
        refused.set_status_code(status);
    }
    refused
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quota_is_an_error_that_clients_do_not_repeat() {
        for code in ["quota_reached", "too_many"] {
            let error = of_bus(Error::new(ErrorKind::Busy, code, "There is no room."));
            assert_eq!(error.code().as_str(), "QuotaExceeded");
            assert_eq!(error.status_code(), Some(StatusCode::FORBIDDEN));
        }
        let slow = of_bus(Error::new(ErrorKind::Busy, "rate_reached", "Slow down."));
        assert_eq!(slow.code(), &S3ErrorCode::SlowDown);
    }
}

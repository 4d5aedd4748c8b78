//! What a request asks for besides its operation.
//!
//! The decoder takes a request with a parameter that it does not know for the plain operation: a
//! `PUT` with `?renameObject` would store an empty object. So parameters and headers that nothing here
//! reads are refused, where ignoring them would do something else than the client asked for.

use crate::digests::CHECKSUMS;
use crate::errors::unsupported;
use hyper::{HeaderMap, Uri};
use s3s::S3Result;

/// The parameters that an operation reads, and its conditions.
fn read_by(operation: &str) -> (&'static [&'static str], &'static [&'static str]) {
    const NONE: &[&str] = &[];
    const OF_READS: &[&str] = &[
        "response-cache-control",
        "response-content-disposition",
        "response-content-encoding",
        "response-content-language",
        "response-content-type",
        "response-expires",
        // Refused where they are read, by a sentence of their own.
        "partNumber",
        "versionId",
    ];
    const TAGS: &[&str] = &["if-match", "if-none-match"];
    match operation {
        "list_buckets" => (&["bucket-region", "continuation-token", "max-buckets", "prefix"], NONE),
        "get_bucket_location" => (&["location"], NONE),
        "list_objects" => (&["delimiter", "encoding-type", "marker", "max-keys", "prefix"], NONE),
        "list_objects_v2" => (
            &[
                "continuation-token",
                "delimiter",
                "encoding-type",
                "fetch-owner",
                "list-type",
                "max-keys",
                "prefix",
                "start-after",
            ],
            NONE,
        ),
        "get_object" => (OF_READS, CONDITIONS),
        "head_object" => (OF_READS, CONDITIONS),
        "put_object" => (NONE, TAGS),
        "delete_object" => (&["versionId"], &["if-match"]),
        "delete_objects" => (&["delete"], NONE),
        "create_multipart_upload" => (&["uploads"], NONE),
        "upload_part" | "upload_part_copy" => (&["partNumber", "uploadId"], NONE),
        "complete_multipart_upload" => (&["uploadId"], TAGS),
        "abort_multipart_upload" => (&["uploadId"], NONE),
        "list_parts" => (&["encoding-type", "max-parts", "part-number-marker", "uploadId"], NONE),
        "list_multipart_uploads" => (
            &[
                "delimiter",
                "encoding-type",
                "key-marker",
                "max-uploads",
                "prefix",
                "upload-id-marker",
                "uploads",
            ],
            NONE,
        ),
        _ => (NONE, NONE),
    }
}

/// The headers of conditions.
const CONDITIONS: &[&str] =
    &["if-match", "if-modified-since", "if-none-match", "if-range", "if-unmodified-since"];

/// Headers that would change what is done, by their beginnings, and what they ask for.
const UNSUPPORTED: [(&str, &str); 7] = [
    ("x-amz-bucket-object-lock-", "object locks"),
    ("x-amz-expected-bucket-owner", "owners of buckets"),
    ("x-amz-grant-", "access lists"),
    ("x-amz-object-lock-", "object locks"),
    ("x-amz-server-side-encryption", "the choice of encryption"),
    ("x-amz-source-expected-bucket-owner", "owners of buckets"),
    ("x-amz-website-", "redirects"),
];

/// Headers about checksums that are none.
const ABOUT_CHECKSUMS: [&str; 3] =
    ["x-amz-checksum-algorithm", "x-amz-checksum-mode", "x-amz-checksum-type"];

fn is_checksum(name: &str) -> bool {
    CHECKSUMS.iter().any(|(known, _)| known.eq_ignore_ascii_case(name))
}

fn unsupported_header(name: &str) -> Option<&'static str> {
    // With `-directive` it is about a copy, which has no tags in either case.
    if name == "x-amz-tagging" {
        return Some("tags");
    }
    UNSUPPORTED.iter().find(|(begin, _)| name.starts_with(begin)).map(|(_, what)| *what)
}

/// Refuses what an operation would not heed.
pub(crate) fn check(operation: &str, uri: &Uri, headers: &HeaderMap) -> S3Result<()> {
    let (parameters, conditions) = read_by(operation);
    let query = uri.query().unwrap_or_default();
    for (name, _) in form_urlencoded::parse(query.as_bytes()) {
        let lower = name.to_ascii_lowercase();
        // Links may have headers among their parameters.
        if let Some(what) = unsupported_header(&lower) {
            return Err(unsupported(what));
        }
        if lower.starts_with("x-amz-meta-") || lower.starts_with("x-amz-copy-") {
            let name: String = lower.chars().take(40).collect();
            return Err(unsupported(&format!("{name:?} outside the headers")));
        }
        if !lower.starts_with("x-amz-") && name != "x-id" && !parameters.contains(&&*name) {
            let name: String = name.chars().take(40).collect();
            return Err(unsupported(&format!("the parameter {name:?} here")));
        }
    }
    for name in headers.keys().map(|name| name.as_str()) {
        if CONDITIONS.contains(&name) && !conditions.contains(&name) {
            return Err(unsupported(&format!("the condition {name} here")));
        }
        if let Some(what) = unsupported_header(name) {
            return Err(unsupported(what));
        }
        let is_about = ABOUT_CHECKSUMS.contains(&name);
        if name.starts_with("x-amz-checksum-") && !is_checksum(name) && !is_about {
            return Err(unsupported(&format!("the checksum {name}")));
        }
    }
    let trailers = headers.get_all("x-amz-trailer").iter().filter_map(|it| it.to_str().ok());
    let mut trailers = trailers.flat_map(|names| names.split(',')).map(str::trim);
    match trailers.find(|name| !is_checksum(name)) {
        None => Ok(()),
        Some(name) => {
            let name: String = name.chars().take(40).collect();
            Err(unsupported(&format!("the trailer {name:?}")))
        }
    }
}

//! What a file's metadata keeps of an object: the client's own entries under their names, and what S3
//! needs under names that begin with `s3.`.

use crate::digests::CHECKSUMS;
use crate::errors::refusal;
use rialto_depot::{FileRecord, METADATA_BYTES_MAX, METADATA_ENTRIES_MAX};
use s3s::dto::{ETag, Metadata, Timestamp, TimestampFormat};
use s3s::{S3ErrorCode, S3Result};
use std::time::{Duration, UNIX_EPOCH};

/// The begin of names that are not the client's.
pub(crate) const RESERVED: &str = "s3.";
/// The media type of an object that was stored without one, as S3 has it.
const USUAL_TYPE: &str = "binary/octet-stream";

/// The headers of an object that are kept, as S3 names them.
#[derive(Clone, Debug, Default)]
pub(crate) struct ObjectHeaders {
    pub(crate) content_type: Option<String>,
    pub(crate) cache_control: Option<String>,
    pub(crate) content_disposition: Option<String>,
    pub(crate) content_encoding: Option<String>,
    pub(crate) content_language: Option<String>,
    pub(crate) expires: Option<Timestamp>,
    pub(crate) metadata: Option<Metadata>,
}

/// Takes the kept headers from an input of S3.
macro_rules! headers_of {
    ($input:expr) => {
        $crate::metadata::ObjectHeaders {
            content_type: $input.content_type.take(),
            cache_control: $input.cache_control.take(),
            content_disposition: $input.content_disposition.take(),
            content_encoding: $input.content_encoding.take(),
            content_language: $input.content_language.take(),
            expires: $input.expires.take(),
            metadata: $input.metadata.take(),
        }
    };
}
pub(crate) use headers_of;

/// The content type and the metadata of a file.
pub(crate) type Described = (String, Vec<(String, String)>);

/// A content encoding without the one of the transfer.
fn kept_encoding(encoding: &str) -> Option<String> {
    let kept: Vec<_> = encoding
        .split(',')
        .map(str::trim)
        .filter(|it| !it.is_empty() && *it != "aws-chunked")
        .collect();
    Some(kept.join(",")).filter(|kept| !kept.is_empty())
}

impl ObjectHeaders {
    /// The content type and the metadata of the file that keeps them, with more entries.
    pub(crate) fn describe(self, more: Vec<(String, String)>) -> S3Result<Described> {
        let mut entries: Vec<(String, String)> = Vec::new();
        for (name, value) in self.metadata.unwrap_or_default() {
            let name = name.to_ascii_lowercase();
            if name.starts_with(RESERVED) {
                let message = format!("Names of metadata that begin with {RESERVED} are reserved.");
                return Err(refusal(S3ErrorCode::InvalidArgument, message));
            }
            entries.push((name, value));
        }
        // The order of a map differs from process to process.
        entries.sort();
        let expires = self.expires.and_then(|at| {
            let mut text = Vec::new();
            at.format(TimestampFormat::HttpDate, &mut text).ok()?;
            String::from_utf8(text).ok()
        });
        let kept = [
            ("s3.cache-control", self.cache_control),
            ("s3.content-disposition", self.content_disposition),
            ("s3.content-encoding", self.content_encoding.as_deref().and_then(kept_encoding)),
            ("s3.content-language", self.content_language),
            ("s3.expires", expires),
        ];
        let kept = kept.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        entries.extend(kept);
        entries.extend(more);
        let bytes: usize = entries.iter().map(|(name, value)| name.len() + value.len()).sum();
        if entries.len() > METADATA_ENTRIES_MAX || bytes > METADATA_BYTES_MAX {
            let message = format!(
                "The metadata has {} entries and {bytes} bytes; at most {METADATA_ENTRIES_MAX} and \
                 {METADATA_BYTES_MAX} are kept.",
                entries.len()
            );
            return Err(refusal(S3ErrorCode::MetadataTooLarge, message));
        }
        Ok((self.content_type.unwrap_or_default(), entries))
    }

    /// What a file keeps.
    pub(crate) fn of(file: &FileRecord) -> ObjectHeaders {
        let entry = |name: &str| entry(file, name).map(str::to_owned);
        let own = file.metadata.iter().filter(|(name, _)| !name.starts_with(RESERVED));
        let metadata: Metadata = own.cloned().collect();
        ObjectHeaders {
            content_type: Some(match file.content_type.as_str() {
                "" => USUAL_TYPE.to_owned(),
                kind => kind.to_owned(),
            }),
            cache_control: entry("s3.cache-control"),
            content_disposition: entry("s3.content-disposition"),
            content_encoding: entry("s3.content-encoding"),
            content_language: entry("s3.content-language"),
            expires: entry("s3.expires")
                .and_then(|text| Timestamp::parse(TimestampFormat::HttpDate, &text).ok()),
            metadata: Some(metadata).filter(|metadata| !metadata.is_empty()),
        }
    }
}

/// An entry of a file's metadata.
pub(crate) fn entry<'a>(file: &'a FileRecord, name: &str) -> Option<&'a str> {
    file.metadata.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

/// The name of the entry that keeps a checksum.
fn kept_name(header: &str) -> String {
    format!("{RESERVED}{}", header.trim_start_matches("x-amz-"))
}

/// The entries that keep these checksums.
pub(crate) fn keep_checksums(declared: &[(&'static str, String)]) -> Vec<(String, String)> {
    declared.iter().map(|(name, value)| (kept_name(name), value.clone())).collect()
}

/// The kept checksums of a file, by header.
pub(crate) fn kept_checksums(file: &FileRecord) -> impl Iterator<Item = (&'static str, &str)> {
    CHECKSUMS.iter().filter_map(|(header, _)| Some((*header, entry(file, &kept_name(header))?)))
}

/// The entity tag of a file: its SHA-256 in hexadecimal, and a mark. With the dash, clients do not take
/// it for an MD5. Without a SHA-256 it is the id of the file.
pub(crate) fn etag_of(file: &FileRecord) -> ETag {
    ETag::Strong(match &file.sha256 {
        Some(hash) => format!("{}-sha256", rialto_api::sign::to_hex(hash)),
        None => format!("{}-id", file.id),
    })
}

/// When a file was stored.
pub(crate) fn stored_at(file: &FileRecord) -> Timestamp {
    // In whole seconds, as in headers, so that conditions compare what clients know.
    Timestamp::from(UNIX_EPOCH + Duration::from_secs(file.created_at.0 / 1_000_000_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_encoding_of_the_transfer_is_not_kept() {
        for (sent, kept) in [
            ("aws-chunked", None),
            ("aws-chunked,gzip", Some("gzip")),
            ("gzip, br", Some("gzip,br")),
        ] {
            assert_eq!(kept_encoding(sent).as_deref(), kept, "{sent}");
        }
    }

    #[test]
    fn reserved_names_are_not_the_clients() {
        let metadata = [("S3.expires".to_owned(), String::new())].into_iter().collect();
        let headers = ObjectHeaders { metadata: Some(metadata), ..ObjectHeaders::default() };
        assert_eq!(headers.describe(vec![]).unwrap_err().code(), &S3ErrorCode::InvalidArgument);
    }
}

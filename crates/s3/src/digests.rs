//! Checksums of bodies: what the client declared is compared with what arrived.

use crate::session::BodyFault;
use base64::prelude::{BASE64_STANDARD, Engine};
use hyper::HeaderMap;
use s3s::checksum::ChecksumHasher;
use s3s::crypto::{Checksum as _, Md5};
use s3s::dto::Checksum;
use s3s::{S3Error, S3ErrorCode, S3Result, TrailingHeaders};

/// Finds a checksum among the computed ones.
type Find = fn(&Checksum) -> Option<&String>;

/// The headers of checksums, and how a checksum is found in the computed ones.
pub(crate) const CHECKSUMS: [(&str, Find); 5] = [
    ("x-amz-checksum-crc32", |it| it.checksum_crc32.as_ref()),
    ("x-amz-checksum-crc32c", |it| it.checksum_crc32c.as_ref()),
    ("x-amz-checksum-crc64nvme", |it| it.checksum_crc64nvme.as_ref()),
    ("x-amz-checksum-sha1", |it| it.checksum_sha1.as_ref()),
    ("x-amz-checksum-sha256", |it| it.checksum_sha256.as_ref()),
];

/// The checksums of a body that is arriving.
#[derive(Default)]
pub(crate) struct BodyDigest {
    hasher: ChecksumHasher,
    md5: Option<(Md5, Vec<u8>)>,
    /// Name and base64 of the checksums that the head declares.
    declared: Vec<(&'static str, String)>,
    /// The names of the checksums that follow the body.
    announced: Vec<&'static str>,
}

fn known(name: &str) -> Option<&'static str> {
    CHECKSUMS.iter().map(|(known, _)| *known).find(|known| known.eq_ignore_ascii_case(name))
}

fn invalid(message: impl Into<String>) -> S3Error {
    S3Error::with_message(S3ErrorCode::InvalidRequest, message.into())
}

impl BodyDigest {
    /// Reads what the head of a request declares.
    pub(crate) fn of(headers: &HeaderMap) -> S3Result<BodyDigest> {
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let mut digest = BodyDigest::default();
        for (name, _) in CHECKSUMS {
            if let Some(value) = text(name) {
                digest.declared.push((name, value.to_owned()));
                digest.compute(name);
            }
        }
        for name in text("x-amz-trailer").unwrap_or_default().split(',').map(str::trim) {
            if let Some(name) = known(name) {
                digest.announced.push(name);
                digest.compute(name);
            }
        }
        if let Some(value) = text("content-md5") {
            let md5 = BASE64_STANDARD.decode(value).ok().filter(|md5| md5.len() == 16);
            let md5 = md5.ok_or_else(|| S3Error::new(S3ErrorCode::InvalidDigest))?;
            digest.md5 = Some((Md5::new(), md5));
        }
        if let Some(algorithm) = text("x-amz-sdk-checksum-algorithm") {
            let name = format!("x-amz-checksum-{}", algorithm.to_ascii_lowercase());
            let is_sent = digest.declared.iter().any(|(declared, _)| *declared == name)
                || digest.announced.contains(&name.as_str());
            if !is_sent {
                return Err(invalid(format!(
                    "x-amz-sdk-checksum-algorithm says {algorithm}, and there is neither {name} nor \
                     a trailer of that name."
                )));
            }
        }
        Ok(digest)
    }

    /// Also computes this checksum.
    pub(crate) fn compute(&mut self, name: &str) {
        use s3s::crypto::{Crc32, Crc32c, Crc64Nvme, Sha1, Sha256};
        let hasher = &mut self.hasher;
        match name {
            "x-amz-checksum-crc32" => drop(hasher.crc32.get_or_insert_with(Crc32::new)),
            "x-amz-checksum-crc32c" => drop(hasher.crc32c.get_or_insert_with(Crc32c::new)),
            "x-amz-checksum-crc64nvme" => drop(hasher.crc64nvme.get_or_insert_with(Crc64Nvme::new)),
            "x-amz-checksum-sha1" => drop(hasher.sha1.get_or_insert_with(Sha1::new)),
            "x-amz-checksum-sha256" => drop(hasher.sha256.get_or_insert_with(Sha256::new)),
            _ => {}
        }
    }

    /// Declares a checksum that is not in the head.
    pub(crate) fn declare(&mut self, name: &'static str, value: String) {
        self.compute(name);
        self.declared.push((name, value));
    }

    /// What the head declares, to be kept with the file.
    pub(crate) fn declared(&self) -> &[(&'static str, String)] {
        &self.declared
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.hasher.update(bytes);
        if let Some((md5, _)) = &mut self.md5 {
            md5.update(bytes);
        }
    }

    /// Compares what arrived with what was declared, in the head or behind the body. Returns the
    /// checksums.
    pub(crate) fn finish(self, trailers: Option<&TrailingHeaders>) -> Result<Checksum, BodyFault> {
        let computed = self.hasher.finalize();
        let find = |name: &str| {
            let (_, value) = CHECKSUMS.iter().find(|(known, _)| *known == name)?;
            value(&computed)
        };
        let mut declared = self.declared;
        for name in self.announced {
            let value = trailers.and_then(|trailers| {
                trailers
                    .read(|map| map.get(name).and_then(|it| it.to_str().ok()).map(str::to_owned))
            });
            let Some(value) = value.flatten() else {
                let message = format!("The trailer {name} is announced, and did not arrive.");
                return Err(BodyFault::new(crate::errors::code("MalformedTrailerError"), message));
            };
            declared.push((name, value));
        }
        for (name, value) in &declared {
            let got = find(name);
            if got != Some(value) {
                let got = got.map_or("", String::as_str);
                let message = format!("{name} is {value}, and the content has {got}.");
                return Err(BodyFault::new(S3ErrorCode::BadDigest, message));
            }
        }
        if let Some((md5, expected)) = self.md5
            && md5.finalize().as_ref() != expected
        {
            let message = "The Content-MD5 is not that of the content.";
            return Err(BodyFault::new(S3ErrorCode::BadDigest, message));
        }
        Ok(computed)
    }
}

//! The completion of an upload: its parts become one file.

use super::{PART_BYTES_MIN, PARTS_MAX, UPLOAD_ENTRIES, Upload, parts_prefix};
use crate::conditions::must_be_absent;
use crate::digests::{BodyDigest, CHECKSUMS};
use crate::errors::refusal;
use crate::metadata::{etag_of, keep_checksums, kept_checksums};
use crate::names::{place_of, tenant_of};
use crate::receiving::{FilePart, Source};
use crate::service::DepotS3;
use crate::session::{Session, session_of};
use rialto_depot::{FileInfo, FileRecord, NewFile};
use s3s::dto::*;
use s3s::{S3Error, S3ErrorCode, S3Request, S3Response, S3Result};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// The submit key of the file that an upload becomes.
fn submit_key(id: &str) -> String {
    format!("s3-upload-{id}")
}

/// The number of a stored part.
pub(super) fn number_of(part: &FileRecord) -> Option<i32> {
    part.name.as_str().parse().ok()
}

fn invalid_part(number: i32, why: &str) -> S3Error {
    refusal(S3ErrorCode::InvalidPart, format!("The part {number} {why}."))
}

/// The checksums of a part that a completion names.
fn named_checksums(part: &CompletedPart) -> Vec<(&'static str, &String)> {
    let of_part = [
        part.checksum_crc32.as_ref(),
        part.checksum_crc32c.as_ref(),
        part.checksum_crc64nvme.as_ref(),
        part.checksum_sha1.as_ref(),
        part.checksum_sha256.as_ref(),
    ];
    CHECKSUMS.iter().zip(of_part).filter_map(|((name, _), value)| Some((*name, value?))).collect()
}

/// The parts that a completion names, in their order.
fn chosen(
    named: &[CompletedPart],
    stored: &HashMap<i32, Arc<FileRecord>>,
) -> S3Result<Vec<Arc<FileRecord>>> {
    if named.is_empty() || named.len() > PARTS_MAX.unsigned_abs() as usize {
        let message = format!("A completion names 1 to {PARTS_MAX} parts.");
        return Err(refusal(S3ErrorCode::MalformedXML, message));
    }
    let mut parts: Vec<Arc<FileRecord>> = Vec::with_capacity(named.len());
    let number_of = |part: &CompletedPart| part.part_number.unwrap_or_default();
    let mut before = 0;
    for number in named.iter().map(number_of) {
        if number <= before {
            let message = format!("The part {number} is behind the part {before}.");
            return Err(refusal(S3ErrorCode::InvalidPartOrder, message));
        }
        before = number;
    }
    for (nth, part) in named.iter().enumerate() {
        let number = number_of(part);
        let file = stored.get(&number).ok_or_else(|| invalid_part(number, "was not stored"))?;
        if part.e_tag.as_ref().is_none_or(|etag| etag.value() != etag_of(file).value()) {
            return Err(invalid_part(number, "has another entity tag"));
        }
        for (name, value) in named_checksums(part) {
            let mut kept = kept_checksums(file).filter(|(kept, _)| *kept == name);
            if kept.any(|(_, kept)| kept != value) {
                return Err(invalid_part(number, "has another checksum"));
            }
        }
        if file.bytes < PART_BYTES_MIN && nth + 1 < named.len() {
            let message = format!(
                "The part {number} has {} bytes; all but the last have at least {PART_BYTES_MIN}.",
                file.bytes
            );
            return Err(refusal(S3ErrorCode::EntityTooSmall, message));
        }
        parts.push(Arc::clone(file));
    }
    Ok(parts)
}

/// A completion that takes longer is answered at once, and by spaces until it ends: a client that hears
/// nothing for a minute would repeat it.
const ANSWER_WITHIN: Duration = Duration::from_secs(2);

impl DepotS3 {
    /// Completes an upload, in a task that goes on when the client has gone.
    pub(crate) async fn complete_upload(
        &self,
        request: S3Request<CompleteMultipartUploadInput>,
    ) -> S3Result<S3Response<CompleteMultipartUploadOutput>> {
        let session = session_of(&request.extensions)?;
        let door = self.clone();
        let completing = async move { door.complete(&session, &request.input).await };
        let mut completing = tokio::spawn(completing);
        if let Ok(ended) = tokio::time::timeout(ANSWER_WITHIN, &mut completing).await {
            return ended.map_err(S3Error::internal_error)?.map(S3Response::new);
        }
        let ended = async move { completing.await.map_err(S3Error::internal_error)? };
        Ok(S3Response::new(CompleteMultipartUploadOutput {
            future: Some(Box::pin(ended)),
            ..CompleteMultipartUploadOutput::default()
        }))
    }

    async fn complete(
        &self,
        session: &Session,
        input: &CompleteMultipartUploadInput,
    ) -> S3Result<CompleteMultipartUploadOutput> {
        // A completion that is repeated waits for the first, and finds its object.
        let _turn = self.completions().wait_for(&input.upload_id).await;
        let found = self.upload(session, &input.bucket, &input.key, &input.upload_id).await;
        let tenant = tenant_of(&input.bucket)?;
        let object = self.find_written(session, &tenant, &input.key).await?;
        let is_of = |file: &Arc<FileRecord>| {
            file.submit_key.as_deref() == Some(&*submit_key(&input.upload_id))
        };
        match (found, object.filter(is_of)) {
            // The first answer was lost.
            (Err(error), Some(file)) if error.code() == &S3ErrorCode::NoSuchUpload => {
                Ok(answer(input, &file))
            }
            (Err(error), _) => Err(error),
            // The process ended between the object and the end of the upload.
            (Ok(upload), Some(file)) => {
                self.tidy(upload).await;
                Ok(answer(input, &file))
            }
            (Ok(upload), None) => {
                let file = self.join(session, &upload, input).await?;
                self.tidy(upload).await;
                Ok(answer(input, &file))
            }
        }
    }

    /// Deletes an upload that became an object, and then its parts, behind the answer. What cannot be
    /// deleted expires.
    async fn tidy(&self, upload: Upload) {
        let warn = |error: S3Error| {
            tracing::warn!(%error, "what is left of a completed S3 upload stays until it expires");
        };
        if let Err(error) = self.end_upload(&upload).await {
            return warn(error);
        }
        let door = self.clone();
        tokio::spawn(async move {
            door.delete_parts(&upload).await.unwrap_or_else(warn);
        });
    }

    /// Stores the parts as one file.
    async fn join(
        &self,
        session: &Session,
        upload: &Upload,
        input: &CompleteMultipartUploadInput,
    ) -> S3Result<Arc<FileRecord>> {
        let prefix = parts_prefix(&upload.id);
        let max = PARTS_MAX.unsigned_abs() as usize;
        let stored = self.all_files(&upload.tenant, &upload.principal, &prefix, max).await?;
        let by_number = |part: FileInfo| Some((number_of(&part.record)?, part.record));
        let stored: HashMap<_, _> = stored.into_iter().filter_map(by_number).collect();
        let named = input.multipart_upload.as_ref().and_then(|named| named.parts.as_deref());
        let parts = chosen(named.unwrap_or_default(), &stored)?;
        let bytes: u64 = parts.iter().map(|part| part.bytes).sum();
        if input.mpu_object_size.is_some_and(|size| u64::try_from(size) != Ok(bytes)) {
            let message = format!("The parts have {bytes} bytes together, and not as declared.");
            return Err(refusal(S3ErrorCode::InvalidRequest, message));
        }
        let mut digest = BodyDigest::default();
        // A checksum of checksums is not one of the content.
        let composite = Some(ChecksumType::COMPOSITE);
        if input.checksum_type.as_ref().map(ChecksumType::as_str) != composite {
            let declared = [
                &input.checksum_crc32,
                &input.checksum_crc32c,
                &input.checksum_crc64nvme,
                &input.checksum_sha1,
                &input.checksum_sha256,
            ];
            for ((name, _), value) in CHECKSUMS.iter().zip(declared) {
                // `CHECKSUM-COUNT` is composite too.
                if let Some(value) = value.as_ref().filter(|value| !value.contains('-')) {
                    digest.declare(name, value.clone());
                }
            }
        }
        let (directory, name) = place_of(&input.key)?;
        let of_object = |(name, _): &&(String, String)| !UPLOAD_ENTRIES.contains(&name.as_str());
        let mut metadata: Vec<_> =
            upload.record.metadata.iter().filter(of_object).cloned().collect();
        metadata.extend(keep_checksums(digest.declared()));
        let file = NewFile {
            content_type: upload.record.content_type.clone(),
            metadata,
            bytes: Some(bytes),
            submit_key: Some(submit_key(&upload.id)),
            if_absent: must_be_absent(input.if_match.as_ref(), input.if_none_match.as_ref())?,
            ..NewFile::new(directory, name)
        };
        let tenant = &upload.tenant;
        let whole = |part: &Arc<FileRecord>| FilePart {
            tenant: tenant.clone(),
            id: part.id,
            range: 0..part.bytes,
        };
        let context = upload.context();
        let source = Source::Files(self.bus(), &context, parts.iter().map(whole).collect());
        let (stored, _) = self.store(session, tenant.clone(), file, source, digest).await?;
        Ok(stored.record)
    }
}

fn answer(
    input: &CompleteMultipartUploadInput,
    file: &FileRecord,
) -> CompleteMultipartUploadOutput {
    CompleteMultipartUploadOutput {
        bucket: Some(input.bucket.clone()),
        key: Some(input.key.clone()),
        location: Some(format!("/{}/{}", input.bucket, input.key)),
        e_tag: Some(etag_of(file)),
        ..CompleteMultipartUploadOutput::default()
    }
}

//! Parts of uploads: stored from a body, or copied from an object.

use super::{PARTS_MAX, Upload, inner_file, no_such_upload, parts_prefix, uploads_prefix};
use crate::conditions::Conditions;
use crate::digests::BodyDigest;
use crate::errors::{of_bus, refusal};
use crate::metadata::{etag_of, keep_checksums, stored_at};
use crate::objects::{length_of, refuse_given};
use crate::receiving::{FilePart, Source};
use crate::service::DepotS3;
use crate::session::{Session, session_of};
use rialto_bus::Dispatch;
use rialto_depot::{FileRecord, NewFile};
use rialto_depot_desk::FindKept;
use s3s::dto::*;
use s3s::{S3ErrorCode, S3Request, S3Response, S3Result};
use std::sync::Arc;

/// The file name of a part: in the order of names, parts are in that of their numbers.
fn part_name(number: i32) -> S3Result<String> {
    match number {
        1..=PARTS_MAX => Ok(format!("{number:05}")),
        _ => {
            let message = format!("The number of a part is 1 to {PARTS_MAX}.");
            Err(refusal(S3ErrorCode::InvalidArgument, message))
        }
    }
}

impl DepotS3 {
    /// Stores a part. One of an upload that ended meanwhile is deleted again.
    async fn store_part(
        &self,
        session: &Session,
        upload: &Upload,
        number: i32,
        file: NewFile,
        source: Source<'_>,
        digest: BodyDigest,
    ) -> S3Result<(Arc<FileRecord>, Checksum)> {
        let name = part_name(number)?;
        let prefix = parts_prefix(&upload.id);
        let place = inner_file(&prefix, &name)?;
        let file = NewFile {
            directory: place.directory,
            name: place.name,
            expires_at: upload.expires_at(),
            ..file
        };
        let tenant = upload.tenant.clone();
        let (stored, checksums) = self.store(session, tenant, file, source, digest).await?;
        let find = FindKept {
            tenant: upload.tenant.clone(),
            path: format!("{}{}", uploads_prefix(), upload.id),
        };
        match self.bus().query(find, &upload.context()).await {
            Ok(_) => Ok((stored.record, checksums)),
            Err(error) if error.code() == "unknown_file" => {
                self.delete_inner(upload, format!("{prefix}{name}")).await?;
                Err(no_such_upload())
            }
            Err(error) => {
                // Whether it is needed is not known, and its client sends it again.
                let _ = self.delete_inner(upload, format!("{prefix}{name}")).await;
                Err(of_bus(error))
            }
        }
    }

    pub(crate) async fn put_part(
        &self,
        request: S3Request<UploadPartInput>,
    ) -> S3Result<S3Response<UploadPartOutput>> {
        let session = session_of(&request.extensions)?;
        let input = request.input;
        refuse_given!(input: sse_customer_algorithm "encryption with keys of clients");
        part_name(input.part_number)?;
        let upload = self.upload(&session, &input.bucket, &input.key, &input.upload_id).await?;
        let digest = BodyDigest::of(&request.headers)?;
        let file = NewFile {
            bytes: Some(length_of(&request.headers, input.content_length)?),
            metadata: keep_checksums(digest.declared()),
            ..NewFile::default()
        };
        let source = Source::Body(input.body, request.trailing_headers);
        let stored = self.store_part(&session, &upload, input.part_number, file, source, digest);
        let (record, checksums) = stored.await?;
        Ok(S3Response::new(UploadPartOutput {
            e_tag: Some(etag_of(&record)),
            checksum_crc32: checksums.checksum_crc32,
            checksum_crc32c: checksums.checksum_crc32c,
            checksum_crc64nvme: checksums.checksum_crc64nvme,
            checksum_sha1: checksums.checksum_sha1,
            checksum_sha256: checksums.checksum_sha256,
            ..UploadPartOutput::default()
        }))
    }

    pub(crate) async fn copy_part(
        &self,
        request: S3Request<UploadPartCopyInput>,
    ) -> S3Result<S3Response<UploadPartCopyOutput>> {
        let session = session_of(&request.extensions)?;
        let input = request.input;
        refuse_given!(input:
            sse_customer_algorithm "encryption with keys of clients",
            copy_source_sse_customer_algorithm "encryption with keys of clients",
        );
        part_name(input.part_number)?;
        let upload = self.upload(&session, &input.bucket, &input.key, &input.upload_id).await?;
        let conditions = Conditions {
            if_match: input.copy_source_if_match.map(Into::into),
            if_none_match: input.copy_source_if_none_match.map(Into::into),
            if_modified_since: input.copy_source_if_modified_since,
            if_unmodified_since: input.copy_source_if_unmodified_since,
        };
        let (tenant, file) = self.source(&session, &input.copy_source, &conditions).await?;
        let range = match &input.copy_source_range {
            None => 0..file.bytes,
            Some(text) => {
                let range = match Range::parse(text) {
                    Ok(Range::Int { first, last: Some(last) })
                        if first <= last && last < file.bytes =>
                    {
                        Some(first..last + 1)
                    }
                    _ => None,
                };
                let message = format!(
                    "The source has {} bytes; a range is bytes=FIRST-LAST within them.",
                    file.bytes
                );
                range.ok_or_else(|| refusal(S3ErrorCode::InvalidRange, message))?
            }
        };
        let new = NewFile { bytes: Some(range.end - range.start), ..NewFile::default() };
        let context = session.context();
        let parts = vec![FilePart { tenant, id: file.id, range }];
        let source = Source::Files(self.bus(), &context, parts);
        let digest = BodyDigest::default();
        let stored = self.store_part(&session, &upload, input.part_number, new, source, digest);
        let (record, _) = stored.await?;
        let result = CopyPartResult {
            e_tag: Some(etag_of(&record)),
            last_modified: Some(stored_at(&record)),
            ..CopyPartResult::default()
        };
        let copy_part_result = Some(result);
        Ok(S3Response::new(UploadPartCopyOutput { copy_part_result, ..Default::default() }))
    }
}

//! Objects: files that are kept on shelves.

use crate::conditions::{Conditions, may_resume, must_be_absent};
use crate::digests::BodyDigest;
use crate::errors::{of_bus, refusal, unsupported};
use crate::metadata::{
    ObjectHeaders, etag_of, headers_of, keep_checksums, kept_checksums, stored_at,
};
use crate::names::{path_of, place_of, tenant_of};
use crate::receiving::{FilePart, Source};
use crate::service::DepotS3;
use crate::session::{Session, session_of};
use crate::traffic::S3Traffic;
use futures_util::stream;
use hyper::HeaderMap;
use rialto_api::DepotRight;
use rialto_bus::Dispatch;
use rialto_depot::{DirectoryKind, FileRecord, NewFile, TenantName};
use rialto_depot_desk::{
    AcceptedFile, DeleteKept, FileContent, FilePieces, FindKept, OpenedFile, ReadFile, StoreFile,
};
use s3s::dto::*;
use s3s::{S3ErrorCode, S3Request, S3Response, S3Result};
use std::ops::Range as Bytes;
use std::sync::Arc;

/// The most keys of a deletion.
const DELETED_MAX: usize = 1_000;
/// How often a read is begun again because its object was replaced meanwhile.
const READS_MAX: usize = 5;

/// Refuses an input with fields that this venue does not keep.
macro_rules! refuse_given {
    ($input:ident: $($field:ident $what:literal),* $(,)?) => { $(
        if $input.$field.is_some() {
            return Err($crate::errors::unsupported($what));
        }
    )* };
}
pub(crate) use refuse_given;

/// Refuses storage classes but the usual one, under which files are kept.
pub(crate) fn check_class(class: Option<&StorageClass>) -> S3Result<()> {
    match class.map(StorageClass::as_str) {
        None | Some(StorageClass::STANDARD) => Ok(()),
        Some(_) => Err(unsupported("storage classes but STANDARD")),
    }
}

/// The length of a body: that of its content, if it is sent in chunks.
pub(crate) fn length_of(headers: &HeaderMap, content_length: Option<i64>) -> S3Result<u64> {
    let decoded = headers.get("x-amz-decoded-content-length");
    let decoded = decoded.and_then(|it| it.to_str().ok()).and_then(|it| it.parse().ok());
    let length = decoded.or(content_length.and_then(|length| u64::try_from(length).ok()));
    let missing = || refusal(S3ErrorCode::MissingContentLength, "The body has no Content-Length.");
    length.ok_or_else(missing)
}

/// The part of an object that a range asks for.
fn range_of(range: Option<Range>, length: u64) -> S3Result<Option<Bytes<u64>>> {
    let Some(range) = range else { return Ok(None) };
    let checked = range.check(length).ok().filter(|part| !part.is_empty());
    checked.map(Some).ok_or_else(|| {
        let message = format!("The object has {length} bytes, and none in this range.");
        refusal(S3ErrorCode::InvalidRange, message)
    })
}

impl DepotS3 {
    /// The object of a key.
    pub(crate) async fn find(
        &self,
        session: &Session,
        tenant: &TenantName,
        key: &str,
    ) -> S3Result<Arc<FileRecord>> {
        let find = FindKept { tenant: tenant.clone(), path: path_of(key)? };
        let found = self.bus().query(find, &session.context()).await.map_err(of_bus)?;
        Ok(found.record)
    }

    /// Opens the object of a key, if its conditions are met.
    async fn open(
        &self,
        session: &Session,
        tenant: &TenantName,
        key: &str,
        conditions: &Conditions,
    ) -> S3Result<(Arc<FileRecord>, OpenedFile)> {
        for _ in 0..READS_MAX {
            let record = self.find(session, tenant, key).await?;
            conditions.check(&record, S3ErrorCode::NotModified)?;
            let read = ReadFile { tenant: tenant.clone(), id: record.id };
            match self.bus().query(read, &session.context()).await {
                Ok(opened) => return Ok((record, opened)),
                // It was replaced meanwhile.
                Err(error) if error.code() == "unknown_file" => {}
                Err(error) => return Err(of_bus(error)),
            }
        }
        Err(refusal(S3ErrorCode::OperationAborted, "The object is replaced all the time."))
    }

    /// Stores a file with this content.
    pub(crate) async fn store(
        &self,
        session: &Session,
        tenant: TenantName,
        file: NewFile,
        source: Source<'_>,
        digest: BodyDigest,
    ) -> S3Result<(AcceptedFile, Checksum)> {
        // The first file of an unknown tenant would create it, with work directories.
        session.key.principal.require(&[DepotRight::Write], &tenant).map_err(of_bus)?;
        self.find_bucket(session, &tenant)?;
        let file = NewFile { kind: Some(DirectoryKind::Shelf), ..file };
        let (pieces, content) = FileContent::channel();
        let context = session.context();
        let storing = self.bus().send(StoreFile { tenant, file, content }, &context);
        source.pass_on(self.keys(), session, digest, pieces, storing).await
    }

    pub(crate) async fn put(
        &self,
        request: S3Request<PutObjectInput>,
    ) -> S3Result<S3Response<PutObjectOutput>> {
        let session = session_of(&request.extensions)?;
        let mut input = request.input;
        refuse_given!(input:
            sse_customer_algorithm "encryption with keys of clients",
            server_side_encryption "the choice of encryption",
            tagging "tags",
            object_lock_mode "object locks",
            object_lock_legal_hold_status "object locks",
            website_redirect_location "redirects",
            write_offset_bytes "appending",
        );
        check_class(input.storage_class.as_ref())?;
        let tenant = tenant_of(&input.bucket)?;
        let (directory, name) = place_of(&input.key)?;
        let if_absent = must_be_absent(input.if_match.as_ref(), input.if_none_match.as_ref())?;
        let digest = BodyDigest::of(&request.headers)?;
        let checksums = keep_checksums(digest.declared());
        let (content_type, metadata) = headers_of!(input).describe(checksums)?;
        let file = NewFile {
            content_type,
            metadata,
            bytes: Some(length_of(&request.headers, input.content_length)?),
            if_absent,
            ..NewFile::new(directory, name)
        };
        let source = Source::Body(input.body, request.trailing_headers);
        let (stored, checksums) = self.store(&session, tenant, file, source, digest).await?;
        Ok(S3Response::new(PutObjectOutput {
            e_tag: Some(etag_of(&stored.record)),
            checksum_crc32: checksums.checksum_crc32,
            checksum_crc32c: checksums.checksum_crc32c,
            checksum_crc64nvme: checksums.checksum_crc64nvme,
            checksum_sha1: checksums.checksum_sha1,
            checksum_sha256: checksums.checksum_sha256,
            ..PutObjectOutput::default()
        }))
    }

    pub(crate) async fn get(
        &self,
        request: S3Request<GetObjectInput>,
    ) -> S3Result<S3Response<GetObjectOutput>> {
        let session = session_of(&request.extensions)?;
        let (input, headers) = (request.input, request.headers);
        refuse_given!(input:
            version_id "versions",
            part_number "reading by parts",
            sse_customer_algorithm "encryption with keys of clients",
        );
        let tenant = tenant_of(&input.bucket)?;
        let conditions =
            Conditions::of(&headers, input.if_modified_since, input.if_unmodified_since);
        let (file, opened) = self.open(&session, &tenant, &input.key, &conditions).await?;
        let range = input.range.filter(|_| may_resume(&headers, &file));
        let part = range_of(range, file.bytes)?;
        let range = part.clone().unwrap_or(0..file.bytes);
        let body = match range.is_empty() {
            true => None,
            false => {
                let pieces = FilePieces::begin(opened, range.clone()).await.map_err(of_bus)?;
                Some(blob(pieces, self.traffic()))
            }
        };
        // A checksum is that of the whole object.
        let with_checksums = part.is_none() && input.checksum_mode.is_some();
        let mut output = described(&file, with_checksums);
        output.body = body;
        output.content_length = i64::try_from(range.end - range.start).ok();
        output.content_range =
            part.map(|part| format!("bytes {}-{}/{}", part.start, part.end - 1, file.bytes));
        Ok(S3Response::new(output))
    }

    pub(crate) async fn head(
        &self,
        request: S3Request<HeadObjectInput>,
    ) -> S3Result<S3Response<HeadObjectOutput>> {
        let session = session_of(&request.extensions)?;
        let (input, headers) = (request.input, request.headers);
        refuse_given!(input:
            version_id "versions",
            part_number "reading by parts",
            sse_customer_algorithm "encryption with keys of clients",
        );
        let tenant = tenant_of(&input.bucket)?;
        let file = self.find(&session, &tenant, &input.key).await?;
        let conditions =
            Conditions::of(&headers, input.if_modified_since, input.if_unmodified_since);
        conditions.check(&file, S3ErrorCode::NotModified)?;
        // RFC 9110 defines ranges for GET alone.
        let with_checksums = input.checksum_mode.is_some();
        let it = described(&file, with_checksums);
        Ok(S3Response::new(HeadObjectOutput {
            accept_ranges: it.accept_ranges,
            cache_control: it.cache_control,
            checksum_crc32: it.checksum_crc32,
            checksum_crc32c: it.checksum_crc32c,
            checksum_crc64nvme: it.checksum_crc64nvme,
            checksum_sha1: it.checksum_sha1,
            checksum_sha256: it.checksum_sha256,
            checksum_type: it.checksum_type,
            content_disposition: it.content_disposition,
            content_encoding: it.content_encoding,
            content_language: it.content_language,
            content_length: i64::try_from(file.bytes).ok(),
            content_type: it.content_type,
            e_tag: it.e_tag,
            expires: it.expires,
            last_modified: it.last_modified,
            metadata: it.metadata,
            ..HeadObjectOutput::default()
        }))
    }

    pub(crate) async fn delete(
        &self,
        request: S3Request<DeleteObjectInput>,
    ) -> S3Result<S3Response<DeleteObjectOutput>> {
        let session = session_of(&request.extensions)?;
        let input = request.input;
        refuse_given!(input:
            version_id "versions",
            if_match "conditional deletion",
            if_match_last_modified_time "conditional deletion",
            if_match_size "conditional deletion",
        );
        let tenant = tenant_of(&input.bucket)?;
        session.key.principal.require(&[DepotRight::Write], &tenant).map_err(of_bus)?;
        self.find_bucket(&session, &tenant)?;
        self.delete_key(&session, &tenant, &input.key).await?;
        Ok(S3Response::new(DeleteObjectOutput::default()))
    }

    /// Deletes the object of a key, if there is one.
    async fn delete_key(&self, session: &Session, tenant: &TenantName, key: &str) -> S3Result<()> {
        // A key that cannot be a path names no object, and so there is nothing to delete.
        let Ok(path) = path_of(key) else { return Ok(()) };
        let delete = DeleteKept { tenant: tenant.clone(), path };
        self.bus().send(delete, &session.context()).await.map(drop).map_err(of_bus)
    }

    pub(crate) async fn delete_many(
        &self,
        request: S3Request<DeleteObjectsInput>,
    ) -> S3Result<S3Response<DeleteObjectsOutput>> {
        let session = session_of(&request.extensions)?;
        let DeleteObjectsInput { bucket, delete, .. } = request.input;
        let tenant = tenant_of(&bucket)?;
        session.key.principal.require(&[DepotRight::Write], &tenant).map_err(of_bus)?;
        self.find_bucket(&session, &tenant)?;
        if delete.objects.is_empty() || delete.objects.len() > DELETED_MAX {
            let message = format!("A deletion names 1 to {DELETED_MAX} objects.");
            return Err(refusal(S3ErrorCode::MalformedXML, message));
        }
        let is_quiet = delete.quiet.unwrap_or_default();
        let (mut deleted, mut errors) = (Vec::new(), Vec::new());
        for object in delete.objects {
            let done = match object.version_id.is_some() || object.e_tag.is_some() {
                true => Err(unsupported("versions and conditions of deletions")),
                false => self.delete_key(&session, &tenant, &object.key).await,
            };
            let key = Some(object.key);
            match done {
                Ok(()) if is_quiet => {}
                Ok(()) => deleted.push(DeletedObject { key, ..DeletedObject::default() }),
                Err(error) => errors.push(Error {
                    key,
                    code: Some(error.code().as_str().to_owned()),
                    message: error.message().map(str::to_owned),
                    version_id: None,
                }),
            }
        }
        let (deleted, errors) = (Some(deleted), Some(errors));
        Ok(S3Response::new(DeleteObjectsOutput { deleted, errors, ..Default::default() }))
    }

    /// The object that a copy is made of.
    pub(crate) async fn source(
        &self,
        session: &Session,
        source: &CopySource,
        conditions: &Conditions,
    ) -> S3Result<(TenantName, Arc<FileRecord>)> {
        let CopySource::Bucket { bucket, key, version_id } = source else {
            return Err(unsupported("copies from access points"));
        };
        if version_id.is_some() {
            return Err(unsupported("versions"));
        }
        let tenant = tenant_of(bucket)?;
        let file = self.find(session, &tenant, key).await?;
        conditions.check(&file, S3ErrorCode::PreconditionFailed)?;
        Ok((tenant, file))
    }

    pub(crate) async fn copy(
        &self,
        request: S3Request<CopyObjectInput>,
    ) -> S3Result<S3Response<CopyObjectOutput>> {
        let session = session_of(&request.extensions)?;
        let mut input = request.input;
        refuse_given!(input:
            sse_customer_algorithm "encryption with keys of clients",
            copy_source_sse_customer_algorithm "encryption with keys of clients",
            server_side_encryption "the choice of encryption",
            tagging "tags",
            object_lock_mode "object locks",
            object_lock_legal_hold_status "object locks",
            website_redirect_location "redirects",
        );
        check_class(input.storage_class.as_ref())?;
        let tenant = tenant_of(&input.bucket)?;
        let (directory, name) = place_of(&input.key)?;
        let conditions = Conditions {
            if_match: input.copy_source_if_match.take().map(Into::into),
            if_none_match: input.copy_source_if_none_match.take().map(Into::into),
            if_modified_since: input.copy_source_if_modified_since.take(),
            if_unmodified_since: input.copy_source_if_unmodified_since.take(),
        };
        let (from, file) = self.source(&session, &input.copy_source, &conditions).await?;
        let replaces = match input.metadata_directive.as_ref().map(MetadataDirective::as_str) {
            None | Some(MetadataDirective::COPY) => false,
            Some(MetadataDirective::REPLACE) => true,
            Some(_) => {
                let message = "x-amz-metadata-directive is COPY or REPLACE.";
                return Err(refusal(S3ErrorCode::InvalidArgument, message));
            }
        };
        if !replaces && from == tenant && file.path() == input.key {
            let message = "A copy of an object to itself changes its metadata.";
            return Err(refusal(S3ErrorCode::InvalidRequest, message));
        }
        let headers = if replaces { headers_of!(input) } else { ObjectHeaders::of(&file) };
        let checksums: Vec<_> =
            kept_checksums(&file).map(|(name, value)| (name, value.to_owned())).collect();
        let (content_type, metadata) = headers.describe(keep_checksums(&checksums))?;
        let new = NewFile {
            content_type,
            metadata,
            bytes: Some(file.bytes),
            sha256: file.sha256,
            ..NewFile::new(directory, name)
        };
        let context = session.context();
        let part = FilePart { tenant: from, id: file.id, range: 0..file.bytes };
        let source = Source::Files(self.bus(), &context, vec![part]);
        let (stored, _) = self.store(&session, tenant, new, source, BodyDigest::default()).await?;
        let result = CopyObjectResult {
            e_tag: Some(etag_of(&stored.record)),
            last_modified: Some(stored_at(&stored.record)),
            ..CopyObjectResult::default()
        };
        let copy_object_result = Some(result);
        Ok(S3Response::new(CopyObjectOutput { copy_object_result, ..Default::default() }))
    }
}

/// What is said of an object besides its content.
fn described(file: &FileRecord, with_checksums: bool) -> GetObjectOutput {
    let headers = ObjectHeaders::of(file);
    let mut output = GetObjectOutput {
        accept_ranges: Some("bytes".to_owned()),
        cache_control: headers.cache_control,
        content_disposition: headers.content_disposition,
        content_encoding: headers.content_encoding,
        content_language: headers.content_language,
        content_type: headers.content_type,
        e_tag: Some(etag_of(file)),
        expires: headers.expires,
        last_modified: Some(stored_at(file)),
        metadata: headers.metadata,
        ..GetObjectOutput::default()
    };
    if with_checksums {
        for (name, value) in kept_checksums(file) {
            let place = match name {
                "x-amz-checksum-crc32" => &mut output.checksum_crc32,
                "x-amz-checksum-crc32c" => &mut output.checksum_crc32c,
                "x-amz-checksum-crc64nvme" => &mut output.checksum_crc64nvme,
                "x-amz-checksum-sha1" => &mut output.checksum_sha1,
                _ => &mut output.checksum_sha256,
            };
            *place = Some(value.to_owned());
            output.checksum_type = Some(ChecksumType::from_static(ChecksumType::FULL_OBJECT));
        }
    }
    output
}

/// The content of a file as a body.
fn blob(pieces: FilePieces, traffic: &Arc<S3Traffic>) -> StreamingBlob {
    let (mut pieces, traffic) = (pieces, Arc::clone(traffic));
    StreamingBlob::wrap(stream::poll_fn(move |cx| {
        pieces.poll_next(cx).map(|piece| {
            piece.map(|piece| {
                piece.inspect_err(|error| {
                    traffic.count_cut();
                    tracing::error!(at = error.at, "a download ended early: {}", error.reason);
                })
            })
        })
    }))
}

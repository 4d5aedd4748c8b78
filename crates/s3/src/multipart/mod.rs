//! Multipart uploads. Their parts are files of the tenant, so that they survive the process, count in
//! its quotas and expire.
//!
//! | Path | What it is |
//! |---|---|
//! | `.multipart/uploads/ID` | an upload: an empty file whose metadata has the key and the headers |
//! | `.multipart/parts/ID/NUMBER` | a part |
//!
//! A part is accepted only while its upload is there. The completion stores the parts as one file, and
//! then deletes the upload and the parts; a crash between leaves parts that expire.

mod complete;
mod list;
mod parts;
mod turns;

pub(crate) use turns::Turns;

use crate::digests::BodyDigest;
use crate::errors::{of_bus, refusal};
use crate::metadata::{entry, headers_of};
use crate::names::{place_of, tenant_of};
use crate::objects::{check_class, refuse_given};
use crate::receiving::Source;
use crate::service::DepotS3;
use crate::session::{Session, session_of};
use rialto_api::{DepotGrant, DepotRight, TenantPattern};
use rialto_bus::{Context, Dispatch};
use rialto_depot::{
    DepotError, Directory, FileInfo, FileName, FileRecord, NewFile, PAGE_FILES_MAX, TenantName,
    Timestamp,
};
use rialto_depot_desk::{
    DeleteKept, DepotPrincipal, FileList, FindKept, KeepParts, ListFiles, PARTS_DIRECTORY,
};
use s3s::dto::*;
use s3s::{S3Error, S3ErrorCode, S3Request, S3Response, S3Result};
use std::sync::Arc;

/// The most parts of an upload.
pub const PARTS_MAX: i32 = 10_000;
/// The fewest bytes of a part that is not the last.
pub const PART_BYTES_MIN: u64 = 5 << 20;
/// The most uploads of a bucket in progress.
pub const TENANT_UPLOADS_MAX: usize = 1_000;

/// The entries of an upload's metadata.
const KEY: &str = "s3.upload-key";
const OWNER: &str = "s3.upload-owner";
/// Entries of an upload that are not those of its object.
const UPLOAD_ENTRIES: [&str; 2] = [KEY, OWNER];
/// The hexadecimal digits of an upload's id.
const ID_DIGITS: usize = 32;

/// An upload in progress.
struct Upload {
    tenant: TenantName,
    id: String,
    record: Arc<FileRecord>,
    /// Who may read and write the parts: the desk counts it as the key.
    principal: DepotPrincipal,
}

/// Who may read and write the parts of uploads to this tenant, for a key that may write there.
fn parts_principal(session: &Session, tenant: &TenantName) -> S3Result<DepotPrincipal> {
    session.key.principal.require(&[DepotRight::Write], tenant).map_err(of_bus)?;
    let tenants = TenantPattern::new(tenant.as_str()).map_err(S3Error::internal_error)?;
    let rights = vec![DepotRight::Read, DepotRight::Write];
    Ok(DepotPrincipal::new(session.key.principal.id(), [DepotGrant { tenants, rights }]))
}

fn uploads_prefix() -> String {
    format!("{PARTS_DIRECTORY}/uploads/")
}

fn parts_prefix(id: &str) -> String {
    format!("{PARTS_DIRECTORY}/parts/{id}/")
}

fn no_such_upload() -> S3Error {
    let message = "There is no such upload: it was completed, aborted, or has expired.";
    refusal(S3ErrorCode::NoSuchUpload, message)
}

/// A file in a directory of parts.
fn inner_file(directory: &str, name: &str) -> S3Result<NewFile> {
    let invalid = |error| S3Error::internal_error(DepotError::Name(error));
    let directory = Directory::new(directory.trim_end_matches('/')).map_err(invalid)?;
    Ok(NewFile::new(directory, FileName::new(name).map_err(invalid)?))
}

impl Upload {
    fn context(&self) -> Context<'_> {
        Context::new().with_principal(&self.principal)
    }

    /// Whether the client means this upload.
    fn is_of(&self, key: &str) -> bool {
        entry(&self.record, KEY) == Some(key)
    }

    fn expires_at(&self) -> Option<Timestamp> {
        self.record.expires_at
    }
}

impl DepotS3 {
    /// The upload of a request.
    async fn upload(
        &self,
        session: &Session,
        bucket: &str,
        key: &str,
        id: &str,
    ) -> S3Result<Upload> {
        let tenant = tenant_of(bucket)?;
        let principal = parts_principal(session, &tenant)?;
        self.find_bucket(session, &tenant)?;
        let is_id = id.len() == ID_DIGITS && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_id {
            return Err(no_such_upload());
        }
        let path = format!("{}{id}", uploads_prefix());
        let find = FindKept { tenant: tenant.clone(), path };
        let found = self.bus().query(find, &Context::new().with_principal(&principal)).await;
        let record = match found {
            Ok(found) => found.record,
            Err(error) if error.code() == "unknown_file" => return Err(no_such_upload()),
            Err(error) => return Err(of_bus(error)),
        };
        let upload = Upload { tenant, id: id.to_owned(), record, principal };
        if upload.is_of(key) { Ok(upload) } else { Err(no_such_upload()) }
    }

    /// The object of a key, for a key of the venue that may write it.
    async fn find_written(
        &self,
        session: &Session,
        tenant: &TenantName,
        key: &str,
    ) -> S3Result<Option<Arc<FileRecord>>> {
        let principal = parts_principal(session, tenant)?;
        let find = FindKept { tenant: tenant.clone(), path: crate::names::path_of(key)? };
        match self.bus().query(find, &Context::new().with_principal(&principal)).await {
            Ok(found) => Ok(Some(found.record)),
            Err(error) if error.code() == "unknown_file" => Ok(None),
            Err(error) => Err(of_bus(error)),
        }
    }

    /// All files whose paths begin so.
    async fn all_files(
        &self,
        tenant: &TenantName,
        principal: &DepotPrincipal,
        prefix: &str,
        max: usize,
    ) -> S3Result<Vec<FileInfo>> {
        let mut files: Vec<FileInfo> = Vec::new();
        while files.len() < max {
            let page = (max - files.len()).min(PAGE_FILES_MAX);
            let list = ListFiles {
                tenant: tenant.clone(),
                list: FileList::Kept(files.last().map(|file| file.record.path())),
                prefix: prefix.to_owned(),
                max: page,
            };
            let context = Context::new().with_principal(principal);
            let found = self.bus().query(list, &context).await.map_err(of_bus)?;
            let is_last = found.len() < page;
            files.extend(found);
            if is_last {
                break;
            }
        }
        Ok(files)
    }

    /// Refuses one upload more than a key, or the bucket, may have in progress.
    async fn check_uploads(
        &self,
        session: &Session,
        tenant: &TenantName,
        principal: &DepotPrincipal,
    ) -> S3Result<()> {
        let max = TENANT_UPLOADS_MAX;
        let open = self.all_files(tenant, principal, &uploads_prefix(), max).await?;
        let is_own = |file: &&FileInfo| entry(&file.record, OWNER) == Some(&session.key.id);
        let own = open.iter().filter(is_own).count();
        let own_max = self.options().key_open_uploads_max;
        if open.len() < max && own < own_max {
            return Ok(());
        }
        let message = format!(
            "The key has {own} uploads to this bucket in progress, and all keys {}; at most \
             {own_max} and {max} may be. Complete or abort some.",
            open.len()
        );
        Err(refusal(S3ErrorCode::SlowDown, message))
    }

    pub(crate) async fn begin_upload(
        &self,
        request: S3Request<CreateMultipartUploadInput>,
    ) -> S3Result<S3Response<CreateMultipartUploadOutput>> {
        let session = session_of(&request.extensions)?;
        let mut input = request.input;
        refuse_given!(input:
            sse_customer_algorithm "encryption with keys of clients",
            server_side_encryption "the choice of encryption",
            tagging "tags",
            object_lock_mode "object locks",
            object_lock_legal_hold_status "object locks",
            website_redirect_location "redirects",
        );
        check_class(input.storage_class.as_ref())?;
        let tenant = tenant_of(&input.bucket)?;
        let (directory, _) = place_of(&input.key)?;
        let principal = parts_principal(&session, &tenant)?;
        self.find_bucket(&session, &tenant)?;
        self.check_shelf(&tenant, &directory)?;
        let _turn = self.beginnings().wait_for(tenant.as_str()).await;
        self.check_uploads(&session, &tenant, &principal).await?;
        let keep = KeepParts { tenant: tenant.clone() };
        self.bus().send(keep, &session.context()).await.map_err(of_bus)?;
        let mut random = [0; ID_DIGITS / 2];
        getrandom::fill(&mut random).map_err(|_| S3Error::new(S3ErrorCode::InternalError))?;
        let id: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        let more =
            vec![(KEY.to_owned(), input.key.clone()), (OWNER.to_owned(), session.key.id.clone())];
        let (content_type, metadata) = headers_of!(input).describe(more)?;
        let now = self.bus().depot().options().clock.now();
        let file = NewFile {
            content_type,
            metadata,
            bytes: Some(0),
            expires_at: Some(now.after(self.options().upload_life)),
            ..inner_file(&uploads_prefix(), &id)?
        };
        let source = Source::Body(None, None);
        self.store(&session, tenant, file, source, BodyDigest::default()).await?;
        Ok(S3Response::new(CreateMultipartUploadOutput {
            bucket: Some(input.bucket),
            key: Some(input.key),
            upload_id: Some(id),
            checksum_algorithm: input.checksum_algorithm,
            checksum_type: input.checksum_type,
            ..CreateMultipartUploadOutput::default()
        }))
    }

    /// Refuses keys in work directories before their parts are sent.
    fn check_shelf(&self, tenant: &TenantName, directory: &Directory) -> S3Result<()> {
        use rialto_depot::DirectoryKind;
        let kind = self.bus().depot().directory_kind(tenant, directory);
        match kind.map_err(|error| of_bus(rialto_depot_desk::depot_error(error)))? {
            DirectoryKind::Shelf => Ok(()),
            kind => {
                let directory = directory.clone();
                let error = DepotError::WrongKind { directory, kind };
                Err(of_bus(rialto_depot_desk::depot_error(error)))
            }
        }
    }

    pub(crate) async fn abort_upload(
        &self,
        request: S3Request<AbortMultipartUploadInput>,
    ) -> S3Result<S3Response<AbortMultipartUploadOutput>> {
        let session = session_of(&request.extensions)?;
        let input = request.input;
        let upload = self.upload(&session, &input.bucket, &input.key, &input.upload_id).await?;
        self.forget(&upload).await?;
        Ok(S3Response::new(AbortMultipartUploadOutput::default()))
    }

    /// Deletes an upload, so that no part is accepted any more, and then its parts.
    async fn forget(&self, upload: &Upload) -> S3Result<()> {
        self.end_upload(upload).await?;
        self.delete_parts(upload).await
    }

    async fn end_upload(&self, upload: &Upload) -> S3Result<()> {
        self.delete_inner(upload, format!("{}{}", uploads_prefix(), upload.id)).await
    }

    async fn delete_parts(&self, upload: &Upload) -> S3Result<()> {
        let (prefix, max) = (parts_prefix(&upload.id), PARTS_MAX.unsigned_abs() as usize);
        for part in self.all_files(&upload.tenant, &upload.principal, &prefix, max).await? {
            self.delete_inner(upload, part.record.path()).await?;
        }
        Ok(())
    }

    async fn delete_inner(&self, upload: &Upload, path: String) -> S3Result<()> {
        let delete = DeleteKept { tenant: upload.tenant.clone(), path };
        self.bus().send(delete, &upload.context()).await.map(drop).map_err(of_bus)
    }
}

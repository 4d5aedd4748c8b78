//! Lists of uploads in progress, and of their parts.

use super::complete::number_of;
use super::{
    KEY, OWNER, PARTS_MAX, TENANT_UPLOADS_MAX, parts_prefix, parts_principal, uploads_prefix,
};
use crate::listing::{KeyEncoding, page_max};
use crate::metadata::{entry, etag_of, kept_checksums, stored_at};
use crate::names::tenant_of;
use crate::service::{DepotS3, owner};
use crate::session::session_of;
use rialto_depot::FileRecord;
use s3s::dto::*;
use s3s::{S3Request, S3Response, S3Result};
use std::collections::BTreeSet;

fn part_info(number: i32, file: &FileRecord) -> Part {
    let checksum = |name: &str| {
        kept_checksums(file).find(|(kept, _)| *kept == name).map(|(_, value)| value.to_owned())
    };
    Part {
        part_number: Some(number),
        e_tag: Some(etag_of(file)),
        last_modified: Some(stored_at(file)),
        size: i64::try_from(file.bytes).ok(),
        checksum_crc32: checksum("x-amz-checksum-crc32"),
        checksum_crc32c: checksum("x-amz-checksum-crc32c"),
        checksum_crc64nvme: checksum("x-amz-checksum-crc64nvme"),
        checksum_sha1: checksum("x-amz-checksum-sha1"),
        checksum_sha256: checksum("x-amz-checksum-sha256"),
    }
}

impl DepotS3 {
    pub(crate) async fn parts(
        &self,
        request: S3Request<ListPartsInput>,
    ) -> S3Result<S3Response<ListPartsOutput>> {
        let session = session_of(&request.extensions)?;
        let input = request.input;
        let max = page_max(input.max_parts)?;
        let after = input.part_number_marker.unwrap_or_default();
        let upload = self.upload(&session, &input.bucket, &input.key, &input.upload_id).await?;
        let (prefix, all) = (parts_prefix(&upload.id), PARTS_MAX.unsigned_abs() as usize);
        let files = self.all_files(&upload.tenant, &upload.principal, &prefix, all).await?;
        let numbered =
            files.iter().filter_map(|file| Some((number_of(&file.record)?, &file.record)));
        let mut behind = numbered.filter(|(number, _)| *number > after).peekable();
        let page = behind.by_ref().take(max);
        let parts: Vec<_> = page.map(|(number, file)| part_info(number, file)).collect();
        let has_more = behind.peek().is_some();
        let id = entry(&upload.record, OWNER).map(str::to_owned);
        Ok(S3Response::new(ListPartsOutput {
            is_truncated: Some(has_more),
            next_part_number_marker: parts.last().and_then(|part| part.part_number),
            part_number_marker: Some(after),
            max_parts: i32::try_from(max).ok(),
            parts: Some(parts),
            initiator: Some(Initiator { display_name: id.clone(), id }),
            owner: Some(owner(&session)),
            bucket: Some(input.bucket),
            key: Some(input.key),
            upload_id: Some(input.upload_id),
            storage_class: Some(StorageClass::from_static(StorageClass::STANDARD)),
            ..ListPartsOutput::default()
        }))
    }

    pub(crate) async fn uploads(
        &self,
        request: S3Request<ListMultipartUploadsInput>,
    ) -> S3Result<S3Response<ListMultipartUploadsOutput>> {
        let session = session_of(&request.extensions)?;
        let input = request.input;
        let encoding = KeyEncoding::of(input.encoding_type.as_ref())?;
        let max = page_max(input.max_uploads)?;
        let tenant = tenant_of(&input.bucket)?;
        let principal = parts_principal(&session, &tenant)?;
        self.find_bucket(&session, &tenant)?;
        let files =
            self.all_files(&tenant, &principal, &uploads_prefix(), TENANT_UPLOADS_MAX).await?;
        let (prefix, delimiter) =
            (input.prefix.as_deref().unwrap_or_default(), input.delimiter.as_deref());
        let marker = (
            input.key_marker.clone().unwrap_or_default(),
            input.upload_id_marker.clone().unwrap_or_default(),
        );
        let mut found: Vec<(&str, &str, &FileRecord)> = files
            .iter()
            .filter_map(|file| {
                Some((entry(&file.record, KEY)?, file.record.name.as_str(), &*file.record))
            })
            .filter(|(key, id, _)| {
                // Without an id, all uploads of the key of the marker are behind.
                let is_behind = match marker.1.is_empty() {
                    true => *key > marker.0.as_str(),
                    false => (*key, *id) > (&*marker.0, &*marker.1),
                };
                key.starts_with(prefix) && is_behind
            })
            .collect();
        found.sort_by_key(|(key, id, _)| (*key, *id));
        let (mut uploads, mut prefixes) = (Vec::new(), BTreeSet::new());
        let (mut last, mut has_more) = (None, false);
        for (key, id, file) in found {
            let end = delimiter.filter(|it| !it.is_empty()).and_then(|delimiter| {
                Some(prefix.len() + key[prefix.len()..].find(delimiter)? + delimiter.len())
            });
            let is_known = end.is_some_and(|end| prefixes.contains(&key[..end]));
            if !is_known && uploads.len() + prefixes.len() == max {
                has_more = true;
                break;
            }
            last = Some((key, id));
            match end {
                Some(end) => drop(prefixes.insert(&key[..end])),
                None => {
                    let owner_id = entry(file, OWNER).map(str::to_owned);
                    uploads.push(MultipartUpload {
                        key: Some(encoding.encode(key)),
                        upload_id: Some(id.to_owned()),
                        initiated: Some(stored_at(file)),
                        initiator: Some(Initiator { display_name: owner_id.clone(), id: owner_id }),
                        owner: Some(owner(&session)),
                        storage_class: Some(StorageClass::from_static(StorageClass::STANDARD)),
                        ..MultipartUpload::default()
                    });
                }
            }
        }
        let last = last.filter(|_| has_more);
        let prefixes = prefixes.iter().map(|it| CommonPrefix { prefix: Some(encoding.encode(it)) });
        Ok(S3Response::new(ListMultipartUploadsOutput {
            uploads: Some(uploads),
            common_prefixes: Some(prefixes.collect()),
            is_truncated: Some(has_more),
            next_key_marker: last.map(|(key, _)| encoding.encode(key)),
            next_upload_id_marker: last.map(|(_, id)| id.to_owned()),
            max_uploads: i32::try_from(max).ok(),
            prefix: encoding.encode_some(Some(prefix)),
            delimiter: encoding.encode_some(delimiter),
            key_marker: encoding.encode_some(input.key_marker.as_deref()),
            upload_id_marker: input.upload_id_marker,
            encoding_type: input.encoding_type,
            bucket: Some(input.bucket),
            ..ListMultipartUploadsOutput::default()
        }))
    }
}

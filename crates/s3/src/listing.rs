//! Lists of objects.

use crate::errors::{of_bus, refusal};
use crate::metadata::{etag_of, stored_at};
use crate::names::tenant_of;
use crate::service::{DepotS3, owner};
use crate::session::{Session, session_of};
use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use rialto_bus::Dispatch;
use rialto_depot_desk::{ListTree, TreeEntry, TreePage};
use s3s::dto::{
    CommonPrefix, EncodingType, ListObjectsInput, ListObjectsOutput, ListObjectsV2Input,
    ListObjectsV2Output, Object, ObjectStorageClass, Owner,
};
use s3s::{S3ErrorCode, S3Request, S3Response, S3Result};

/// The most entries of a page.
const PAGE_MAX: i32 = 1_000;
/// What stands as it is in an encoded key.
const KEPT: AsciiSet =
    NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// Encodes keys of a page if the client asked for it.
#[derive(Clone, Copy)]
pub(crate) struct KeyEncoding(bool);

impl KeyEncoding {
    pub(crate) fn of(asked: Option<&EncodingType>) -> S3Result<KeyEncoding> {
        match asked.map(EncodingType::as_str) {
            None => Ok(KeyEncoding(false)),
            Some(EncodingType::URL) => Ok(KeyEncoding(true)),
            Some(_) => Err(refusal(S3ErrorCode::InvalidArgument, "encoding-type is url.")),
        }
    }

    pub(crate) fn encode(self, text: &str) -> String {
        match self.0 {
            true => utf8_percent_encode(text, &KEPT).to_string(),
            false => text.to_owned(),
        }
    }

    pub(crate) fn encode_some(self, text: Option<&str>) -> Option<String> {
        text.filter(|text| !text.is_empty()).map(|text| self.encode(text))
    }
}

/// The number of entries that a client asks for, as far as there may be.
pub(crate) fn page_max(asked: Option<i32>) -> S3Result<usize> {
    let asked = asked.unwrap_or(PAGE_MAX);
    let max = usize::try_from(asked.min(PAGE_MAX));
    max.map_err(|_| refusal(S3ErrorCode::InvalidArgument, "The number of entries is negative."))
}

struct Listed {
    contents: Vec<Object>,
    prefixes: Vec<CommonPrefix>,
    last: Option<String>,
    has_more: bool,
}

impl Listed {
    fn new(page: TreePage, encoding: KeyEncoding, owner: Option<Owner>) -> Listed {
        let last = page.entries.last().map(TreeEntry::path);
        let (mut contents, mut prefixes) = (Vec::new(), Vec::new());
        for entry in page.entries {
            match entry {
                TreeEntry::Prefix(prefix) => {
                    prefixes.push(CommonPrefix { prefix: Some(encoding.encode(&prefix)) });
                }
                TreeEntry::File(file) => contents.push(Object {
                    key: Some(encoding.encode(&file.record.path())),
                    e_tag: Some(etag_of(&file.record)),
                    last_modified: Some(stored_at(&file.record)),
                    size: i64::try_from(file.record.bytes).ok(),
                    storage_class: Some(ObjectStorageClass::from_static(
                        ObjectStorageClass::STANDARD,
                    )),
                    owner: owner.clone(),
                    ..Object::default()
                }),
            }
        }
        Listed { contents, prefixes, last, has_more: page.has_more }
    }
}

impl DepotS3 {
    async fn list_tree(
        &self,
        session: &Session,
        bucket: &str,
        prefix: Option<&str>,
        delimiter: Option<&str>,
        after: String,
        max: usize,
    ) -> S3Result<TreePage> {
        let tenant = tenant_of(bucket)?;
        if max == 0 {
            // Rights and bucket are checked as ever.
            self.find_bucket(session, &tenant)?;
            return Ok(TreePage::default());
        }
        let list = ListTree {
            tenant,
            prefix: prefix.unwrap_or_default().to_owned(),
            delimiter: delimiter.unwrap_or_default().to_owned(),
            after,
            max,
        };
        self.bus().query(list, &session.context()).await.map_err(of_bus)
    }

    pub(crate) async fn list_v2(
        &self,
        request: S3Request<ListObjectsV2Input>,
    ) -> S3Result<S3Response<ListObjectsV2Output>> {
        let session = session_of(&request.extensions)?;
        let input = request.input;
        let encoding = KeyEncoding::of(input.encoding_type.as_ref())?;
        let max = page_max(input.max_keys)?;
        let after = match &input.continuation_token {
            Some(token) => {
                let text = BASE64_URL_SAFE_NO_PAD.decode(token).ok();
                let text = text.and_then(|text| String::from_utf8(text).ok());
                let invalid =
                    || refusal(S3ErrorCode::InvalidArgument, "The continuation token is wrong.");
                text.ok_or_else(invalid)?
            }
            None => input.start_after.clone().unwrap_or_default(),
        };
        let (prefix, delimiter) = (input.prefix.as_deref(), input.delimiter.as_deref());
        let page = self.list_tree(&session, &input.bucket, prefix, delimiter, after, max).await?;
        let owner = input.fetch_owner.unwrap_or_default().then(|| owner(&session));
        let listed = Listed::new(page, encoding, owner);
        let token = listed.last.filter(|_| listed.has_more);
        let count = listed.contents.len() + listed.prefixes.len();
        Ok(S3Response::new(ListObjectsV2Output {
            key_count: i32::try_from(count).ok(),
            max_keys: i32::try_from(max).ok(),
            is_truncated: Some(listed.has_more),
            next_continuation_token: token.map(|last| BASE64_URL_SAFE_NO_PAD.encode(last)),
            contents: Some(listed.contents),
            common_prefixes: Some(listed.prefixes),
            prefix: Some(encoding.encode(prefix.unwrap_or_default())),
            delimiter: encoding.encode_some(delimiter),
            start_after: encoding.encode_some(input.start_after.as_deref()),
            continuation_token: input.continuation_token,
            encoding_type: input.encoding_type,
            name: Some(input.bucket),
            ..ListObjectsV2Output::default()
        }))
    }

    pub(crate) async fn list_v1(
        &self,
        request: S3Request<ListObjectsInput>,
    ) -> S3Result<S3Response<ListObjectsOutput>> {
        let session = session_of(&request.extensions)?;
        let input = request.input;
        let encoding = KeyEncoding::of(input.encoding_type.as_ref())?;
        let max = page_max(input.max_keys)?;
        let (prefix, delimiter) = (input.prefix.as_deref(), input.delimiter.as_deref());
        let marker = input.marker.clone().unwrap_or_default();
        let page =
            self.list_tree(&session, &input.bucket, prefix, delimiter, marker.clone(), max).await?;
        let listed = Listed::new(page, encoding, Some(owner(&session)));
        let next = listed.last.filter(|_| listed.has_more && delimiter.is_some());
        Ok(S3Response::new(ListObjectsOutput {
            max_keys: i32::try_from(max).ok(),
            is_truncated: Some(listed.has_more),
            next_marker: next.map(|last| encoding.encode(&last)),
            contents: Some(listed.contents),
            common_prefixes: Some(listed.prefixes),
            prefix: Some(encoding.encode(prefix.unwrap_or_default())),
            marker: Some(encoding.encode(&marker)),
            delimiter: encoding.encode_some(delimiter),
            encoding_type: input.encoding_type,
            name: Some(input.bucket),
            ..ListObjectsOutput::default()
        }))
    }
}

//! The operations of S3, each handled where its subject is.

use crate::keys::SigningKeys;
use crate::multipart::Turns;
use crate::options::S3Options;
use crate::session::Session;
use crate::traffic::S3Traffic;
use rialto_depot_desk::DepotBus;
use s3s::dto::*;
use s3s::{S3, S3Request, S3Response, S3Result};
use std::sync::Arc;

/// S3 on the depot's bus.
#[derive(Clone)]
pub(crate) struct DepotS3(Arc<Shared>);

struct Shared {
    bus: Arc<DepotBus>,
    keys: Arc<dyn SigningKeys>,
    options: S3Options,
    traffic: Arc<S3Traffic>,
    /// One multipart upload to a tenant is begun at a time, so that they can be counted.
    beginnings: Turns,
    /// An upload is completed by one request at a time.
    completions: Turns,
}

impl DepotS3 {
    pub(crate) fn new(
        bus: Arc<DepotBus>,
        keys: Arc<dyn SigningKeys>,
        options: S3Options,
        traffic: Arc<S3Traffic>,
    ) -> DepotS3 {
        DepotS3(Arc::new(Shared {
            bus,
            keys,
            options,
            traffic,
            beginnings: Turns::default(),
            completions: Turns::default(),
        }))
    }

    pub(crate) fn bus(&self) -> &DepotBus {
        &self.0.bus
    }

    pub(crate) fn keys(&self) -> &dyn SigningKeys {
        &*self.0.keys
    }

    pub(crate) fn options(&self) -> &S3Options {
        &self.0.options
    }

    pub(crate) fn traffic(&self) -> &Arc<S3Traffic> {
        &self.0.traffic
    }

    pub(crate) fn beginnings(&self) -> &Turns {
        &self.0.beginnings
    }

    pub(crate) fn completions(&self) -> &Turns {
        &self.0.completions
    }
}

/// The owner of everything that a key sees: the key.
pub(crate) fn owner(session: &Session) -> Owner {
    let id = Some(session.key.id.clone());
    Owner { display_name: id.clone(), id }
}

/// Hands operations to their handlers.
macro_rules! operations {
    ($($operation:ident $Input:ident $Output:ident => $handler:ident;)*) => {
        #[async_trait::async_trait]
        impl S3 for DepotS3 { $(
            async fn $operation(
                &self,
                request: S3Request<$Input>,
            ) -> S3Result<S3Response<$Output>> {
                crate::understood::check(stringify!($operation), &request.uri, &request.headers)?;
                self.$handler(request).await
            }
        )* }
    };
}

operations! {
    list_buckets ListBucketsInput ListBucketsOutput => buckets;
    head_bucket HeadBucketInput HeadBucketOutput => bucket_head;
    get_bucket_location GetBucketLocationInput GetBucketLocationOutput => bucket_location;
    create_bucket CreateBucketInput CreateBucketOutput => bucket_creation;
    delete_bucket DeleteBucketInput DeleteBucketOutput => bucket_deletion;
    list_objects ListObjectsInput ListObjectsOutput => list_v1;
    list_objects_v2 ListObjectsV2Input ListObjectsV2Output => list_v2;
    put_object PutObjectInput PutObjectOutput => put;
    get_object GetObjectInput GetObjectOutput => get;
    head_object HeadObjectInput HeadObjectOutput => head;
    copy_object CopyObjectInput CopyObjectOutput => copy;
    delete_object DeleteObjectInput DeleteObjectOutput => delete;
    delete_objects DeleteObjectsInput DeleteObjectsOutput => delete_many;
    create_multipart_upload CreateMultipartUploadInput CreateMultipartUploadOutput => begin_upload;
    upload_part UploadPartInput UploadPartOutput => put_part;
    upload_part_copy UploadPartCopyInput UploadPartCopyOutput => copy_part;
    complete_multipart_upload CompleteMultipartUploadInput CompleteMultipartUploadOutput
        => complete_upload;
    abort_multipart_upload AbortMultipartUploadInput AbortMultipartUploadOutput => abort_upload;
    list_parts ListPartsInput ListPartsOutput => parts;
    list_multipart_uploads ListMultipartUploadsInput ListMultipartUploadsOutput => uploads;
}

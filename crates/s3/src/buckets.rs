//! Buckets: the tenants that a key has a right to.

use crate::errors::{of_bus, refusal};
use crate::names::tenant_of;
use crate::service::{DepotS3, owner};
use crate::session::{Session, session_of};
use rialto_bus::Dispatch;
use rialto_depot::TenantName;
use rialto_depot_desk::{CreateShelf, DeleteEmptyTenant, ListTenants};
use s3s::dto::{
    Bucket, CreateBucketInput, CreateBucketOutput, DeleteBucketInput, DeleteBucketOutput,
    GetBucketLocationInput, GetBucketLocationOutput, HeadBucketInput, HeadBucketOutput,
    ListBucketsInput, ListBucketsOutput, Timestamp,
};
use s3s::{S3ErrorCode, S3Request, S3Response, S3Result};
use std::time::{Duration, UNIX_EPOCH};

/// The most buckets of a page.
const BUCKETS_MAX: i32 = 1_000;

impl DepotS3 {
    /// Refuses a bucket to which the key has no right, and then one that is not there.
    pub(crate) fn find_bucket(&self, session: &Session, tenant: &TenantName) -> S3Result<()> {
        session.key.principal.require_any(tenant).map_err(of_bus)?;
        let depot = self.bus().depot();
        match depot.has_tenant(tenant) && !depot.is_deleting(tenant) {
            true => Ok(()),
            false => {
                let message = format!("There is no bucket {tenant}; create it first.");
                Err(refusal(S3ErrorCode::NoSuchBucket, message))
            }
        }
    }

    pub(crate) async fn buckets(
        &self,
        request: S3Request<ListBucketsInput>,
    ) -> S3Result<S3Response<ListBucketsOutput>> {
        let session = session_of(&request.extensions)?;
        let ListBucketsInput { continuation_token, max_buckets, prefix, .. } = request.input;
        let max = max_buckets.unwrap_or(BUCKETS_MAX).clamp(1, BUCKETS_MAX);
        let after = continuation_token.as_deref().map(tenant_of).transpose()?;
        let list = ListTenants { after, max: max.unsigned_abs() as usize };
        let tenants = self.bus().query(list, &session.context()).await.map_err(of_bus)?;
        let is_full = tenants.len() == max.unsigned_abs() as usize;
        let next = tenants.last().filter(|_| is_full).map(|last| last.name.to_string());
        let begin = prefix.clone().unwrap_or_default();
        let is_there = |stage| stage != "deleting";
        let buckets = tenants
            .iter()
            .filter(|tenant| is_there(tenant.stage) && tenant.name.as_str().starts_with(&begin));
        let buckets = buckets.map(|tenant| Bucket {
            name: Some(tenant.name.to_string()),
            creation_date: Some(Timestamp::from(
                UNIX_EPOCH + Duration::from_nanos(tenant.created_at.0),
            )),
            ..Bucket::default()
        });
        Ok(S3Response::new(ListBucketsOutput {
            buckets: Some(buckets.collect()),
            continuation_token: next,
            owner: Some(owner(&session)),
            prefix,
        }))
    }

    pub(crate) async fn bucket_head(
        &self,
        request: S3Request<HeadBucketInput>,
    ) -> S3Result<S3Response<HeadBucketOutput>> {
        let session = session_of(&request.extensions)?;
        self.find_bucket(&session, &tenant_of(&request.input.bucket)?)?;
        Ok(S3Response::new(HeadBucketOutput::default()))
    }

    pub(crate) async fn bucket_location(
        &self,
        request: S3Request<GetBucketLocationInput>,
    ) -> S3Result<S3Response<GetBucketLocationOutput>> {
        let session = session_of(&request.extensions)?;
        self.find_bucket(&session, &tenant_of(&request.input.bucket)?)?;
        Ok(S3Response::new(GetBucketLocationOutput::default()))
    }

    pub(crate) async fn bucket_creation(
        &self,
        request: S3Request<CreateBucketInput>,
    ) -> S3Result<S3Response<CreateBucketOutput>> {
        let session = session_of(&request.extensions)?;
        let tenant = tenant_of(&request.input.bucket)?;
        let location = format!("/{tenant}");
        let create = CreateShelf { tenant };
        self.bus().send(create, &session.context()).await.map_err(of_bus)?;
        let location = Some(location);
        Ok(S3Response::new(CreateBucketOutput { location }))
    }

    pub(crate) async fn bucket_deletion(
        &self,
        request: S3Request<DeleteBucketInput>,
    ) -> S3Result<S3Response<DeleteBucketOutput>> {
        let session = session_of(&request.extensions)?;
        let delete = DeleteEmptyTenant { tenant: tenant_of(&request.input.bucket)? };
        self.bus().send(delete, &session.context()).await.map_err(of_bus)?;
        Ok(S3Response::new(DeleteBucketOutput::default()))
    }
}

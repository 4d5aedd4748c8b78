//! A bucket, through `object_store`.

use crate::answers::AnswersConnector;
use crate::credentials::Credentials;
use crate::listing::{InvalidList, Page};
use crate::parts::Parts;
use crate::running::Running;
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::list::{PaginatedListOptions, PaginatedListStore};
use object_store::multipart::MultipartStore;
use object_store::path::Path;
use object_store::{
    BackoffConfig, ClientOptions, ObjectMeta, ObjectStore, ObjectStoreExt, PutMode, PutOptions,
    RetryConfig,
};
use rialto_depot::Timestamp;
use rialto_depot::volume::{Bucket, BucketError, BucketSpec, Buckets, ObjectInfo, ObjectParts};
use std::env::VarError;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The longest time of a call, with all its attempts.
pub const CALL_TIME_MAX: Duration = Duration::from_secs(12);
/// The longest time in which parts become an object: some stores copy them.
pub const COMPLETION_TIME_MAX: Duration = Duration::from_secs(120);

const CONNECT_TIME_MAX: Duration = Duration::from_secs(2);
/// An attempt after this time is not repeated.
const RETRY_TIME_MAX: Duration = Duration::from_secs(10);
const RETRIES_MAX: usize = 4;
const IDLE_CONNECTIONS_MAX: usize = 16;
/// The most objects of one request for a list.
const PAGE_MAX: usize = 1_000;

/// Opens buckets of S3-compatible object stores, with credentials from the environment.
pub struct S3Buckets {
    /// Started with the first bucket: a pool without one has no thread for it.
    running: Mutex<Option<Arc<Running>>>,
    variable: Box<Variable>,
}

/// Looks up a variable of the environment.
type Variable = dyn Fn(&str) -> Result<String, VarError> + Send + Sync;

impl S3Buckets {
    /// With the credentials in `RIALTO_BUCKET_ACCESS_KEY_ID` and `RIALTO_BUCKET_SECRET_ACCESS_KEY`, or
    /// in `RIALTO_BUCKET_VOLUME_ACCESS_KEY_ID` and `RIALTO_BUCKET_VOLUME_SECRET_ACCESS_KEY` for the
    /// volume with this name. They are read when a bucket is opened.
    #[must_use]
    pub fn from_env() -> Self {
        Self::with_variables(|name| std::env::var(name))
    }

    /// As [`S3Buckets::from_env`], with variables from elsewhere.
    #[must_use]
    pub fn with_variables(
        variable: impl Fn(&str) -> Result<String, VarError> + Send + Sync + 'static,
    ) -> Self {
        Self { running: Mutex::default(), variable: Box::new(variable) }
    }

    fn running(&self) -> Result<Arc<Running>, BucketError> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(running) = &*running {
            return Ok(Arc::clone(running));
        }
        let started = Arc::new(Running::start()?);
        *running = Some(Arc::clone(&started));
        Ok(started)
    }
}

impl Buckets for S3Buckets {
    fn open(&self, volume: &str, spec: &BucketSpec) -> Result<Arc<dyn Bucket>, BucketError> {
        let credentials = Credentials::find(volume, &self.variable)?;
        let store = |time_max| {
            let built = client(spec, &credentials, time_max).build();
            let invalid = |error: object_store::Error| BucketError::Failed(error.to_string());
            built.map(Arc::new).map_err(invalid)
        };
        let (store, completing) = (store(RETRY_TIME_MAX)?, store(COMPLETION_TIME_MAX)?);
        Ok(Arc::new(S3Bucket { running: self.running()?, store, completing }))
    }
}

fn client(spec: &BucketSpec, credentials: &Credentials, time_max: Duration) -> AmazonS3Builder {
    let backoff = BackoffConfig {
        init_backoff: Duration::from_millis(100),
        max_backoff: Duration::from_secs(2),
        base: 2.0,
    };
    let retry = RetryConfig { backoff, max_retries: RETRIES_MAX, retry_timeout: RETRY_TIME_MAX };
    let options = ClientOptions::new()
        .with_allow_http(spec.allow_http)
        .with_connect_timeout(CONNECT_TIME_MAX)
        .with_timeout(time_max)
        .with_pool_max_idle_per_host(IDLE_CONNECTIONS_MAX);
    AmazonS3Builder::new()
        .with_bucket_name(&spec.bucket)
        .with_endpoint(&spec.endpoint)
        .with_region(&spec.region)
        .with_virtual_hosted_style_request(false)
        .with_access_key_id(&credentials.key_id)
        .with_secret_access_key(&credentials.secret)
        // Not every store has the removal of many objects at once.
        .with_disable_bulk_delete(true)
        .with_retry(retry)
        .with_http_connector(AnswersConnector)
        .with_client_options(options)
}

/// A bucket of an S3-compatible object store.
struct S3Bucket {
    running: Arc<Running>,
    store: Arc<AmazonS3>,
    /// The same bucket with more time for each request.
    completing: Arc<AmazonS3>,
}

impl S3Bucket {
    fn store(&self) -> Arc<AmazonS3> {
        Arc::clone(&self.store)
    }
}

/// A key that needs no escapes: the depot makes keys of ids and checked prefixes.
fn path(key: &str) -> Result<Path, BucketError> {
    let invalid = |error| BucketError::Failed(format!("the key is not valid: {error}"));
    Path::parse(key).map_err(invalid)
}

/// What is missing when an object cannot be stored because something is not found.
fn unknown_bucket(error: BucketError) -> BucketError {
    match error {
        BucketError::NotFound => BucketError::Failed("there is no such bucket".to_owned()),
        failed @ BucketError::Failed(_) => failed,
    }
}

fn info(object: ObjectMeta) -> ObjectInfo {
    let nanoseconds = object.last_modified.timestamp_nanos_opt();
    let modified = nanoseconds.and_then(|it| u64::try_from(it).ok()).unwrap_or(0);
    let key = object.location.to_string();
    ObjectInfo { key, bytes: object.size, modified: Timestamp(modified) }
}

impl Bucket for S3Bucket {
    fn put(&self, key: &str, bytes: Vec<u8>) -> Result<(), BucketError> {
        let (store, path) = (self.store(), path(key)?);
        self.running
            .wait(CALL_TIME_MAX, async move { store.put(&path, bytes.into()).await.map(drop) })
            .map_err(unknown_bucket)
    }

    fn create(&self, key: &str, bytes: Vec<u8>) -> Result<bool, BucketError> {
        let (store, path) = (self.store(), path(key)?);
        self.running
            .wait(CALL_TIME_MAX, async move {
                let options = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
                match store.put_opts(&path, bytes.into(), options).await {
                    Ok(_) => Ok(true),
                    Err(
                        object_store::Error::AlreadyExists { .. }
                        | object_store::Error::Precondition { .. },
                    ) => Ok(false),
                    Err(error) => Err(error),
                }
            })
            .map_err(unknown_bucket)
    }

    fn begin(&self, key: &str) -> Result<Box<dyn ObjectParts>, BucketError> {
        let (store, path) = (self.store(), path(key)?);
        let object = path.clone();
        let id = self
            .running
            .wait(CALL_TIME_MAX, async move { store.create_multipart(&object).await })
            .map_err(unknown_bucket)?;
        let (running, completing) = (Arc::clone(&self.running), Arc::clone(&self.completing));
        Ok(Box::new(Parts::new(running, self.store(), completing, path, id)))
    }

    fn read(&self, key: &str, offset: u64, bytes: &mut [u8]) -> Result<usize, BucketError> {
        let (store, path, range) = (self.store(), path(key)?, offset..offset + bytes.len() as u64);
        let read = self.running.wait(CALL_TIME_MAX, async move {
            let error = match store.get_range(&path, range).await {
                Err(error @ object_store::Error::NotFound { .. }) => return Err(error),
                Err(error) => error,
                Ok(read) => return Ok(Some(read)),
            };
            // A range behind the end is refused, as other mistakes are.
            match store.head(&path).await {
                Ok(object) if object.size <= offset => Ok(None),
                Err(error @ object_store::Error::NotFound { .. }) => Err(error),
                _ => Err(error),
            }
        })?;
        let Some(read) = read else { return Ok(0) };
        match bytes.get_mut(..read.len()) {
            Some(target) => target.copy_from_slice(&read),
            None => return Err(BucketError::Failed("more was answered than asked".to_owned())),
        }
        Ok(read.len())
    }

    fn head(&self, key: &str) -> Result<ObjectInfo, BucketError> {
        let (store, path) = (self.store(), path(key)?);
        self.running.wait(CALL_TIME_MAX, async move { store.head(&path).await.map(info) })
    }

    fn remove(&self, key: &str) -> Result<(), BucketError> {
        let (store, path) = (self.store(), path(key)?);
        let removed = self.running.wait(CALL_TIME_MAX, async move { store.delete(&path).await });
        match removed {
            Err(BucketError::NotFound) => Ok(()),
            removed => removed,
        }
    }

    fn copy(&self, from: &str, to: &str) -> Result<(), BucketError> {
        let (store, from, to) = (self.store(), path(from)?, path(to)?);
        self.running.wait(CALL_TIME_MAX, async move { store.copy(&from, &to).await })
    }

    fn list(
        &self,
        prefix: &str,
        after: Option<&str>,
        max: usize,
    ) -> Result<Vec<ObjectInfo>, BucketError> {
        let (store, prefix) = (self.store(), prefix.to_owned());
        let mut after = after.map(str::to_owned);
        self.running.wait(CALL_TIME_MAX, async move {
            let mut found = Vec::new();
            while found.len() < max {
                let asked = (max - found.len()).min(PAGE_MAX);
                let options = PaginatedListOptions {
                    offset: after.clone(),
                    max_keys: Some(asked),
                    ..PaginatedListOptions::default()
                };
                let answer = store.list_paginated(Some(&prefix), options).await?;
                let page = answer.result.extensions.get::<Arc<Page>>().ok_or_else(invalid_list)?;
                if page.objects.len() > asked {
                    return Err(invalid_list());
                }
                found.extend_from_slice(&page.objects);
                if !page.is_truncated {
                    break;
                }
                // A store that lists the same again would be asked without end.
                let last = page.objects.last().map(|last| last.key.clone());
                if last.is_none() || last <= after {
                    return Err(invalid_list());
                }
                after = last;
            }
            Ok(found)
        })
    }
}

fn invalid_list() -> object_store::Error {
    object_store::Error::Generic { store: "S3", source: Box::new(InvalidList) }
}

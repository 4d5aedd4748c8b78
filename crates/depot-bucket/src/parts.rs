//! An object that is stored in parts.

use crate::bucket::{CALL_TIME_MAX, COMPLETION_TIME_MAX};
use crate::running::Running;
use object_store::MultipartId;
use object_store::aws::AmazonS3;
use object_store::multipart::{MultipartStore, PartId};
use object_store::path::Path;
use rialto_depot::volume::{BucketError, ObjectParts};
use std::sync::Arc;

pub(crate) struct Parts {
    running: Arc<Running>,
    store: Arc<AmazonS3>,
    completing: Arc<AmazonS3>,
    path: Path,
    id: MultipartId,
    sent: Vec<PartId>,
}

impl Parts {
    pub(crate) fn new(
        running: Arc<Running>,
        store: Arc<AmazonS3>,
        completing: Arc<AmazonS3>,
        path: Path,
        id: MultipartId,
    ) -> Self {
        Self { running, store, completing, path, id, sent: Vec::new() }
    }
}

impl ObjectParts for Parts {
    fn add(&mut self, bytes: Vec<u8>) -> Result<(), BucketError> {
        let (store, path, id) = (Arc::clone(&self.store), self.path.clone(), self.id.clone());
        let nth = self.sent.len();
        let part = self.running.wait(CALL_TIME_MAX, async move {
            store.put_part(&path, &id, nth, bytes.into()).await
        })?;
        self.sent.push(part);
        Ok(())
    }

    fn complete(&mut self) -> Result<(), BucketError> {
        let (store, path, id) = (Arc::clone(&self.completing), self.path.clone(), self.id.clone());
        let parts = self.sent.clone();
        self.running.wait(COMPLETION_TIME_MAX, async move {
            store.complete_multipart(&path, &id, parts).await.map(drop)
        })
    }

    fn abort(&mut self) -> Result<(), BucketError> {
        let (store, path, id) = (Arc::clone(&self.store), self.path.clone(), self.id.clone());
        let aborted = self
            .running
            .wait(CALL_TIME_MAX, async move { store.abort_multipart(&path, &id).await });
        match aborted {
            Err(BucketError::NotFound) => Ok(()),
            aborted => aborted,
        }
    }
}

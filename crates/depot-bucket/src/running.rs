//! The runtime on which requests to buckets run.

use rialto_depot::volume::BucketError;
use std::future::Future;
use std::sync::mpsc::sync_channel;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// One thread, which sends and receives for all buckets. It is not blocked: what is computed there is
/// the encryption and the signatures of requests.
pub(crate) struct Running {
    /// None while it is dropped only.
    runtime: Option<Runtime>,
}

impl Running {
    pub(crate) fn start() -> Result<Self, BucketError> {
        let mut builder = Builder::new_multi_thread();
        let made = builder.worker_threads(1).thread_name("depot-bucket").enable_all().build();
        let failed = |error| BucketError::Failed(format!("no thread for buckets: {error}"));
        made.map(|runtime| Self { runtime: Some(runtime) }).map_err(failed)
    }

    /// Runs a request and waits for it, at most this long.
    pub(crate) fn wait<T: Send + 'static>(
        &self,
        time_max: Duration,
        request: impl Future<Output = Result<T, object_store::Error>> + Send + 'static,
    ) -> Result<T, BucketError> {
        let Some(handle) = self.runtime.as_ref().map(Runtime::handle).cloned() else {
            return Err(BucketError::Failed("the client of buckets has ended".to_owned()));
        };
        let (sender, receiver) = sync_channel(1);
        handle.spawn(async move {
            let done = tokio::time::timeout(time_max, request).await;
            // The caller waits for it.
            let _ = sender.send(done);
        });
        match receiver.recv() {
            Ok(Ok(done)) => done.map_err(failure),
            Ok(Err(_)) => {
                let seconds = time_max.as_secs();
                Err(BucketError::Failed(format!("the bucket did not answer within {seconds} s")))
            }
            Err(_) => Err(BucketError::Failed("the request was broken off".to_owned())),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may be dropped on a thread that must not block.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// The longest text of a failure: an answer of a server is not repeated at any length.
const TEXT_MAX: usize = 400;

/// What a failed request says. Requests are signed in their heads, so that their addresses have no
/// secret. The answers of the store have been reduced to their status and code.
fn failure(error: object_store::Error) -> BucketError {
    if let object_store::Error::NotFound { .. } = error {
        return BucketError::NotFound;
    }
    let mut text = error.to_string();
    let mut source = std::error::Error::source(&error);
    while let Some(error) = source {
        let more = error.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        source = error.source();
    }
    let one_line: String =
        text.chars().map(|it| if it.is_control() { ' ' } else { it }).take(TEXT_MAX).collect();
    BucketError::Failed(one_line)
}

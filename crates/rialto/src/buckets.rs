//! The buckets of volumes, in a program with the feature `buckets`.

use rialto_depot::volume::Buckets;
use std::sync::Arc;

/// What opens the buckets of a pool. None in a program without the feature: it opens a pool with a
/// bucket, and its volume is absent.
#[cfg(feature = "buckets")]
pub(crate) fn buckets() -> Option<Arc<dyn Buckets>> {
    Some(Arc::new(rialto_depot_bucket::S3Buckets::from_env()))
}

/// None: buckets are not in this program.
#[cfg(not(feature = "buckets"))]
pub(crate) fn buckets() -> Option<Arc<dyn Buckets>> {
    None
}

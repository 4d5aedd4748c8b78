//! Who sends a request.

use rialto_api::QueueGrant;
use std::sync::Arc;

/// Who sends a request, and what they may do with which topics: the principal of every request on the
/// [`QueueBus`](crate::QueueBus). A clone is cheap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Principal {
    id: Arc<str>,
    is_operator: bool,
    grants: Arc<[QueueGrant]>,
}

impl Principal {
    /// A client with these grants. Consumers and producers belong to the id.
    #[must_use]
    pub fn new(id: &str, grants: impl Into<Arc<[QueueGrant]>>) -> Principal {
        Principal { id: id.into(), is_operator: false, grants: grants.into() }
    }

    /// An operator, who may do everything and has no quota.
    #[must_use]
    pub fn operator(id: &str) -> Principal {
        Principal { id: id.into(), is_operator: true, grants: Arc::default() }
    }

    /// Whose consumers and producers these are: no two clients share an id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Whether everything is permitted.
    #[must_use]
    pub fn is_operator(&self) -> bool {
        self.is_operator
    }

    /// What a client who is no operator may do with which topics.
    #[must_use]
    pub fn grants(&self) -> &[QueueGrant] {
        &self.grants
    }

    pub(crate) fn shared_grants(&self) -> Arc<[QueueGrant]> {
        Arc::clone(&self.grants)
    }
}

//! The sender of a request.

use rialto_api::QueueGrant;
use std::sync::Arc;

/// The sender of a request with its grants of topics: the principal of every request on the
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

    /// An operator, who has all rights and no quota.
    #[must_use]
    pub fn operator(id: &str) -> Principal {
        Principal { id: id.into(), is_operator: true, grants: Arc::default() }
    }

    /// The id that owns consumers and producers. Ids of clients are unique.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Whether it is an operator.
    #[must_use]
    pub fn is_operator(&self) -> bool {
        self.is_operator
    }

    /// The grants of a client; unused for an operator.
    #[must_use]
    pub fn grants(&self) -> &[QueueGrant] {
        &self.grants
    }

    pub(crate) fn shared_grants(&self) -> Arc<[QueueGrant]> {
        Arc::clone(&self.grants)
    }
}

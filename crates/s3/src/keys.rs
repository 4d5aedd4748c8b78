//! The keys that sign requests.

use rialto_depot_desk::DepotPrincipal;
use std::net::IpAddr;

/// A valid key.
#[derive(Clone)]
pub struct SigningKey {
    /// Its id: the access key of clients.
    pub id: String,
    /// The secrets that work, as clients have them, the newest first.
    pub secrets: Vec<String>,
    /// Its rights.
    pub principal: DepotPrincipal,
}

/// Finds keys, and counts their requests.
pub trait SigningKeys: Send + Sync + 'static {
    /// The key of this id, if it is valid now.
    fn find(&self, id: &str) -> Option<SigningKey>;

    /// Takes a request from the allowance of a key. Returns whether there was one.
    fn take_request(&self, id: &str) -> bool;

    /// Takes a request that is nobody's from the allowance of its address.
    fn take_of_address(&self, address: IpAddr) -> bool;

    /// Whether the key is valid, and this secret of it still works.
    fn still_works(&self, id: &str, secret: &str) -> bool {
        self.find(id).is_some_and(|key| key.secrets.iter().any(|it| it == secret))
    }
}

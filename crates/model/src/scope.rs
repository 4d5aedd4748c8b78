//! What a caller may be allowed to do.

use crate::enumeration;

enumeration! {
    /// Something that a caller may be allowed to do.
    pub enum Scope {
        /// See the accounts' orders, fills and balances.
        Read = 0, "read";
        /// Enter, change and cancel orders.
        Trade = 1, "trade";
        /// Withdraw.
        Transfer = 2, "transfer";
        /// Run the venue.
        Admin = 3, "admin";
    }
}

//! The rights of a caller.

use crate::enumeration;

enumeration! {
    /// A right of a caller.
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

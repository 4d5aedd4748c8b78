//! The capacities of a feed.

/// The capacities of a [`crate::Feed`]. The limits of the engine bound everything else: open
/// orders, accounts, members, currencies and instruments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeedConfig {
    /// Last trades kept for each instrument; about 64 bytes each.
    pub trades_per_instrument: usize,
    /// Last fills kept for each account; about 160 bytes each.
    pub fills_per_account: usize,
    /// Fills kept over all accounts; beyond it the oldest of all is forgotten.
    pub fills_total: usize,
    /// Orders that ended and are still remembered, over all accounts; about 400 bytes each. Beyond
    /// it the account that has most loses its oldest.
    pub ended_orders: usize,
    /// Of these, as many of one account as have client order ids are forgotten after all others of
    /// the account. It should be what the engine remembers of an account by client order id.
    pub names_per_account: usize,
}

impl Default for FeedConfig {
    fn default() -> Self {
        FeedConfig {
            trades_per_instrument: 1_000,
            fills_per_account: 1_000,
            fills_total: 1_000_000,
            ended_orders: 100_000,
            names_per_account: 1_024,
        }
    }
}

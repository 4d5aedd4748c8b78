//! What a recorded file says happened, whatever its format.

use rialto_model::{OrderKind, PostOnly, Price, Quantity, Scale, Side, TimeInForce, Timestamp};
use std::collections::BTreeSet;

/// One thing that happened, and when if the file says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Operation {
    pub(super) at: Option<Timestamp>,
    pub(super) action: Action,
}

/// What happened to which order. Ids and accounts are the file's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// An order was entered.
    Place(Placement),
    /// An order was cancelled.
    Cancel { id: u64 },
    /// An order got another limit, another total quantity (what has traded included), or both.
    Amend { id: u64, price: Option<Price>, quantity: Option<Quantity> },
    /// An order became smaller by this much.
    Reduce { id: u64, by: Quantity },
    /// This much is left of an order, at this limit if one is given. What the venue must be told
    /// depends on what has traded there, so that everything before it must be known first.
    Left { id: u64, price: Option<Price>, remaining: Quantity },
}

/// An order as it was entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Placement {
    pub(super) id: u64,
    pub(super) account: u32,
    pub(super) side: Side,
    pub(super) kind: OrderKind,
    pub(super) time_in_force: TimeInForce,
    pub(super) post_only: PostOnly,
    pub(super) price: Price,
    pub(super) quantity: Quantity,
}

/// What must be known of a file before its first operation: found by a first pass, which also finds
/// what is wrong with the file before anything has been done.
#[derive(Clone, Debug)]
pub(super) struct Overview {
    pub(super) operations: u64,
    /// The accounts of the file, by its own numbers.
    pub(super) accounts: BTreeSet<u32>,
    /// The time of the first operation that has one.
    pub(super) first: Option<Timestamp>,
    pub(super) price_scale: Scale,
    pub(super) quantity_scale: Scale,
    /// Every price is a multiple of it.
    pub(super) tick: Price,
    pub(super) symbol: &'static str,
    pub(super) currencies: [&'static str; 2],
}

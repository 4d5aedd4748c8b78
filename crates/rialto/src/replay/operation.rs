//! The operations of a recorded file, in a form common to all formats.

use rialto_model::{OrderKind, PostOnly, Price, Quantity, Scale, Side, TimeInForce, Timestamp};
use std::collections::BTreeSet;

/// An operation of the file, with its time if the file has times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Operation {
    pub(super) at: Option<Timestamp>,
    pub(super) action: Action,
}

/// The operation. Ids and accounts are those of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// An order was entered.
    Place(Placement),
    /// An order was cancelled.
    Cancel { id: u64 },
    /// An order got another limit, another total quantity (filled quantity included), or both.
    Amend { id: u64, price: Option<Price>, quantity: Option<Quantity> },
    /// An order became smaller by this much.
    Reduce { id: u64, by: Quantity },
    /// This much remains of an order, at this limit if given. The command depends on the quantity
    /// that has traded at the venue, so that everything before it must be answered first.
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

/// Facts about a file that a replay needs before its first operation. A first pass finds them,
/// together with errors of the file.
#[derive(Clone, Debug)]
pub(super) struct Overview {
    pub(super) operations: u64,
    /// The accounts of the file, by its own numbers.
    pub(super) accounts: BTreeSet<u32>,
    /// The time of the first operation that has one.
    pub(super) first: Option<Timestamp>,
    pub(super) price_scale: Scale,
    pub(super) quantity_scale: Scale,
    /// The tick: every price is a multiple of it.
    pub(super) tick: Price,
    pub(super) symbol: &'static str,
    pub(super) currencies: [&'static str; 2],
}

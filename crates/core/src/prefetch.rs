//! Prefetching: a caller that knows the next commands announces them, and the memory that they need
//! is loaded ahead.
//!
//! A large book does not fit into the processor's caches, and most of an order's time is spent waiting
//! for memory, one access after the other. Prefetching changes no state and no result.

use crate::Core;
use rialto_model::{Command, NewOrder, OrderRef};

impl Core {
    /// Prefetches the indexes to the memory that `command` needs. Best called
    /// [`Core::PREFETCH_FAR`] commands ahead.
    #[inline]
    pub fn prefetch_far(&self, command: &Command) {
        match command {
            Command::Place(terms) => self.prefetch_new_order_far(terms),
            Command::Cancel { order, .. } => self.prefetch_order_far(order),
            Command::Amend(amend) => self.prefetch_order_far(&amend.order),
            _ => {}
        }
    }

    /// Prefetches the memory that `command` needs, after [`Core::prefetch_far`]. Best called
    /// [`Core::PREFETCH_NEAR`] commands ahead.
    #[inline]
    pub fn prefetch_near(&self, command: &Command) {
        match command {
            Command::Place(terms) => self.prefetch_new_order_near(terms),
            Command::Cancel { order, .. } => self.prefetch_order_near(order),
            Command::Amend(amend) => self.prefetch_order_near(&amend.order),
            _ => {}
        }
    }

    /// [`Core::prefetch_far`] of `Command::Place`.
    #[inline]
    pub fn prefetch_new_order_far(&self, terms: &NewOrder) {
        if let Ok(at) = self.market(terms.instrument) {
            self.markets[usize::from(at)].book.prepare(terms.side, terms.price);
        }
    }

    /// [`Core::prefetch_near`] of `Command::Place`.
    #[inline]
    pub fn prefetch_new_order_near(&self, terms: &NewOrder) {
        if let Ok(slot) = self.accounts.slot(terms.account) {
            self.open.prefetch_link(self.accounts.get(slot).tail as usize);
        }
    }

    /// [`Core::prefetch_far`] of a command that cancels or amends an order.
    #[inline]
    pub fn prefetch_order_far(&self, order: &OrderRef) {
        if let OrderRef::Id(id) = order {
            self.orders.prefetch(*id);
        }
    }

    /// [`Core::prefetch_near`] of a command that cancels or amends an order.
    #[inline]
    pub fn prefetch_order_near(&self, order: &OrderRef) {
        if let OrderRef::Id(id) = order
            && let Some(slot) = self.orders.find(*id)
        {
            self.open.prefetch(slot.index());
            self.open.prefetch_link(slot.index());
        }
    }

    /// The distance, in commands, at which [`Core::prefetch_far`] is best.
    pub const PREFETCH_FAR: usize = 8;
    /// The distance, in commands, at which [`Core::prefetch_near`] is best.
    pub const PREFETCH_NEAR: usize = 3;
}

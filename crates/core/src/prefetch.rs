//! Prefetching: a caller that knows the next commands announces them, and the memory that they need
//! is loaded ahead.
//!
//! A large book does not fit into the processor's caches, and most of an order's time is spent waiting
//! for memory, one access after the other. Prefetching changes no state and no result.

use crate::Core;
use rialto_model::{Command, OrderRef};

impl Core {
    /// Prefetches the indexes to the memory that `command` needs. Best called
    /// [`Core::PREFETCH_FAR`] commands ahead.
    #[inline]
    pub fn prefetch_far(&self, command: &Command) {
        match command {
            Command::Place(terms) => {
                if let Ok(at) = self.market(terms.instrument) {
                    self.markets[usize::from(at)].book.prepare(terms.side, terms.price);
                }
            }
            Command::Cancel { order: OrderRef::Id(id), .. } => self.orders.prefetch(*id),
            Command::Amend(amend) => {
                if let OrderRef::Id(id) = amend.order {
                    self.orders.prefetch(id);
                }
            }
            _ => {}
        }
    }

    /// Prefetches the memory that `command` needs, after [`Core::prefetch_far`]. Best called
    /// [`Core::PREFETCH_NEAR`] commands ahead.
    #[inline]
    pub fn prefetch_near(&self, command: &Command) {
        match command {
            Command::Place(terms) => {
                if let Ok(slot) = self.accounts.slot(terms.account) {
                    self.open.prefetch_link(self.accounts.get(slot).tail as usize);
                }
            }
            Command::Cancel { order: OrderRef::Id(id), .. } => self.prefetch_end(*id),
            Command::Amend(amend) => {
                if let OrderRef::Id(id) = amend.order {
                    self.prefetch_end(id);
                }
            }
            _ => {}
        }
    }

    /// The distance, in commands, at which [`Core::prefetch_far`] is best.
    pub const PREFETCH_FAR: usize = 8;
    /// The distance, in commands, at which [`Core::prefetch_near`] is best.
    pub const PREFETCH_NEAR: usize = 3;

    #[inline]
    fn prefetch_end(&self, id: rialto_model::OrderId) {
        if let Some(slot) = self.orders.find(id) {
            self.open.prefetch(slot.index());
            self.open.prefetch_link(slot.index());
        }
    }
}

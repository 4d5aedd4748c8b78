//! Looking ahead: whoever has the next commands at hand says so, and memory that they will need is
//! on its way when they come.
//!
//! A large book does not fit into the processor's caches, and most of an order's time goes by in
//! waiting for memory, one access after the other. These hints change no state and no result.

use crate::Core;
use rialto_model::{Command, OrderRef};

impl Core {
    /// Says that `command` will be applied some time from now: about [`Core::LOOK_FAR`] commands
    /// ahead is best.
    #[inline]
    pub fn foresee(&self, command: &Command) {
        match command {
            Command::Place(terms) => {
                if let Ok(at) = self.market(terms.instrument) {
                    self.markets[usize::from(at)].book.prepare(terms.side, terms.price);
                }
            }
            Command::Cancel { order: OrderRef::Id(id), .. } => self.orders.touch(*id),
            Command::Amend(amend) => {
                if let OrderRef::Id(id) = amend.order {
                    self.orders.touch(id);
                }
            }
            _ => {}
        }
    }

    /// Says that `command`, which was foreseen, will be applied soon: about [`Core::LOOK_NEAR`]
    /// commands ahead is best.
    #[inline]
    pub fn expect(&self, command: &Command) {
        match command {
            Command::Place(terms) => {
                if let Ok(slot) = self.accounts.slot(terms.account) {
                    self.open.touch_link(self.accounts.get(slot).tail as usize);
                }
            }
            Command::Cancel { order: OrderRef::Id(id), .. } => self.expect_end(*id),
            Command::Amend(amend) => {
                if let OrderRef::Id(id) = amend.order {
                    self.expect_end(id);
                }
            }
            _ => {}
        }
    }

    /// How many commands before its turn one is foreseen.
    pub const LOOK_FAR: usize = 8;
    /// How many commands before its turn one is expected.
    pub const LOOK_NEAR: usize = 3;

    #[inline]
    fn expect_end(&self, id: rialto_model::OrderId) {
        if let Some(slot) = self.orders.find(id) {
            self.open.touch(slot.index());
            self.open.touch_link(slot.index());
        }
    }
}

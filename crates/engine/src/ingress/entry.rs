//! Entries of a producer's ring. The sequencer reads each from another processor's cache, so that an entry
//! is two cache lines. It holds an order, a cancel or an amendment, and a marker in place of any other command.

use super::Submission;
use crate::Level;
use rialto_core::{Core, prefetch_value};
use rialto_model::{AccountId, Amend, Command, NewOrder, OrderRef};

/// A submission in a ring.
#[derive(Clone, Copy, Debug)]
#[repr(align(128))]
pub(crate) struct Entry {
    command: Short,
    pub(crate) token: u64,
    pub(crate) level: Option<Level>,
}

const _: () = assert!(size_of::<Entry>() == 128);

/// A command in an entry.
#[derive(Clone, Copy, Debug)]
enum Short {
    Place(NewOrder),
    Cancel {
        account: AccountId,
        order: OrderRef,
    },
    Amend(Amend),
    /// The next of the producer's long commands.
    Long,
}

impl Entry {
    /// The entry of a submission, and its command if that is too long for it.
    #[inline]
    pub(crate) fn of(submission: &Submission) -> (Entry, Option<&Command>) {
        let Submission { token, command, level } = submission;
        let (command, long) = match command {
            Command::Place(terms) => (Short::Place(*terms), None),
            Command::Cancel { account, order } => {
                (Short::Cancel { account: *account, order: *order }, None)
            }
            Command::Amend(amend) => (Short::Amend(*amend), None),
            long => (Short::Long, Some(long)),
        };
        (Entry { command, token: *token, level: *level }, long)
    }

    pub(crate) fn is_long(&self) -> bool {
        matches!(self.command, Short::Long)
    }

    /// The terms, if it enters an order.
    #[inline]
    pub(crate) fn order(&self) -> Option<&NewOrder> {
        match &self.command {
            Short::Place(terms) => Some(terms),
            _ => None,
        }
    }

    /// The command, or `None` if it is the next of the long ones.
    pub(crate) fn command(&self) -> Option<Command> {
        match self.command {
            Short::Place(terms) => Some(Command::Place(terms)),
            Short::Cancel { account, order } => Some(Command::Cancel { account, order }),
            Short::Amend(amend) => Some(Command::Amend(amend)),
            Short::Long => None,
        }
    }

    /// Prefetches the entry itself.
    #[inline]
    pub(crate) fn prefetch(&self) {
        prefetch_value(self);
    }

    /// As [`Core::prefetch_far`].
    #[inline]
    pub(crate) fn prefetch_far(&self, core: &Core) {
        match &self.command {
            Short::Place(terms) => core.prefetch_entry_far(terms),
            Short::Cancel { order, .. } => core.prefetch_order_far(order),
            Short::Amend(amend) => core.prefetch_order_far(&amend.order),
            Short::Long => {}
        }
    }

    /// As [`Core::prefetch_near`].
    #[inline]
    pub(crate) fn prefetch_near(&self, core: &Core) {
        match &self.command {
            Short::Place(terms) => core.prefetch_entry_near(terms),
            Short::Cancel { order, .. } => core.prefetch_order_near(order),
            Short::Amend(amend) => core.prefetch_order_near(&amend.order),
            Short::Long => {}
        }
    }
}

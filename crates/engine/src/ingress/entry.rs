//! Entries of a producer's ring. The sequencer reads each from another processor's cache, which is why an
//! entry has only two cache lines. It holds an order, a cancel or an amendment, and a marker in place of any
//! other command, which is in a second ring.

use crate::Level;
use rialto_core::Core;
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
    /// The next one of the second ring.
    Other,
}

/// The producer's end of the second ring.
pub(super) struct OtherSender(rtrb::Producer<Command>);

/// The sequencer's end of the second ring.
pub(crate) struct OtherCommands(rtrb::Consumer<Command>);

/// The second ring of a producer of this capacity.
pub(super) fn other_commands(capacity: usize) -> (OtherSender, OtherCommands) {
    let (sender, receiver) = rtrb::RingBuffer::new(capacity);
    (OtherSender(sender), OtherCommands(receiver))
}

impl OtherSender {
    /// The entry of a command, which is in the second ring before its entry is in the first.
    ///
    /// # Panics
    /// If the first ring has no room for the entry.
    #[inline]
    pub(super) fn entry(&mut self, token: u64, command: &Command, level: Option<Level>) -> Entry {
        let command = match command {
            Command::Place(terms) => Short::Place(*terms),
            Command::Cancel { account, order } => {
                Short::Cancel { account: *account, order: *order }
            }
            Command::Amend(amend) => Short::Amend(*amend),
            other => {
                // Of an abandoned producer only the entries are read.
                let has_room = self.0.push(*other).is_ok() || self.0.is_abandoned();
                assert!(has_room, "the second ring has room whenever the first has");
                Short::Other
            }
        };
        Entry { command, token, level }
    }
}

impl OtherCommands {
    /// The command of the next entry. One of the second ring stays there.
    pub(crate) fn command(&self, entry: &Entry) -> Command {
        match entry.command {
            Short::Place(terms) => Command::Place(terms),
            Short::Cancel { account, order } => Command::Cancel { account, order },
            Short::Amend(amend) => Command::Amend(amend),
            Short::Other => *self.0.peek().expect("it was there before its entry"),
        }
    }

    /// Takes the command of the next entry from the second ring, if it is there.
    #[inline]
    pub(crate) fn take(&mut self, entry: &Entry) {
        if matches!(entry.command, Short::Other) {
            let _ = self.0.pop();
        }
    }
}

impl Entry {
    /// The terms, if it enters an order.
    #[inline]
    pub(crate) fn order(&self) -> Option<&NewOrder> {
        match &self.command {
            Short::Place(terms) => Some(terms),
            _ => None,
        }
    }

    /// As [`Core::prefetch_far`].
    #[inline]
    pub(crate) fn prefetch_far(&self, core: &Core) {
        match &self.command {
            Short::Place(terms) => core.prefetch_new_order_far(terms),
            Short::Cancel { order, .. } => core.prefetch_order_far(order),
            Short::Amend(amend) => core.prefetch_order_far(&amend.order),
            Short::Other => {}
        }
    }

    /// As [`Core::prefetch_near`].
    #[inline]
    pub(crate) fn prefetch_near(&self, core: &Core) {
        match &self.command {
            Short::Place(terms) => core.prefetch_new_order_near(terms),
            Short::Cancel { order, .. } => core.prefetch_order_near(order),
            Short::Amend(amend) => core.prefetch_order_near(&amend.order),
            Short::Other => {}
        }
    }
}

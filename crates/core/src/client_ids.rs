//! The memory of client order ids: the order entered under each, its first answer, and how it
//! ended.
//!
//! The last orders of an account that were entered with a client order id are its window. An order that
//! is still open when it leaves the window stays known until it ends.

use crate::holders::Holders;
use crate::limits::Limits;
use crate::table::{Hasher, Table};
use rialto_model::{
    ClientOrderId, Condition, DoneReason, NewOrder, OrderId, Outcome, Price, Quantity, SelfTrade,
    Seq, Timestamp,
};

const NONE: u32 = u32::MAX;
/// Entries are allocated in blocks, so that growing never copies.
const BLOCK_BITS: u32 = 8;

/// What an order of its own command has besides its terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extension {
    /// What a conditional order was entered to wait for.
    Condition(Condition),
    /// The most that an iceberg displays.
    Display(Quantity),
    /// The [hash](rialto_model::OrderList::links_hash) of what a list has besides its first order.
    List(u64),
}

/// An order that was entered with a client order id.
#[derive(Clone, Copy)]
pub(crate) struct Remembered {
    /// As entered.
    pub(crate) terms: NewOrder,
    /// What it was entered with besides.
    pub(crate) extension: Option<Extension>,
    pub(crate) answer: Outcome,
    /// The next younger entry in the account's window; also links the free entries.
    next: u32,
    tag: u32,
    in_window: bool,
    /// Whether the order is open or still matching.
    pub(crate) open: bool,
    /// How the order ended, if that is remembered.
    pub(crate) end: Option<End>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct End {
    /// The command that ended it, and its time.
    pub(crate) seq: Seq,
    pub(crate) time: Timestamp,
    /// None if it was filled.
    pub(crate) reason: Option<DoneReason>,
    /// The limit, self-trade mode and expiry in force.
    pub(crate) price: Price,
    pub(crate) self_trade: SelfTrade,
    pub(crate) expire_at: Timestamp,
    pub(crate) filled: Quantity,
    pub(crate) remaining: Quantity,
}

impl Remembered {
    /// The order that was entered; none if it was refused.
    pub(crate) fn order(&self) -> Option<OrderId> {
        match self.answer {
            Outcome::Order { order, .. } => Some(order),
            _ => None,
        }
    }
}

#[derive(Clone, Copy)]
struct Window {
    oldest: u32,
    newest: u32,
}

/// The memories of all accounts.
pub(crate) struct ClientIds {
    blocks: Vec<Box<[Remembered]>>,
    free: u32,
    /// By the account's slot.
    windows: Vec<Window>,
    /// How many entries each window has.
    holders: Holders,
    table: Table,
    hasher: Hasher,
    window_max: u32,
    total_max: u32,
}

impl ClientIds {
    pub(crate) fn new(hasher: Hasher, limits: &Limits) -> ClientIds {
        ClientIds {
            blocks: Vec::new(),
            free: NONE,
            windows: Vec::new(),
            holders: Holders::new(),
            table: Table::new(),
            hasher,
            window_max: limits.client_ids_max,
            total_max: limits.client_ids_total_max,
        }
    }

    pub(crate) fn add_account(&mut self) {
        self.windows.push(Window { oldest: NONE, newest: NONE });
        self.holders.add_account();
    }

    #[inline]
    pub(crate) fn get(&self, at: u32) -> &Remembered {
        let mask = (1 << BLOCK_BITS) - 1;
        &self.blocks[(at >> BLOCK_BITS) as usize][(at & mask) as usize]
    }

    #[inline]
    fn get_mut(&mut self, at: u32) -> &mut Remembered {
        let mask = (1 << BLOCK_BITS) - 1;
        &mut self.blocks[(at >> BLOCK_BITS) as usize][(at & mask) as usize]
    }

    pub(crate) fn find(&self, account: rialto_model::AccountId, id: &ClientOrderId) -> Option<u32> {
        let tag = self.hasher.text(account, id);
        self.table.find(tag, |at| {
            let terms = &self.get(at).terms;
            terms.account == account && terms.client_order_id == *id
        })
    }

    /// Remembers an order that was just entered and its answer, and forgets the oldest one if the
    /// window is full. The client order id must be new to the account. Where all windows together
    /// hold too much, [`ClientIds::shrink`] is to be called.
    pub(crate) fn remember(
        &mut self,
        account: u32,
        terms: &NewOrder,
        extension: Option<Extension>,
        answer: Outcome,
        open: bool,
    ) -> u32 {
        let at = self.allot(terms);
        let tag = self.hasher.text(terms.account, &terms.client_order_id);
        *self.get_mut(at) = Remembered {
            terms: *terms,
            extension,
            answer,
            next: NONE,
            tag,
            in_window: true,
            open,
            end: None,
        };
        self.table.insert(tag, at);
        let window = &mut self.windows[account as usize];
        let newest = std::mem::replace(&mut window.newest, at);
        if newest == NONE {
            window.oldest = at;
        } else {
            self.get_mut(newest).next = at;
        }
        self.holders.add(account);
        if self.holders.count(account) > self.window_max {
            self.leave_window(account);
        }
        at
    }

    /// Removes the oldest entries of the accounts that have most while all windows together hold
    /// too many. One call removes more than one entry.
    pub(crate) fn shrink(&mut self) {
        for _ in 0..2 {
            match self.holders.most() {
                Some(most) if self.holders.total() > u64::from(self.total_max) => {
                    self.leave_window(most);
                }
                _ => return,
            }
        }
    }

    fn leave_window(&mut self, account: u32) {
        let oldest = self.windows[account as usize].oldest;
        let next = self.get(oldest).next;
        let window = &mut self.windows[account as usize];
        window.oldest = next;
        if next == NONE {
            window.newest = NONE;
        }
        self.holders.take(account);
        let entry = self.get_mut(oldest);
        entry.in_window = false;
        if !entry.open {
            self.forget(oldest);
        }
    }

    /// Records the final answer to the order, after the events of its own command.
    pub(crate) fn settle(&mut self, at: u32, answer: Outcome) {
        self.get_mut(at).answer = answer;
    }

    /// Records that the order of an entry has ended, with `end` if that is remembered.
    pub(crate) fn end(&mut self, at: u32, end: Option<End>) {
        let entry = self.get_mut(at);
        entry.open = false;
        entry.end = end;
        if !entry.in_window {
            self.forget(at);
        }
    }

    fn forget(&mut self, at: u32) {
        let tag = self.get(at).tag;
        self.table.remove(tag, at);
        let free = std::mem::replace(&mut self.free, at);
        self.get_mut(at).next = free;
    }

    fn allot(&mut self, terms: &NewOrder) -> u32 {
        if self.free == NONE {
            let first = (self.blocks.len() as u32) << BLOCK_BITS;
            let entry = |at: u32| Remembered {
                terms: *terms,
                extension: None,
                answer: Outcome::Done,
                next: if (at + 1) & ((1 << BLOCK_BITS) - 1) == 0 { NONE } else { at + 1 },
                tag: 0,
                in_window: false,
                open: false,
                end: None,
            };
            self.blocks.push((first..first + (1 << BLOCK_BITS)).map(entry).collect());
            self.free = first;
        }
        let at = self.free;
        self.free = self.get(at).next;
        at
    }

    /// An account's window, oldest first.
    pub(crate) fn window(&self, account: u32) -> impl Iterator<Item = u32> {
        let known = |at: u32| (at != NONE).then_some(at);
        let oldest = self.windows.get(account as usize).and_then(|window| known(window.oldest));
        std::iter::successors(oldest, move |&at| known(self.get(at).next))
    }

    /// Whether an entry has left the window and is kept for its open order only.
    pub(crate) fn is_kept_for_order(&self, at: u32) -> bool {
        !self.get(at).in_window
    }

    /// Restores an entry that had left the window. It is there for an open order, which is restored
    /// later and [marked](ClientIds::set_open).
    pub(crate) fn restore_outside_window(
        &mut self,
        terms: &NewOrder,
        extension: Option<Extension>,
        answer: Outcome,
    ) -> u32 {
        let at = self.allot(terms);
        let tag = self.hasher.text(terms.account, &terms.client_order_id);
        *self.get_mut(at) = Remembered {
            terms: *terms,
            extension,
            answer,
            next: NONE,
            tag,
            in_window: false,
            open: false,
            end: None,
        };
        self.table.insert(tag, at);
        at
    }

    /// Restores how an entry's order ended.
    pub(crate) fn set_end(&mut self, at: u32, end: End) {
        self.get_mut(at).end = Some(end);
    }

    /// Restores that an entry's order is open.
    pub(crate) fn set_open(&mut self, at: u32) {
        self.get_mut(at).open = true;
    }
}

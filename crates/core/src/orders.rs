//! The data of a resting order outside the book: terms, reserve, and the list of its account's
//! orders. It is kept in arrays beside the book's slab, by slot.

use crate::accounts::Account;
use crate::book::prefetch;
use crate::fees::Fees;
use rialto_model::{
    Amount, Handling, PostOnly, Price, Quantity, SelfTrade, Side, TimeInForce, Timestamp,
};

/// No order in a list.
pub(crate) const NIL: u32 = u32::MAX;
/// Slot 0 of the slab is never handed out. In the lists of accounts it represents an order that was
/// amended, left the book and is still matching.
pub(crate) const STAND_IN: u32 = 0;

/// What an order is besides its terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Plain,
    /// A market order that rests at its protection price in a call.
    Market,
    /// Displays a part of its quantity.
    Iceberg,
    /// On its way through the book; what is left of it rests at the last price that it traded at.
    FiveLevels,
    /// Waits for its trigger.
    Waiting,
    /// Waits for its trigger, as a market order.
    WaitingMarket,
    /// A trailing stop that waits.
    Trailing,
    /// A trailing stop that waits, as a market order.
    TrailingMarket,
}

impl Role {
    pub(crate) fn is_market(self) -> bool {
        matches!(self, Role::Market | Role::WaitingMarket | Role::TrailingMarket)
    }

    #[inline]
    pub(crate) fn waits(self) -> bool {
        matches!(self, Role::Waiting | Role::WaitingMarket | Role::Trailing | Role::TrailingMarket)
    }

    #[inline]
    pub(crate) fn trails(self) -> bool {
        matches!(self, Role::Trailing | Role::TrailingMarket)
    }
}

/// Attributes of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Attributes {
    pub(crate) side: Side,
    pub(crate) time_in_force: TimeInForce,
    pub(crate) post_only: PostOnly,
    /// The mode in force.
    pub(crate) self_trade: SelfTrade,
    pub(crate) role: Role,
    /// [`Handling::bits`], and [`LINKED`]; packed so that an order is one cache line.
    pub(crate) handling: u8,
}

/// The bit of an order that is linked: its list is found by its slot.
const LINKED: u8 = 0x80;

impl Attributes {
    /// The attributes of an order that is neither a market order for an auction nor an iceberg, nor waits.
    pub(crate) fn new(
        side: Side,
        time_in_force: TimeInForce,
        post_only: PostOnly,
        self_trade: SelfTrade,
        handling: Handling,
    ) -> Attributes {
        let (role, handling) = (Role::Plain, handling.bits());
        Attributes { side, time_in_force, post_only, self_trade, role, handling }
    }

    pub(crate) fn unpacked_handling(&self) -> Handling {
        Handling::from_bits(self.handling & !LINKED).expect("they are the bits of a handling")
    }

    #[inline]
    pub(crate) fn is_linked(&self) -> bool {
        self.handling & LINKED != 0
    }

    /// The same of an order that is linked, or is not.
    #[inline]
    pub(crate) fn with_link(mut self, is_linked: bool) -> Attributes {
        self.handling &= !LINKED;
        if is_linked {
            self.handling |= LINKED;
        }
        self
    }

    #[inline]
    pub(crate) fn cancels_on_disconnect(&self) -> bool {
        self.handling & 1 != 0
    }
}

/// A resting order: one cache line. Its id, owner and remaining quantity are in the book's slab.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Detail {
    pub(crate) reserved: Amount,
    pub(crate) price: Price,
    /// What has traded and what remains.
    pub(crate) total: Quantity,
    /// [`Timestamp::MAX`] is never.
    pub(crate) expire_at: Timestamp,
    pub(crate) fees: Fees,
    /// The account's slot.
    pub(crate) account: u32,
    /// The entry of its client order id plus one, or zero.
    pub(crate) client: u32,
    /// The index of the instrument in the list of instruments.
    pub(crate) market: u16,
    pub(crate) attributes: Attributes,
}

const VACANT: Detail = Detail {
    reserved: Amount::ZERO,
    price: Price::ZERO,
    total: Quantity::ZERO,
    expire_at: Timestamp::MAX,
    fees: Fees::NONE,
    account: 0,
    client: 0,
    market: 0,
    attributes: Attributes {
        side: Side::Buy,
        time_in_force: TimeInForce::Gtc,
        post_only: PostOnly::Off,
        self_trade: SelfTrade::Allow,
        role: Role::Plain,
        handling: 0,
    },
};

#[derive(Clone, Copy)]
struct Link {
    prev: u32,
    next: u32,
}

const UNLINKED: Link = Link { prev: NIL, next: NIL };

/// The details of all open orders, and the lists of each account's orders by ascending id.
///
/// Ids ascend in order of entry and an amended order keeps its place in the list, so that new
/// orders always go to the end.
pub(crate) struct OpenOrders {
    details: Vec<Detail>,
    links: Vec<Link>,
}

impl OpenOrders {
    pub(crate) fn new() -> OpenOrders {
        OpenOrders { details: vec![VACANT], links: vec![UNLINKED] }
    }

    /// Prefetches the memory of an order in a slot.
    #[inline]
    pub(crate) fn prefetch(&self, slot: usize) {
        if let Some(detail) = self.details.get(slot) {
            prefetch(detail);
        }
    }

    /// Prefetches what the end of an order reads and writes beyond [`OpenOrders::touch`].
    #[inline]
    pub(crate) fn prefetch_link(&self, slot: usize) {
        if let Some(link) = self.links.get(slot) {
            prefetch(link);
        }
    }

    /// Prefetches the neighbours of an order in its account's list. Reads the order's own links.
    #[inline]
    pub(crate) fn prefetch_neighbours(&self, slot: usize) {
        if let Some(link) = self.links.get(slot) {
            self.prefetch_link(link.prev as usize);
            self.prefetch_link(link.next as usize);
        }
    }

    /// Makes room for as many slots as the slab has.
    #[inline]
    pub(crate) fn cover(&mut self, slots: usize) {
        if self.details.len() < slots {
            self.grow(slots);
        }
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, slots: usize) {
        self.details.resize(slots, VACANT);
        self.links.resize(slots, UNLINKED);
    }

    #[inline]
    pub(crate) fn get(&self, slot: u32) -> &Detail {
        &self.details[slot as usize]
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, slot: u32) -> &mut Detail {
        &mut self.details[slot as usize]
    }

    /// The account's next order after the one in `slot`.
    #[inline]
    pub(crate) fn next(&self, slot: u32) -> u32 {
        self.links[slot as usize].next
    }

    /// Puts an order, the newest of all, at the end of its account's list.
    #[inline]
    pub(crate) fn append(&mut self, account: &mut Account, slot: u32) {
        self.links[slot as usize] = Link { prev: account.tail, next: NIL };
        match account.tail {
            NIL => account.head = slot,
            tail => self.links[tail as usize].next = slot,
        }
        account.tail = slot;
        account.open_orders += 1;
    }

    /// Takes an order out of its account's list; returns the one that followed it.
    #[inline]
    pub(crate) fn unlink(&mut self, account: &mut Account, slot: u32) -> u32 {
        let Link { prev, next } = self.links[slot as usize];
        match prev {
            NIL => account.head = next,
            prev => self.links[prev as usize].next = next,
        }
        match next {
            NIL => account.tail = prev,
            next => self.links[next as usize].prev = prev,
        }
        account.open_orders -= 1;
        next
    }

    /// Replaces `from` by `to` in the account's list.
    pub(crate) fn replace(&mut self, account: &mut Account, from: u32, to: u32) {
        let link = self.links[from as usize];
        self.links[to as usize] = link;
        match link.prev {
            NIL => account.head = to,
            prev => self.links[prev as usize].next = to,
        }
        match link.next {
            NIL => account.tail = to,
            next => self.links[next as usize].prev = to,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rialto_model::{AccountId, MemberId};

    fn rig() -> (OpenOrders, Account) {
        let mut orders = OpenOrders::new();
        orders.cover(10);
        let account = Account {
            id: AccountId(1),
            member: MemberId(1),
            head: NIL,
            tail: NIL,
            open_orders: 0,
            under_way: 0,
            restrictions: crate::restrictions::RestrictionPair::default(),
        };
        (orders, account)
    }

    fn list(orders: &OpenOrders, account: &Account) -> Vec<u32> {
        let first = (account.head != NIL).then_some(account.head);
        std::iter::successors(first, |&slot| Some(orders.next(slot)).filter(|&next| next != NIL))
            .collect()
    }

    #[test]
    fn a_detail_is_one_cache_line() {
        assert_eq!(size_of::<Detail>(), 64);
    }

    #[test]
    fn orders_are_listed_in_order_of_arrival() {
        let (mut orders, mut account) = rig();
        for slot in [5, 2, 7] {
            orders.append(&mut account, slot);
        }
        orders.unlink(&mut account, 2);
        assert_eq!(list(&orders, &account), [5, 7]);
        assert_eq!(account.open_orders, 2);
    }

    #[test]
    fn a_replaced_order_keeps_its_place_in_the_list() {
        let (mut orders, mut account) = rig();
        for slot in [5, 2, 7] {
            orders.append(&mut account, slot);
        }
        orders.replace(&mut account, 5, STAND_IN);
        orders.replace(&mut account, 7, 3);
        assert_eq!(list(&orders, &account), [0, 2, 3]);
        orders.unlink(&mut account, STAND_IN);
        orders.unlink(&mut account, 3);
        assert_eq!(list(&orders, &account), [2]);
        assert_eq!((account.head, account.tail), (2, 2));
    }
}

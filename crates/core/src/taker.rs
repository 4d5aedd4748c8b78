//! An order on its way through the book.

use crate::Core;
use crate::fees::Fees;
use crate::links::Link;
use crate::orders::{Attributes, Detail};
use rialto_model::{Amount, MemberId, OrderId, Price, PriceRange, Quantity, Timestamp};

/// The remaining size of an incoming order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Remaining {
    /// A quantity of base currency.
    Base(Quantity),
    /// An amount of quote currency, and of a sell at most this much base currency.
    Quote { left: Amount, base_left: Quantity },
}

/// An accepted or amended order that is not on the book. It is part of the state while it is
/// suspended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Taker {
    pub(crate) order: OrderId,
    /// The account's slot.
    pub(crate) account: u32,
    pub(crate) member: MemberId,
    pub(crate) market: u16,
    pub(crate) attributes: Attributes,
    /// Whether the remainder may rest.
    pub(crate) rests: bool,
    /// Whether it was on the book and was amended; [`crate::orders::STAND_IN`] then represents it
    /// in its account's list.
    pub(crate) amended: bool,
    /// The limit in force.
    pub(crate) limit: Price,
    /// The prices at which it trades without an interruption, fixed when it arrived.
    pub(crate) range: PriceRange,
    pub(crate) expire_at: Timestamp,
    pub(crate) want: Remaining,
    pub(crate) filled: Quantity,
    pub(crate) reserved: Amount,
    pub(crate) fees: Fees,
    /// As in [`Detail::client`].
    pub(crate) client: u32,
    /// The most that an iceberg displays; zero for another order.
    pub(crate) display_quantity: Quantity,
    /// Its list, if it is linked.
    pub(crate) link: Option<Link>,
}

impl Taker {
    /// The remaining quantity in base currency; zero for an order sized in quote currency.
    #[inline]
    pub(crate) fn remaining(&self) -> Quantity {
        match self.want {
            Remaining::Base(remaining) => remaining,
            Remaining::Quote { .. } => Quantity::ZERO,
        }
    }

    #[inline]
    pub(crate) fn is_filled(&self) -> bool {
        self.want == Remaining::Base(Quantity::ZERO)
    }

    /// As an order on the book.
    #[inline]
    pub(crate) fn detail(&self) -> Detail {
        Detail {
            reserved: self.reserved,
            price: self.limit,
            total: Quantity(self.filled.0 + self.remaining().0),
            expire_at: self.expire_at,
            account: self.account,
            fees: self.fees,
            client: self.client,
            market: self.market,
            attributes: self.attributes,
        }
    }
}

impl Core {
    /// The position of a taker, or of an order in an account's list, in the order of entry.
    pub(crate) fn listed_id(&self, slot: u32) -> OrderId {
        if slot == crate::orders::STAND_IN {
            let taker = self.urgent.as_ref();
            return taker.expect("the stand-in is listed only while a taker is suspended").order;
        }
        self.order_at(slot).id
    }
}

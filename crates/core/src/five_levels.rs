//! Orders of kind five levels whose remainder may rest.

use crate::orders::Role;
use crate::taker::{Remaining, Taker};
use crate::{Core, EventSink};
use rialto_model::{Amended, Amount, Event, Quantity};

/// The version since which what is left of such an order may rest.
pub(crate) const WITH_RESTING_FIVE_LEVELS: u32 = 10;

impl Core {
    /// Gives what is left of an order of kind five levels the last price that it traded at as its limit. It does
    /// not rest if it has not traded, nor at a price that is off the tick or not between its exits.
    #[cold]
    #[inline(never)]
    pub(crate) fn limit_to_last_trade<S: EventSink>(&mut self, taker: &mut Taker, sink: &mut S) {
        taker.attributes.role = Role::Plain;
        let market = &self.markets[usize::from(taker.market)];
        // Nobody else has traded since: an order that goes on in a tick comes before all other commands.
        let price = market.last_price;
        taker.rests = taker.filled > Quantity::ZERO
            && market.check_price(price).is_ok()
            && taker.link.is_none_or(|link| self.lists.get(link.list).surrounds(price));
        if !taker.rests || price == taker.limit {
            return;
        }
        let Remaining::Base(remaining) = taker.want else { unreachable!("it is for a quantity") };
        let side = taker.attributes.side;
        let old_reserved = taker.reserved;
        let old_price = std::mem::replace(&mut taker.limit, price);
        taker.reserved = market.reserve(side, price, remaining, taker.fees);
        if taker.reserved != old_reserved {
            let more = Amount(taker.reserved.0 - old_reserved.0);
            self.ledger.reserve(taker.account, market.reserved_currency(side), more);
        }
        sink.event(&Event::Amended(Amended {
            order: taker.order,
            account: self.accounts.get(taker.account).id,
            instrument: market.instrument.id,
            side,
            old_price,
            old_remaining: remaining,
            price,
            quantity: Quantity(taker.filled.0 + remaining.0),
            remaining,
            old_reserved,
            reserved: taker.reserved,
        }));
    }
}

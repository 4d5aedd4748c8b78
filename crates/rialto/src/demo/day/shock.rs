//! The price shock: one order that sells through all bids of the dynamic range, and would trade next
//! at a price outside.

use super::{End, Stage};
use crate::demo::markets::{Role, accounts};
use rialto_feed::Feed;
use rialto_model::{
    AccountId, Command, Instrument, InstrumentState, NewOrder, OrderId, OrderRef, Outcome, Price,
    Quantity, SelfTrade, Side,
};
use std::time::Duration;

/// How often the shock is tried: members may enter bids while it is prepared.
const TRIES: u32 = 10;
/// The longest wait for an answer, and for the read models to show its effect.
const ANSWER_MAX: Duration = Duration::from_secs(10);
/// How far below the range the order goes, in thousandths of its end.
const BELOW: i64 = 4;

/// The orders of a shock.
struct Orders {
    /// A bid outside of the range, for which the shock reaches.
    bid: NewOrder,
    sell: NewOrder,
}

impl Stage {
    /// Has an order interrupt trading, and waits until the call has ended by itself.
    pub(super) fn shock(&mut self, at: usize) -> Result<(), End> {
        let mut entered = Vec::new();
        for _ in 0..TRIES {
            let Some(orders) = orders(&self.live.read(), &self.instruments[at]) else { break };
            let bid = self.place(orders.bid)?;
            let left = self.place(orders.sell)?;
            entered.extend(bid.map(|id| (orders.bid.account, id)));
            entered.extend(left.map(|id| (orders.sell.account, id)));
            // There is a bid at its price: it rests only where the range has stopped it. The call
            // itself may be over by now.
            if left.is_some() {
                break;
            }
        }
        let longest = 2 * self.part(super::INTERRUPTION + super::RANDOM_END) + ANSWER_MAX;
        self.look_for(at, longest, |now| now == InstrumentState::Open)?;
        // What is left of the shock would hold the price down.
        for (account, id) in entered {
            let cancel = Command::Cancel { account, order: OrderRef::Id(id) };
            self.ask(&cancel)?;
        }
        Ok(())
    }

    /// Enters an order; its id if it is open then.
    fn place(&mut self, order: NewOrder) -> Result<Option<OrderId>, End> {
        Ok(match self.ask(&Command::Place(order))? {
            Some(Outcome::Order { order, status, .. }) if status.is_open() => Some(order),
            _ => None,
        })
    }

    /// Submits a command like any member, and waits until the read models show its effect.
    fn ask(&mut self, command: &Command) -> Result<Option<Outcome>, End> {
        // The engine takes nothing more: it ends, and so does the demo.
        self.producer.submit(0, command, None).map_err(|_| End::Stopped)?;
        let reply = self.producer.reply_timeout(ANSWER_MAX);
        let Some(answer) = reply.and_then(|reply| reply.answer.ok()) else { return Ok(None) };
        let mut left = ANSWER_MAX;
        while self.live.seq() < answer.seq && !left.is_zero() {
            self.pause(super::LOOK_PERIOD)?;
            left = left.saturating_sub(super::LOOK_PERIOD);
        }
        Ok(Some(answer.outcome))
    }
}

/// A bid below the range of an instrument, and an order that sells down to it; `None` if it has no
/// range or no room below it.
fn orders(feed: &Feed, instrument: &Instrument) -> Option<Orders> {
    let spec = &instrument.spec;
    let rules = &spec.rules;
    let low = feed.trading_range(instrument.id)?.low;
    let price = Price((low.0 - low.0 / 1_000 * BELOW) / rules.tick.0 * rules.tick.0);
    let bids = feed.depth(instrument.id, usize::MAX)?.bids;
    let within = bids.iter().take_while(|level| level.price >= low);
    let bought: i64 = within.fold(0, |sum, level| sum.saturating_add(level.quantity.0));
    // A fifth more than is displayed, for what icebergs hide and for the bids that come meanwhile; and a
    // lot at the price outside.
    let lots = |quantity: i64| Quantity((quantity / rules.lot.0).max(1) * rules.lot.0);
    let bid = lots(spec.quantity_scale.factor() / 10);
    let sold = lots(bought.saturating_add(bought / 5).saturating_add(bid.0 / 2));
    let sold = sold.min(lots(rules.quantity_max.0));
    let order = |account: AccountId, side, quantity| {
        NewOrder::limit(account, instrument.id, side, quantity, price)
    };
    let first = |role| accounts(role).first().copied();
    let mut sell = order(first(Role::Taker)?, Side::Sell, sold);
    // An order of the same account that rests among the bids is cancelled, and the shock goes on.
    sell.self_trade = Some(SelfTrade::CancelOldest);
    let bid = order(first(Role::Crowd)?, Side::Buy, bid);
    (price.0 > 0).then_some(Orders { bid, sell })
}

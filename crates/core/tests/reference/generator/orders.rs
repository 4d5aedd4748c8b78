//! New orders, and references to ones that were entered.

use super::super::world::text;
use super::super::{Entered, Order};
use super::{ALL_TIMES, Chooser, MICROSECOND, SELF_TRADES, SIDES};
use rialto_model::{
    AccountId, Amount, ClientOrderId, Command, Condition, ConditionalOrder, IcebergOrder,
    InstrumentId, NewOrder, OrderId, OrderKind, OrderList, OrderRef, OrderSize, PostOnly, Price,
    Quantity, TimeInForce, Timestamp, TrailingOrder,
};

impl Chooser<'_> {
    pub(super) fn order(&mut self) -> NewOrder {
        let account = self.account();
        let instrument = self.instrument();
        let rules = self.rules_of(instrument);
        let market = self.dice.chance(18);
        let mut order = NewOrder {
            account,
            instrument,
            side: self.dice.pick(&SIDES),
            kind: OrderKind::Limit,
            time_in_force: TimeInForce::Gtc,
            post_only: PostOnly::Off,
            self_trade: self.dice.chance(60).then(|| self.dice.pick(&SELF_TRADES)),
            handling: self.handling(40),
            size: OrderSize::Base(self.quantity(&rules)),
            price: self.price(&rules),
            minimum_quantity: Quantity::ZERO,
            expire_at: Timestamp::ZERO,
            client_order_id: self.client_order_id(),
        };
        order.time_in_force = match self.dice.weighted(&[54, 10, 7, 9, 20, 5]) {
            0 => TimeInForce::Gtc,
            1 => TimeInForce::Ioc,
            2 => TimeInForce::Fok,
            3 => TimeInForce::Day,
            4 => TimeInForce::Gtd,
            _ => TimeInForce::Gfs,
        };
        if market {
            order.kind = OrderKind::Market;
            if self.now.rules_version >= 5 || self.dice.chance(2) {
                let own = [OrderKind::Market, OrderKind::BestPrice, OrderKind::FiveLevels];
                order.kind = own[self.dice.weighted(&[5, 3, 2])];
            }
            let since = if order.kind == OrderKind::FiveLevels { 10 } else { 5 };
            let rests = self.now.rules_version >= since && self.dice.chance(35);
            if !rests {
                order.time_in_force = self.dice.pick(&[TimeInForce::Ioc, TimeInForce::Fok]);
            }
            if self.dice.chance(if order.kind == OrderKind::Market { 60 } else { 97 }) {
                order.price = Price::ZERO;
            }
            if order.kind == OrderKind::FiveLevels && self.dice.chance(50) {
                // Enough to take five levels, and more.
                order.size = OrderSize::Base(Quantity(self.dice.between(20, 200) * rules.lot.0));
            }
            if !rests && order.kind != OrderKind::FiveLevels && self.dice.chance(50) {
                let listed = self.now.listed(instrument).or(self.now.listed(InstrumentId(1)));
                let factor = listed.map_or(1, |listed| listed.instrument.quote_factor());
                let factor = i128::from(factor);
                let amount = match self.dice.below(20) {
                    0 => i128::from(self.dice.pick(&[0, -1, 1])),
                    1 => 1 << 101,
                    _ => i128::from(self.dice.between(50, 3_000)) * factor,
                };
                order.size = OrderSize::Quote(Amount(amount));
            }
        } else if super::super::entry::can_rest(order.time_in_force) && self.dice.chance(25) {
            order.post_only = self.dice.pick(&[PostOnly::Reject, PostOnly::Slide]);
        }
        if self.dice.chance(if self.now.rules_version >= 5 { 12 } else { 1 }) {
            order.minimum_quantity = self.quantity(&rules);
            if let (OrderSize::Base(all), true) = (order.size, self.dice.chance(80)) {
                order.minimum_quantity = Quantity(order.minimum_quantity.0.clamp(1, all.0.max(1)));
                order.post_only = PostOnly::Off;
            }
        }
        let state = self.now.listed(instrument).map(|listed| listed.instrument.state);
        if state.is_ok_and(|state| state.collects()) && self.dice.chance(80) {
            let times = [TimeInForce::Gtc, TimeInForce::Gtd, TimeInForce::Day, TimeInForce::Gfs];
            order.time_in_force = self.dice.pick(&times);
            if self.dice.chance(35) {
                let own = [TimeInForce::AtOpen, TimeInForce::AtClose, TimeInForce::Gfa];
                order.time_in_force = self.dice.pick(&own);
            }
            let is_market = order.time_in_force.is_for_auction() && self.dice.chance(40);
            order.kind = if is_market { OrderKind::Market } else { OrderKind::Limit };
            order.post_only = PostOnly::Off;
            if self.dice.chance(95) {
                order.minimum_quantity = Quantity::ZERO;
            }
            order.size = OrderSize::Base(self.quantity(&rules));
            match order.kind {
                OrderKind::Limit => order.price = self.price(&rules),
                OrderKind::Market if self.dice.chance(95) => order.price = Price::ZERO,
                _ => {}
            }
        }
        if order.time_in_force == TimeInForce::Gtd {
            let at = self.time.saturating_add(1 + self.dice.below(60 * MICROSECOND));
            order.expire_at = if self.dice.chance(5) { self.time } else { at };
        }
        if self.dice.chance(4) {
            order.time_in_force = self.dice.pick(ALL_TIMES);
            order.post_only = self.dice.pick(&[PostOnly::Off, PostOnly::Reject, PostOnly::Slide]);
            order.kind = self.dice.pick(OrderKind::ALL);
        }
        order
    }

    pub(super) fn client_order_id(&mut self) -> ClientOrderId {
        match self.dice.below(10) {
            0..6 => ClientOrderId::EMPTY,
            6 => text(&format!("c{}", self.dice.below(4))),
            _ => text(&format!("c{}", self.dice.below(5_000))),
        }
    }

    /// An order that was entered before, the same or changed.
    pub(super) fn again(&mut self) -> Command {
        let account = self.account();
        let entered = self.now.accounts.get(&account).map(|account| account.entered.clone());
        let entered = entered.unwrap_or_default();
        if entered.is_empty() {
            return Command::Place(self.order());
        }
        let Entered { mut body, condition, displays, list, .. } =
            entered[self.dice.below(entered.len() as u64) as usize];
        if self.dice.chance(25) {
            let is_cancelled = body.handling.cancel_on_disconnect;
            body.handling = body.handling.with_cancel_on_disconnect(!is_cancelled);
        }
        if let Some(list) = list {
            return self.list_again(OrderList { terms: body, ..list });
        }
        if let Some(display_quantity) = displays {
            return Command::PlaceIceberg(IcebergOrder { terms: body, display_quantity });
        }
        match condition {
            Some(Condition::Trail(trail)) => {
                Command::PlaceTrailing(TrailingOrder { terms: body, trail })
            }
            Some(Condition::Trigger(trigger)) => {
                let immediate = self.dice.chance(30);
                Command::PlaceConditional(ConditionalOrder { terms: body, trigger, immediate })
            }
            None => Command::Place(body),
        }
    }

    /// Mostly an open order of the account that is said to own it.
    pub(super) fn some_order(&mut self) -> (AccountId, OrderRef) {
        let open = &self.now.orders;
        if open.is_empty() || self.dice.chance(4) {
            let account = self.account();
            let named = match self.dice.below(3) {
                0 => OrderRef::Client(text(&format!("c{}", self.dice.below(4)))),
                1 => OrderRef::Client(ClientOrderId::EMPTY),
                _ => {
                    let counter = self.dice.below(self.now.orders_entered + 2);
                    OrderRef::Id(OrderId::from_parts(self.now.engine, counter))
                }
            };
            return (account, named);
        }
        let order: &Order = &open[self.dice.below(open.len() as u64) as usize];
        let account = order.account;
        if !order.client_order_id.is_empty() && self.dice.chance(50) {
            return (account, OrderRef::Client(order.client_order_id));
        }
        (account, OrderRef::Id(order.id))
    }
}

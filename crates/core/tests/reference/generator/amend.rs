//! Amendments: of orders on the book, of orders that wait, and of linked orders.

use super::super::Order;
use super::super::world::text;
use super::{Chooser, SIDES};
use rialto_model::{
    AccountId, Amend, AmendTrigger, ClientOrderId, Command, Condition, ConditionalOrder,
    InstrumentId, InstrumentState, Leg, LinkKind, NewOrder, OrderId, OrderKind, OrderList,
    OrderRef, Price, Quantity, Side, TimeInForce, Timestamp, TradingRules, Trigger, TriggerKind,
};

impl Chooser<'_> {
    pub(super) fn amendment(&mut self) -> Command {
        let amends_all = self.now.rules_version >= 10;
        if self.dice.chance(if amends_all { 25 } else { 12 })
            && let Some(order) = self.waiting_or_linked()
        {
            return self.amendment_of(&order);
        }
        let (account, named) = self.some_order();
        let order = self.now.orders.iter().find(|order| {
            order.account == account
                && match named {
                    OrderRef::Id(id) => order.id == id,
                    OrderRef::Client(name) => order.client_order_id == name,
                }
        });
        let rules = self.rules_of(order.map_or(InstrumentId(1), |order| order.instrument));
        let (filled, total) =
            order.map_or((0, 1), |order| (order.filled.0, order.filled.0 + order.remaining.0));
        let price = match self.dice.below(10) {
            0..5 => None,
            5 => order.map(|order| order.price),
            _ => Some(self.price(&rules)),
        };
        let lot = rules.lot.0;
        let quantity = match self.dice.below(10) {
            0..4 => None,
            4 => Some(total),
            5..7 => Some(total - lot),
            7 => Some(filled),
            8 => Some(total + lot * self.dice.between(1, 9)),
            _ => Some(self.quantity(&rules).0),
        };
        let amend = Amend { account, order: named, price, quantity: quantity.map(Quantity) };
        if self.dice.chance(if amends_all { 4 } else { 1 }) {
            // Mostly of an order that does not wait.
            let trigger_price = self.price(&rules);
            return Command::AmendTrigger(AmendTrigger { amend, trigger_price });
        }
        if price.is_none() && quantity.is_none() && !self.dice.chance(5) {
            return Command::Cancel { account, order: named };
        }
        Command::Amend(amend)
    }

    /// An order that waits for a trigger, or one of linked orders.
    pub(super) fn waiting_or_linked(&mut self) -> Option<Order> {
        let is_triggered = |order: &Order| order.waits.is_some_and(|it| it.reached.is_some());
        let is_exit = |order: &Order| self.now.list_of(order.id).is_some();
        let which = self.dice.below(10);
        let is_preferred = |order: &Order| match which {
            0..3 => is_triggered(order),
            3..7 => is_exit(order),
            _ => order.waits.is_some(),
        };
        let of = |is: &dyn Fn(&Order) -> bool| -> Vec<Order> {
            self.now.orders.iter().filter(|order| is(order)).copied().collect()
        };
        let mut orders = of(&is_preferred);
        if orders.is_empty() {
            orders = of(&|order| order.waits.is_some() || is_exit(order));
        }
        (!orders.is_empty()).then(|| self.dice.pick(&orders))
    }

    /// An amendment of an order that waits, or of one of linked orders.
    fn amendment_of(&mut self, order: &Order) -> Command {
        let rules = self.rules_of(order.instrument);
        let is_exit = self.now.list_of(order.id).is_some();
        let is_fixed = order.waits.is_some_and(|waits| waits.follows.is_none());
        let has_no_limit = order.waits.is_some_and(|it| it.is_market && it.follows.is_some());
        let moves = self.dice.chance(if is_fixed { 60 } else { 2 });
        let (account, mut named) = (order.account, OrderRef::Id(order.id));
        if !order.client_order_id.is_empty() && self.dice.chance(30) {
            named = OrderRef::Client(order.client_order_id);
        }
        let mut amend = Amend { account, order: named, price: None, quantity: None };
        let often = if moves { 25 } else { 60 };
        if self.dice.chance(if has_no_limit { 8 } else { often }) {
            amend.price = Some(self.new_limit(order, &rules));
        }
        let is_given = moves || amend.price.is_some();
        let often = if is_given { 20 } else { 90 };
        if self.dice.chance(if is_exit { 8 } else { often }) {
            let total = order.filled.0 + order.remaining.0;
            amend.quantity = Some(Quantity(match self.dice.below(10) {
                0 => total,
                1..5 => total - rules.lot.0,
                5..9 => total + self.dice.between(1, 9) * rules.lot.0,
                _ => self.quantity(&rules).0,
            }));
        }
        if moves {
            let trigger_price = self.new_level(order, &rules);
            return Command::AmendTrigger(AmendTrigger { amend, trigger_price });
        }
        if amend.price.is_none() && amend.quantity.is_none() {
            amend.price = Some(self.new_limit(order, &rules));
        }
        Command::Amend(amend)
    }

    /// The limit of an order that waits is anywhere near the last price; one on the book has a new level.
    fn new_limit(&mut self, order: &Order, rules: &TradingRules) -> Price {
        if order.waits.is_none() {
            return self.new_level(order, rules);
        }
        match self.dice.below(12) {
            0 => order.price,
            1 => self.price(rules),
            2 => Price(self.around(order.instrument, rules) * rules.tick.0 + 1),
            _ => {
                let from = self.around(order.instrument, rules);
                Price((from + self.dice.between(-4, 4)) * rules.tick.0)
            }
        }
    }

    /// Where an order may trade from: near the last price, beside an order that it is linked to, where others wait,
    /// where it is, or off the tick.
    fn new_level(&mut self, order: &Order, rules: &TradingRules) -> Price {
        let tick = rules.tick.0;
        let from = self.around(order.instrument, rules);
        let level = |order: &Order| order.waits.map_or(order.price, |waits| waits.at);
        let list = self.now.list_of(order.id);
        let is_linked = |other: &&Order| {
            let is_own = list.is_some_and(|it| it.linked.contains(&other.id) || it.id == other.id);
            is_own && other.id != order.id
        };
        let linked: Vec<Price> = self.now.orders.iter().filter(is_linked).map(level).collect();
        let waits_beside = |other: &&Order| {
            other.waits.is_some_and(|waits| waits.follows.is_none()) && other.id != order.id
        };
        let waiting: Vec<Price> = self.now.orders.iter().filter(waits_beside).map(level).collect();
        match self.dice.below(24) {
            0 => level(order),
            1 => Price(from * tick + 1),
            2 => self.price(rules),
            3..8 if !linked.is_empty() => {
                let beside = self.dice.between(-1, 1) * tick;
                Price(self.dice.pick(&linked).0.saturating_add(beside))
            }
            8..12 if !waiting.is_empty() => self.dice.pick(&waiting),
            _ => {
                // Mostly where the last price has not been.
                let rises = match order.waits {
                    Some(waits) => waits.rises(order.side),
                    None => order.side == Side::Sell,
                };
                let ticks = self.dice.between(-1, 4);
                Price((if rises { from + ticks } else { from - ticks }) * tick)
            }
        }
    }

    /// Amendments that matter for what is triggered, entered or traded after them.
    pub(super) fn amendments_on_the_way(&mut self) -> Vec<Command> {
        match self.dice.below(3) {
            0 => self.amended_before_entry(),
            1 => self.moved_behind(),
            _ => self.amended_exits(),
        }
    }

    /// Two accounts that trade with each other, if there are two members.
    fn strangers(&mut self) -> [AccountId; 2] {
        let accounts: Vec<AccountId> = self.now.accounts.keys().copied().collect();
        let first = self.dice.pick(&accounts);
        let member = |account: &AccountId| self.now.accounts[account].member;
        let others = accounts.iter().filter(|account| member(account) != member(&first));
        let others: Vec<AccountId> = others.copied().collect();
        [first, if others.is_empty() { first } else { self.dice.pick(&others) }]
    }

    /// Orders that trade with each other.
    fn trade_at(&mut self, price: Price, rules: &TradingRules) -> [Command; 2] {
        let [first, second] = self.strangers();
        let [one, other] = self.dice.pick(&[SIDES, [Side::Sell, Side::Buy]]);
        let order = |account, side| {
            let quantity = Quantity(2 * rules.lot.0);
            Command::Place(NewOrder::limit(account, InstrumentId(1), side, quantity, price))
        };
        [order(first, one), order(second, other)]
    }

    /// A stop of the first instrument, and an amendment of it that changes nothing.
    fn stop(
        &mut self,
        side: Side,
        rules: &TradingRules,
        at: Price,
        limit: Price,
    ) -> (Amend, Command) {
        let client_order_id: ClientOrderId = text(&format!("w{}", self.dice.below(100_000)));
        let account = self.account();
        let quantity = Quantity(self.dice.between(2, 4) * rules.lot.0);
        let is_market = self.dice.chance(40);
        let terms = NewOrder {
            kind: if is_market { OrderKind::Market } else { OrderKind::Limit },
            price: if is_market { Price::ZERO } else { limit },
            client_order_id,
            ..NewOrder::limit(account, InstrumentId(1), side, quantity, limit)
        };
        let trigger = Trigger { kind: TriggerKind::Stop, price: at };
        let order = ConditionalOrder { terms, trigger, immediate: false };
        let named = OrderRef::Client(client_order_id);
        let amend = Amend { account, order: named, price: None, quantity: None };
        (amend, Command::PlaceConditional(order))
    }

    /// Orders that one price triggers, and amendments before they are entered.
    fn amended_before_entry(&mut self) -> Vec<Command> {
        let instrument = InstrumentId(1);
        let rules = self.rules_of(instrument);
        let lot = rules.lot.0;
        let from = self.around(instrument, &rules);
        let side = self.dice.pick(&SIDES);
        let away = side.opposite();
        let [at, near, middle, far] =
            [0, 1, 2, 5].map(|ticks| self.better(away, &rules, from, ticks));
        let (first, place_first) = self.stop(side, &rules, near, far);
        let (second, place_second) = self.stop(side, &rules, middle, far);
        let (third, place_third) = self.stop(side, &rules, far, far);
        let mut commands = self.trade_at(at, &rules).to_vec();
        commands.extend([place_first, place_second, place_third]);
        commands.extend(self.trade_at(middle, &rules));
        commands.extend(self.trade_at(at, &rules));
        let is_called = self.dice.chance(25);
        if is_called {
            let state = InstrumentState::Call;
            commands.push(Command::SetInstrumentState { instrument, state });
        }
        let moved =
            |amend, trigger_price| Command::AmendTrigger(AmendTrigger { amend, trigger_price });
        for _ in 0..1 + self.dice.below(4) {
            commands.push(match self.dice.below(6) {
                // To a price that was reached, and is not the last one.
                0 | 1 => moved(third, near),
                2 => moved(first, far),
                3 => Command::Amend(Amend { price: Some(middle), ..first }),
                4 => {
                    let quantity = Some(Quantity(self.dice.between(1, 6) * lot));
                    let amended = Amend { quantity, ..self.dice.pick(&[first, second]) };
                    match self.dice.chance(30) {
                        true => moved(amended, near),
                        false => Command::Amend(amended),
                    }
                }
                _ => moved(Amend { price: Some(far), ..second }, middle),
            });
        }
        commands.push(Command::Tick);
        if is_called {
            let state = InstrumentState::Open;
            commands.push(Command::SetInstrumentState { instrument, state });
        }
        commands.extend(self.trade_at(near, &rules));
        commands.extend([Command::Tick, Command::Tick]);
        commands
    }

    /// Orders that come to wait at one trigger price, one of them by an amendment, and a price that triggers them.
    fn moved_behind(&mut self) -> Vec<Command> {
        let instrument = InstrumentId(1);
        let rules = self.rules_of(instrument);
        let from = self.around(instrument, &rules);
        let side = self.dice.pick(&SIDES);
        let away = side.opposite();
        let [at, near, far] = [0, 1, 3].map(|ticks| self.better(away, &rules, from, ticks));
        let (moved, place_moved) = self.stop(side, &rules, far, far);
        let (kept, place_kept) = self.stop(side, &rules, near, far);
        let (_, place_last) = self.stop(side, &rules, near, far);
        let mut commands = self.trade_at(at, &rules).to_vec();
        commands.extend([place_moved, place_kept]);
        let mut amend = moved;
        if self.dice.chance(20) {
            amend.quantity = Some(Quantity(self.dice.between(1, 6) * rules.lot.0));
        }
        commands.push(Command::AmendTrigger(AmendTrigger { amend, trigger_price: near }));
        if self.dice.chance(60) {
            commands.push(place_last);
        }
        if self.dice.chance(50) {
            // It keeps its place, also if it becomes larger.
            let quantity = Some(Quantity(self.dice.between(3, 8) * rules.lot.0));
            commands.push(Command::Amend(Amend { quantity, ..kept }));
        }
        let maker = NewOrder::limit(
            self.account(),
            instrument,
            away,
            Quantity(self.dice.between(2, 6) * rules.lot.0),
            far,
        );
        commands.push(Command::Place(maker));
        commands.extend(self.trade_at(near, &rules));
        commands.extend([Command::Tick, Command::Tick]);
        commands
    }

    /// An entry whose exits are amended before it trades on, and before one of them trades or is cancelled.
    fn amended_exits(&mut self) -> Vec<Command> {
        let instrument = InstrumentId(1);
        let rules = self.rules_of(instrument);
        let from = self.around(instrument, &rules);
        let side = self.dice.pick(&SIDES);
        let exit = side.opposite();
        let at = Price(from * rules.tick.0);
        let [account, other] = self.strangers();
        let profit_at = self.better(exit, &rules, from, 3);
        let loss = self.stop_loss(exit, &rules, from);
        let order = |account, side, price, lots| {
            NewOrder::limit(account, instrument, side, Quantity(lots * rules.lot.0), price)
        };
        let (waits, alone) = (self.dice.chance(30), self.dice.below(6));
        let trigger = Trigger { kind: TriggerKind::TakeProfit, price: profit_at };
        let profit = Leg {
            condition: waits.then_some(Condition::Trigger(trigger)),
            kind: OrderKind::Limit,
            time_in_force: TimeInForce::Gtc,
            price: profit_at,
            expire_at: Timestamp::ZERO,
        };
        let list = OrderList {
            terms: order(account, side, at, 9),
            condition: None,
            kind: LinkKind::Oto,
            take_profit: (alone != 0).then_some(profit),
            stop_loss: (alone != 1).then_some(loss),
        };
        // The entry and the order that trades with it come before the exits.
        let id = |number| {
            let number = self.now.orders_entered + number;
            OrderRef::Id(OrderId::from_parts(self.now.engine, number))
        };
        let (entry_id, profit_id) = (id(1), id(3));
        let loss_id = id(if alone == 0 { 3 } else { 4 });
        let amend = |order, price| Amend { account, order, price, quantity: None };
        let ticks = self.dice.between(-1, 5);
        let new_profit = self.better(exit, &rules, from, ticks);
        let ticks = -self.dice.between(-1, 5);
        let new_loss = self.better(exit, &rules, from, ticks);
        let new_limit = self.dice.chance(40).then(|| self.better(exit, &rules, from, -4));
        let amend_profit = match waits {
            true => Command::AmendTrigger(AmendTrigger {
                amend: amend(profit_id, self.dice.chance(50).then_some(new_profit)),
                trigger_price: new_profit,
            }),
            false => Command::Amend(amend(profit_id, Some(new_profit))),
        };
        let amend_loss = match self.dice.chance(80) {
            true => Command::AmendTrigger(AmendTrigger {
                amend: amend(loss_id, new_limit),
                trigger_price: new_loss,
            }),
            false => Command::Amend(amend(loss_id, Some(new_loss))),
        };
        let mut commands = vec![
            Command::PlaceList(list),
            Command::Place(order(other, exit, at, 3)),
            Command::Tick,
            Command::Tick,
        ];
        let more = self.dice.between(1, 7);
        let trade = Command::Place(order(other, exit, at, more));
        let trades_first = self.dice.chance(40);
        if trades_first {
            commands.push(trade);
        }
        match self.dice.below(4) {
            0 => commands.push(amend_profit),
            1 => commands.push(amend_loss),
            _ => commands.extend([amend_profit, amend_loss]),
        }
        if !trades_first {
            commands.push(trade);
        }
        if self.dice.chance(25) {
            commands.push(Command::Tick);
        }
        commands.push(match self.dice.below(4) {
            0 => Command::Cancel { account, order: profit_id },
            1 => Command::Cancel { account, order: entry_id },
            2 => Command::Place(order(other, exit, new_loss, 2)),
            _ => Command::Place(order(other, side, new_profit, 2)),
        });
        commands.extend([Command::Tick, Command::Tick]);
        commands
    }

    /// Many amendments of orders that wait, and of linked orders.
    pub(super) fn many_amendments(&mut self) -> Vec<Command> {
        let many = 10 + self.dice.below(60);
        let mut commands = Vec::new();
        for _ in 0..many {
            commands.push(match self.waiting_or_linked() {
                Some(order) => self.amendment_of(&order),
                None => self.conditional(),
            });
        }
        commands
    }
}

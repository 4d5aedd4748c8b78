//! Orders, open and lately ended: a slab with the lookups and lists that queries need.

use crate::FeedConfig;
use crate::accounts::Account;
use crate::book::Cause;
use crate::ended::{Ended, Ranks};
use crate::list::{Link, Linked, List};
use crate::market::Market;
use crate::view::{LinksView, Moment, OpenOrderCounts, OrderView};
use rialto_model::{
    AccountId, Amount, ClientOrderId, DoneReason, Iceberg, NewOrder, OrderId, OrderSize,
    OrderStatus, Price, Quantity, Side, TrailState, TrailTerms, Trigger, TriggerKind,
};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// The list of a price level's orders.
pub(crate) const QUEUE: usize = 0;
/// The list of an account's open orders.
pub(crate) const OWNER: usize = 1;

#[derive(Clone, Debug)]
pub(crate) struct Order {
    pub(crate) order: OrderId,
    pub(crate) terms: NewOrder,
    /// Slot of its account.
    pub(crate) account: u32,
    pub(crate) status: OrderStatus,
    pub(crate) done: Option<DoneReason>,
    /// What it waits for.
    pub(crate) trigger: Option<Trigger>,
    /// How it follows the price, if it is a trailing stop that waits.
    pub(crate) follower: Option<Box<Follower>>,
    /// What it displays, if it is an iceberg that is open: nothing while it is not on the book.
    pub(crate) iceberg: Option<Box<Iceberg>>,
    /// How it is linked with other orders, while it is open.
    pub(crate) links: Option<Box<LinksView>>,
    /// What it waited for, displayed and belonged to, to be shown when it has ended.
    pub(crate) past: Option<Box<PastTerms>>,
    pub(crate) resting: bool,
    /// Whether it stands in the list of changed orders.
    pub(crate) changed: bool,
    pub(crate) quantity: Quantity,
    pub(crate) filled: Quantity,
    pub(crate) remaining: Quantity,
    pub(crate) filled_notional: Option<Amount>,
    pub(crate) fee: Option<Amount>,
    pub(crate) reserved: Amount,
    pub(crate) accepted: Option<Moment>,
    pub(crate) updated: Moment,
    pub(crate) queue: Link,
    pub(crate) owner: Link,
}

/// Terms that an order is shown with when it has ended, while its own fields no longer have them.
#[derive(Clone, Debug, Default)]
pub(crate) struct PastTerms {
    pub(crate) trigger: Option<Trigger>,
    pub(crate) trail: Option<TrailTerms>,
    pub(crate) display_quantity: Option<Quantity>,
    /// The first order of its list.
    pub(crate) list: Option<OrderId>,
}

/// A trailing stop that waits.
#[derive(Clone, Debug)]
pub(crate) struct Follower {
    pub(crate) trail: TrailTerms,
    /// Once it is active: the extreme when it was said to be, and since when it follows the price here.
    pub(crate) active: Option<(Price, u64)>,
}

impl Follower {
    /// As its owner sees it.
    pub(crate) fn state(&self, side: Side, market: &Market) -> TrailState {
        let extreme = self.active.map(|(extreme, point)| {
            let since = market.extremes[side as usize].since(point);
            if side == Side::Sell { extreme.max(since) } else { extreme.min(since) }
        });
        TrailState { trail: self.trail, extreme }
    }
}

impl Order {
    /// Whether it was sized in quote currency, and so ends only by an event.
    pub(crate) fn sized_in_quote(&self) -> bool {
        matches!(self.terms.size, OrderSize::Quote(_))
    }

    /// Whether it waits for a price.
    pub(crate) fn waits(&self) -> bool {
        self.status == OrderStatus::Waiting
    }

    pub(crate) fn past(&mut self) -> &mut PastTerms {
        self.past.get_or_insert_default()
    }

    pub(crate) fn set_quantity(&mut self, quantity: Quantity) {
        self.quantity = quantity;
        self.terms.size = OrderSize::Base(quantity);
    }

    /// Notes that a part of it traded.
    pub(crate) fn fill(&mut self, quantity: Quantity, notional: Amount, fee: Amount) {
        self.filled.0 += quantity.0;
        self.filled_notional =
            self.filled_notional.map(|sum| Amount(sum.0.saturating_add(notional.0)));
        self.fee = self.fee.map(|sum| Amount(sum.0.saturating_add(fee.0)));
        self.status = OrderStatus::PartiallyFilled;
    }

    /// What it displays on the book: an iceberg a part of what remains, others all of it.
    pub(crate) fn displayed(&self) -> Quantity {
        self.iceberg.as_ref().map_or(self.remaining, |iceberg| iceberg.displayed)
    }

    /// What remains and is not displayed.
    pub(crate) fn hidden(&self) -> Quantity {
        Quantity(self.remaining.0 - self.displayed().0)
    }

    /// Sets what an iceberg displays, at most its display quantity.
    pub(crate) fn display(&mut self, most: Quantity) {
        if let Some(iceberg) = &mut self.iceberg {
            iceberg.displayed = iceberg.display_quantity.min(most);
        }
    }

    pub(crate) fn link_with(&mut self, links: LinksView) {
        self.past().list = Some(links.list);
        self.links = Some(Box::new(links));
    }

    /// It is linked with no order any more, unless it is the entry of its list.
    pub(crate) fn unlink(&mut self) {
        if self
            .links
            .as_ref()
            .is_some_and(|links| links.list != self.order || links.other.is_some())
        {
            self.links = None;
        }
    }

    /// Reduces what remains, and with it what an iceberg displays.
    pub(crate) fn reduce(&mut self, by: Quantity, cause: Cause) {
        self.remaining.0 -= by.0;
        let remaining = self.remaining;
        match (&mut self.iceberg, cause) {
            (None, _) => {}
            (Some(iceberg), Cause::Trade) => {
                iceberg.trade(by, remaining);
            }
            (Some(_), Cause::Auction) => self.display(remaining),
            (Some(iceberg), Cause::Reduction) => iceberg.limit_to(remaining),
        }
    }

    /// The order as its owner sees it. `markets` are all instruments.
    pub(crate) fn view(&self, markets: &[Market]) -> OrderView {
        let view = self.present_view(markets);
        match &self.past {
            Some(past) if !self.status.is_open() => {
                let trail = past.trail.map(|trail| TrailState { trail, extreme: None });
                let iceberg = past.display_quantity.map(|display_quantity| Iceberg {
                    display_quantity,
                    displayed: Quantity::ZERO,
                });
                let links = past.list.map(|list| LinksView {
                    list,
                    other: None,
                    take_profit: None,
                    stop_loss: None,
                });
                OrderView { trigger: past.trigger, trail, iceberg, links, ..view }
            }
            _ => view,
        }
    }

    fn present_view(&self, markets: &[Market]) -> OrderView {
        let mut trigger = self.trigger;
        let trail = self.follower.as_ref().map(|follower| {
            let market = &markets[self.terms.instrument.0 as usize - 1];
            let state = follower.state(self.terms.side, market);
            let tick = market.instrument.spec.rules.tick;
            let price = state.trigger_price(self.terms.side, tick);
            trigger = price.map(|price| Trigger { kind: TriggerKind::Stop, price });
            state
        });
        OrderView {
            order: self.order,
            terms: self.terms,
            status: self.status,
            done: self.done,
            trigger,
            trail,
            iceberg: self.iceberg.as_deref().copied(),
            links: self.links.as_deref().copied(),
            resting: self.resting,
            quantity: self.quantity,
            filled: self.filled,
            remaining: self.remaining,
            filled_notional: self.filled_notional,
            fee: self.fee,
            reserved: self.reserved,
            accepted: self.accepted,
            updated: self.updated,
        }
    }
}

impl Linked<QUEUE> for Order {
    fn link(&self) -> &Link {
        &self.queue
    }
    fn link_mut(&mut self) -> &mut Link {
        &mut self.queue
    }
}

impl Linked<OWNER> for Order {
    fn link(&self) -> &Link {
        &self.owner
    }
    fn link_mut(&mut self) -> &mut Link {
        &mut self.owner
    }
}

/// Spreads order ids, which the core counts up, over the table. Members cannot choose them.
#[derive(Default)]
pub(crate) struct CounterHasher(u64);

impl Hasher for CounterHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }
    fn write_u64(&mut self, value: u64) {
        // The golden ratio spreads upwards; the fold brings the upper half to the low bits too.
        let product = u128::from(self.0 ^ value) * 0x9e37_79b9_7f4a_7c15;
        self.0 = (product as u64) ^ ((product >> 64) as u64);
    }
}

/// All orders that are open or remembered.
#[derive(Debug, Default)]
pub(crate) struct Orders {
    pub(crate) slab: Vec<Order>,
    free: Vec<u32>,
    by_id: HashMap<OrderId, u32, BuildHasherDefault<CounterHasher>>,
    by_client: HashMap<(AccountId, ClientOrderId), u32>,
    /// The number of remembered ended orders of each account.
    ended: Ranks,
    ends: u64,
    /// The number of open orders that wait for a price.
    waiting: usize,
    /// Orders that changed since the last end of a command.
    pub(crate) changed: Vec<u32>,
}

impl Orders {
    pub(crate) fn slot(&self, order: OrderId) -> Option<u32> {
        self.by_id.get(&order).copied()
    }

    /// The order that is open or remembered under this client order id; the last one of that name.
    pub(crate) fn by_client(&self, account: AccountId, name: ClientOrderId) -> Option<&Order> {
        self.by_client.get(&(account, name)).map(|slot| &self.slab[*slot as usize])
    }

    pub(crate) fn open(&self) -> impl Iterator<Item = &Order> {
        self.by_id
            .values()
            .map(|slot| &self.slab[*slot as usize])
            .filter(|order| order.status.is_open())
    }

    pub(crate) fn open_counts(&self) -> OpenOrderCounts {
        let open = self.by_id.len() - self.ended.total();
        OpenOrderCounts { entered: open - self.waiting, waiting: self.waiting }
    }

    /// Marks an open order as waiting for a price.
    pub(crate) fn wait(&mut self, slot: u32) {
        let order = &mut self.slab[slot as usize];
        self.waiting += usize::from(!order.waits());
        order.status = OrderStatus::Waiting;
    }

    /// Ends the wait of an order whose price has come.
    pub(crate) fn trigger(&mut self, slot: u32) {
        self.waiting -= 1;
        self.slab[slot as usize].status = OrderStatus::Open;
    }

    /// Adds an open order.
    pub(crate) fn insert(&mut self, order: Order, owner: &mut Account) -> u32 {
        self.waiting += usize::from(order.waits());
        let slot = self.enter(order);
        owner.open.push_back(&mut self.slab, slot);
        slot
    }

    /// Adds an order that has ended; it is remembered for a while.
    pub(crate) fn insert_ended(&mut self, order: Order, owner: &mut Account) {
        let slot = self.enter(order);
        self.remember(slot, owner);
    }

    fn enter(&mut self, order: Order) -> u32 {
        let (id, terms) = (order.order, order.terms);
        let slot = match self.free.pop() {
            Some(slot) => {
                self.slab[slot as usize] = order;
                slot
            }
            None => {
                self.slab.push(order);
                (self.slab.len() - 1) as u32
            }
        };
        self.by_id.insert(id, slot);
        if !terms.client_order_id.is_empty() {
            self.by_client.insert((terms.account, terms.client_order_id), slot);
        }
        slot
    }

    /// Notes that an order changed, so that it is published once at the end of the command.
    pub(crate) fn touch(&mut self, slot: u32, at: Moment) {
        let order = &mut self.slab[slot as usize];
        order.updated = at;
        if !order.changed {
            order.changed = true;
            self.changed.push(slot);
        }
    }

    /// Ends an order that has left the book; it is remembered for a while.
    pub(crate) fn end(&mut self, slot: u32, status: OrderStatus, owner: &mut Account) {
        let order = &mut self.slab[slot as usize];
        self.waiting -= usize::from(order.waits());
        (order.status, order.iceberg, order.links) = (status, None, None);
        owner.open.remove(&mut self.slab, slot);
        self.remember(slot, owner);
    }

    fn remember(&mut self, slot: u32, owner: &mut Account) {
        let order = &self.slab[slot as usize];
        let named = !order.terms.client_order_id.is_empty();
        self.ended.add(order.account);
        self.ends += 1;
        let (order, seq, number) = (order.order, order.updated.seq, self.ends);
        owner.ended.push(Ended { slot, order, seq, number }, named);
    }

    /// Forgets ended orders beyond the number that `config` allows: each time one of the account
    /// that has most, so that no account's traffic displaces the orders of an account that has fewer.
    pub(crate) fn forget_beyond(&mut self, config: &FeedConfig, accounts: &mut [Account]) {
        while self.ended.total() > config.ended_orders
            && let Some(account) = self.ended.most()
            && let owner = &mut accounts[account as usize]
            && let Some((forgotten, named)) = owner.ended.forget(config.names_per_account)
        {
            let Ended { slot, order, seq, .. } = forgotten;
            self.ended.take(account);
            owner.forgotten_orders = owner.forgotten_orders.max(seq);
            self.by_id.remove(&order);
            if named {
                let terms = &self.slab[slot as usize].terms;
                let name = (terms.account, terms.client_order_id);
                // A later order may have taken the name over.
                if self.by_client.get(&name) == Some(&slot) {
                    self.by_client.remove(&name);
                }
            }
            self.slab[slot as usize].past = None;
            self.free.push(slot);
        }
    }
}

/// An account's open orders, by id.
pub(crate) type OpenList = List<OWNER>;

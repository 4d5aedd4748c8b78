//! What came of a replay: a fold of the released events.

use rialto_engine::EventRecord;
use rialto_model::{
    CommandKind, DecodeError, DoneReason, Event, OrderId, Price, Quantity, RejectReason, Trade,
};
use rialto_workload::digest::FillDigest;
use std::collections::{BTreeMap, HashMap};

/// A fill, by the ids of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Fill {
    pub(super) maker: u64,
    pub(super) taker: u64,
    pub(super) price: Price,
    pub(super) quantity: Quantity,
}

/// The remaining and the filled quantity of a resting order.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Standing {
    pub(super) price: Price,
    pub(super) filled: i64,
    pub(super) remaining: i64,
}

/// The counts of a replay.
#[derive(Default)]
pub(super) struct Tally {
    pub(super) orders: u64,
    pub(super) accepted: u64,
    pub(super) cancels: u64,
    pub(super) amends: u64,
    pub(super) trades: u64,
    pub(super) traded_quantity: u128,
    /// Price times quantity of every trade, at both scales together.
    pub(super) volume: u128,
    pub(super) digest: FillDigest,
    pub(super) rejects: BTreeMap<RejectReason, u64>,
    /// The file's id of each order by the counter in the venue's id.
    ids: Vec<u64>,
    /// Every fill, if they will be compared.
    pub(super) fills: Option<Vec<Fill>>,
    /// Resting orders by the file's id, if the file refers to remaining quantities.
    standing: Option<HashMap<u64, Standing>>,
}

impl Tally {
    /// A tally that also keeps every fill and every resting order.
    pub(super) fn keeping() -> Tally {
        Tally { fills: Some(Vec::new()), standing: Some(HashMap::new()), ..Tally::default() }
    }

    /// The order, if it rests.
    pub(super) fn standing(&self, id: u64) -> Option<Standing> {
        self.standing.as_ref()?.get(&id).copied()
    }

    /// Takes the events of one command.
    pub(super) fn take(&mut self, record: &EventRecord<'_>) -> Result<(), DecodeError> {
        let (_, events) = record.decode()?;
        for event in events {
            self.event(&event?);
        }
        Ok(())
    }

    fn event(&mut self, event: &Event) {
        match event {
            Event::Accepted(accepted) => {
                self.orders += 1;
                self.accepted += 1;
                // Every order was named by its id in the file.
                let id = accepted.terms.client_order_id.as_str().parse().unwrap_or(0);
                let at = usize::try_from(accepted.order.counter()).unwrap_or(0);
                if self.ids.len() <= at {
                    self.ids.resize(at + 1, 0);
                }
                self.ids[at] = id;
                if let (Some(standing), rialto_model::OrderSize::Base(quantity)) =
                    (&mut self.standing, accepted.terms.size)
                {
                    let price = accepted.terms.price;
                    standing.insert(id, Standing { price, filled: 0, remaining: quantity.0 });
                }
            }
            Event::Trade(trade) => self.trade(trade),
            Event::Rejected(rejected) => {
                self.orders += u64::from(rejected.command == CommandKind::Place);
                *self.rejects.entry(rejected.reason).or_default() += 1;
            }
            Event::Done(done) => {
                self.cancels += u64::from(done.reason == DoneReason::Cancelled);
                let id = self.id(done.order);
                if let Some(standing) = &mut self.standing {
                    standing.remove(&id);
                }
            }
            Event::Reduced(reduced) => {
                self.amends += 1;
                self.left(reduced.order, reduced.price, reduced.remaining);
            }
            Event::Amended(amended) => {
                self.amends += 1;
                self.left(amended.order, amended.price, amended.remaining);
            }
            _ => {}
        }
    }

    fn trade(&mut self, trade: &Trade) {
        let (maker, taker) = (self.id(trade.maker_order), self.id(trade.taker_order));
        let (price, quantity) = (trade.price, trade.quantity);
        self.trades += 1;
        self.traded_quantity += u128::from(quantity.0.unsigned_abs());
        self.volume += u128::from(price.0.unsigned_abs()) * u128::from(quantity.0.unsigned_abs());
        self.digest.fill(OrderId(maker), OrderId(taker), price, quantity);
        if let Some(fills) = &mut self.fills {
            fills.push(Fill { maker, taker, price, quantity });
        }
        if let Some(standing) = &mut self.standing {
            for (id, left) in [(maker, trade.maker_remaining), (taker, trade.taker_remaining)] {
                if left == Quantity::ZERO {
                    standing.remove(&id);
                } else if let Some(order) = standing.get_mut(&id) {
                    order.filled += quantity.0;
                    order.remaining = left.0;
                }
            }
        }
    }

    fn left(&mut self, order: OrderId, price: Price, remaining: Quantity) {
        let id = self.id(order);
        if let Some(order) = self.standing.as_mut().and_then(|standing| standing.get_mut(&id)) {
            order.price = price;
            order.remaining = remaining.0;
        }
    }

    fn id(&self, order: OrderId) -> u64 {
        let at = usize::try_from(order.counter()).unwrap_or(usize::MAX);
        self.ids.get(at).copied().unwrap_or(0)
    }
}

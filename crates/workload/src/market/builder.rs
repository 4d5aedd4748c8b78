//! Makes a flow, and keeps the books that its commands lead to.

use super::{MarketFlow, MarketTotals, quote_of};
use crate::commands::{MAKER_FEE_PPM, TAKER_FEE_PPM, order_id};
use crate::operation::Operation;
use crate::reference::{ReferenceBook, Resting};
use rialto_model::{
    AccountId, Amend, Command, InstrumentId, NewOrder, OrderId, OrderRef, Price, Quantity, Side,
    TimeInForce,
};

/// A placed order.
#[derive(Clone, Copy, Debug)]
struct Placed {
    account: AccountId,
    instrument: InstrumentId,
    side: Side,
}

/// Makes a [`MarketFlow`] command by command. A [`ReferenceBook`] of each instrument says what
/// trades.
#[derive(Clone, Debug)]
pub struct MarketBuilder {
    accounts: u32,
    books: Vec<ReferenceBook>,
    /// By order id, which rises from 1.
    placed: Vec<Placed>,
    commands: Vec<Command>,
    totals: MarketTotals,
    prefill: usize,
    resting: u64,
    resting_max: u64,
}

impl MarketBuilder {
    /// No commands yet.
    #[must_use]
    pub fn new(instruments: u32, accounts: u32) -> MarketBuilder {
        MarketBuilder {
            accounts,
            books: vec![ReferenceBook::default(); instruments as usize],
            placed: Vec::new(),
            commands: Vec::new(),
            totals: MarketTotals::new(instruments, accounts),
            prefill: 0,
            resting: 0,
            resting_max: 0,
        }
    }

    /// Places a limit order.
    pub fn place(
        &mut self,
        instrument: InstrumentId,
        account: AccountId,
        side: Side,
        quantity: Quantity,
        price: Price,
    ) -> OrderId {
        self.placed.push(Placed { account, instrument, side });
        let id = OrderId(self.placed.len() as u64);
        let order = NewOrder::limit(account, instrument, side, quantity, price);
        self.commands.push(Command::Place(order));
        let (time_in_force, user) = (TimeInForce::Gtc, account.0);
        let place = Operation::Place { id, side, time_in_force, user, price, quantity };
        self.apply(instrument, &place);
        id
    }

    /// Cancels a resting order.
    pub fn cancel(&mut self, id: OrderId) {
        let Placed { account, instrument, .. } = self.of(id);
        self.commands.push(Command::Cancel { account, order: OrderRef::Id(order_id(id)) });
        self.apply(instrument, &Operation::Cancel { id });
    }

    /// Gives a resting order another price.
    pub fn amend(&mut self, id: OrderId, price: Price) {
        let Placed { account, instrument, .. } = self.of(id);
        let order = OrderRef::Id(order_id(id));
        let amend = Amend { account, order, price: Some(price), quantity: None };
        self.commands.push(Command::Amend(amend));
        self.apply(instrument, &Operation::Move { id, price });
    }

    /// An order, if it rests: its instrument and its side.
    #[must_use]
    pub fn resting(&self, id: OrderId) -> Option<(InstrumentId, Side, &Resting)> {
        let instrument = self.of(id).instrument;
        let (side, order) = self.books[at(instrument)].get(id)?;
        Some((instrument, side, order))
    }

    /// All ids given so far.
    pub fn ids(&self) -> impl Iterator<Item = OrderId> + use<> {
        (1..=self.placed.len() as u64).map(OrderId)
    }

    /// Says that all commands so far only fill the books.
    pub fn end_prefill(&mut self) {
        self.prefill = self.commands.len();
    }

    /// The flow.
    #[must_use]
    pub fn build(self, name: impl Into<String>) -> MarketFlow {
        MarketFlow {
            name: name.into(),
            instruments: self.books.len() as u32,
            accounts: self.accounts,
            prefill: self.prefill,
            placed: self.placed.len() as u64,
            commands: self.commands,
            expected: MarketTotals { resting: self.resting, ..self.totals },
            resting_max: self.resting_max,
        }
    }

    fn of(&self, id: OrderId) -> Placed {
        self.placed[(id.0 - 1) as usize]
    }

    fn apply(&mut self, instrument: InstrumentId, operation: &Operation) {
        let MarketBuilder { books, placed, totals, .. } = self;
        let (base, quote) = (instrument.0 as u16, quote_of(books.len() as u32));
        let book = &mut books[at(instrument)];
        let before = book.standing().resting();
        let done = book.apply(operation, &mut |fill| {
            let [maker, taker] = [fill.maker, fill.taker].map(|id| placed[(id.0 - 1) as usize]);
            let accounts = [maker.account, taker.account];
            let ppm = [MAKER_FEE_PPM, TAKER_FEE_PPM];
            totals.post(fill, (base, quote), taker.side, accounts, ppm);
        });
        assert!(done, "{operation:?} names an order that does not rest");
        self.resting = self.resting + book.standing().resting() - before;
        self.resting_max = self.resting_max.max(self.resting);
    }
}

fn at(instrument: InstrumentId) -> usize {
    (instrument.0 - 1) as usize
}

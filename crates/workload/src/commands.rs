//! A workload as the commands of a venue: accounts that can pay for everything, then its orders.

use super::operation::{Operation, Workload};
use super::reference::{Fill, ReferenceBook};
use rialto_model::{
    AccountId, Amend, Amount, Command, CurrencyId, EngineId, InstrumentId, InstrumentKind,
    InstrumentSpec, MemberId, Name, NewOrder, OrderId, OrderRef, Price, Quantity, Scale, Side,
    TimeInForce, Trade, TradingRules, Transfer,
};

/// The engine that the commands are for: its number is part of every order id.
pub const ENGINE: EngineId = EngineId(1);
/// The instrument that all orders are of.
pub const INSTRUMENT: InstrumentId = InstrumentId(1);
/// The fees, for the report.
pub const FEES: &str =
    "Fees: maker 0.01 %, taker 0.02 %, on both sides of every trade. Self-trades are allowed.";

pub(crate) const MAKER_FEE_PPM: i32 = 100;
pub(crate) const TAKER_FEE_PPM: i32 = 200;
const BASE: CurrencyId = CurrencyId(1);
const QUOTE: CurrencyId = CurrencyId(2);
const PRICE_SCALE: u8 = 9;
const QUANTITY_SCALE: u8 = 6;

/// The venue's id of an order of a workload: both count orders up from 1.
pub(crate) fn order_id(id: OrderId) -> OrderId {
    OrderId::from_parts(ENGINE, id.0)
}

/// A trade of the venue as a fill of the workload.
#[inline]
pub fn fill_of(trade: &Trade) -> Fill {
    Fill {
        maker: OrderId(trade.maker_order.counter()),
        taker: OrderId(trade.taker_order.counter()),
        price: trade.price,
        quantity: trade.quantity,
    }
}

/// The commands before the first order: two currencies, the instrument with risk on and the fees of
/// [`FEES`], and for each user an account with more than it can spend.
///
/// # Panics
/// If the workload has a user 0; none has.
#[must_use]
pub fn opening(workload: &Workload) -> Vec<Command> {
    let users = workload.operations.iter().map(|operation| match operation {
        Operation::Place { user, .. } => *user,
        _ => 0,
    });
    let users = users.max().unwrap_or(0);
    let scale = |places| Scale::new(places).expect("the places are constants within the range");
    let mut commands = vec![
        Command::CreateCurrency {
            code: "BTC".parse().expect("a currency code"),
            scale: scale(QUANTITY_SCALE),
        },
        // Fine enough that every notional is a whole number of it.
        Command::CreateCurrency {
            code: "USD".parse().expect("a currency code"),
            scale: scale(PRICE_SCALE + QUANTITY_SCALE),
        },
        Command::CreateInstrument(InstrumentSpec {
            symbol: "BTC-USD".parse().expect("a symbol"),
            kind: InstrumentKind::Spot,
            base: BASE,
            quote: QUOTE,
            price_scale: scale(PRICE_SCALE),
            quantity_scale: scale(QUANTITY_SCALE),
            rules: rules(),
        }),
    ];
    for user in 1..=users {
        let (account, member) = (AccountId(user), MemberId(user));
        let name: Name = "trader".parse().expect("a short plain text is a name");
        commands.push(Command::CreateMember { member, name });
        commands.push(Command::CreateAccount { account, member, name });
        for currency in [BASE, QUOTE] {
            let reference = format!("fund-{}", currency.0);
            let reference = reference.parse().expect("a short plain text is a reference");
            let amount = Amount(1 << 100);
            commands.push(Command::deposit(Transfer { account, currency, amount, reference }));
        }
    }
    commands
}

/// The rules of every instrument.
pub(crate) fn rules() -> TradingRules {
    TradingRules {
        market_protection_ppm: 0,
        maker_fee_ppm: MAKER_FEE_PPM,
        taker_fee_ppm: TAKER_FEE_PPM,
        ..TradingRules::unrestrained()
    }
}

/// Each operation of a workload as one command: a move is an amendment of the price, a reduction
/// one of the total quantity, and a reduction by everything that is open a cancel.
///
/// # Panics
/// If an operation names an order that does not rest: a workload never does.
#[must_use]
pub fn commands(workload: &Workload) -> Vec<Command> {
    let reduces = workload.operations.iter().any(|op| matches!(op, Operation::Reduce { .. }));
    // The open quantity of an order is only needed to reduce it, and expensive to track.
    let mut book = reduces.then(ReferenceBook::default);
    let mut placed: Vec<(AccountId, Quantity)> = Vec::new();
    let mut commands = Vec::with_capacity(workload.operations.len());
    for operation in &workload.operations {
        commands.push(command(operation, &mut placed, book.as_ref()));
        if let Some(book) = &mut book {
            book.apply(operation, &mut |_| {});
        }
    }
    commands
}

fn command(
    operation: &Operation,
    placed: &mut Vec<(AccountId, Quantity)>,
    book: Option<&ReferenceBook>,
) -> Command {
    // Ids rise from 1 in order of placing.
    let at = |id: OrderId| (id.0 - 1) as usize;
    match *operation {
        Operation::Place { id, side, time_in_force, user, price, quantity } => {
            let account = AccountId(user);
            assert_eq!(at(id), placed.len(), "ids rise from 1 in order of placing");
            placed.push((account, quantity));
            place(account, side, time_in_force, price, quantity)
        }
        Operation::Move { id, price } => Command::Amend(Amend {
            account: placed[at(id)].0,
            order: OrderRef::Id(order_id(id)),
            price: Some(price),
            quantity: None,
        }),
        Operation::Cancel { id } => {
            Command::Cancel { account: placed[at(id)].0, order: OrderRef::Id(order_id(id)) }
        }
        Operation::Reduce { id, by } => {
            let (account, total) = &mut placed[at(id)];
            let (account, order) = (*account, OrderRef::Id(order_id(id)));
            let (_, resting) = book
                .and_then(|book| book.get(id))
                .expect("a reduction names an order that rests, in a workload with a book");
            if by >= resting.left {
                return Command::Cancel { account, order };
            }
            total.0 -= by.0;
            Command::Amend(Amend { account, order, price: None, quantity: Some(*total) })
        }
    }
}

fn place(
    account: AccountId,
    side: Side,
    time_in_force: TimeInForce,
    price: Price,
    quantity: Quantity,
) -> Command {
    Command::Place(NewOrder {
        time_in_force,
        ..NewOrder::limit(account, INSTRUMENT, side, quantity, price)
    })
}

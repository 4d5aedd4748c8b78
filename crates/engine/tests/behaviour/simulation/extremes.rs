//! Commands with values at the edges of their types and of the instrument's rules.

use super::random::Random;
use crate::stage::{ACCOUNTS, limit, rules, until};
use rialto_core::{DEAD_MAN_MAX_NS, HELD_MAX};
use rialto_model::*;
use std::collections::BTreeMap;

/// The extreme part of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Extreme {
    Price,
    Quantity,
    Amount,
    Expiry,
    DeadMan,
    ClientId,
    Reference,
}

/// How often each was accepted and rejected.
#[derive(Debug, Default)]
pub(crate) struct Met(BTreeMap<(Extreme, bool), u64>);

const PRICES: [i64; 5] = [i64::MIN, -1, 0, 1, i64::MAX];
/// The instrument's largest quantity and one more are among them.
const QUANTITIES: [i64; 6] = [i64::MIN, 0, 1, 1_000_000, 1_000_001, i64::MAX];
const AMOUNTS: [i128; 9] = [
    i128::MIN,
    -1,
    0,
    Instrument::NOTIONAL_MAX.0,
    Instrument::NOTIONAL_MAX.0 + 1,
    HELD_MAX / 2,
    HELD_MAX,
    HELD_MAX + 1,
    i128::MAX,
];
const TIMEOUTS: [u64; 5] = [0, 1, DEAD_MAN_MAX_NS, DEAD_MAN_MAX_NS + 1, u64::MAX];
/// The longest text.
const TEXT_BYTES: usize = 36;

impl Extreme {
    const ALL: [Self; 7] = [
        Self::Price,
        Self::Quantity,
        Self::Amount,
        Self::Expiry,
        Self::DeadMan,
        Self::ClientId,
        Self::Reference,
    ];
}

impl Met {
    pub(crate) fn decided(&mut self, command: &Command, outcome: &Outcome) {
        let accepted = !outcome.is_rejected();
        for extreme in of(command) {
            *self.0.entry((extreme, accepted)).or_default() += 1;
        }
    }

    /// Extremes that were never accepted, or never rejected.
    pub(crate) fn missing(&self) -> Vec<(Extreme, bool)> {
        let all = Extreme::ALL.into_iter().flat_map(|it| [(it, true), (it, false)]);
        all.filter(|it| !self.0.contains_key(it)).collect()
    }
}

/// A command with an extreme part.
pub(crate) fn command(random: &mut Random, now: Timestamp) -> Command {
    let account = random.below(u64::from(ACCOUNTS)) as u32 + 1;
    let side = random.pick(&[Side::Buy, Side::Sell]);
    // Orders at this price never match, however large they are.
    let far = if side == Side::Buy { 1 } else { 50_000 };
    let of_account = AccountId(account);
    match random.below(10) {
        0 => limit(account, side, random.pick(&PRICES), 1),
        1 => limit(account, side, far, random.pick(&QUANTITIES)),
        2 => {
            let Command::Place(order) = limit(account, side, 0, 1) else { return Command::Tick };
            let (kind, time_in_force) = (OrderKind::Market, TimeInForce::Ioc);
            let size = OrderSize::Quote(Amount(random.pick(&AMOUNTS)));
            Command::Place(NewOrder { kind, time_in_force, size, ..order })
        }
        3 => {
            let at = random.pick(&[Timestamp::ZERO, now, Timestamp(u64::MAX - 1), Timestamp::MAX]);
            until(at, limit(account, side, far, 1))
        }
        4 => {
            let timeout_ns = random.pick(&TIMEOUTS);
            Command::SetDeadMan { account: of_account, timeout_ns }
        }
        5 => {
            let Command::Place(order) = limit(account, side, far, 1) else { return Command::Tick };
            let client_order_id = longest(random);
            Command::Place(NewOrder { client_order_id, ..order })
        }
        6 => Command::Amend(Amend {
            account: of_account,
            order: OrderRef::Client(longest(random)),
            price: random.percent(50).then(|| Price(random.pick(&PRICES))),
            quantity: random.percent(50).then(|| Quantity(random.pick(&QUANTITIES))),
        }),
        7 => Command::deposit(transfer(of_account, random)),
        8 => match random.below(3) {
            0 => Command::Withdraw(transfer(of_account, random)),
            1 => Command::HoldWithdrawal(transfer(of_account, random)),
            _ => Command::ReleaseWithdrawal { account: of_account, reference: longest(random) },
        },
        _ => Command::SetRules {
            instrument: InstrumentId(1),
            // Mostly the usual rules, so that the others do not last.
            rules: match random.below(6) {
                0 => TradingRules { quantity_max: Quantity::MAX, ..rules() },
                1 => TradingRules { tick: Price(0), ..rules() },
                2 => TradingRules { notional_min: Amount(i128::MAX), ..rules() },
                _ => rules(),
            },
        },
    }
}

/// One of a few texts of the greatest length.
fn longest(random: &mut Random) -> Text<TEXT_BYTES> {
    let text = random.pick(&["x", "y", "~"]).repeat(TEXT_BYTES);
    text.parse().expect("a printable text")
}

fn transfer(account: AccountId, random: &mut Random) -> Transfer {
    let currency = CurrencyId(1 + random.below(2) as u16);
    let amount = Amount(if random.percent(30) { 1 } else { random.pick(&AMOUNTS) });
    let name = format!("{:0>36}", random.below(1_000));
    let reference = match random.below(4) {
        0 => longest(random),
        1 => Reference::EMPTY,
        _ => name.parse().expect("a printable text"),
    };
    Transfer { account, currency, amount, reference }
}

/// The extreme parts of a command.
fn of(command: &Command) -> Vec<Extreme> {
    let price = |price: Price| PRICES.contains(&price.0) && !(0..=1).contains(&price.0);
    let quantity = |quantity: Quantity| QUANTITIES.contains(&quantity.0) && quantity.0 != 1;
    let amount = |amount: Amount| AMOUNTS.contains(&amount.0);
    let edges = match command {
        Command::Place(order) => {
            let gtd = order.time_in_force == TimeInForce::Gtd;
            let at = order.expire_at;
            let size = match order.size {
                OrderSize::Base(size) => (quantity(size), Extreme::Quantity),
                OrderSize::Quote(size) => (amount(size), Extreme::Amount),
            };
            let expires = gtd && (at == Timestamp::ZERO || at.0 >= u64::MAX - 1);
            vec![
                (price(order.price), Extreme::Price),
                size,
                (expires, Extreme::Expiry),
                (order.client_order_id.len() == TEXT_BYTES, Extreme::ClientId),
            ]
        }
        Command::Amend(amend) => vec![
            (amend.price.is_some_and(price), Extreme::Price),
            (amend.quantity.is_some_and(quantity), Extreme::Quantity),
        ],
        Command::SetDeadMan { timeout_ns, .. } => {
            vec![(TIMEOUTS.contains(timeout_ns) && *timeout_ns > 1, Extreme::DeadMan)]
        }
        Command::Deposit(Deposit { transfer, .. })
        | Command::Withdraw(transfer)
        | Command::HoldWithdrawal(transfer) => vec![
            (amount(transfer.amount), Extreme::Amount),
            (transfer.reference.len() == TEXT_BYTES, Extreme::Reference),
        ],
        _ => Vec::new(),
    };
    edges.into_iter().filter(|(is_at_edge, _)| *is_at_edge).map(|(_, edge)| edge).collect()
}

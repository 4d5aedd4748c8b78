//! What clients send: a little of everything, close together so that orders meet.

use crate::random::Random;
use crate::stage::{ACCOUNTS, limit, until};
use rialto_model::*;

/// The orders of a venue number from one, so that guessing their ids mostly succeeds.
const ORDERS_GUESSED: u64 = 120;

pub(crate) fn command(random: &mut Random, now: Timestamp) -> Command {
    let account = random.below(u64::from(ACCOUNTS)) as u32 + 1;
    let side = random.pick(&[Side::Buy, Side::Sell]);
    let price = 95 + random.below(11) as i64;
    let quantity = 1 + random.below(9) as i64;
    let place = limit(account, side, price, quantity);
    let account = AccountId(account);
    let counter = 1 + random.below(ORDERS_GUESSED);
    let order = OrderRef::Id(OrderId::from_parts(EngineId(1), counter));
    match random.below(100) {
        0..45 => place,
        45..52 => shaped(place, |order| order.time_in_force = TimeInForce::Ioc),
        52..58 => shaped(place, |order| {
            let name = format!("c{}", counter % 20);
            order.client_order_id = name.parse().expect("a short name");
        }),
        58..63 => until(now.saturating_add(1 + random.below(5_000)), place),
        63..66 => shaped(place, |order| {
            order.kind = OrderKind::Market;
            order.time_in_force = TimeInForce::Ioc;
            order.price = Price(0);
        }),
        66..82 => Command::Cancel { account, order },
        82..88 => Command::Amend(Amend {
            account,
            order,
            price: random.percent(50).then_some(Price(price)),
            quantity: random.percent(50).then_some(Quantity(quantity)),
        }),
        88..91 => Command::MassCancel(MassCancel { account, instrument: None, side: None }),
        91..94 => Command::SetDeadMan { account, timeout_ns: 1 + random.below(4_000) },
        94..97 => Command::deposit(Transfer {
            account,
            currency: CurrencyId(1),
            amount: Amount(i128::from(quantity)),
            reference: format!("r{}", counter % 30).parse().expect("a short reference"),
        }),
        97 => Command::Tick,
        98 => Command::SetRulesVersion { version: *rialto_core::RULES_VERSIONS.end() },
        _ => Command::SetInstrumentState {
            instrument: InstrumentId(1),
            state: random.pick(&[
                InstrumentState::Open,
                InstrumentState::Open,
                InstrumentState::Halted,
            ]),
        },
    }
}

fn shaped(command: Command, shape: impl FnOnce(&mut NewOrder)) -> Command {
    let Command::Place(mut order) = command else { return command };
    shape(&mut order);
    Command::Place(order)
}

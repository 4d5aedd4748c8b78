//! Random commands of all kinds, with prices close together so that orders match.

use super::random::Random;
use super::{auctions, extremes, long_takers, triggers};
use crate::stage::{ACCOUNTS, limit, rules, setting, until};
use rialto_model::*;
use std::collections::VecDeque;

/// The ids of a venue's orders begin at one, so that guessed ids mostly exist.
const ORDERS_GUESSED: u64 = 120;

/// The commands of a history, over all its lives.
pub(crate) struct Traffic {
    /// Commands that come first: the reference data.
    next: VecDeque<Command>,
    /// What takes many ticks.
    long_work: LongWork,
    /// Whether `next` is such work, and not the reference data.
    is_in_work: bool,
    has_sent_work: bool,
}

/// Groups of commands that lead to work of many ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LongWork {
    None,
    Takers,
    Auctions,
    Triggers,
}

impl Traffic {
    pub(crate) fn new(long_work: LongWork) -> Self {
        let mut next = VecDeque::from(setting());
        match long_work {
            LongWork::None | LongWork::Takers => {}
            LongWork::Auctions => next.extend(auctions::setting()),
            LongWork::Triggers => next.extend(triggers::setting()),
        }
        Self { next, long_work, is_in_work: false, has_sent_work: false }
    }

    /// Whether the order of commands matters now, so that they must come from one client.
    pub(crate) fn is_in_order(&self) -> bool {
        !self.next.is_empty()
    }

    /// The next command; it stays until it is [taken](Self::taken).
    pub(crate) fn command(&mut self, random: &mut Random, now: Timestamp) -> Command {
        if self.long_work != LongWork::None && self.next.is_empty() && random.percent(8) {
            let work = match self.long_work {
                LongWork::None => Vec::new(),
                LongWork::Takers => long_takers::commands(random),
                LongWork::Auctions => auctions::commands(random, now),
                LongWork::Triggers => triggers::commands(random, now),
            };
            (self.next, self.is_in_work) = (work.into(), true);
        }
        self.next.front().copied().unwrap_or_else(|| command(random, now))
    }

    /// Removes the submitted command.
    pub(crate) fn taken(&mut self) {
        if self.next.len() == 1 {
            self.has_sent_work |= std::mem::take(&mut self.is_in_work);
        }
        self.next.pop_front();
    }

    /// Whether the last command that leads to work of many ticks was sent since the last call.
    pub(crate) fn has_sent_work(&mut self) -> bool {
        std::mem::take(&mut self.has_sent_work)
    }
}

/// Who sends a command, and why: it follows from the command, so that the journal can be checked.
/// Every other operator's command has one.
pub(crate) fn attribution(command: &Command) -> Option<Attribution> {
    let is_operators = matches!(
        command.kind(),
        CommandKind::Deposit
            | CommandKind::Withdraw
            | CommandKind::SettleWithdrawal
            | CommandKind::ReleaseWithdrawal
            | CommandKind::SetRules
            | CommandKind::SetInstrumentState
            | CommandKind::SetRulesVersion
    );
    let told = format!("{command:?}");
    let reason = told[..told.len().min(AuditReason::BYTES_MAX)].parse().expect("it prints");
    let by = command.kind().name().parse().expect("it prints");
    (is_operators && told.len() % 2 == 0).then_some(Attribution { by, reason })
}

fn command(random: &mut Random, now: Timestamp) -> Command {
    if random.percent(5) {
        return extremes::command(random, now);
    }
    let account = random.below(u64::from(ACCOUNTS)) as u32 + 1;
    let side = random.pick(&[Side::Buy, Side::Sell]);
    let price = 95 + random.below(11) as i64;
    let quantity = 1 + random.below(9) as i64;
    let place = limit(account, side, price, quantity);
    let account = AccountId(account);
    let counter = 1 + random.below(ORDERS_GUESSED);
    let order = OrderRef::Id(OrderId::from_parts(EngineId(1), counter));
    match random.below(124) {
        0..45 => place,
        100..103 => shaped(place, |order| order.time_in_force = TimeInForce::Fok),
        103..105 => shaped(place, |order| order.time_in_force = TimeInForce::Day),
        105..107 => shaped(place, |order| {
            order.kind = OrderKind::Market;
            order.time_in_force = TimeInForce::Ioc;
            order.size = OrderSize::Quote(Amount(i128::from(quantity) << 40));
            order.price = Price(0);
        }),
        107..110 => shaped(place, |order| order.handling.cancel_on_disconnect = true),
        110..112 => Command::Disconnect { account },
        112 => Command::Withdraw(transfer(account, quantity, "w", counter)),
        113..115 => Command::HoldWithdrawal(transfer(account, quantity, "h", counter)),
        115 => Command::SettleWithdrawal { account, reference: reference("h", counter) },
        116 => Command::ReleaseWithdrawal { account, reference: reference("h", counter) },
        119..123 => restrict(random),
        117..119 => Command::SetRules { instrument: InstrumentId(1), rules: fees(random) },
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
                InstrumentState::Withdrawn,
                InstrumentState::Call,
                InstrumentState::ClosingCall,
            ]),
        },
    }
}

/// A restriction, mostly with a kill of open orders. Every second one lifts an earlier one, so that most
/// orders are accepted.
pub(crate) fn restrict(random: &mut Random) -> Command {
    let account = random.below(u64::from(ACCOUNTS)) as u32 + 1;
    let target = match random.below(4) {
        0 => RestrictionTarget::Venue,
        1 => RestrictionTarget::Member(MemberId(account)),
        2 => RestrictionTarget::Account(AccountId(account)),
        _ => RestrictionTarget::Instrument(InstrumentId(1 + random.below(2) as u32)),
    };
    let restriction = match random.percent(50) {
        true => Restriction::None,
        false => random.pick(&[Restriction::CancelOnly, Restriction::Frozen]),
    };
    let cancel = restriction != Restriction::None && random.percent(80);
    Command::Restrict(Restrict { target, restriction, by_member: random.percent(30), cancel })
}

/// A kill of all orders of an instrument, which is lifted at once.
pub(crate) fn kill(instrument: InstrumentId) -> [Command; 2] {
    let target = RestrictionTarget::Instrument(instrument);
    [(Restriction::CancelOnly, true), (Restriction::None, false)].map(|(restriction, cancel)| {
        Command::Restrict(Restrict { target, restriction, by_member: false, cancel })
    })
}

fn reference(kind: &str, counter: u64) -> Reference {
    format!("{kind}{}", counter % 10).parse().expect("a short reference")
}

fn transfer(account: AccountId, quantity: i64, kind: &str, counter: u64) -> Transfer {
    let (currency, amount) = (CurrencyId(1), Amount(i128::from(quantity)));
    Transfer { account, currency, amount, reference: reference(kind, counter) }
}

/// The instrument's rules with other fees: resting orders were accepted under the old ones.
fn fees(random: &mut Random) -> TradingRules {
    let taker_fee_ppm = random.pick(&[0, 500, 2_000]);
    let maker_fee_ppm = random.pick(&[-taker_fee_ppm, 0, taker_fee_ppm / 2]);
    TradingRules { maker_fee_ppm, taker_fee_ppm, ..rules() }
}

fn shaped(command: Command, shape: impl FnOnce(&mut NewOrder)) -> Command {
    let Command::Place(mut order) = command else { return command };
    shape(&mut order);
    Command::Place(order)
}

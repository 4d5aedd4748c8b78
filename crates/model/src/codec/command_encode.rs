//! Commands to bytes.

use super::writer::{Amounts, Writer, halves, optional};
use super::{COMMAND_HEADER_BYTES, VERSION, flag};
use crate::{
    Amend, Command, CommandKind, Condition, NewOrder, OrderRef, OrderSize, Quantity, Side,
    Timestamp, Transfer,
};

/// Bytes of the longest command.
pub const COMMAND_BYTES_MAX: usize = 216;

/// Writes a command at the beginning of `out`, which must be at least [`COMMAND_BYTES_MAX`] long,
/// and returns how many bytes it takes, a multiple of 8.
///
/// Bytes past that may have been overwritten, up to [`COMMAND_BYTES_MAX`].
///
/// # Panics
///
/// If `out` is shorter than [`COMMAND_BYTES_MAX`].
#[inline]
pub fn encode_command(time: Timestamp, command: &Command, out: &mut [u8]) -> usize {
    let out: &mut [u8; COMMAND_BYTES_MAX] =
        out.first_chunk_mut().expect("the caller leaves room for the longest command");
    encode(time, command.kind(), out, |writer| body(command, writer))
}

/// [`encode_command`] of the entry of an order.
///
/// # Panics
///
/// As there.
#[inline]
pub fn encode_order(time: Timestamp, order: &NewOrder, out: &mut [u8]) -> usize {
    let out: &mut [u8; COMMAND_BYTES_MAX] =
        out.first_chunk_mut().expect("the caller leaves room for the longest command");
    encode(time, CommandKind::Place, out, |writer| place(order, writer))
}

#[inline(always)]
fn encode(
    time: Timestamp,
    kind: CommandKind,
    out: &mut [u8; COMMAND_BYTES_MAX],
    body: impl FnOnce(&mut Writer<'_>) -> u16,
) -> usize {
    let mut writer = Writer::new(out, COMMAND_HEADER_BYTES);
    let flags = body(&mut writer);
    let end = writer.end();
    let head = u64::from(kind.number()) | (u64::from(VERSION) << 8) | (u64::from(flags) << 16);
    Writer::new(out, 0).words([head, time.0]);
    end
}

/// Writes the body and returns the flags.
#[inline]
fn body(command: &Command, out: &mut Writer<'_>) -> u16 {
    match command {
        Command::Tick => 0,
        Command::Place(order) => place(order, out),
        Command::Cancel { account, order } => {
            out.words([u64::from(account.0)]);
            order_ref(order, out)
        }
        Command::Amend(change) => amend(change, out),
        Command::AmendTrigger(change) => {
            out.words([change.trigger_price.0 as u64]);
            amend(&change.amend, out)
        }
        Command::MassCancel(cancel) => {
            let instrument = cancel.instrument.map_or(0, |instrument| instrument.0);
            let side = optional(cancel.side.map(Side::number));
            out.words([halves(cancel.account.0, instrument), u64::from(side)]);
            given(cancel.instrument.is_some(), flag::INSTRUMENT)
        }
        Command::Disconnect { account } => {
            out.words([u64::from(account.0)]);
            0
        }
        Command::SetDeadMan { account, timeout_ns } => {
            out.words([u64::from(account.0), *timeout_ns]);
            0
        }
        Command::Deposit(deposit) => transfer(&deposit.transfer, deposit.time, out),
        Command::Withdraw(value) | Command::HoldWithdrawal(value) => {
            transfer(value, Timestamp::ZERO, out)
        }
        Command::SettleWithdrawal { account, reference }
        | Command::ReleaseWithdrawal { account, reference } => {
            out.words([u64::from(account.0)]);
            out.text(reference);
            0
        }
        Command::CreateMember { member, name } => {
            out.words([u64::from(member.0)]);
            out.text(name);
            0
        }
        Command::CreateAccount { account, member, name } => {
            out.words([halves(account.0, member.0)]);
            out.text(name);
            0
        }
        Command::CreateCurrency { code, scale } => {
            out.words([u64::from(scale.places())]);
            out.text(code);
            0
        }
        Command::CreateInstrument(spec) => {
            out.spec(spec);
            let amounts = Amounts([spec.rules.notional_min.0]);
            out.high_halves(amounts.flag(), &amounts);
            out.text(&spec.symbol);
            amounts.flag()
        }
        Command::SetRules { instrument, rules } => {
            out.words([u64::from(instrument.0)]);
            out.rules(rules);
            let amounts = Amounts([rules.notional_min.0]);
            out.high_halves(amounts.flag(), &amounts);
            amounts.flag()
        }
        Command::SetInstrumentState { instrument, state } => {
            out.words([halves(instrument.0, u32::from(state.number()))]);
            0
        }
        Command::SetAuctionRules { instrument, rules, seed } => {
            out.words([u64::from(instrument.0), *seed]);
            out.auction_rules(rules);
            0
        }
        Command::Restrict(restrict) => {
            out.restrict(restrict);
            0
        }
        Command::PlanTransition { calendar, number, transition } => {
            out.words([u64::from(*number)]);
            out.transition(transition);
            out.text(calendar);
            0
        }
        Command::AdoptPlan { calendar, count, digest, seed, replace } => {
            out.words([halves(*count, u32::from(*replace)), *digest, *seed]);
            out.text(calendar);
            0
        }
        Command::AssignCalendar { instrument, calendar } => {
            out.words([u64::from(instrument.0)]);
            out.text(calendar);
            0
        }
        Command::MoveTransition { calendar, at, to } => {
            out.words([at.0, to.0]);
            out.text(calendar);
            0
        }
        Command::HaltTrading { scope, duration_ms } => {
            let (kind, instrument, calendar) = scope.parts();
            out.words([halves(instrument.0, *duration_ms), u64::from(kind)]);
            out.text(&calendar);
            0
        }
        Command::SetCircuitBreaker(breaker) => {
            out.circuit_breaker(breaker);
            0
        }
        Command::SetContractTerms { instrument, terms } => out.contract_terms(*instrument, terms),
        Command::PlaceConditional(order) => {
            out.trigger(&order.trigger, order.immediate);
            place(&order.terms, out)
        }
        Command::PlaceTrailing(order) => {
            out.trail(&order.trail);
            place(&order.terms, out)
        }
        Command::PlaceIceberg(order) => {
            out.words([order.display_quantity.0 as u64]);
            place(&order.terms, out)
        }
        Command::PlaceList(list) => {
            let [condition, value, activation] = Condition::words(list.condition);
            let legs = [list.take_profit, list.stop_loss];
            let [profit, loss] = legs.map(|leg| u8::from(leg.is_some()));
            let small = [list.kind.number(), profit, loss, condition as u8, 0, 0, 0, 0];
            out.words([u64::from_le_bytes(small), value, activation]);
            legs.iter().flatten().for_each(|leg| out.words(leg.words()));
            place(&list.terms, out)
        }
        Command::SetRulesVersion { version } => {
            out.words([u64::from(*version)]);
            0
        }
    }
}

#[inline]
fn given(given: bool, flag: u16) -> u16 {
    if given { flag } else { 0 }
}

#[inline]
fn amend(amend: &Amend, out: &mut Writer<'_>) -> u16 {
    let price = amend.price.map(|price| price.0);
    let quantity = amend.quantity.map(|quantity| quantity.0);
    out.words([
        u64::from(amend.account.0),
        price.unwrap_or(0) as u64,
        quantity.unwrap_or(0) as u64,
    ]);
    given(price.is_some(), flag::PRICE)
        | given(quantity.is_some(), flag::QUANTITY)
        | order_ref(&amend.order, out)
}

#[inline]
fn place(order: &NewOrder, out: &mut Writer<'_>) -> u16 {
    let (size, quote) = match order.size {
        OrderSize::Base(quantity) => (i128::from(quantity.0), 0),
        OrderSize::Quote(amount) => (amount.0, flag::QUOTE),
    };
    let amounts = Amounts([size]);
    let [size] = amounts.low();
    let flags = amounts.flag() | quote | order_flags(order);
    out.words([
        halves(order.account.0, order.instrument.0),
        order.price.0 as u64,
        size,
        u64::from_le_bytes([
            order.side.number(),
            order.kind.number(),
            order.time_in_force.number(),
            order.post_only.number(),
            optional(order.self_trade.map(|mode| mode.number())),
            order.handling.bits() >> 1,
            0,
            0,
        ]),
    ]);
    out.high_halves(flags, &amounts);
    order_tails(order, flags, out);
    flags
}

/// The flags of an order's attributes, except those of its size.
#[inline]
pub(super) fn order_flags(order: &NewOrder) -> u16 {
    given(!order.client_order_id.is_empty(), flag::CLIENT_ID)
        | given(order.expire_at != Timestamp::ZERO, flag::EXPIRES)
        | given(order.minimum_quantity != Quantity::ZERO, flag::MINIMUM)
        | given(order.handling.bits() & 1 != 0, flag::CANCEL_ON_DISCONNECT)
}

/// The minimum quantity, the expiry and the client order id, if present.
#[inline]
pub(super) fn order_tails(order: &NewOrder, flags: u16, out: &mut Writer<'_>) {
    if flags & flag::MINIMUM != 0 {
        out.words([order.minimum_quantity.0 as u64]);
    }
    if flags & flag::EXPIRES != 0 {
        out.words([order.expire_at.0]);
    }
    if flags & flag::CLIENT_ID != 0 {
        out.text(&order.client_order_id);
    }
}

#[inline]
fn order_ref(order: &OrderRef, out: &mut Writer<'_>) -> u16 {
    match order {
        OrderRef::Id(order) => {
            out.words([order.0]);
            0
        }
        OrderRef::Client(name) => {
            out.text(name);
            flag::CLIENT_ID
        }
    }
}

fn transfer(transfer: &Transfer, time: Timestamp, out: &mut Writer<'_>) -> u16 {
    let amounts = Amounts([transfer.amount.0]);
    let [amount] = amounts.low();
    out.words([halves(transfer.account.0, u32::from(transfer.currency.0)), amount]);
    out.high_halves(amounts.flag(), &amounts);
    let timed = given(time != Timestamp::ZERO, flag::TIME);
    if timed != 0 {
        out.words([time.0]);
    }
    out.text(&transfer.reference);
    amounts.flag() | timed
}

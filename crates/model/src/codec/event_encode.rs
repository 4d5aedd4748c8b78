//! Events to bytes.

use super::command_encode::{order_flags, order_tails};
use super::writer::{Amounts, Writer, halves, optional};
use super::{EVENT_HEADER_BYTES, EVENTS_MARK, VERSION, flag};
use crate::{
    Accepted, AccountId, Amended, Amount, CurrencyId, Done, Event, Interrupted, OrderSize, Reduced,
    Reference, Rejected, Rested, Timestamp, Trade, Triggered, Uncrossed,
};

/// Bytes of the longest event.
pub const EVENT_BYTES_MAX: usize = 144;

/// Bytes of an event record before its first event.
pub const EVENTS_HEADER_BYTES: usize = 16;

/// There is no room for another event of [`EVENT_BYTES_MAX`] bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no room is left for another event")]
pub struct EventsFull;

/// Writes the events of one command into a buffer, as one record.
///
/// ```
/// use rialto_model::{EVENT_BYTES_MAX, EVENTS_HEADER_BYTES, Event, EventEncoder, Timestamp, decode_events};
///
/// let mut buffer = [0; EVENTS_HEADER_BYTES + 4 * EVENT_BYTES_MAX];
/// let mut encoder = EventEncoder::new(Timestamp(7), &mut buffer);
/// encoder.push(&Event::Ticked)?;
/// let bytes = encoder.finish();
///
/// let (time, mut events) = decode_events(&buffer[..bytes])?;
/// assert_eq!(time, Timestamp(7));
/// assert_eq!(events.next(), Some(Ok(Event::Ticked)));
/// assert_eq!(events.next(), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct EventEncoder<'a> {
    out: &'a mut [u8],
    time: Timestamp,
    at: usize,
    count: u32,
}

impl<'a> EventEncoder<'a> {
    /// Starts the record of a command with this timestamp at the beginning of `out`.
    ///
    /// # Panics
    ///
    /// If `out` is shorter than [`EVENTS_HEADER_BYTES`].
    #[inline]
    pub fn new(time: Timestamp, out: &'a mut [u8]) -> Self {
        assert!(out.len() >= EVENTS_HEADER_BYTES, "a record does not fit its header");
        EventEncoder { out, time, at: EVENTS_HEADER_BYTES, count: 0 }
    }

    /// Adds an event, as long as [`EVENT_BYTES_MAX`] bytes are free.
    #[inline]
    pub fn push(&mut self, event: &Event) -> Result<(), EventsFull> {
        let free = self.out[self.at..].first_chunk_mut().ok_or(EventsFull)?;
        self.at += encode(event, free);
        self.count += 1;
        Ok(())
    }

    /// The number of events so far.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Completes the record and returns how many bytes it takes, a multiple of 8.
    #[inline]
    pub fn finish(self) -> usize {
        let head = u64::from(EVENTS_MARK) | (u64::from(VERSION) << 8);
        Writer::new(self.out, 0).words([head | (u64::from(self.count) << 32), self.time.0]);
        self.at
    }
}

/// Writes an event, without a record around it, at the beginning of `out`, which must be at least
/// [`EVENT_BYTES_MAX`] long, and returns how many bytes it takes, a multiple of 8.
///
/// Bytes past that may have been overwritten, up to [`EVENT_BYTES_MAX`].
///
/// # Panics
///
/// If `out` is shorter than [`EVENT_BYTES_MAX`].
#[inline]
pub fn encode_event(event: &Event, out: &mut [u8]) -> usize {
    encode(event, out.first_chunk_mut().expect("the caller leaves room for the longest event"))
}

/// The fields of an event's header other than kind and length.
struct Head {
    flags: u16,
    small: [u8; 2],
}

impl Head {
    #[inline]
    fn new(flags: u16, first: u8, second: u8) -> Head {
        Head { flags, small: [first, second] }
    }
}

#[inline]
fn encode(event: &Event, out: &mut [u8; EVENT_BYTES_MAX]) -> usize {
    let mut writer = Writer::new(out, EVENT_HEADER_BYTES);
    let head = body(event, &mut writer);
    let end = writer.end();
    let word = u64::from(event.kind().number())
        | (u64::from(VERSION) << 8)
        | ((end as u64) << 16)
        | (u64::from(head.flags) << 32)
        | (u64::from(u16::from_le_bytes(head.small)) << 48);
    Writer::new(out, 0).words([word]);
    end
}

/// Writes the body and returns the fields of the header.
#[inline]
fn body(event: &Event, out: &mut Writer<'_>) -> Head {
    match event {
        Event::Ticked => Head::new(0, 0, 0),
        Event::Accepted(accepted) => self::accepted(accepted, out),
        Event::Rested(rested) => self::rested(rested, out),
        Event::Trade(trade) => self::trade(trade, out),
        Event::Done(done) => self::done(done, out),
        Event::Reduced(reduced) => self::reduced(reduced, out),
        Event::Amended(amended) => self::amended(amended, out),
        Event::Rejected(rejected) => self::rejected(rejected, out),
        Event::Repeated { account, name, order, reject } => {
            out.words([u64::from(account.0), order.0]);
            out.text(name);
            Head::new(0, reject.map_or(0, |reason| reason.number()), 0)
        }
        Event::CancelProgress { account, instrument, cancelled, pending } => {
            out.words([halves(account.0, instrument.0), u64::from(*cancelled)]);
            Head::new(0, u8::from(*pending), 0)
        }
        Event::DeadManSet { account, due } => {
            out.words([u64::from(account.0), due.0]);
            Head::new(0, 0, 0)
        }
        Event::Deposited { account, currency, amount, reference }
        | Event::Withdrawn { account, currency, amount, reference }
        | Event::WithdrawalHeld { account, currency, amount, reference }
        | Event::WithdrawalSettled { account, currency, amount, reference }
        | Event::WithdrawalReleased { account, currency, amount, reference } => {
            moved(*account, *currency, *amount, reference, out)
        }
        Event::MemberCreated { member, name } => {
            out.words([u64::from(member.0)]);
            out.text(name);
            Head::new(0, 0, 0)
        }
        Event::AccountCreated { account, member, name } => {
            out.words([halves(account.0, member.0)]);
            out.text(name);
            Head::new(0, 0, 0)
        }
        Event::CurrencyCreated(currency) => {
            out.words([u64::from(currency.id.0)]);
            out.text(&currency.code);
            Head::new(0, currency.scale.places(), 0)
        }
        Event::InstrumentCreated { instrument, spec } => {
            out.words([u64::from(instrument.0)]);
            out.spec(spec);
            let amounts = Amounts([spec.rules.notional_min.0]);
            out.high_halves(amounts.flag(), &amounts);
            out.text(&spec.symbol);
            Head::new(amounts.flag(), 0, 0)
        }
        Event::RulesSet { instrument, rules } => {
            out.words([u64::from(instrument.0)]);
            out.rules(rules);
            let amounts = Amounts([rules.notional_min.0]);
            out.high_halves(amounts.flag(), &amounts);
            Head::new(amounts.flag(), 0, 0)
        }
        Event::InstrumentStateSet { instrument, state } => {
            out.words([u64::from(instrument.0)]);
            Head::new(0, state.number(), 0)
        }
        Event::RulesVersionSet { version } => {
            out.words([u64::from(*version)]);
            Head::new(0, 0, 0)
        }
        Event::AuctionRulesSet { instrument, rules } => {
            out.words([u64::from(instrument.0)]);
            out.auction_rules(rules);
            Head::new(0, 0, 0)
        }
        Event::Uncrossed(uncrossed) => self::uncrossed(uncrossed, out),
        Event::Interrupted(interrupted) => self::interrupted(interrupted, out),
        Event::Attributed(attributed) => {
            out.attribution(&attributed.attribution);
            Head::new(0, attributed.command.number(), 0)
        }
        Event::Restricted(restrict) => {
            out.restrict(restrict);
            Head::new(0, 0, 0)
        }
        Event::TransitionPlanned { calendar, number, transition } => {
            out.words([u64::from(*number)]);
            out.transition(transition);
            out.text(calendar);
            Head::new(0, 0, 0)
        }
        Event::PlanAdopted { calendar, count, digest, replace } => {
            out.words([u64::from(*count), *digest]);
            out.text(calendar);
            Head::new(0, u8::from(*replace), 0)
        }
        Event::CalendarAssigned { instrument, calendar } => {
            out.words([u64::from(instrument.0)]);
            out.text(calendar);
            Head::new(0, 0, 0)
        }
        Event::TransitionMoved { calendar, at, to } => {
            out.words([at.0, to.0]);
            out.text(calendar);
            Head::new(0, 0, 0)
        }
        Event::TransitionBegun { calendar, at, state } => {
            out.words([at.0]);
            out.text(calendar);
            Head::new(0, state.number(), 0)
        }
        Event::TradingHalted(halted) => {
            let (kind, instrument, calendar) = halted.scope.parts();
            out.words([u64::from(instrument.0), halted.until.0]);
            out.text(&calendar);
            Head::new(0, kind, halted.cause.number())
        }
        Event::CircuitBreakerSet(breaker) => {
            out.circuit_breaker(breaker);
            Head::new(0, 0, 0)
        }
        Event::ContractTermsSet { instrument, terms } => {
            Head::new(out.contract_terms(*instrument, terms), 0, 0)
        }
        Event::LimitStateSet { instrument, side, price, until } => {
            out.words([u64::from(instrument.0), price.0 as u64, until.0]);
            Head::new(0, side.number(), 0)
        }
        Event::TriggerSet(set) => {
            out.words([set.order.0, halves(set.account.0, set.instrument.0)]);
            out.trigger(&set.trigger, false);
            Head::new(0, set.side.number(), 0)
        }
        Event::Triggered(triggered) => self::triggered(triggered, out),
        Event::TrailSet(set) => {
            out.words([set.order.0, halves(set.account.0, set.instrument.0)]);
            out.trail(&set.trail);
            Head::new(0, set.side.number(), 0)
        }
        Event::TrailActivated(it) => {
            let extreme = it.extreme.0 as u64;
            out.words([it.order.0, halves(it.account.0, it.instrument.0), extreme]);
            Head::new(0, it.side.number(), 0)
        }
        Event::IcebergSet(set) => {
            let display_quantity = set.display_quantity.0 as u64;
            out.words([set.order.0, halves(set.account.0, set.instrument.0), display_quantity]);
            Head::new(0, set.side.number(), 0)
        }
        Event::IcebergRefreshed(it) => {
            let (price, displayed) = (it.price.0 as u64, it.displayed.0 as u64);
            out.words([it.order.0, halves(it.account.0, it.instrument.0), price, displayed]);
            Head::new(0, it.side.number(), 0)
        }
        Event::ExitsSet(set) => {
            out.words([set.order.0, halves(set.account.0, set.instrument.0)]);
            let legs = [set.take_profit, set.stop_loss];
            legs.iter().flatten().for_each(|leg| out.words(leg.words()));
            let has = u8::from(legs[0].is_some()) | u8::from(legs[1].is_some()) << 1;
            Head::new(0, set.side.number(), has)
        }
        Event::OrdersLinked(it) => {
            let (take_profit, stop_loss) = (it.take_profit.0, it.stop_loss.0);
            let ids = halves(it.account.0, it.instrument.0);
            out.words([it.list.0, ids, take_profit, stop_loss]);
            Head::new(0, it.side.number(), 0)
        }
        Event::ExitsRefused(it) => {
            out.words([it.order.0, halves(it.account.0, it.instrument.0)]);
            Head::new(0, it.reason.number(), 0)
        }
    }
}

#[inline]
fn accepted(accepted: &Accepted, out: &mut Writer<'_>) -> Head {
    let order = &accepted.terms;
    let (size, quote) = match order.size {
        OrderSize::Base(quantity) => (i128::from(quantity.0), 0),
        OrderSize::Quote(amount) => (amount.0, flag::QUOTE),
    };
    let amounts = Amounts([size, accepted.reserved.0]);
    let [size, reserved] = amounts.low();
    let rests = if accepted.rests { flag::RESTS } else { 0 };
    let flags = amounts.flag() | quote | rests | order_flags(order);
    out.words([
        accepted.order.0,
        halves(order.account.0, order.instrument.0),
        order.price.0 as u64,
        size,
        reserved,
        u64::from_le_bytes([
            order.time_in_force.number(),
            order.post_only.number(),
            optional(order.self_trade.map(|mode| mode.number())),
            order.handling.bits() >> 1,
            0,
            0,
            0,
            0,
        ]),
    ]);
    out.high_halves(flags, &amounts);
    order_tails(order, flags, out);
    Head::new(flags, order.side.number(), order.kind.number())
}

#[inline]
fn rested(rested: &Rested, out: &mut Writer<'_>) -> Head {
    out.words([
        rested.order.0,
        halves(rested.account.0, rested.instrument.0),
        rested.price.0 as u64,
        rested.remaining.0 as u64,
    ]);
    Head::new(0, rested.side.number(), 0)
}

#[inline]
fn trade(trade: &Trade, out: &mut Writer<'_>) -> Head {
    let amounts =
        Amounts([trade.notional.0, trade.maker_fee.0, trade.taker_fee.0, trade.buyer_unreserved.0]);
    let [notional, maker_fee, taker_fee, buyer_unreserved] = amounts.low();
    out.words([
        trade.trade.0,
        halves(trade.instrument.0, trade.maker_account.0),
        u64::from(trade.taker_account.0),
        trade.price.0 as u64,
        trade.quantity.0 as u64,
        trade.maker_order.0,
        trade.taker_order.0,
        trade.maker_remaining.0 as u64,
        trade.taker_remaining.0 as u64,
        notional,
        maker_fee,
        taker_fee,
        buyer_unreserved,
    ]);
    let flags = amounts.flag();
    out.high_halves(flags, &amounts);
    Head::new(flags, trade.taker_side.number(), u8::from(trade.auction))
}

#[inline]
fn done(done: &Done, out: &mut Writer<'_>) -> Head {
    let amounts = Amounts([done.released.0]);
    let [released] = amounts.low();
    out.words([
        done.order.0,
        halves(done.account.0, done.instrument.0),
        done.price.0 as u64,
        done.remaining.0 as u64,
        released,
    ]);
    let flags = amounts.flag();
    out.high_halves(flags, &amounts);
    Head::new(flags, done.side.number(), done.reason.number())
}

fn triggered(triggered: &Triggered, out: &mut Writer<'_>) -> Head {
    let amounts = Amounts([triggered.released.0]);
    let [released] = amounts.low();
    out.words([
        triggered.order.0,
        halves(triggered.account.0, triggered.instrument.0),
        triggered.price.0 as u64,
        triggered.remaining.0 as u64,
        released,
    ]);
    let flags = amounts.flag();
    out.high_halves(flags, &amounts);
    Head::new(flags, triggered.side.number(), 0)
}

fn reduced(reduced: &Reduced, out: &mut Writer<'_>) -> Head {
    let amounts = Amounts([reduced.released.0]);
    let [released] = amounts.low();
    out.words([
        reduced.order.0,
        halves(reduced.account.0, reduced.instrument.0),
        reduced.price.0 as u64,
        reduced.by.0 as u64,
        reduced.remaining.0 as u64,
        released,
    ]);
    let flags = amounts.flag();
    out.high_halves(flags, &amounts);
    Head::new(flags, reduced.side.number(), reduced.reason.number())
}

fn amended(amended: &Amended, out: &mut Writer<'_>) -> Head {
    let amounts = Amounts([amended.old_reserved.0, amended.reserved.0]);
    let [old_reserved, reserved] = amounts.low();
    out.words([
        amended.order.0,
        halves(amended.account.0, amended.instrument.0),
        amended.old_price.0 as u64,
        amended.old_remaining.0 as u64,
        amended.price.0 as u64,
        amended.quantity.0 as u64,
        amended.remaining.0 as u64,
        old_reserved,
        reserved,
    ]);
    let flags = amounts.flag();
    out.high_halves(flags, &amounts);
    Head::new(flags, amended.side.number(), 0)
}

fn rejected(rejected: &Rejected, out: &mut Writer<'_>) -> Head {
    out.words([halves(rejected.account.0, rejected.instrument.0), rejected.order.0]);
    let mut flags = 0;
    if !rejected.client_order_id.is_empty() {
        out.text(&rejected.client_order_id);
        flags = flag::CLIENT_ID;
    }
    Head::new(flags, rejected.command.number(), rejected.reason.number())
}

fn uncrossed(uncrossed: &Uncrossed, out: &mut Writer<'_>) -> Head {
    out.words([
        u64::from(uncrossed.instrument.0),
        uncrossed.price.0 as u64,
        uncrossed.volume.0 as u64,
        uncrossed.surplus.0 as u64,
    ]);
    Head::new(0, 0, 0)
}

fn interrupted(interrupted: &Interrupted, out: &mut Writer<'_>) -> Head {
    out.words([
        u64::from(interrupted.instrument.0),
        interrupted.price.0 as u64,
        interrupted.low.0 as u64,
        interrupted.high.0 as u64,
    ]);
    Head::new(0, u8::from(interrupted.until_command), 0)
}

fn moved(
    account: AccountId,
    currency: CurrencyId,
    amount: Amount,
    reference: &Reference,
    out: &mut Writer<'_>,
) -> Head {
    let amounts = Amounts([amount.0]);
    let [low] = amounts.low();
    out.words([halves(account.0, u32::from(currency.0)), low]);
    out.high_halves(amounts.flag(), &amounts);
    out.text(reference);
    Head::new(amounts.flag(), 0, 0)
}

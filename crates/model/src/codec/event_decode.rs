//! Bytes to events.

use super::command_decode::order_size;
use super::reader::Reader;
use super::{DecodeError, DecodeFault, EVENTS_MARK, VERSION, flag};
use crate::{
    Accepted, AccountId, Amended, Amount, Attributed, CommandKind, Currency, CurrencyId, Done,
    DoneReason, Event, EventKind, ExitsRefused, ExitsSet, HaltCause, IcebergRefreshed, IcebergSet,
    InstrumentState, Interrupted, NewOrder, OrderKind, OrdersLinked, PostOnly, ReduceReason,
    Reduced, Reference, RejectReason, Rejected, Rested, Scale, SelfTrade, Side, TimeInForce,
    Timestamp, Trade, TradeId, TradingHalted, TrailActivated, TrailSet, TriggerSet, Triggered,
    Uncrossed,
};

/// Reads the record that an [`EventEncoder`](crate::EventEncoder) wrote: the time of the command,
/// and its events one by one.
pub fn decode_events(bytes: &[u8]) -> Result<(Timestamp, EventIter<'_>), DecodeError> {
    let mut reader = Reader::new(bytes);
    let mark = reader.u8()?;
    if mark != EVENTS_MARK {
        return Reader::fault(0, DecodeFault::UnknownKind(mark));
    }
    let version = reader.u8()?;
    if version != VERSION {
        return Reader::fault(1, DecodeFault::UnknownVersion(version));
    }
    reader.zeros::<2>()?;
    let left = reader.u32()?;
    let time = reader.time()?;
    Ok((time, EventIter { reader, left, ended: false }))
}

/// The events of a record, in the order in which they happened.
///
/// After an error there are no more. Bytes behind the last event are an error too.
#[derive(Clone, Debug)]
pub struct EventIter<'a> {
    reader: Reader<'a>,
    left: u32,
    ended: bool,
}

impl EventIter<'_> {
    /// The number of events not read yet, according to the record.
    #[must_use]
    pub fn left(&self) -> u32 {
        self.left
    }
}

impl Iterator for EventIter<'_> {
    type Item = Result<Event, DecodeError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let event = if self.left == 0 {
            self.ended = true;
            self.reader.end().err().map(Err)?
        } else {
            self.left -= 1;
            event(&mut self.reader)
        };
        self.ended |= event.is_err();
        Some(event)
    }
}

impl std::iter::FusedIterator for EventIter<'_> {}

/// The part of an event's header whose meaning depends on the kind.
struct Head<'a> {
    small: Reader<'a>,
    flags: u16,
}

impl<'a> Head<'a> {
    /// Fails unless the second of the two small fields, or both, are zero.
    fn rest_unused(mut self) -> Result<u16, DecodeError> {
        while !self.small.is_at_end() {
            self.small.zeros::<1>()?;
        }
        Ok(self.flags)
    }

    fn side(&mut self) -> Result<Side, DecodeError> {
        self.small.one_of("side", Side::from_number)
    }
}

#[inline(always)]
fn event(record: &mut Reader<'_>) -> Result<Event, DecodeError> {
    let start = record.at();
    let number = record.u8()?;
    let Some(kind) = EventKind::from_number(number) else {
        return Reader::fault(start, DecodeFault::UnknownKind(number));
    };
    let version = record.u8()?;
    if version != VERSION {
        return Reader::fault(start + 1, DecodeFault::UnknownVersion(version));
    }
    let length = record.u16()?;
    let flags = record.u16()?;
    if flags & !flags_of(kind) != 0 {
        return Reader::fault(start + 4, DecodeFault::UnknownFlags(flags));
    }
    let body_at = start + 8;
    let end = start + usize::from(length);
    let (Some(small), Some(mut body)) =
        (record.part(start + 6, body_at), record.part(body_at, end))
    else {
        return Reader::fault(start + 2, DecodeFault::Length(length));
    };
    let head = Head { small, flags };
    let event = event_body(kind, head, &mut body)?;
    body.end()?;
    record.skip_to(end);
    Ok(event)
}

/// The flags that an event of this kind may have.
fn flags_of(kind: EventKind) -> u16 {
    match kind {
        EventKind::Accepted => {
            flag::WIDE
                | flag::CLIENT_ID
                | flag::EXPIRES
                | flag::QUOTE
                | flag::CANCEL_ON_DISCONNECT
                | flag::RESTS
                | flag::MINIMUM
        }
        EventKind::Rejected => flag::CLIENT_ID,
        EventKind::Trade
        | EventKind::Done
        | EventKind::Reduced
        | EventKind::Amended
        | EventKind::Deposited
        | EventKind::Withdrawn
        | EventKind::WithdrawalHeld
        | EventKind::WithdrawalSettled
        | EventKind::WithdrawalReleased
        | EventKind::InstrumentCreated
        | EventKind::RulesSet
        | EventKind::ContractTermsSet
        | EventKind::Triggered => flag::WIDE,
        EventKind::Ticked
        | EventKind::Rested
        | EventKind::Repeated
        | EventKind::CancelProgress
        | EventKind::DeadManSet
        | EventKind::MemberCreated
        | EventKind::AccountCreated
        | EventKind::CurrencyCreated
        | EventKind::InstrumentStateSet
        | EventKind::RulesVersionSet
        | EventKind::AuctionRulesSet
        | EventKind::Uncrossed
        | EventKind::Interrupted
        | EventKind::Attributed
        | EventKind::Restricted
        | EventKind::TransitionPlanned
        | EventKind::PlanAdopted
        | EventKind::CalendarAssigned
        | EventKind::TransitionMoved
        | EventKind::TransitionBegun
        | EventKind::TradingHalted
        | EventKind::CircuitBreakerSet
        | EventKind::LimitStateSet
        | EventKind::TriggerSet
        | EventKind::TrailSet
        | EventKind::TrailActivated
        | EventKind::IcebergSet
        | EventKind::IcebergRefreshed
        | EventKind::ExitsSet
        | EventKind::OrdersLinked
        | EventKind::ExitsRefused => 0,
    }
}

// Inlined, because results as large as these are slow to hand up from function to function.
#[inline(always)]
fn event_body(
    kind: EventKind,
    mut head: Head<'_>,
    body: &mut Reader<'_>,
) -> Result<Event, DecodeError> {
    Ok(match kind {
        EventKind::Ticked => {
            head.rest_unused()?;
            Event::Ticked
        }
        EventKind::Accepted => Event::Accepted(accepted(head, body)?),
        EventKind::Rested => Event::Rested(rested(head, body)?),
        EventKind::Trade => Event::Trade(trade(head, body)?),
        EventKind::Done => Event::Done(done(head, body)?),
        EventKind::Reduced => Event::Reduced(reduced(head, body)?),
        EventKind::Amended => Event::Amended(amended(head, body)?),
        EventKind::Rejected => Event::Rejected(rejected(head, body)?),
        EventKind::Repeated => {
            // The reasons are numbered from 1, so that zero can say that there is none.
            let reject = head.small.one_of("reject", |number| match number {
                0 => Some(None),
                number => RejectReason::from_number(number).map(Some),
            })?;
            head.rest_unused()?;
            let account = body.account()?;
            body.zeros::<4>()?;
            let order = body.order()?;
            Event::Repeated { account, name: body.text()?, order, reject }
        }
        EventKind::CancelProgress => {
            let pending = head.small.boolean("pending")?;
            head.rest_unused()?;
            let account = body.account()?;
            let instrument = body.instrument()?;
            let cancelled = body.u32()?;
            body.zeros::<4>()?;
            Event::CancelProgress { account, instrument, cancelled, pending }
        }
        EventKind::DeadManSet => {
            head.rest_unused()?;
            let account = body.account()?;
            body.zeros::<4>()?;
            Event::DeadManSet { account, due: body.time()? }
        }
        EventKind::Deposited => {
            let (account, currency, amount, reference) = moved(head, body)?;
            Event::Deposited { account, currency, amount, reference }
        }
        EventKind::Withdrawn => {
            let (account, currency, amount, reference) = moved(head, body)?;
            Event::Withdrawn { account, currency, amount, reference }
        }
        EventKind::WithdrawalHeld => {
            let (account, currency, amount, reference) = moved(head, body)?;
            Event::WithdrawalHeld { account, currency, amount, reference }
        }
        EventKind::WithdrawalSettled => {
            let (account, currency, amount, reference) = moved(head, body)?;
            Event::WithdrawalSettled { account, currency, amount, reference }
        }
        EventKind::WithdrawalReleased => {
            let (account, currency, amount, reference) = moved(head, body)?;
            Event::WithdrawalReleased { account, currency, amount, reference }
        }
        EventKind::MemberCreated => {
            head.rest_unused()?;
            let member = body.member()?;
            body.zeros::<4>()?;
            Event::MemberCreated { member, name: body.text()? }
        }
        EventKind::AccountCreated => {
            head.rest_unused()?;
            let account = body.account()?;
            let member = body.member()?;
            Event::AccountCreated { account, member, name: body.text()? }
        }
        EventKind::CurrencyCreated => {
            let scale = head.small.one_of("scale", Scale::new)?;
            head.rest_unused()?;
            let id = body.currency()?;
            body.zeros::<6>()?;
            Event::CurrencyCreated(Currency { id, code: body.text()?, scale })
        }
        EventKind::InstrumentCreated => {
            let flags = head.rest_unused()?;
            let instrument = body.instrument()?;
            body.zeros::<4>()?;
            Event::InstrumentCreated { instrument, spec: body.spec(flags)? }
        }
        EventKind::RulesSet => {
            let flags = head.rest_unused()?;
            let instrument = body.instrument()?;
            body.zeros::<4>()?;
            let rules = body.rules()?;
            Event::RulesSet { instrument, rules: body.complete_rules(flags, rules)? }
        }
        EventKind::InstrumentStateSet => {
            let state = head.small.one_of("state", InstrumentState::from_number)?;
            head.rest_unused()?;
            let instrument = body.instrument()?;
            body.zeros::<4>()?;
            Event::InstrumentStateSet { instrument, state }
        }
        EventKind::RulesVersionSet => {
            head.rest_unused()?;
            let version = body.u32()?;
            body.zeros::<4>()?;
            Event::RulesVersionSet { version }
        }
        EventKind::AuctionRulesSet => {
            head.rest_unused()?;
            let instrument = body.instrument()?;
            body.zeros::<4>()?;
            Event::AuctionRulesSet { instrument, rules: body.auction_rules()? }
        }
        EventKind::Uncrossed => {
            head.rest_unused()?;
            let instrument = body.instrument()?;
            body.zeros::<4>()?;
            let price = body.price()?;
            let (volume, surplus) = (body.quantity()?, body.quantity()?);
            Event::Uncrossed(Uncrossed { instrument, price, volume, surplus })
        }
        EventKind::Interrupted => {
            let until_command = head.small.boolean("until_command")?;
            head.rest_unused()?;
            let instrument = body.instrument()?;
            body.zeros::<4>()?;
            let (price, low, high) = (body.price()?, body.price()?, body.price()?);
            Event::Interrupted(Interrupted { instrument, price, low, high, until_command })
        }
        EventKind::Attributed => {
            let command = head.small.one_of("command", CommandKind::from_number)?;
            head.rest_unused()?;
            Event::Attributed(Attributed { command, attribution: body.attribution()? })
        }
        EventKind::Restricted => {
            head.rest_unused()?;
            Event::Restricted(body.restrict()?)
        }
        EventKind::TransitionPlanned => {
            head.rest_unused()?;
            let number = body.u32()?;
            body.zeros::<4>()?;
            let transition = body.transition()?;
            Event::TransitionPlanned { calendar: body.text()?, number, transition }
        }
        EventKind::PlanAdopted => {
            let replace = head.small.boolean("replace")?;
            head.rest_unused()?;
            let count = body.u32()?;
            body.zeros::<4>()?;
            let digest = body.u64()?;
            Event::PlanAdopted { calendar: body.text()?, count, digest, replace }
        }
        EventKind::CalendarAssigned => {
            head.rest_unused()?;
            let instrument = body.instrument()?;
            body.zeros::<4>()?;
            Event::CalendarAssigned { instrument, calendar: body.text()? }
        }
        EventKind::TransitionMoved => {
            head.rest_unused()?;
            let (at, to) = (body.time()?, body.time()?);
            Event::TransitionMoved { calendar: body.text()?, at, to }
        }
        EventKind::TransitionBegun => {
            let state = head.small.one_of("state", InstrumentState::from_number)?;
            head.rest_unused()?;
            let at = body.time()?;
            Event::TransitionBegun { calendar: body.text()?, at, state }
        }
        EventKind::TradingHalted => {
            let kind = head.small.u8()?;
            let cause = head.small.one_of("cause", HaltCause::from_number)?;
            head.rest_unused()?;
            let instrument = body.instrument()?;
            body.zeros::<4>()?;
            let until = body.time()?;
            let scope = body.halt_scope(kind, instrument)?;
            Event::TradingHalted(TradingHalted { scope, until, cause })
        }
        EventKind::CircuitBreakerSet => {
            head.rest_unused()?;
            Event::CircuitBreakerSet(body.circuit_breaker()?)
        }
        EventKind::LimitStateSet => {
            let side = head.side()?;
            head.rest_unused()?;
            let instrument = body.instrument()?;
            body.zeros::<4>()?;
            let (price, until) = (body.price()?, body.time()?);
            Event::LimitStateSet { instrument, side, price, until }
        }
        EventKind::ContractTermsSet => {
            let (instrument, terms) = body.contract_terms(head.rest_unused()?)?;
            Event::ContractTermsSet { instrument, terms }
        }
        EventKind::TriggerSet => {
            let side = head.side()?;
            head.rest_unused()?;
            let order = body.order()?;
            let (account, instrument) = (body.account()?, body.instrument()?);
            let trigger = body.trigger()?;
            body.zeros::<7>()?;
            Event::TriggerSet(TriggerSet { order, account, instrument, side, trigger })
        }
        EventKind::Triggered => Event::Triggered(triggered(head, body)?),
        EventKind::TrailSet => {
            let side = head.side()?;
            head.rest_unused()?;
            let order = body.order()?;
            let (account, instrument) = (body.account()?, body.instrument()?);
            let trail = body.trail()?;
            body.zeros::<7>()?;
            Event::TrailSet(TrailSet { order, account, instrument, side, trail })
        }
        EventKind::TrailActivated => {
            let side = head.side()?;
            head.rest_unused()?;
            let order = body.order()?;
            let (account, instrument) = (body.account()?, body.instrument()?);
            let extreme = body.price()?;
            let activated = TrailActivated { order, account, instrument, side, extreme };
            Event::TrailActivated(activated)
        }
        EventKind::IcebergSet => {
            let side = head.side()?;
            head.rest_unused()?;
            let order = body.order()?;
            let (account, instrument) = (body.account()?, body.instrument()?);
            let display_quantity = body.quantity()?;
            Event::IcebergSet(IcebergSet { order, account, instrument, side, display_quantity })
        }
        EventKind::IcebergRefreshed => {
            let side = head.side()?;
            head.rest_unused()?;
            let order = body.order()?;
            let (account, instrument) = (body.account()?, body.instrument()?);
            let (price, displayed) = (body.price()?, body.quantity()?);
            let refreshed = IcebergRefreshed { order, account, instrument, side, price, displayed };
            Event::IcebergRefreshed(refreshed)
        }
        EventKind::ExitsSet => {
            let small = &mut head.small;
            let side = small.one_of("side", Side::from_number)?;
            let has = small.u8()?;
            if has > 3 {
                return Reader::fault(small.at() - 1, DecodeFault::OutOfRange("exits"));
            }
            head.rest_unused()?;
            let order = body.order()?;
            let (account, instrument) = (body.account()?, body.instrument()?);
            let [take_profit, stop_loss] = body.legs([has & 1 != 0, has & 2 != 0])?;
            let set = ExitsSet { order, account, instrument, side, take_profit, stop_loss };
            Event::ExitsSet(set)
        }
        EventKind::OrdersLinked => {
            let side = head.side()?;
            head.rest_unused()?;
            let list = body.order()?;
            let (account, instrument) = (body.account()?, body.instrument()?);
            let (take_profit, stop_loss) = (body.order()?, body.order()?);
            let linked = OrdersLinked { list, account, instrument, side, take_profit, stop_loss };
            Event::OrdersLinked(linked)
        }
        EventKind::ExitsRefused => {
            let reason = head.small.one_of("reason", RejectReason::from_number)?;
            head.rest_unused()?;
            let order = body.order()?;
            let (account, instrument) = (body.account()?, body.instrument()?);
            Event::ExitsRefused(ExitsRefused { order, account, instrument, reason })
        }
    })
}

#[inline(always)]
fn accepted(mut head: Head<'_>, body: &mut Reader<'_>) -> Result<Accepted, DecodeError> {
    let side = head.side()?;
    let kind = head.small.one_of("kind", OrderKind::from_number)?;
    let flags = head.rest_unused()?;
    let order = body.order()?;
    let account = body.account()?;
    let instrument = body.instrument()?;
    let price = body.price()?;
    let low = [body.u64()?, body.u64()?];
    let time_in_force = body.one_of("time_in_force", TimeInForce::from_number)?;
    let post_only = body.one_of("post_only", PostOnly::from_number)?;
    let self_trade = body.optional("self_trade", SelfTrade::from_number)?;
    let handling = body.handling(flags)?;
    body.zeros::<4>()?;
    let at = body.at();
    let [size, reserved] = body.amounts(flags, low)?;
    let terms = NewOrder {
        account,
        instrument,
        side,
        kind,
        time_in_force,
        post_only,
        self_trade,
        handling,
        size: order_size(size.0, flags, at)?,
        price,
        minimum_quantity: body.minimum_quantity(flags)?,
        expire_at: body.expire_at(flags)?,
        client_order_id: body.client_order_id(flags)?,
    };
    Ok(Accepted { order, terms, reserved, rests: flags & flag::RESTS != 0 })
}

#[inline(always)]
fn rested(mut head: Head<'_>, body: &mut Reader<'_>) -> Result<Rested, DecodeError> {
    let side = head.side()?;
    head.rest_unused()?;
    Ok(Rested {
        order: body.order()?,
        account: body.account()?,
        instrument: body.instrument()?,
        side,
        price: body.price()?,
        remaining: body.quantity()?,
    })
}

#[inline(always)]
fn trade(mut head: Head<'_>, body: &mut Reader<'_>) -> Result<Trade, DecodeError> {
    let taker_side = head.side()?;
    let auction = head.small.boolean("auction")?;
    let flags = head.rest_unused()?;
    let trade = TradeId(body.u64()?);
    let instrument = body.instrument()?;
    let maker_account = body.account()?;
    let taker_account = body.account()?;
    body.zeros::<4>()?;
    let price = body.price()?;
    let quantity = body.quantity()?;
    let maker_order = body.order()?;
    let taker_order = body.order()?;
    let maker_remaining = body.quantity()?;
    let taker_remaining = body.quantity()?;
    let low = [body.u64()?, body.u64()?, body.u64()?, body.u64()?];
    let [notional, maker_fee, taker_fee, buyer_unreserved] = body.amounts(flags, low)?;
    Ok(Trade {
        trade,
        instrument,
        taker_side,
        auction,
        price,
        quantity,
        maker_order,
        taker_order,
        maker_account,
        taker_account,
        maker_remaining,
        taker_remaining,
        notional,
        maker_fee,
        taker_fee,
        buyer_unreserved,
    })
}

#[inline(always)]
fn done(mut head: Head<'_>, body: &mut Reader<'_>) -> Result<Done, DecodeError> {
    let side = head.side()?;
    let reason = head.small.one_of("reason", DoneReason::from_number)?;
    let flags = head.rest_unused()?;
    let order = body.order()?;
    let account = body.account()?;
    let instrument = body.instrument()?;
    let price = body.price()?;
    let remaining = body.quantity()?;
    let low = [body.u64()?];
    let [released] = body.amounts(flags, low)?;
    Ok(Done { order, account, instrument, side, reason, price, remaining, released })
}

fn triggered(mut head: Head<'_>, body: &mut Reader<'_>) -> Result<Triggered, DecodeError> {
    let side = head.side()?;
    let flags = head.rest_unused()?;
    let order = body.order()?;
    let account = body.account()?;
    let instrument = body.instrument()?;
    let price = body.price()?;
    let remaining = body.quantity()?;
    let low = [body.u64()?];
    let [released] = body.amounts(flags, low)?;
    Ok(Triggered { order, account, instrument, side, price, remaining, released })
}

fn reduced(mut head: Head<'_>, body: &mut Reader<'_>) -> Result<Reduced, DecodeError> {
    let side = head.side()?;
    let reason = head.small.one_of("reason", ReduceReason::from_number)?;
    let flags = head.rest_unused()?;
    let order = body.order()?;
    let account = body.account()?;
    let instrument = body.instrument()?;
    let price = body.price()?;
    let by = body.quantity()?;
    let remaining = body.quantity()?;
    let low = [body.u64()?];
    let [released] = body.amounts(flags, low)?;
    Ok(Reduced { order, account, instrument, side, reason, price, by, remaining, released })
}

fn amended(mut head: Head<'_>, body: &mut Reader<'_>) -> Result<Amended, DecodeError> {
    let side = head.side()?;
    let flags = head.rest_unused()?;
    let order = body.order()?;
    let account = body.account()?;
    let instrument = body.instrument()?;
    let old_price = body.price()?;
    let old_remaining = body.quantity()?;
    let price = body.price()?;
    let quantity = body.quantity()?;
    let remaining = body.quantity()?;
    let low = [body.u64()?, body.u64()?];
    let [old_reserved, reserved] = body.amounts(flags, low)?;
    Ok(Amended {
        order,
        account,
        instrument,
        side,
        old_price,
        old_remaining,
        price,
        quantity,
        remaining,
        old_reserved,
        reserved,
    })
}

fn rejected(mut head: Head<'_>, body: &mut Reader<'_>) -> Result<Rejected, DecodeError> {
    let command = head.small.one_of("command", CommandKind::from_number)?;
    let reason = head.small.one_of("reason", RejectReason::from_number)?;
    let flags = head.rest_unused()?;
    Ok(Rejected {
        command,
        reason,
        account: body.account()?,
        instrument: body.instrument()?,
        order: body.order()?,
        client_order_id: body.client_order_id(flags)?,
    })
}

fn moved(
    head: Head<'_>,
    body: &mut Reader<'_>,
) -> Result<(AccountId, CurrencyId, Amount, Reference), DecodeError> {
    let flags = head.rest_unused()?;
    let account = body.account()?;
    let currency = body.currency()?;
    body.zeros::<2>()?;
    let low = [body.u64()?];
    let [amount] = body.amounts(flags, low)?;
    Ok((account, currency, amount, body.text()?))
}

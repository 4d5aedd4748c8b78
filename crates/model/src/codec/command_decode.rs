//! Bytes to commands.

use super::reader::Reader;
use super::{DecodeError, DecodeFault, VERSION, flag};
use crate::{
    Amend, AmendTrigger, Command, CommandKind, ConditionalOrder, Deposit, IcebergOrder,
    InstrumentState, LinkKind, MassCancel, NewOrder, OrderKind, OrderList, OrderRef, OrderSize,
    PostOnly, Price, Quantity, SelfTrade, Side, TimeInForce, Timestamp, TrailingOrder, Transfer,
};

/// Reads a command and its timestamp from the bytes that [`encode_command`](crate::encode_command)
/// wrote. Bytes left over are an error.
pub fn decode_command(bytes: &[u8]) -> Result<(Timestamp, Command), DecodeError> {
    let mut reader = Reader::new(bytes);
    let number = reader.u8()?;
    let Some(kind) = CommandKind::from_number(number) else {
        return Reader::fault(0, DecodeFault::UnknownKind(number));
    };
    let version = reader.u8()?;
    if version != VERSION {
        return Reader::fault(1, DecodeFault::UnknownVersion(version));
    }
    let flags = reader.u16()?;
    if flags & !flags_of(kind) != 0 {
        return Reader::fault(2, DecodeFault::UnknownFlags(flags));
    }
    reader.zeros::<4>()?;
    let time = reader.time()?;
    let command = body(kind, &mut reader, flags)?;
    reader.end()?;
    Ok((time, command))
}

/// The flags that a command of this kind may have.
fn flags_of(kind: CommandKind) -> u16 {
    match kind {
        CommandKind::Place
        | CommandKind::PlaceConditional
        | CommandKind::PlaceTrailing
        | CommandKind::PlaceIceberg
        | CommandKind::PlaceList => {
            flag::WIDE
                | flag::CLIENT_ID
                | flag::EXPIRES
                | flag::QUOTE
                | flag::CANCEL_ON_DISCONNECT
                | flag::MINIMUM
        }
        CommandKind::Cancel => flag::CLIENT_ID,
        CommandKind::Amend | CommandKind::AmendTrigger => {
            flag::CLIENT_ID | flag::PRICE | flag::QUANTITY
        }
        CommandKind::MassCancel => flag::INSTRUMENT,
        CommandKind::Deposit => flag::WIDE | flag::TIME,
        CommandKind::Withdraw
        | CommandKind::HoldWithdrawal
        | CommandKind::CreateInstrument
        | CommandKind::SetRules
        | CommandKind::SetContractTerms => flag::WIDE,
        CommandKind::Tick
        | CommandKind::Disconnect
        | CommandKind::SetDeadMan
        | CommandKind::CreateMember
        | CommandKind::CreateAccount
        | CommandKind::CreateCurrency
        | CommandKind::SetInstrumentState
        | CommandKind::SetRulesVersion
        | CommandKind::SettleWithdrawal
        | CommandKind::ReleaseWithdrawal
        | CommandKind::SetAuctionRules
        | CommandKind::Restrict
        | CommandKind::PlanTransition
        | CommandKind::AdoptPlan
        | CommandKind::AssignCalendar
        | CommandKind::MoveTransition
        | CommandKind::HaltTrading
        | CommandKind::SetCircuitBreaker => 0,
    }
}

// Inlined, because results as large as these are slow to hand up from function to function.
#[inline(always)]
fn body(kind: CommandKind, reader: &mut Reader<'_>, flags: u16) -> Result<Command, DecodeError> {
    Ok(match kind {
        CommandKind::Tick => Command::Tick,
        CommandKind::Place => Command::Place(place(reader, flags)?),
        CommandKind::Cancel => {
            let account = reader.account()?;
            reader.zeros::<4>()?;
            Command::Cancel { account, order: order_ref(reader, flags)? }
        }
        CommandKind::Amend => Command::Amend(amend(reader, flags)?),
        CommandKind::AmendTrigger => {
            let trigger_price = reader.price()?;
            Command::AmendTrigger(AmendTrigger { amend: amend(reader, flags)?, trigger_price })
        }
        CommandKind::MassCancel => {
            let account = reader.account()?;
            let at = reader.at();
            let instrument = reader.instrument()?;
            let given = flags & flag::INSTRUMENT != 0;
            if !given && instrument.0 != 0 {
                return Reader::fault(at, DecodeFault::NotCanonical("an instrument not given"));
            }
            let side = reader.optional("side", Side::from_number)?;
            reader.zeros::<7>()?;
            let instrument = given.then_some(instrument);
            Command::MassCancel(MassCancel { account, instrument, side })
        }
        CommandKind::Disconnect => {
            let account = reader.account()?;
            reader.zeros::<4>()?;
            Command::Disconnect { account }
        }
        CommandKind::SetDeadMan => {
            let account = reader.account()?;
            reader.zeros::<4>()?;
            Command::SetDeadMan { account, timeout_ns: reader.u64()? }
        }
        CommandKind::Deposit => {
            let (transfer, time) = transfer(reader, flags)?;
            Command::Deposit(Deposit { transfer, time })
        }
        CommandKind::Withdraw => Command::Withdraw(transfer(reader, flags)?.0),
        CommandKind::CreateMember => {
            let member = reader.member()?;
            reader.zeros::<4>()?;
            Command::CreateMember { member, name: reader.text()? }
        }
        CommandKind::CreateAccount => {
            let account = reader.account()?;
            let member = reader.member()?;
            Command::CreateAccount { account, member, name: reader.text()? }
        }
        CommandKind::CreateCurrency => {
            let scale = reader.scale("scale")?;
            reader.zeros::<7>()?;
            Command::CreateCurrency { code: reader.text()?, scale }
        }
        CommandKind::CreateInstrument => Command::CreateInstrument(reader.spec(flags)?),
        CommandKind::SetRules => {
            let instrument = reader.instrument()?;
            reader.zeros::<4>()?;
            let rules = reader.rules()?;
            let rules = reader.complete_rules(flags, rules)?;
            Command::SetRules { instrument, rules }
        }
        CommandKind::SetInstrumentState => {
            let instrument = reader.instrument()?;
            let state = reader.one_of("state", InstrumentState::from_number)?;
            reader.zeros::<3>()?;
            Command::SetInstrumentState { instrument, state }
        }
        CommandKind::SetRulesVersion => {
            let version = reader.u32()?;
            reader.zeros::<4>()?;
            Command::SetRulesVersion { version }
        }
        CommandKind::HoldWithdrawal => Command::HoldWithdrawal(transfer(reader, flags)?.0),
        CommandKind::SettleWithdrawal => {
            let account = reader.account()?;
            reader.zeros::<4>()?;
            Command::SettleWithdrawal { account, reference: reader.text()? }
        }
        CommandKind::ReleaseWithdrawal => {
            let account = reader.account()?;
            reader.zeros::<4>()?;
            Command::ReleaseWithdrawal { account, reference: reader.text()? }
        }
        CommandKind::SetAuctionRules => {
            let instrument = reader.instrument()?;
            reader.zeros::<4>()?;
            let seed = reader.u64()?;
            Command::SetAuctionRules { instrument, rules: reader.auction_rules()?, seed }
        }
        CommandKind::Restrict => Command::Restrict(reader.restrict()?),
        CommandKind::PlanTransition => {
            let number = reader.u32()?;
            reader.zeros::<4>()?;
            let transition = reader.transition()?;
            Command::PlanTransition { calendar: reader.text()?, number, transition }
        }
        CommandKind::AdoptPlan => {
            let count = reader.u32()?;
            let replace = reader.boolean("replace")?;
            reader.zeros::<3>()?;
            let (digest, seed) = (reader.u64()?, reader.u64()?);
            Command::AdoptPlan { calendar: reader.text()?, count, digest, seed, replace }
        }
        CommandKind::AssignCalendar => {
            let instrument = reader.instrument()?;
            reader.zeros::<4>()?;
            Command::AssignCalendar { instrument, calendar: reader.text()? }
        }
        CommandKind::MoveTransition => {
            let (at, to) = (reader.time()?, reader.time()?);
            Command::MoveTransition { calendar: reader.text()?, at, to }
        }
        CommandKind::HaltTrading => {
            let instrument = reader.instrument()?;
            let (duration_ms, kind) = (reader.u32()?, reader.u8()?);
            reader.zeros::<7>()?;
            let scope = reader.halt_scope(kind, instrument)?;
            Command::HaltTrading { scope, duration_ms }
        }
        CommandKind::SetCircuitBreaker => Command::SetCircuitBreaker(reader.circuit_breaker()?),
        CommandKind::SetContractTerms => {
            let (instrument, terms) = reader.contract_terms(flags)?;
            Command::SetContractTerms { instrument, terms }
        }
        CommandKind::PlaceConditional => {
            let trigger = reader.trigger()?;
            let immediate = reader.boolean("immediate")?;
            reader.zeros::<6>()?;
            let terms = place(reader, flags)?;
            Command::PlaceConditional(ConditionalOrder { terms, trigger, immediate })
        }
        CommandKind::PlaceTrailing => {
            let trail = reader.trail()?;
            reader.zeros::<7>()?;
            let terms = place(reader, flags)?;
            Command::PlaceTrailing(TrailingOrder { terms, trail })
        }
        CommandKind::PlaceIceberg => {
            let display_quantity = reader.quantity()?;
            let terms = place(reader, flags)?;
            Command::PlaceIceberg(IcebergOrder { terms, display_quantity })
        }
        CommandKind::PlaceList => {
            let kind = reader.one_of("link kind", LinkKind::from_number)?;
            let has = [reader.boolean("take_profit")?, reader.boolean("stop_loss")?];
            let at = reader.at();
            let number = reader.u8()?;
            reader.zeros::<4>()?;
            let condition = reader.condition(at, number)?;
            let [take_profit, stop_loss] = reader.legs(has)?;
            let terms = place(reader, flags)?;
            Command::PlaceList(OrderList { terms, condition, kind, take_profit, stop_loss })
        }
    })
}

#[inline(always)]
fn amend(reader: &mut Reader<'_>, flags: u16) -> Result<Amend, DecodeError> {
    let account = reader.account()?;
    reader.zeros::<4>()?;
    let price = given(reader, flags & flag::PRICE)?.map(Price);
    let quantity = given(reader, flags & flag::QUANTITY)?.map(Quantity);
    let order = order_ref(reader, flags)?;
    Ok(Amend { account, order, price, quantity })
}

#[inline(always)]
fn place(reader: &mut Reader<'_>, flags: u16) -> Result<NewOrder, DecodeError> {
    reader.require(32)?;
    let account = reader.account()?;
    let instrument = reader.instrument()?;
    let price = reader.price()?;
    let size = reader.u64()?;
    let side = reader.one_of("side", Side::from_number)?;
    let kind = reader.one_of("kind", OrderKind::from_number)?;
    let time_in_force = reader.one_of("time_in_force", TimeInForce::from_number)?;
    let post_only = reader.one_of("post_only", PostOnly::from_number)?;
    let self_trade = reader.optional("self_trade", SelfTrade::from_number)?;
    let handling = reader.handling(flags)?;
    reader.zeros::<2>()?;
    let at = reader.at();
    let [amount] = reader.amounts(flags, [size])?;
    let size = order_size(amount.0, flags, at)?;
    let minimum_quantity = reader.minimum_quantity(flags)?;
    let expire_at = reader.expire_at(flags)?;
    let client_order_id = reader.client_order_id(flags)?;
    Ok(NewOrder {
        account,
        instrument,
        side,
        kind,
        time_in_force,
        post_only,
        self_trade,
        handling,
        size,
        price,
        minimum_quantity,
        expire_at,
        client_order_id,
    })
}

/// The size of an order; `at` is the offset of its high half, if there is one.
#[inline]
pub(super) fn order_size(size: i128, flags: u16, at: usize) -> Result<OrderSize, DecodeError> {
    if flags & flag::QUOTE != 0 {
        return Ok(OrderSize::Quote(crate::Amount(size)));
    }
    match i64::try_from(size) {
        Ok(quantity) => Ok(OrderSize::Base(Quantity(quantity))),
        Err(_) => Reader::fault(at, DecodeFault::OutOfRange("quantity")),
    }
}

/// An optional field, zero when absent.
fn given(reader: &mut Reader<'_>, given: u16) -> Result<Option<i64>, DecodeError> {
    let at = reader.at();
    let value = reader.u64()? as i64;
    if given != 0 {
        Ok(Some(value))
    } else if value == 0 {
        Ok(None)
    } else {
        Reader::fault(at, DecodeFault::NotCanonical("a value not given"))
    }
}

#[inline]
fn order_ref(reader: &mut Reader<'_>, flags: u16) -> Result<OrderRef, DecodeError> {
    if flags & flag::CLIENT_ID == 0 {
        reader.order().map(OrderRef::Id)
    } else {
        reader.text().map(OrderRef::Client)
    }
}

/// A transfer and the time when it was made, zero when absent.
fn transfer(reader: &mut Reader<'_>, flags: u16) -> Result<(Transfer, Timestamp), DecodeError> {
    let account = reader.account()?;
    let currency = reader.currency()?;
    reader.zeros::<2>()?;
    let low = reader.u64()?;
    let [amount] = reader.amounts(flags, [low])?;
    let time = reader.given_time(flags & flag::TIME, "a time of zero")?;
    let reference = reader.text()?;
    Ok((Transfer { account, currency, amount, reference }, time))
}

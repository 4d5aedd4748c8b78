//! Commands: everything that can change the state of an engine.

use crate::enumeration;
use crate::text::{from_text, to_text};
use crate::{
    AccountId, Amount, AuctionRules, CircuitBreakerRule, ConditionalOrder, ContractTerms,
    CurrencyCode, CurrencyId, HaltScope, IcebergOrder, InstrumentId, InstrumentSpec,
    InstrumentState, MemberId, Name, NewOrder, OrderList, OrderRef, PlannedTransition, Price,
    Quantity, Reference, Restrict, Scale, Side, Timestamp, TradingRules, TrailingOrder,
};
use serde::{Deserialize, Serialize};

/// A change of an open order. A field that is `None` stays as it is.
///
/// A smaller quantity at the same price keeps the order's place in the queue, and so does a larger one of an
/// iceberg; anything else loses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Amend {
    /// The account that owns the order.
    pub account: AccountId,
    /// The order.
    pub order: OrderRef,
    /// The new limit.
    pub price: Option<Price>,
    /// The new total quantity, including what has traded.
    pub quantity: Option<Quantity>,
}

/// A change of an order that waits for a fixed trigger price: of this price, and of its limit and quantity if
/// they are given.
///
/// The order goes to the end of the queue at its new trigger price.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AmendTrigger {
    /// The order, and what else changes.
    #[serde(flatten)]
    pub amend: Amend,
    /// The new trigger price.
    pub trigger_price: Price,
}

/// Which of an account's orders to cancel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MassCancel {
    /// The account that owns the orders.
    pub account: AccountId,
    /// Cancel only orders of this instrument.
    pub instrument: Option<InstrumentId>,
    /// Cancel only orders of this side.
    pub side: Option<Side>,
}

/// A movement of value into or out of the venue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transfer {
    /// The member's account.
    pub account: AccountId,
    /// The currency of the amount.
    pub currency: CurrencyId,
    /// The amount, positive.
    pub amount: Amount,
    /// The operator's name for the transfer. A transfer with the same reference takes effect once.
    pub reference: Reference,
}

/// A transfer into the venue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deposit {
    /// The account, currency, amount and reference.
    #[serde(flatten)]
    pub transfer: Transfer,
    /// The time when the deposit was made; zero stands for the time of the command. A deposit that
    /// is sent again must carry the same time. Its reference is remembered for 30 days from this
    /// time, and an older deposit is refused.
    #[serde(default)]
    pub time: Timestamp,
}

impl From<Transfer> for Deposit {
    /// A deposit whose time is that of its command.
    fn from(transfer: Transfer) -> Deposit {
        Deposit { transfer, time: Timestamp::ZERO }
    }
}

/// Everything that can change the state of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case")]
pub enum Command {
    /// Runs timers that are due, or continues work that an earlier command began. Only the
    /// sequencer issues it.
    Tick,
    /// Enters an order.
    Place(NewOrder),
    /// Cancels an order.
    Cancel {
        /// The account that owns the order.
        account: AccountId,
        /// The order.
        order: OrderRef,
    },
    /// Changes an order.
    Amend(Amend),
    /// Cancels many orders.
    MassCancel(MassCancel),
    /// The account's connection was lost: cancels its orders that have cancel on disconnect.
    Disconnect {
        /// The account whose connection was lost.
        account: AccountId,
    },
    /// Sets the account's dead-man timer: unless it is set again in time, all its orders are cancelled.
    SetDeadMan {
        /// The account whose timer is set.
        account: AccountId,
        /// Nanoseconds from this command; zero switches it off. In JSON it is a string.
        #[serde(serialize_with = "to_text", deserialize_with = "from_text")]
        timeout_ns: u64,
    },
    /// Credits an account.
    Deposit(Deposit),
    /// Debits an account at once.
    Withdraw(Transfer),
    /// Admits a member.
    CreateMember {
        /// The id, or zero for the next free one.
        member: MemberId,
        /// A name.
        name: Name,
    },
    /// Opens an account.
    CreateAccount {
        /// The id, or zero for the next free one.
        account: AccountId,
        /// Its owner.
        member: MemberId,
        /// A name.
        name: Name,
    },
    /// Lists a currency.
    CreateCurrency {
        /// Its code.
        code: CurrencyCode,
        /// Decimal places of its smallest unit.
        scale: Scale,
    },
    /// Lists an instrument.
    CreateInstrument(InstrumentSpec),
    /// Changes the rules of an instrument.
    SetRules {
        /// The instrument.
        instrument: InstrumentId,
        /// The new rules, all of them.
        rules: TradingRules,
    },
    /// Puts an instrument into another phase. On the way from a call to trading or to the close its
    /// orders trade with each other first.
    SetInstrumentState {
        /// The instrument.
        instrument: InstrumentId,
        /// The new state.
        state: InstrumentState,
    },
    /// Changes the rules version, from the next command on.
    SetRulesVersion {
        /// The version.
        version: u32,
    },
    /// Reserves an amount for a withdrawal, until [`Command::SettleWithdrawal`] pays it out or
    /// [`Command::ReleaseWithdrawal`] gives it back.
    HoldWithdrawal(Transfer),
    /// Pays out a withdrawal that is held.
    SettleWithdrawal {
        /// The account that owns the withdrawal.
        account: AccountId,
        /// The reference that it is held under.
        reference: Reference,
    },
    /// Gives back a withdrawal that is held.
    ReleaseWithdrawal {
        /// The account that owns the withdrawal.
        account: AccountId,
        /// The reference that it is held under.
        reference: Reference,
    },
    /// Changes the rules of an instrument's auctions.
    SetAuctionRules {
        /// The instrument.
        instrument: InstrumentId,
        /// The new rules, all of them.
        rules: AuctionRules,
        /// Decides the random ends of the calls that follow. No event has it.
        #[serde(serialize_with = "to_text", deserialize_with = "from_text")]
        seed: u64,
    },
    /// Sets or lifts a restriction.
    Restrict(Restrict),
    /// Adds a transition to the plan of a calendar. It takes effect with [`Command::AdoptPlan`].
    PlanTransition {
        /// The calendar. The first transition of a plan makes it known.
        calendar: Name,
        /// The number of the transition in the plan. Zero begins a new plan; the calendar's
        /// unfinished one is forgotten.
        number: u32,
        /// The transition, later than the one before.
        transition: PlannedTransition,
    },
    /// Makes the plan of a calendar its timetable.
    AdoptPlan {
        /// The calendar.
        calendar: Name,
        /// How many transitions were planned.
        count: u32,
        /// Identifies the file that the plan was made from. In JSON it is a string.
        #[serde(serialize_with = "to_text", deserialize_with = "from_text")]
        digest: u64,
        /// Decides the random ends of calls that begin from now on. No event has it.
        #[serde(serialize_with = "to_text", deserialize_with = "from_text")]
        seed: u64,
        /// Whether the plan replaces the transitions that have not begun. Otherwise it is appended
        /// to them.
        replace: bool,
    },
    /// Makes an instrument follow the timetable of a calendar, from its next transition on.
    AssignCalendar {
        /// The instrument.
        instrument: InstrumentId,
        /// The calendar, or empty for none.
        calendar: Name,
    },
    /// Moves a transition that has not begun, and with it the times of its call.
    MoveTransition {
        /// The calendar.
        calendar: Name,
        /// When the transition begins so far.
        at: Timestamp,
        /// When it is to begin, between the transitions before and after it.
        to: Timestamp,
    },
    /// Halts trading for a time. An auction then reopens it.
    HaltTrading {
        /// What is halted.
        scope: HaltScope,
        /// How long, in milliseconds.
        duration_ms: u32,
    },
    /// Sets, replaces or removes the circuit breaker of a calendar.
    SetCircuitBreaker(CircuitBreakerRule),
    /// Sets the terms of an instrument's contract.
    SetContractTerms {
        /// The instrument.
        instrument: InstrumentId,
        /// All its terms.
        terms: ContractTerms,
    },
    /// Enters a conditional order.
    PlaceConditional(ConditionalOrder),
    /// Enters a trailing stop.
    PlaceTrailing(TrailingOrder),
    /// Enters an iceberg.
    PlaceIceberg(IcebergOrder),
    /// Enters linked orders.
    PlaceList(OrderList),
    /// Changes the trigger price of an order.
    AmendTrigger(AmendTrigger),
}

enumeration! {
    /// The kinds of commands, numbered as in the journal.
    pub enum CommandKind {
        /// [`Command::Tick`]
        Tick = 0, "tick";
        /// [`Command::Place`]
        Place = 1, "place";
        /// [`Command::Cancel`]
        Cancel = 2, "cancel";
        /// [`Command::Amend`]
        Amend = 3, "amend";
        /// [`Command::MassCancel`]
        MassCancel = 4, "mass_cancel";
        /// [`Command::Disconnect`]
        Disconnect = 5, "disconnect";
        /// [`Command::SetDeadMan`]
        SetDeadMan = 6, "set_dead_man";
        /// [`Command::Deposit`]
        Deposit = 7, "deposit";
        /// [`Command::Withdraw`]
        Withdraw = 8, "withdraw";
        /// [`Command::CreateMember`]
        CreateMember = 9, "create_member";
        /// [`Command::CreateAccount`]
        CreateAccount = 10, "create_account";
        /// [`Command::CreateCurrency`]
        CreateCurrency = 11, "create_currency";
        /// [`Command::CreateInstrument`]
        CreateInstrument = 12, "create_instrument";
        /// [`Command::SetRules`]
        SetRules = 13, "set_rules";
        /// [`Command::SetInstrumentState`]
        SetInstrumentState = 14, "set_instrument_state";
        /// [`Command::SetRulesVersion`]
        SetRulesVersion = 15, "set_rules_version";
        /// [`Command::HoldWithdrawal`]
        HoldWithdrawal = 16, "hold_withdrawal";
        /// [`Command::SettleWithdrawal`]
        SettleWithdrawal = 17, "settle_withdrawal";
        /// [`Command::ReleaseWithdrawal`]
        ReleaseWithdrawal = 18, "release_withdrawal";
        /// [`Command::SetAuctionRules`]
        SetAuctionRules = 19, "set_auction_rules";
        /// [`Command::Restrict`]
        Restrict = 20, "restrict";
        /// [`Command::PlanTransition`]
        PlanTransition = 21, "plan_transition";
        /// [`Command::AdoptPlan`]
        AdoptPlan = 22, "adopt_plan";
        /// [`Command::AssignCalendar`]
        AssignCalendar = 23, "assign_calendar";
        /// [`Command::MoveTransition`]
        MoveTransition = 24, "move_transition";
        /// [`Command::HaltTrading`]
        HaltTrading = 25, "halt_trading";
        /// [`Command::SetCircuitBreaker`]
        SetCircuitBreaker = 26, "set_circuit_breaker";
        /// [`Command::SetContractTerms`]
        SetContractTerms = 27, "set_contract_terms";
        /// [`Command::PlaceConditional`]
        PlaceConditional = 28, "place_conditional";
        /// [`Command::PlaceTrailing`]
        PlaceTrailing = 29, "place_trailing";
        /// [`Command::PlaceIceberg`]
        PlaceIceberg = 30, "place_iceberg";
        /// [`Command::PlaceList`]
        PlaceList = 31, "place_list";
        /// [`Command::AmendTrigger`]
        AmendTrigger = 32, "amend_trigger";
    }
}

impl Command {
    /// A deposit whose time is that of the command.
    #[must_use]
    pub fn deposit(transfer: Transfer) -> Command {
        Command::Deposit(transfer.into())
    }

    /// The kind of the command.
    #[must_use]
    #[inline]
    pub fn kind(&self) -> CommandKind {
        match self {
            Command::Tick => CommandKind::Tick,
            Command::Place(_) => CommandKind::Place,
            Command::Cancel { .. } => CommandKind::Cancel,
            Command::Amend(_) => CommandKind::Amend,
            Command::MassCancel(_) => CommandKind::MassCancel,
            Command::Disconnect { .. } => CommandKind::Disconnect,
            Command::SetDeadMan { .. } => CommandKind::SetDeadMan,
            Command::Deposit(_) => CommandKind::Deposit,
            Command::Withdraw(_) => CommandKind::Withdraw,
            Command::CreateMember { .. } => CommandKind::CreateMember,
            Command::CreateAccount { .. } => CommandKind::CreateAccount,
            Command::CreateCurrency { .. } => CommandKind::CreateCurrency,
            Command::CreateInstrument(_) => CommandKind::CreateInstrument,
            Command::SetRules { .. } => CommandKind::SetRules,
            Command::SetInstrumentState { .. } => CommandKind::SetInstrumentState,
            Command::SetRulesVersion { .. } => CommandKind::SetRulesVersion,
            Command::HoldWithdrawal(_) => CommandKind::HoldWithdrawal,
            Command::SettleWithdrawal { .. } => CommandKind::SettleWithdrawal,
            Command::ReleaseWithdrawal { .. } => CommandKind::ReleaseWithdrawal,
            Command::SetAuctionRules { .. } => CommandKind::SetAuctionRules,
            Command::Restrict(_) => CommandKind::Restrict,
            Command::PlanTransition { .. } => CommandKind::PlanTransition,
            Command::AdoptPlan { .. } => CommandKind::AdoptPlan,
            Command::AssignCalendar { .. } => CommandKind::AssignCalendar,
            Command::MoveTransition { .. } => CommandKind::MoveTransition,
            Command::HaltTrading { .. } => CommandKind::HaltTrading,
            Command::SetCircuitBreaker(_) => CommandKind::SetCircuitBreaker,
            Command::SetContractTerms { .. } => CommandKind::SetContractTerms,
            Command::PlaceConditional(_) => CommandKind::PlaceConditional,
            Command::PlaceTrailing(_) => CommandKind::PlaceTrailing,
            Command::PlaceIceberg(_) => CommandKind::PlaceIceberg,
            Command::PlaceList(_) => CommandKind::PlaceList,
            Command::AmendTrigger(_) => CommandKind::AmendTrigger,
        }
    }
}

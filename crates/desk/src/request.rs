//! The venue's commands as typed requests.

use crate::{Answer, Scope};
use rialto_bus::{Command, Request};
use rialto_engine::Level;
use rialto_model::{
    AccountId, Amend, AmendTrigger, AuctionRules, CircuitBreakerRule, Command as EngineCommand,
    ConditionalOrder, ContractTerms, CurrencyCode, HaltScope, IcebergOrder, InstrumentId,
    InstrumentSpec, InstrumentState, MassCancel, MemberId, Name, NewOrder, OrderList, OrderRef,
    Reference, Restrict, Restriction, RestrictionTarget, Scale, Timestamp, TradingRules,
    TrailingOrder, Transfer,
};

/// A request that is one command to the engine.
pub trait ToEngine: Command + Request<Response = Answer> {
    /// The scope that the grant must have.
    const SCOPE: Scope;

    /// The account that the grant must include, if the request is about one.
    fn account(&self) -> Option<AccountId>;

    /// The command for the engine.
    fn command(&self) -> EngineCommand;

    /// The durability level of the answer, if it is higher than the venue's.
    fn level(&self) -> Option<Level>;
}

macro_rules! requests {
    ($(
        $(#[$about:meta])*
        $name:literal $Request:ident { $($(#[$on:meta])* $field:ident: $type:ty),* $(,)? }
        needs $scope:ident $(of $account:expr)?,
        command $command:expr;
    )*) => { $(
        $(#[$about])*
        #[derive(Clone, Copy, Debug)]
        pub struct $Request {
            $($(#[$on])* pub $field: $type,)*
            /// The durability level of the answer, if it is higher than the venue's.
            pub level: Option<Level>,
        }

        impl Request for $Request {
            type Response = Answer;
            const NAME: &'static str = $name;
        }

        impl Command for $Request {}

        impl ToEngine for $Request {
            const SCOPE: Scope = Scope::$scope;

            #[allow(unused_variables, reason = "requests that concern no account")]
            fn account(&self) -> Option<AccountId> {
                let account: fn(&$Request) -> Option<AccountId> =
                    requests!(@account $($account)?);
                account(self)
            }

            fn command(&self) -> EngineCommand {
                let command: fn(&$Request) -> EngineCommand = $command;
                command(self)
            }

            fn level(&self) -> Option<Level> {
                self.level
            }
        }
    )* };
    (@account) => { |_| None };
    (@account $account:expr) => { |request| { let of: fn(&_) -> AccountId = $account; Some(of(request)) } };
}

requests! {
    /// Enters an order.
    "place_order" PlaceOrder {
        /// The order.
        order: NewOrder,
    } needs Trade of |it: &PlaceOrder| it.order.account,
      command |it| EngineCommand::Place(it.order);

    /// Enters a conditional order.
    "place_conditional_order" PlaceConditionalOrder {
        /// The order.
        order: ConditionalOrder,
    } needs Trade of |it: &PlaceConditionalOrder| it.order.terms.account,
      command |it| EngineCommand::PlaceConditional(it.order);

    /// Enters a trailing stop.
    "place_trailing_order" PlaceTrailingOrder {
        /// The order.
        order: TrailingOrder,
    } needs Trade of |it: &PlaceTrailingOrder| it.order.terms.account,
      command |it| EngineCommand::PlaceTrailing(it.order);

    /// Enters an iceberg.
    "place_iceberg_order" PlaceIcebergOrder {
        /// The order.
        order: IcebergOrder,
    } needs Trade of |it: &PlaceIcebergOrder| it.order.terms.account,
      command |it| EngineCommand::PlaceIceberg(it.order);

    /// Enters linked orders.
    "place_linked_orders" PlaceLinkedOrders {
        /// The orders.
        list: OrderList,
    } needs Trade of |it: &PlaceLinkedOrders| it.list.terms.account,
      command |it| EngineCommand::PlaceList(it.list);

    /// Cancels an order.
    "cancel_order" CancelOrder {
        /// The account.
        account: AccountId,
        /// The order.
        order: OrderRef,
    } needs Trade of |it: &CancelOrder| it.account,
      command |it| EngineCommand::Cancel { account: it.account, order: it.order };

    /// Changes an order.
    "amend_order" AmendOrder {
        /// The change.
        amend: Amend,
    } needs Trade of |it: &AmendOrder| it.amend.account,
      command |it| EngineCommand::Amend(it.amend);

    /// Changes the trigger price of an order.
    "amend_trigger_price" AmendTriggerPrice {
        /// The change.
        change: AmendTrigger,
    } needs Trade of |it: &AmendTriggerPrice| it.change.amend.account,
      command |it| EngineCommand::AmendTrigger(it.change);

    /// Cancels orders of an account.
    "cancel_orders" CancelOrders {
        /// The orders.
        which: MassCancel,
    } needs Trade of |it: &CancelOrders| it.which.account,
      command |it| EngineCommand::MassCancel(it.which);

    /// Sets an account's dead-man timer.
    "set_dead_man" SetDeadMan {
        /// The account.
        account: AccountId,
        /// Nanoseconds from now; zero disables it.
        timeout_ns: u64,
    } needs Trade of |it: &SetDeadMan| it.account,
      command |it| EngineCommand::SetDeadMan { account: it.account, timeout_ns: it.timeout_ns };

    /// Cancels the orders of an account that ask for cancel on disconnect.
    "disconnect" Disconnect {
        /// The account.
        account: AccountId,
    } needs Trade of |it: &Disconnect| it.account,
      command |it| EngineCommand::Disconnect { account: it.account };

    /// Reserves an amount for a withdrawal that awaits a decision.
    "hold_withdrawal" HoldWithdrawal {
        /// The amount and the account.
        transfer: Transfer,
    } needs Transfer of |it: &HoldWithdrawal| it.transfer.account,
      command |it| EngineCommand::HoldWithdrawal(it.transfer);

    /// Pays out a held withdrawal.
    "settle_withdrawal" SettleWithdrawal {
        /// The account.
        account: AccountId,
        /// The withdrawal's reference.
        reference: Reference,
    } needs Admin,
      command |it| {
          EngineCommand::SettleWithdrawal { account: it.account, reference: it.reference }
      };

    /// Releases the held amount of a withdrawal.
    "release_withdrawal" ReleaseWithdrawal {
        /// The account.
        account: AccountId,
        /// The withdrawal's reference.
        reference: Reference,
    } needs Admin,
      command |it| {
          EngineCommand::ReleaseWithdrawal { account: it.account, reference: it.reference }
      };

    /// Deposits an amount into an account.
    "deposit" Deposit {
        /// The amount, the account and the time of the deposit.
        deposit: rialto_model::Deposit,
    } needs Admin, command |it| EngineCommand::Deposit(it.deposit);

    /// Withdraws an amount from an account at once.
    "pay_out" PayOut {
        /// The amount and the account.
        transfer: Transfer,
    } needs Admin, command |it| EngineCommand::Withdraw(it.transfer);

    /// Creates a member.
    "create_member" CreateMember {
        /// The id, or zero for the next free one.
        member: MemberId,
        /// A name.
        name: Name,
    } needs Admin,
      command |it| EngineCommand::CreateMember { member: it.member, name: it.name };

    /// Creates an account.
    "create_account" CreateAccount {
        /// The id, or zero for the next free one.
        account: AccountId,
        /// The member that owns it.
        member: MemberId,
        /// A name.
        name: Name,
    } needs Admin,
      command |it| {
          let CreateAccount { account, member, name, .. } = *it;
          EngineCommand::CreateAccount { account, member, name }
      };

    /// Lists a currency.
    "create_currency" CreateCurrency {
        /// Its code.
        code: CurrencyCode,
        /// The decimal places of its smallest unit.
        scale: Scale,
    } needs Admin,
      command |it| EngineCommand::CreateCurrency { code: it.code, scale: it.scale };

    /// Lists an instrument.
    "create_instrument" CreateInstrument {
        /// The instrument.
        spec: InstrumentSpec,
    } needs Admin, command |it| EngineCommand::CreateInstrument(it.spec);

    /// Changes the rules of an instrument.
    "set_rules" SetRules {
        /// The instrument.
        instrument: InstrumentId,
        /// The new rules, complete.
        rules: TradingRules,
    } needs Admin,
      command |it| EngineCommand::SetRules { instrument: it.instrument, rules: it.rules };

    /// Changes the rules of an instrument's auctions.
    "set_auction_rules" SetAuctionRules {
        /// The instrument.
        instrument: InstrumentId,
        /// The new rules, complete.
        rules: AuctionRules,
        /// Decides the random ends of the calls that follow.
        seed: u64,
    } needs Admin,
      command |it| {
          let SetAuctionRules { instrument, rules, seed, .. } = *it;
          EngineCommand::SetAuctionRules { instrument, rules, seed }
      };

    /// Sets the terms of an instrument's contract.
    "set_contract_terms" SetContractTerms {
        /// The instrument.
        instrument: InstrumentId,
        /// The new terms, complete.
        terms: ContractTerms,
    } needs Admin,
      command |it| EngineCommand::SetContractTerms { instrument: it.instrument, terms: it.terms };

    /// Sets or lifts an operator's restriction.
    "set_restriction" SetRestriction {
        /// The target.
        target: RestrictionTarget,
        /// What is refused.
        restriction: Restriction,
        /// Whether the open orders of the target are cancelled.
        cancel: bool,
    } needs Admin,
      command |it| {
          let SetRestriction { target, restriction, cancel, .. } = *it;
          EngineCommand::Restrict(Restrict { target, restriction, by_member: false, cancel })
      };

    /// Cancels all orders of an account, and refuses others until [`LiftKill`].
    "kill" Kill {
        /// The account.
        account: AccountId,
    } needs Trade of |it: &Kill| it.account,
      command |it| own_restriction(it.account, Restriction::CancelOnly);

    /// Lifts what [`Kill`] has set.
    "lift_kill" LiftKill {
        /// The account.
        account: AccountId,
    } needs Trade of |it: &LiftKill| it.account,
      command |it| own_restriction(it.account, Restriction::None);

    /// Puts an instrument into another phase.
    "set_instrument_state" SetInstrumentState {
        /// The instrument.
        instrument: InstrumentId,
        /// The new state.
        state: InstrumentState,
    } needs Admin,
      command |it| {
          EngineCommand::SetInstrumentState { instrument: it.instrument, state: it.state }
      };

    /// Assigns an instrument to a calendar.
    "assign_calendar" AssignCalendar {
        /// The instrument.
        instrument: InstrumentId,
        /// The calendar; empty for none.
        calendar: Name,
    } needs Admin,
      command |it| {
          EngineCommand::AssignCalendar { instrument: it.instrument, calendar: it.calendar }
      };

    /// Moves a transition that has not begun.
    "move_transition" MoveTransition {
        /// The calendar.
        calendar: Name,
        /// When the transition is planned to begin.
        at: Timestamp,
        /// When it shall begin.
        to: Timestamp,
    } needs Admin,
      command |it| {
          let MoveTransition { calendar, at, to, .. } = *it;
          EngineCommand::MoveTransition { calendar, at, to }
      };

    /// Halts trading for a time.
    "halt_trading" HaltTrading {
        /// What is halted.
        scope: HaltScope,
        /// How long, in milliseconds.
        duration_ms: u32,
    } needs Admin,
      command |it| {
          EngineCommand::HaltTrading { scope: it.scope, duration_ms: it.duration_ms }
      };

    /// Sets, replaces or removes the circuit breaker of a calendar.
    "set_circuit_breaker" SetCircuitBreaker {
        /// The circuit breaker; one without a range removes it.
        rule: CircuitBreakerRule,
    } needs Admin,
      command |it| EngineCommand::SetCircuitBreaker(it.rule);

    /// Changes the rules version from the next command on, after a snapshot.
    "set_rules_version" SetRulesVersion {
        /// The version.
        version: u32,
    } needs Admin,
      command |it| EngineCommand::SetRulesVersion { version: it.version };
}

/// A member's restriction of its own account, which cancels what is open.
fn own_restriction(account: AccountId, restriction: Restriction) -> EngineCommand {
    let (target, cancel) = (RestrictionTarget::Account(account), restriction != Restriction::None);
    EngineCommand::Restrict(Restrict { target, restriction, by_member: true, cancel })
}

/// Commands about orders, submitted in this order. Each is independent: the next is submitted even
/// if one is rejected.
#[derive(Clone, Debug)]
pub struct SubmitBatch {
    /// The commands; each must enter, change or cancel orders.
    pub submissions: Vec<rialto_engine::Submission>,
}

impl Request for SubmitBatch {
    type Response = Vec<rialto_bus::Result<Answer>>;
    const NAME: &'static str = "submit_batch";
}

impl Command for SubmitBatch {}

//! The venue's commands as typed requests.

use crate::{Answer, Scope};
use rialto_bus::{Command, Request};
use rialto_engine::Level;
use rialto_model::{
    AccountId, Amend, Command as EngineCommand, CurrencyCode, InstrumentId, InstrumentSpec,
    InstrumentState, MassCancel, MemberId, Name, NewOrder, OrderRef, Reference, Scale,
    TradingRules, Transfer,
};

/// A request that one command to the engine answers.
pub trait ToEngine: Command + Request<Response = Answer> {
    /// What the caller's grant must allow.
    const SCOPE: Scope;

    /// The account that the caller must be allowed to act for, if it is about one.
    fn account(&self) -> Option<AccountId>;

    /// The command for the engine.
    fn command(&self) -> EngineCommand;

    /// The durability that its answer waits for, if it asks for more than the venue's.
    fn level(&self) -> Option<Level>;
}

macro_rules! requests {
    ($(
        $(#[$about:meta])*
        $name:literal $Request:ident { $($(#[$on:meta])* $field:ident: $type:ty),* $(,)? }
        needs $scope:ident $(of $account:expr)?,
        tells $command:expr;
    )*) => { $(
        $(#[$about])*
        #[derive(Clone, Copy, Debug)]
        pub struct $Request {
            $($(#[$on])* pub $field: $type,)*
            /// The durability that the answer waits for, if it is to be more than the venue's.
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
                let told: fn(&$Request) -> Option<AccountId> =
                    requests!(@account $($account)?);
                told(self)
            }

            fn command(&self) -> EngineCommand {
                let tell: fn(&$Request) -> EngineCommand = $command;
                tell(self)
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
      tells |it| EngineCommand::Place(it.order);

    /// Cancels an order.
    "cancel_order" CancelOrder {
        /// Whose order.
        account: AccountId,
        /// Which order.
        order: OrderRef,
    } needs Trade of |it: &CancelOrder| it.account,
      tells |it| EngineCommand::Cancel { account: it.account, order: it.order };

    /// Changes an order.
    "amend_order" AmendOrder {
        /// The change.
        amend: Amend,
    } needs Trade of |it: &AmendOrder| it.amend.account,
      tells |it| EngineCommand::Amend(it.amend);

    /// Cancels many orders of an account.
    "cancel_orders" CancelOrders {
        /// Which.
        which: MassCancel,
    } needs Trade of |it: &CancelOrders| it.which.account,
      tells |it| EngineCommand::MassCancel(it.which);

    /// Sets an account's dead-man timer.
    "set_dead_man" SetDeadMan {
        /// Whose timer.
        account: AccountId,
        /// Nanoseconds from now; zero switches it off.
        timeout_ns: u64,
    } needs Trade of |it: &SetDeadMan| it.account,
      tells |it| EngineCommand::SetDeadMan { account: it.account, timeout_ns: it.timeout_ns };

    /// An account's connection was lost: cancels its orders that asked for that.
    "disconnect" Disconnect {
        /// Whose connection.
        account: AccountId,
    } needs Trade of |it: &Disconnect| it.account,
      tells |it| EngineCommand::Disconnect { account: it.account };

    /// Sets value aside for a withdrawal that is yet to be decided.
    "hold_withdrawal" HoldWithdrawal {
        /// What, and in which account.
        transfer: Transfer,
    } needs Transfer of |it: &HoldWithdrawal| it.transfer.account,
      tells |it| EngineCommand::HoldWithdrawal(it.transfer);

    /// The operator pays out what was set aside.
    "settle_withdrawal" SettleWithdrawal {
        /// Whose withdrawal.
        account: AccountId,
        /// Its name.
        reference: Reference,
    } needs Admin,
      tells |it| {
          EngineCommand::SettleWithdrawal { account: it.account, reference: it.reference }
      };

    /// The operator gives back what was set aside.
    "release_withdrawal" ReleaseWithdrawal {
        /// Whose withdrawal.
        account: AccountId,
        /// Its name.
        reference: Reference,
    } needs Admin,
      tells |it| {
          EngineCommand::ReleaseWithdrawal { account: it.account, reference: it.reference }
      };

    /// The operator brings value into an account.
    "deposit" Deposit {
        /// What, into which account, and when it was made.
        deposit: rialto_model::Deposit,
    } needs Admin, tells |it| EngineCommand::Deposit(it.deposit);

    /// The operator takes value out of an account.
    "pay_out" PayOut {
        /// What, and from which account.
        transfer: Transfer,
    } needs Admin, tells |it| EngineCommand::Withdraw(it.transfer);

    /// Admits a member.
    "create_member" CreateMember {
        /// The id, or zero for the next free one.
        member: MemberId,
        /// A name.
        name: Name,
    } needs Admin,
      tells |it| EngineCommand::CreateMember { member: it.member, name: it.name };

    /// Opens an account.
    "create_account" CreateAccount {
        /// The id, or zero for the next free one.
        account: AccountId,
        /// Its owner.
        member: MemberId,
        /// A name.
        name: Name,
    } needs Admin,
      tells |it| {
          let CreateAccount { account, member, name, .. } = *it;
          EngineCommand::CreateAccount { account, member, name }
      };

    /// Lists a currency.
    "create_currency" CreateCurrency {
        /// Its code.
        code: CurrencyCode,
        /// Decimal places of its smallest unit.
        scale: Scale,
    } needs Admin,
      tells |it| EngineCommand::CreateCurrency { code: it.code, scale: it.scale };

    /// Lists an instrument.
    "create_instrument" CreateInstrument {
        /// What is listed.
        spec: InstrumentSpec,
    } needs Admin, tells |it| EngineCommand::CreateInstrument(it.spec);

    /// Changes the rules of an instrument.
    "set_rules" SetRules {
        /// Which instrument.
        instrument: InstrumentId,
        /// The new rules, all of them.
        rules: TradingRules,
    } needs Admin,
      tells |it| EngineCommand::SetRules { instrument: it.instrument, rules: it.rules };

    /// Opens, halts or closes an instrument.
    "set_instrument_state" SetInstrumentState {
        /// Which instrument.
        instrument: InstrumentId,
        /// The new state.
        state: InstrumentState,
    } needs Admin,
      tells |it| {
          EngineCommand::SetInstrumentState { instrument: it.instrument, state: it.state }
      };

    /// Has a later version of the rules decide from the next command on. A snapshot of all before
    /// is made first.
    "set_rules_version" SetRulesVersion {
        /// The version.
        version: u32,
    } needs Admin,
      tells |it| EngineCommand::SetRulesVersion { version: it.version };
}

/// Commands about orders that are entered in this order, each on its own: one that is refused does
/// not hold back the next.
#[derive(Clone, Debug)]
pub struct SubmitBatch {
    /// The commands; each must be one that enters, changes or cancels orders.
    pub submissions: Vec<rialto_engine::Submission>,
}

impl Request for SubmitBatch {
    type Response = Vec<rialto_bus::Result<Answer>>;
    const NAME: &'static str = "submit_batch";
}

impl Command for SubmitBatch {}

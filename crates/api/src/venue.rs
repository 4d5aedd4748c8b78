//! What operators do: members, accounts, currencies, instruments, transfers; and balances.

use crate::text::{DecimalText, Signed, Str};
use rialto_model::{
    AccountId, CurrencyCode, Decimal, InstrumentKind, InstrumentState, MemberId, Reference, Scale,
    SelfTrade, Seq, Symbol, Timestamp,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A member to create.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemberRequest<'a> {
    /// Its number; 0 or left out is the next one.
    #[serde(default)]
    pub member: MemberId,
    /// Its name, 1 to 36 printable bytes.
    #[serde(borrow)]
    pub name: Str<'a>,
}

/// An account to create.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AccountRequest<'a> {
    /// Its number; 0 or left out is the next one.
    #[serde(default)]
    pub account: AccountId,
    /// Whose.
    pub member: MemberId,
    /// Its name, 1 to 36 printable bytes.
    #[serde(borrow)]
    pub name: Str<'a>,
}

/// A currency to create.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CurrencyRequest<'a> {
    /// Its code.
    #[serde(borrow)]
    pub code: Str<'a>,
    /// Decimal places of its smallest unit.
    pub scale: Scale,
}

/// A deposit, or a withdrawal at once, by the operator.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TransferRequest<'a> {
    /// Which account.
    pub account: AccountId,
    /// The code of the currency.
    #[serde(borrow)]
    pub currency: Str<'a>,
    /// How much.
    pub amount: DecimalText<'a>,
    /// A name for it, 1 to 36 printable bytes. Sent again, nothing is moved again.
    pub reference: Str<'a>,
    /// When a deposit was made: nanoseconds since 1970, as text. A withdrawal has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<Timestamp>,
    /// `memory`, `buffered` or `synced`: what the answer waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub durability: Option<Str<'a>>,
}

/// An instrument to halt, resume or close.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StateRequest<'a> {
    /// Its symbol.
    #[serde(borrow)]
    pub instrument: Str<'a>,
}

/// New rules of an instrument; what is left out stays as it is.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RulesRequest<'a> {
    /// A price is a multiple of this.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub tick: Option<DecimalText<'a>>,
    /// A quantity is a multiple of this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lot: Option<DecimalText<'a>>,
    /// The largest quantity of an order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quantity_max: Option<DecimalText<'a>>,
    /// The least price times quantity of an order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notional_min: Option<DecimalText<'a>>,
    /// How far a price may be from the reference, in millionths; 0 is no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collar_ppm: Option<u32>,
    /// The reference before the first trade; 0 is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference_price: Option<DecimalText<'a>>,
    /// How far a market order without a limit may trade from the best price, in millionths.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub market_protection_ppm: Option<u32>,
    /// Fee of the order that rested, in millionths of the notional; negative for a rebate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maker_fee_ppm: Option<i32>,
    /// Fee of the order that came in, in millionths of the notional.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub taker_fee_ppm: Option<i32>,
    /// What happens when orders of the same member would trade, where the order does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub self_trade: Option<SelfTrade>,
    /// Most open orders of an account.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_orders_max: Option<u32>,
    /// When the day ends, in seconds after midnight UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub day_end_s: Option<u32>,
    /// Whether balances are checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub risk: Option<bool>,
}

/// An instrument to list.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InstrumentRequest<'a> {
    /// Its name.
    #[serde(borrow)]
    pub symbol: Str<'a>,
    /// What kind of contract it is.
    #[serde(default)]
    pub kind: InstrumentKind,
    /// The code of the currency that is traded.
    pub base: Str<'a>,
    /// The code of the currency that is paid.
    pub quote: Str<'a>,
    /// Decimal places of its prices.
    pub price_scale: Scale,
    /// Decimal places of its quantities.
    pub quantity_scale: Scale,
    /// A price is a multiple of this.
    pub tick: DecimalText<'a>,
    /// A quantity is a multiple of this.
    pub lot: DecimalText<'a>,
    /// The largest quantity of an order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quantity_max: Option<DecimalText<'a>>,
    /// The least price times quantity of an order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notional_min: Option<DecimalText<'a>>,
    /// How far a price may be from the reference, in millionths; 0 is no limit.
    #[serde(default)]
    pub collar_ppm: u32,
    /// The reference before the first trade; 0 is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference_price: Option<DecimalText<'a>>,
    /// How far a market order without a limit may trade from the best price, in millionths.
    #[serde(default = "usual_protection_ppm")]
    pub market_protection_ppm: u32,
    /// Fee of the order that rested, in millionths of the notional; negative for a rebate.
    #[serde(default)]
    pub maker_fee_ppm: i32,
    /// Fee of the order that came in, in millionths of the notional.
    #[serde(default)]
    pub taker_fee_ppm: i32,
    /// What happens when orders of the same member would trade, where the order does not say.
    #[serde(default)]
    pub self_trade: SelfTrade,
    /// Most open orders of an account.
    #[serde(default = "usual_open_orders_max")]
    pub open_orders_max: u32,
    /// When the day ends, in seconds after midnight UTC.
    #[serde(default)]
    pub day_end_s: u32,
    /// Whether balances are checked.
    #[serde(default = "usual_risk")]
    pub risk: bool,
}

fn usual_protection_ppm() -> u32 {
    50_000
}

fn usual_open_orders_max() -> u32 {
    1_000
}

fn usual_risk() -> bool {
    true
}

/// The number that something new was given.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct CreatedAnswer {
    /// Of a member.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub member: Option<u32>,
    /// Of an account.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<u32>,
    /// Of a currency.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub currency: Option<u32>,
    /// Of an instrument.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instrument: Option<u32>,
    /// The command's place in the journal.
    pub seq: Seq,
    /// When it was decided.
    pub time: Timestamp,
}

/// A command took effect on an instrument.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub struct InstrumentChangedAnswer {
    /// The symbol of the instrument.
    pub instrument: Symbol,
    /// Its state now, where that was changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<InstrumentState>,
    /// Orders that were cancelled at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancelled: Option<u32>,
    /// Whether more are being cancelled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending: Option<bool>,
    /// The command's place in the journal.
    pub seq: Seq,
    /// When it was decided.
    pub time: Timestamp,
}

/// A transfer took effect.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TransferAnswer {
    /// Which account.
    pub account: AccountId,
    /// The code of the currency.
    pub currency: CurrencyCode,
    /// How much.
    pub amount: Decimal,
    /// The name that it was given.
    pub reference: Reference,
    /// Whether it had taken effect before, under the same reference.
    pub repeated: bool,
    /// The command's place in the journal.
    pub seq: Seq,
    /// When it was decided.
    pub time: Timestamp,
}

/// What an account has of a currency.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub struct BalanceInfo {
    /// The code of the currency.
    pub currency: CurrencyCode,
    /// What can be used.
    pub available: Decimal,
    /// What is reserved for open orders and held for withdrawals.
    pub reserved: Decimal,
    /// The part of `reserved` that is held for withdrawals.
    pub withdrawing: Decimal,
    /// The command that changed it last.
    pub updated_seq: Seq,
}

/// The balances of an account.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct BalancesAnswer {
    /// The answer holds everything up to this command.
    pub seq: Seq,
    /// Its time.
    pub time: Timestamp,
    /// Whose.
    pub account: AccountId,
    /// One for each currency that the account has had.
    pub balances: Vec<BalanceInfo>,
}

/// A version of the rules to put in force.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RulesVersionRequest {
    /// The version.
    pub version: u32,
}

/// The version of the rules that is in force now.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RulesVersionAnswer {
    /// The version.
    pub version: u32,
    /// From this command on.
    pub seq: Seq,
}

/// A snapshot was made.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SnapshotAnswer {
    /// It holds everything up to this command.
    pub seq: Seq,
}

/// A step of the clock was accepted.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ClockAnswer {
    /// How far the clock stepped, in nanoseconds; negative for back.
    pub step_ns: Signed,
    /// The time from which the venue goes on.
    pub time: Timestamp,
}

/// A backup to make.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BackupRequest<'a> {
    /// The name of its directory, below the one that the configuration names.
    #[serde(borrow)]
    pub name: Str<'a>,
}

/// A backup was made.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct BackupAnswer {
    /// Where it is.
    pub directory: String,
    /// It holds everything up to this command.
    pub seq: Seq,
    /// What is not part of it.
    pub left_out: Vec<std::borrow::Cow<'static, str>>,
}

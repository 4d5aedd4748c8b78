//! Administration: members, accounts, currencies, instruments and transfers; and balances.

use crate::text::{DecimalText, I64Text, Str};
use rialto_model::{
    AccountId, CallDepth, CurrencyCode, Decimal, InstrumentKind, InstrumentState, MemberId, Name,
    Reference, Scale, SelfTrade, Seq, Symbol, Timestamp,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A member to create.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemberRequest<'a> {
    /// The number; 0 or left out is the next one.
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
    /// The number; 0 or left out is the next one.
    #[serde(default)]
    pub account: AccountId,
    /// The member that owns it.
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
    /// The account.
    pub account: AccountId,
    /// The code of the currency.
    #[serde(borrow)]
    pub currency: Str<'a>,
    /// The amount.
    pub amount: DecimalText<'a>,
    /// The reference, 1 to 36 printable bytes. A transfer that is sent again takes effect once.
    pub reference: Str<'a>,
    /// When a deposit was made: nanoseconds since 1970, as text. A withdrawal has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<Timestamp>,
    /// The durability that the answer waits for: `memory`, `buffered` or `synced`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub durability: Option<Str<'a>>,
}

/// What to halt: exactly one of `instrument`, `calendar` and `venue`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HaltRequest<'a> {
    /// The symbol of an instrument.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub instrument: Option<Str<'a>>,
    /// The name of a calendar: all instruments that follow it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calendar: Option<Str<'a>>,
    /// All instruments.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub venue: bool,
    /// How long, in milliseconds. Without it an instrument is halted until it is resumed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 86_400_000))]
    pub duration_ms: Option<u32>,
}

/// Trading was halted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HaltAnswer {
    /// The symbol of the instrument.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instrument: Option<Symbol>,
    /// The name of the calendar.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calendar: Option<Name>,
    /// Whether all instruments were halted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub venue: bool,
    /// The phase.
    pub state: InstrumentState,
    /// When the halt ends. An instrument that was halted for longer goes on later.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// The sequence of the command.
    pub seq: Seq,
    /// The time of the command.
    pub time: Timestamp,
}

/// An instrument to resume or close.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StateRequest<'a> {
    /// Its symbol.
    #[serde(borrow)]
    pub instrument: Str<'a>,
}

/// A phase to put an instrument into.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PhaseRequest<'a> {
    /// Its symbol.
    #[serde(borrow)]
    pub instrument: Str<'a>,
    /// The new phase.
    pub state: InstrumentState,
}

/// New rules of an instrument's auctions. A field that is left out stays as it is.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AuctionRulesRequest<'a> {
    /// Its symbol.
    #[serde(borrow)]
    pub instrument: Str<'a>,
    /// Fee of both sides of a trade in an auction, in millionths of the notional; an order pays at
    /// most its own rate as a taker.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fee_ppm: Option<i32>,
    /// Self-trade prevention in auctions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub self_trade: Option<SelfTrade>,
    /// Limits of the day around the instrument's `reference_price`, in millionths; 0 is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub daily_range_ppm: Option<u32>,
    /// Range of trades around the price of the last trade in an auction, in millionths; 0 is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub static_range_ppm: Option<u32>,
    /// Range of trades around the last price, in millionths; 0 is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dynamic_range_ppm: Option<u32>,
    /// Range of the price of an auction around the last price, in millionths; 0 is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auction_range_ppm: Option<u32>,
    /// The same for an extended call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extended_range_ppm: Option<u32>,
    /// Least length of an interruption or an extension, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_ms: Option<u32>,
    /// How much longer it may last, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub random_end_ms: Option<u32>,
    /// What is published of the orders in a call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_depth: Option<CallDepth>,
    /// Limits of continuous trading around the price of the last trade in an auction, in millionths;
    /// 0 is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit_range_ppm: Option<u32>,
    /// How long the best price may stand at such a limit before trading is halted, in milliseconds; 0
    /// is for ever.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit_state_ms: Option<u32>,
    /// How long that halt lasts, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub halt_ms: Option<u32>,
}

/// New terms of an instrument's contract. A field that is left out stays as it is.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContractTermsRequest<'a> {
    /// Its symbol.
    #[serde(borrow)]
    pub instrument: Str<'a>,
    /// The largest price times quantity of an order; 0 is no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notional_max: Option<DecimalText<'a>>,
    /// Fees by the lot, in the quote currency; they replace the rates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lot_fees: Option<LotFeesRequest<'a>>,
    /// Removes fees by the lot: the rates are charged again.
    #[serde(default)]
    pub remove_lot_fees: bool,
}

/// Fees by the lot, in the quote currency.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LotFeesRequest<'a> {
    /// Fee of the order that rested; negative for a rebate. Its size is at most the taker fee.
    #[serde(borrow)]
    pub maker: DecimalText<'a>,
    /// Fee of the order that came in.
    pub taker: DecimalText<'a>,
    /// Fee of both sides of a trade in an auction, at most the taker fee.
    pub auction: DecimalText<'a>,
}

impl<'a> AuctionRulesRequest<'a> {
    /// Changes nothing yet.
    #[must_use]
    pub fn of(symbol: &'a str) -> AuctionRulesRequest<'a> {
        AuctionRulesRequest {
            instrument: symbol.into(),
            fee_ppm: None,
            self_trade: None,
            daily_range_ppm: None,
            static_range_ppm: None,
            dynamic_range_ppm: None,
            auction_range_ppm: None,
            extended_range_ppm: None,
            call_ms: None,
            random_end_ms: None,
            call_depth: None,
            limit_range_ppm: None,
            limit_state_ms: None,
            halt_ms: None,
        }
    }
}

/// New rules of an instrument. A field that is left out stays as it is.
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
    /// The largest distance of a price from the reference price, in millionths; 0 is no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collar_ppm: Option<u32>,
    /// The price that the limits of the day are around, and the reference price before the first
    /// trade; 0 is none.
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
    /// Self-trade prevention of orders that name none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub self_trade: Option<SelfTrade>,
    /// Most open orders of an account in this instrument.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_orders_max: Option<u32>,
    /// When the day ends, in seconds after midnight UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub day_end_s: Option<u32>,
    /// Whether orders of the instrument check, reserve and move balances.
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
    /// The largest distance of a price from the reference price, in millionths; 0 is no limit.
    #[serde(default)]
    pub collar_ppm: u32,
    /// The price that the limits of the day are around, and the reference price before the first
    /// trade; 0 is none.
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
    /// Self-trade prevention of orders that name none.
    #[serde(default)]
    pub self_trade: SelfTrade,
    /// Most open orders of an account in this instrument.
    #[serde(default = "usual_open_orders_max")]
    pub open_orders_max: u32,
    /// When the day ends, in seconds after midnight UTC.
    #[serde(default)]
    pub day_end_s: u32,
    /// Whether orders of the instrument check, reserve and move balances.
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

/// The number of a new member, account, currency or instrument.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct CreatedAnswer {
    /// The member's number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub member: Option<u32>,
    /// The account's number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<u32>,
    /// The currency's number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub currency: Option<u32>,
    /// The instrument's number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instrument: Option<u32>,
    /// The sequence of the command.
    pub seq: Seq,
    /// The time of the command.
    pub time: Timestamp,
}

/// A command took effect on an instrument.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub struct InstrumentChangedAnswer {
    /// The symbol of the instrument.
    pub instrument: Symbol,
    /// The state that was asked for, if one was. The instrument may go through `uncrossing` first,
    /// and its call may be extended instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<InstrumentState>,
    /// Orders that were cancelled at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancelled: Option<u32>,
    /// Whether more are being cancelled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending: Option<bool>,
    /// The sequence of the command.
    pub seq: Seq,
    /// The time of the command.
    pub time: Timestamp,
}

/// A transfer took effect.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TransferAnswer {
    /// The account.
    pub account: AccountId,
    /// The code of the currency.
    pub currency: CurrencyCode,
    /// The amount.
    pub amount: Decimal,
    /// The reference of the transfer.
    pub reference: Reference,
    /// Whether it took effect earlier under the same reference.
    pub repeated: bool,
    /// The sequence of the command.
    pub seq: Seq,
    /// The time of the command.
    pub time: Timestamp,
}

/// The balance of an account in a currency.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub struct BalanceInfo {
    /// The code of the currency.
    pub currency: CurrencyCode,
    /// The available amount.
    pub available: Decimal,
    /// The amount that is reserved for open orders and withdrawals.
    pub reserved: Decimal,
    /// The part of `reserved` that covers withdrawals.
    pub withdrawing: Decimal,
    /// The sequence of the last change.
    pub updated_seq: Seq,
}

/// The balances of an account.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct BalancesAnswer {
    /// The sequence that the answer is complete up to.
    pub seq: Seq,
    /// The time of that command.
    pub time: Timestamp,
    /// The account.
    pub account: AccountId,
    /// One balance for each currency that the account has had.
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
    /// The sequence of the command. The version applies after it.
    pub seq: Seq,
}

/// A snapshot was made.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SnapshotAnswer {
    /// The sequence that it is complete up to.
    pub seq: Seq,
}

/// A step of the clock was accepted.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ClockAnswer {
    /// How far the clock stepped, in nanoseconds; negative for back.
    pub step_ns: I64Text,
    /// The time that the venue continues from.
    pub time: Timestamp,
}

/// A backup to make.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BackupRequest<'a> {
    /// The name of its directory, below the configured backup directory.
    #[serde(borrow)]
    pub name: Str<'a>,
}

/// A backup was made.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct BackupAnswer {
    /// The directory of the backup.
    pub directory: String,
    /// The sequence that it is complete up to.
    pub seq: Seq,
    /// The files that are not part of the backup.
    pub left_out: Vec<std::borrow::Cow<'static, str>>,
}

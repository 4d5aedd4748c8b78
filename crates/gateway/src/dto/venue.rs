//! What operators send: members, accounts, currencies, instruments, transfers.

use crate::json::{JsonOut, Str};
use crate::{ApiError, decimal};
use rialto_desk::Listing;
use rialto_feed::BalanceView;
use rialto_model::{
    AccountId, Amount, Currency, InstrumentKind, InstrumentSpec, MemberId, Price, Quantity, Scale,
    SelfTrade, TradingRules,
};
use serde::Deserialize;

/// Body of `POST /v1/admin/members`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MemberRequest<'a> {
    #[serde(default)]
    pub(crate) member: MemberId,
    #[serde(borrow)]
    pub(crate) name: Str<'a>,
}

/// Body of `POST /v1/admin/accounts`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AccountRequest<'a> {
    #[serde(default)]
    pub(crate) account: AccountId,
    pub(crate) member: MemberId,
    #[serde(borrow)]
    pub(crate) name: Str<'a>,
}

/// Body of `POST /v1/admin/currencies`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CurrencyRequest<'a> {
    #[serde(borrow)]
    pub(crate) code: Str<'a>,
    pub(crate) scale: Scale,
}

/// Body of a deposit or a withdrawal.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TransferRequest<'a> {
    pub(crate) account: Option<AccountId>,
    #[serde(borrow)]
    pub(crate) currency: Str<'a>,
    pub(crate) amount: Str<'a>,
    pub(crate) reference: Str<'a>,
    /// When a deposit was made; a withdrawal has none.
    pub(crate) time: Option<Str<'a>>,
    pub(crate) durability: Option<Str<'a>>,
}

/// Body of `POST /v1/admin/halt`, `resume` and `close`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StateRequest<'a> {
    #[serde(borrow)]
    pub(crate) instrument: Str<'a>,
}

/// Body of `PATCH /v1/admin/instruments/{symbol}`: what is left out stays as it is.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RulesRequest<'a> {
    #[serde(borrow)]
    tick: Option<Str<'a>>,
    lot: Option<Str<'a>>,
    quantity_max: Option<Str<'a>>,
    notional_min: Option<Str<'a>>,
    collar_ppm: Option<u32>,
    reference_price: Option<Str<'a>>,
    market_protection_ppm: Option<u32>,
    maker_fee_ppm: Option<i32>,
    taker_fee_ppm: Option<i32>,
    self_trade: Option<SelfTrade>,
    open_orders_max: Option<u32>,
    day_end_s: Option<u32>,
    risk: Option<bool>,
}

/// Body of `POST /v1/admin/instruments`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct InstrumentRequest<'a> {
    #[serde(borrow)]
    pub(crate) symbol: Str<'a>,
    #[serde(default)]
    kind: InstrumentKind,
    pub(crate) base: Str<'a>,
    pub(crate) quote: Str<'a>,
    price_scale: Scale,
    quantity_scale: Scale,
    tick: Str<'a>,
    lot: Str<'a>,
    quantity_max: Option<Str<'a>>,
    notional_min: Option<Str<'a>>,
    #[serde(default)]
    collar_ppm: u32,
    reference_price: Option<Str<'a>>,
    #[serde(default = "usual_protection_ppm")]
    market_protection_ppm: u32,
    #[serde(default)]
    maker_fee_ppm: i32,
    #[serde(default)]
    taker_fee_ppm: i32,
    #[serde(default)]
    self_trade: SelfTrade,
    #[serde(default = "usual_open_orders_max")]
    open_orders_max: u32,
    #[serde(default)]
    day_end_s: u32,
    #[serde(default = "usual_risk")]
    risk: bool,
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

impl InstrumentRequest<'_> {
    /// The specification, given the instrument's currencies.
    pub(crate) fn spec(&self, base: Currency, quote: Currency) -> Result<InstrumentSpec, ApiError> {
        let listing = Listing {
            id: Default::default(),
            symbol: decimal::short("symbol", &self.symbol)?,
            base,
            quote,
            price_scale: self.price_scale,
            quantity_scale: self.quantity_scale,
        };
        Ok(InstrumentSpec {
            symbol: listing.symbol,
            kind: self.kind,
            base: base.id,
            quote: quote.id,
            price_scale: self.price_scale,
            quantity_scale: self.quantity_scale,
            rules: TradingRules {
                tick: decimal::price("tick", &self.tick, &listing)?,
                lot: decimal::quantity("lot", &self.lot, &listing)?,
                quantity_max: match &self.quantity_max {
                    Some(text) => decimal::quantity("quantity_max", text, &listing)?,
                    None => Quantity::MAX,
                },
                notional_min: match &self.notional_min {
                    Some(text) => decimal::amount("notional_min", text, &quote)?,
                    None => Amount::ZERO,
                },
                collar_ppm: self.collar_ppm,
                reference_price: match &self.reference_price {
                    Some(text) => decimal::price("reference_price", text, &listing)?,
                    None => Price::ZERO,
                },
                market_protection_ppm: self.market_protection_ppm,
                maker_fee_ppm: self.maker_fee_ppm,
                taker_fee_ppm: self.taker_fee_ppm,
                self_trade: self.self_trade,
                open_orders_max: self.open_orders_max,
                day_end_s: self.day_end_s,
                risk: self.risk,
            },
        })
    }
}

impl RulesRequest<'_> {
    /// The rules `before` with the changes asked for.
    pub(crate) fn over(
        &self,
        before: TradingRules,
        on: &Listing,
    ) -> Result<TradingRules, ApiError> {
        let price = |field, text: &Option<Str<'_>>, old| {
            text.as_ref().map_or(Ok(old), |text| decimal::price(field, text, on))
        };
        let quantity = |field, text: &Option<Str<'_>>, old| {
            text.as_ref().map_or(Ok(old), |text| decimal::quantity(field, text, on))
        };
        Ok(TradingRules {
            tick: price("tick", &self.tick, before.tick)?,
            lot: quantity("lot", &self.lot, before.lot)?,
            quantity_max: quantity("quantity_max", &self.quantity_max, before.quantity_max)?,
            notional_min: match &self.notional_min {
                Some(text) => decimal::amount("notional_min", text, &on.quote)?,
                None => before.notional_min,
            },
            collar_ppm: self.collar_ppm.unwrap_or(before.collar_ppm),
            reference_price: price(
                "reference_price",
                &self.reference_price,
                before.reference_price,
            )?,
            market_protection_ppm: self
                .market_protection_ppm
                .unwrap_or(before.market_protection_ppm),
            maker_fee_ppm: self.maker_fee_ppm.unwrap_or(before.maker_fee_ppm),
            taker_fee_ppm: self.taker_fee_ppm.unwrap_or(before.taker_fee_ppm),
            self_trade: self.self_trade.unwrap_or(before.self_trade),
            open_orders_max: self.open_orders_max.unwrap_or(before.open_orders_max),
            day_end_s: self.day_end_s.unwrap_or(before.day_end_s),
            risk: self.risk.unwrap_or(before.risk),
        })
    }
}

/// What an account has of a currency.
pub(crate) fn write_balance(out: &mut JsonOut, balance: &BalanceView, currency: &Currency) {
    out.open_object();
    out.key("currency").text(currency.code.as_str());
    out.key("available").decimal(balance.available.0, currency.scale);
    out.key("reserved").decimal(balance.reserved.0, currency.scale);
    out.key("withdrawing").decimal(balance.withdrawing.0, currency.scale);
    out.key("updated_seq").quoted(balance.updated.0);
    out.close_object();
}

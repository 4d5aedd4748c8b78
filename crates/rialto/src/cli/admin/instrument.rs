//! Instruments and their rules, as an operator names them.

use super::scale_of;
use crate::Error;
use crate::cli::connection::named;
use rialto_client::api::{AuctionRulesRequest, ContractTermsRequest, LotFeesRequest, RulesRequest};
use rialto_model::{CallDepth, InstrumentKind, Scale, SelfTrade};
use serde::Serialize;

#[derive(Debug, clap::Args)]
pub(super) struct Instrument {
    /// Its symbol, such as BTC-USD.
    symbol: String,
    /// The currency that is bought and sold.
    #[arg(long)]
    base: String,
    /// The currency that prices and fees are in.
    #[arg(long)]
    quote: String,
    /// Decimal places of prices, for the instrument's life.
    #[arg(long)]
    price_scale: u8,
    /// Decimal places of quantities, for the instrument's life.
    #[arg(long)]
    quantity_scale: u8,
    #[command(flatten)]
    rules: RuleArguments,
}

#[derive(Debug, clap::Args)]
pub(super) struct RuleArguments {
    /// Prices are multiples of this.
    #[arg(long)]
    tick: Option<String>,
    /// Quantities are multiples of this.
    #[arg(long)]
    lot: Option<String>,
    /// The largest quantity of one order.
    #[arg(long)]
    quantity_max: Option<String>,
    /// The least price times quantity of one order.
    #[arg(long)]
    notional_min: Option<String>,
    /// How far a price may be from the last trade, in millionths of it; 0 is no collar.
    #[arg(long)]
    collar_ppm: Option<u32>,
    /// The price that the limits of the day are around, and before the first trade the collar.
    #[arg(long)]
    reference_price: Option<String>,
    /// How far a market order may trade from the best price, or in an auction from the last price, in
    /// millionths of it.
    #[arg(long)]
    market_protection_ppm: Option<u32>,
    /// Fee of the resting order, in millionths; negative is a rebate.
    #[arg(long, allow_negative_numbers = true)]
    maker_fee_ppm: Option<i32>,
    /// Fee of the incoming order, in millionths.
    #[arg(long)]
    taker_fee_ppm: Option<i32>,
    /// Self-trade prevention of orders that name none.
    #[arg(long, value_parser = named::<SelfTrade>())]
    self_trade: Option<SelfTrade>,
    /// The most orders that one account may have open.
    #[arg(long)]
    open_orders_max: Option<u32>,
    /// The end of the day for day orders, in seconds after midnight UTC.
    #[arg(long)]
    day_end_s: Option<u32>,
    /// Whether balances are reserved, checked and posted.
    #[arg(long)]
    risk: Option<bool>,
}

/// An instrument to list, with its rules; omitted ones have their default.
#[derive(Serialize)]
pub(super) struct Listing<'a> {
    symbol: &'a str,
    kind: InstrumentKind,
    base: &'a str,
    quote: &'a str,
    price_scale: Scale,
    quantity_scale: Scale,
    #[serde(flatten)]
    rules: RulesRequest<'a>,
}

impl Instrument {
    pub(super) fn request(&self) -> Result<Listing<'_>, Error> {
        Ok(Listing {
            symbol: &self.symbol,
            kind: InstrumentKind::default(),
            base: &self.base,
            quote: &self.quote,
            price_scale: scale_of(self.price_scale)?,
            quantity_scale: scale_of(self.quantity_scale)?,
            rules: self.rules.request(),
        })
    }
}

impl RuleArguments {
    pub(super) fn request(&self) -> RulesRequest<'_> {
        RulesRequest {
            tick: self.tick.as_deref().map(Into::into),
            lot: self.lot.as_deref().map(Into::into),
            quantity_max: self.quantity_max.as_deref().map(Into::into),
            notional_min: self.notional_min.as_deref().map(Into::into),
            collar_ppm: self.collar_ppm,
            reference_price: self.reference_price.as_deref().map(Into::into),
            market_protection_ppm: self.market_protection_ppm,
            maker_fee_ppm: self.maker_fee_ppm,
            taker_fee_ppm: self.taker_fee_ppm,
            self_trade: self.self_trade,
            open_orders_max: self.open_orders_max,
            day_end_s: self.day_end_s,
            risk: self.risk,
        }
    }
}

#[derive(Debug, clap::Args)]
pub(super) struct ContractTermsArguments {
    /// The largest price times quantity of an order; 0 is no limit.
    #[arg(long)]
    notional_max: Option<String>,
    /// Fee of the incoming order for a lot, in the quote currency. Fees by the lot replace the rates.
    #[arg(long, requires_all = ["maker_lot_fee", "auction_lot_fee"])]
    taker_lot_fee: Option<String>,
    /// Fee of the resting order for a lot; negative for a rebate.
    #[arg(long, requires = "taker_lot_fee", allow_hyphen_values = true)]
    maker_lot_fee: Option<String>,
    /// Fee of both sides of a trade in an auction for a lot.
    #[arg(long, requires = "taker_lot_fee")]
    auction_lot_fee: Option<String>,
    /// Remove fees by the lot: the rates are charged again.
    #[arg(long, conflicts_with = "taker_lot_fee")]
    remove_lot_fees: bool,
}

impl ContractTermsArguments {
    pub(super) fn request<'a>(&'a self, symbol: &'a str) -> ContractTermsRequest<'a> {
        let fees = (&self.maker_lot_fee, &self.taker_lot_fee, &self.auction_lot_fee);
        let lot_fees = match fees {
            (Some(maker), Some(taker), Some(auction)) => Some(LotFeesRequest {
                maker: maker.as_str().into(),
                taker: taker.as_str().into(),
                auction: auction.as_str().into(),
            }),
            _ => None,
        };
        ContractTermsRequest {
            instrument: symbol.into(),
            notional_max: self.notional_max.as_deref().map(Into::into),
            lot_fees,
            remove_lot_fees: self.remove_lot_fees,
        }
    }
}

#[derive(Debug, clap::Args)]
pub(super) struct AuctionRuleArguments {
    /// Fee of both sides of a trade in an auction, in millionths; an order pays at most its own
    /// taker rate.
    #[arg(long)]
    fee_ppm: Option<i32>,
    /// Self-trade prevention in auctions.
    #[arg(long, value_parser = named::<SelfTrade>())]
    self_trade: Option<SelfTrade>,
    /// Limits of the day around the instrument's reference price, in millionths; 0 is none.
    #[arg(long)]
    daily_range_ppm: Option<u32>,
    /// Range of trades around the price of the last trade in an auction, in millionths; 0 is none.
    #[arg(long)]
    static_range_ppm: Option<u32>,
    /// Range of trades around the last price, in millionths; 0 is none.
    #[arg(long)]
    dynamic_range_ppm: Option<u32>,
    /// Range of the price of an auction around the last price, in millionths; 0 is none.
    #[arg(long)]
    auction_range_ppm: Option<u32>,
    /// The same for an extended call.
    #[arg(long)]
    extended_range_ppm: Option<u32>,
    /// The least length of an interruption or an extension, in milliseconds.
    #[arg(long)]
    call_ms: Option<u32>,
    /// How much longer it may last, in milliseconds.
    #[arg(long)]
    random_end_ms: Option<u32>,
    /// What is published of the orders in a call.
    #[arg(long, value_parser = named::<CallDepth>())]
    call_depth: Option<CallDepth>,
    /// Limits of continuous trading around the price of the last trade in an auction, in
    /// millionths; 0 is none.
    #[arg(long)]
    limit_range_ppm: Option<u32>,
    /// How long the best price may stand at such a limit before trading is halted, in
    /// milliseconds; 0 is for ever.
    #[arg(long)]
    limit_state_ms: Option<u32>,
    /// How long that halt lasts, in milliseconds.
    #[arg(long)]
    halt_ms: Option<u32>,
}

impl AuctionRuleArguments {
    pub(super) fn request<'a>(&self, symbol: &'a str) -> AuctionRulesRequest<'a> {
        AuctionRulesRequest {
            instrument: symbol.into(),
            fee_ppm: self.fee_ppm,
            self_trade: self.self_trade,
            daily_range_ppm: self.daily_range_ppm,
            static_range_ppm: self.static_range_ppm,
            dynamic_range_ppm: self.dynamic_range_ppm,
            auction_range_ppm: self.auction_range_ppm,
            extended_range_ppm: self.extended_range_ppm,
            call_ms: self.call_ms,
            random_end_ms: self.random_end_ms,
            call_depth: self.call_depth,
            limit_range_ppm: self.limit_range_ppm,
            limit_state_ms: self.limit_state_ms,
            halt_ms: self.halt_ms,
        }
    }
}

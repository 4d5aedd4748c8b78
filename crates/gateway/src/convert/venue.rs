//! Instruments and balances.

use crate::{ApiError, decimal};
use rialto_api::{
    AuctionRulesRequest, BalanceInfo, ContractTermsRequest, DecimalText, InstrumentRequest,
    RulesRequest,
};
use rialto_desk::Listing;
use rialto_feed::BalanceView;
use rialto_model::{
    Amount, AuctionRules, ContractTerms, Currency, InstrumentSpec, LotFees, Price, Quantity,
    TradingRules,
};

/// The specification of an instrument, given its currencies.
pub(crate) fn instrument_spec(
    request: &InstrumentRequest<'_>,
    base: Currency,
    quote: Currency,
) -> Result<InstrumentSpec, ApiError> {
    let listing = Listing {
        id: Default::default(),
        symbol: decimal::short("symbol", &request.symbol)?,
        base,
        quote,
        price_scale: request.price_scale,
        quantity_scale: request.quantity_scale,
    };
    let none = TradingRules {
        tick: Price::ZERO,
        lot: Quantity::ZERO,
        quantity_max: Quantity::MAX,
        notional_min: Amount::ZERO,
        collar_ppm: request.collar_ppm,
        reference_price: Price::ZERO,
        market_protection_ppm: request.market_protection_ppm,
        maker_fee_ppm: request.maker_fee_ppm,
        taker_fee_ppm: request.taker_fee_ppm,
        self_trade: request.self_trade,
        open_orders_max: request.open_orders_max,
        day_end_s: request.day_end_s,
        risk: request.risk,
    };
    let given = RulesRequest {
        tick: Some(request.tick.clone()),
        lot: Some(request.lot.clone()),
        quantity_max: request.quantity_max.clone(),
        notional_min: request.notional_min.clone(),
        reference_price: request.reference_price.clone(),
        ..RulesRequest::default()
    };
    Ok(InstrumentSpec {
        symbol: listing.symbol,
        kind: request.kind,
        base: base.id,
        quote: quote.id,
        price_scale: request.price_scale,
        quantity_scale: request.quantity_scale,
        rules: rules_over(&given, none, &listing)?,
    })
}

/// The rules `before` with the requested changes.
pub(crate) fn rules_over(
    request: &RulesRequest<'_>,
    before: TradingRules,
    on: &Listing,
) -> Result<TradingRules, ApiError> {
    let price = |field, text: &Option<DecimalText<'_>>, old| {
        text.as_ref().map_or(Ok(old), |text| decimal::price(field, text, on))
    };
    let quantity = |field, text: &Option<DecimalText<'_>>, old| {
        text.as_ref().map_or(Ok(old), |text| decimal::quantity(field, text, on))
    };
    Ok(TradingRules {
        tick: price("tick", &request.tick, before.tick)?,
        lot: quantity("lot", &request.lot, before.lot)?,
        quantity_max: quantity("quantity_max", &request.quantity_max, before.quantity_max)?,
        notional_min: match &request.notional_min {
            Some(text) => decimal::amount("notional_min", text, &on.quote)?,
            None => before.notional_min,
        },
        collar_ppm: request.collar_ppm.unwrap_or(before.collar_ppm),
        reference_price: price(
            "reference_price",
            &request.reference_price,
            before.reference_price,
        )?,
        market_protection_ppm: request
            .market_protection_ppm
            .unwrap_or(before.market_protection_ppm),
        maker_fee_ppm: request.maker_fee_ppm.unwrap_or(before.maker_fee_ppm),
        taker_fee_ppm: request.taker_fee_ppm.unwrap_or(before.taker_fee_ppm),
        self_trade: request.self_trade.unwrap_or(before.self_trade),
        open_orders_max: request.open_orders_max.unwrap_or(before.open_orders_max),
        day_end_s: request.day_end_s.unwrap_or(before.day_end_s),
        risk: request.risk.unwrap_or(before.risk),
    })
}

/// A balance of an account.
pub(crate) fn balance_info(balance: &BalanceView, currency: &Currency) -> BalanceInfo {
    BalanceInfo {
        currency: currency.code,
        available: balance.available.decimal(currency.scale),
        reserved: balance.reserved.decimal(currency.scale),
        withdrawing: balance.withdrawing.decimal(currency.scale),
        updated_seq: balance.updated,
    }
}

/// New terms of a contract: omitted fields keep their value.
pub(crate) fn contract_terms_over(
    request: &ContractTermsRequest<'_>,
    before: ContractTerms,
    on: &Listing,
) -> Result<ContractTerms, ApiError> {
    let amount = |field, text: &DecimalText<'_>| decimal::amount(field, text, &on.quote);
    let lot_fees = match &request.lot_fees {
        Some(_) if request.remove_lot_fees => {
            let both = "The request sets fees by the lot and removes them.";
            return Err(ApiError::invalid("remove_lot_fees", both));
        }
        Some(fees) => Some(LotFees {
            maker: amount("lot_fees.maker", &fees.maker)?,
            taker: amount("lot_fees.taker", &fees.taker)?,
            auction: amount("lot_fees.auction", &fees.auction)?,
        }),
        None => before.lot_fees.filter(|_| !request.remove_lot_fees),
    };
    let notional_max = match &request.notional_max {
        Some(text) => decimal::amount("notional_max", text, &on.quote)?,
        None => before.notional_max,
    };
    Ok(ContractTerms { notional_max, lot_fees })
}

/// New rules of auctions: omitted fields keep their value.
pub(crate) fn auction_rules_over(
    request: &AuctionRulesRequest<'_>,
    before: AuctionRules,
) -> AuctionRules {
    AuctionRules {
        fee_ppm: request.fee_ppm.unwrap_or(before.fee_ppm),
        self_trade: request.self_trade.unwrap_or(before.self_trade),
        daily_range_ppm: request.daily_range_ppm.unwrap_or(before.daily_range_ppm),
        static_range_ppm: request.static_range_ppm.unwrap_or(before.static_range_ppm),
        dynamic_range_ppm: request.dynamic_range_ppm.unwrap_or(before.dynamic_range_ppm),
        auction_range_ppm: request.auction_range_ppm.unwrap_or(before.auction_range_ppm),
        extended_range_ppm: request.extended_range_ppm.unwrap_or(before.extended_range_ppm),
        call_ms: request.call_ms.unwrap_or(before.call_ms),
        random_end_ms: request.random_end_ms.unwrap_or(before.random_end_ms),
        call_depth: request.call_depth.unwrap_or(before.call_depth),
        limit_range_ppm: request.limit_range_ppm.unwrap_or(before.limit_range_ppm),
        limit_state_ms: request.limit_state_ms.unwrap_or(before.limit_state_ms),
        halt_ms: request.halt_ms.unwrap_or(before.halt_ms),
    }
}
